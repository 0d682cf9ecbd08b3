package forest

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/model"
	"privkern/graphs/engine"
)

// Body is a forest.
type Body struct {
	Structure structure   `json:"structure"`
	Counts    [][]float64 `json:"counts"`    // T×(2^depth·C), noisy
	Deviation float64     `json:"deviation"` // of the noise of a count
	Variance  float64     `json:"variance"`  // of the settings
	// The probability of a class is its intercept and slope times its share in the forest. Of two classes the second
	// has both.
	Intercepts []float64 `json:"intercepts"` // C
	Slope      float64   `json:"slope"`
}

// Check implements [ground.Body].
func (b Body) Check(c *model.Checker, inputs, classes int) {
	b.Structure.check(c, inputs)
	c.Require(len(b.Counts) == len(b.Structure.Columns), "parameters.counts", "there are %d for %d trees", len(b.Counts),
		len(b.Structure.Columns))
	if !c.Failed() {
		c.Rows("parameters.counts", b.Counts, classes<<b.Structure.Depth, "leaves and classes")
	}
	c.NotNegative("parameters.deviation", b.Deviation)
	c.Positive("parameters.variance", b.Variance)
	c.Length("parameters.intercepts", b.Intercepts, classes, "classes")
}

// Evaluate implements [ground.Body].
func (b Body) Evaluate(ctx context.Context, e *engine.Engine, x *mat.Dense) ([][]float64, error) {
	f := newForest(&b)
	n, _ := x.Dims()
	out := make([][]float64, f.classes)
	for c := range out {
		out[c] = make([]float64, n)
	}
	err := e.ParallelFor(ctx, n, 64, func(lo, hi int) error {
		shares := f.room()
		for row := lo; row < hi; row++ {
			f.shares(x.RawRowView(row), -1, shares)
			b.probabilities(shares.of)
			for c, share := range shares.of {
				out[c][row] = share
			}
		}
		return nil
	})
	return out, err
}

// probabilities makes shares in the forest probabilities, in place.
func (b *Body) probabilities(shares []float64) {
	sum := 0.0
	for c, v := range shares {
		shares[c] = min(1-least, max(least, b.Intercepts[c]+b.Slope*v))
		sum += shares[c]
	}
	for c := range shares {
		shares[c] /= sum
	}
}

// least bounds the probability of a class from below.
const least = 1e-3
