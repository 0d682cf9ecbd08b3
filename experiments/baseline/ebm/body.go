package ebm

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/baseline/ground"
	"privkern/experiments/model"
	"privkern/graphs/engine"
)

// Functions are K sums of functions of the inputs.
type Functions struct {
	Intercept []float64 `json:"intercept"` // K
	Levels    []int     `json:"levels"`    // of each feature; 0 of a number
	// Scores are those of the bins of each feature, equal parts of [-1, 1] or levels: K lists a feature.
	Scores [][]float64 `json:"scores"`
}

// Regressor is the body of a regression, whose mean is the sum.
type Regressor Functions

// Classifier is the body of a classification: of two classes the sum is the log odds of the second, and of more there
// is one sum for each, of whose exponentials the probabilities are the shares.
type Classifier Functions

// outputs is K, the number of sums for a number of classes, none of a regression.
func outputs(classes int) int {
	if classes > 2 {
		return classes
	}
	return 1
}

// Check implements [ground.Body].
func (b Regressor) Check(c *model.Checker, inputs, _ int) { Functions(b).check(c, inputs, 1) }

// Check implements [ground.Body].
func (b Classifier) Check(c *model.Checker, inputs, classes int) {
	Functions(b).check(c, inputs, outputs(classes))
}

func (b Functions) check(c *model.Checker, inputs, k int) {
	c.Length("parameters.intercept", b.Intercept, k, "outputs")
	columns := 0
	for _, n := range b.Levels {
		c.Require(n >= 0 && n <= inputs, "parameters.levels", "one is %d", n)
		columns += max(1, n)
	}
	c.Require(columns == inputs, "parameters.levels", "they are those of %d inputs instead of %d", columns, inputs)
	c.Require(len(b.Scores) == k*len(b.Levels), "parameters.scores", "there are %d for %d functions", len(b.Scores),
		k*len(b.Levels))
	if c.Failed() {
		return
	}
	for i, s := range b.Scores {
		switch levels := b.Levels[i/k]; {
		case levels > 0:
			c.Length("parameters.scores", s, levels, "levels")
		default:
			c.Length("parameters.scores", s, len(b.Scores[i-i%k]), "bins")
			c.Some("parameters.scores", len(s))
		}
	}
}

// Evaluate implements [ground.Body]. The mean is in the output's public range.
func (b Regressor) Evaluate(_ context.Context, _ *engine.Engine, x *mat.Dense) ([][]float64, error) {
	out := Functions(b).sums(x)
	for i, v := range out[0] {
		out[0][i] = max(-1, min(1, v))
	}
	return out, nil
}

// Evaluate implements [ground.Body].
func (b Classifier) Evaluate(_ context.Context, _ *engine.Engine, x *mat.Dense) ([][]float64, error) {
	out := Functions(b).sums(x)
	if len(out) == 1 {
		out = [][]float64{make([]float64, len(out[0])), out[0]}
	}
	ground.Softmax(out)
	return out, nil
}

// sums returns the sums at the rows of x (P×d), K×P.
func (b Functions) sums(x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	k := len(b.Intercept)
	out := make([][]float64, k)
	for c := range out {
		out[c] = make([]float64, n)
	}
	for i := range n {
		row, column := x.RawRowView(i), 0
		for c := range out {
			out[c][i] = b.Intercept[c]
		}
		for j, levels := range b.Levels {
			bin := feature{column, levels}.bin(row, len(b.Scores[j*k]))
			for c := range out {
				out[c][i] += b.Scores[j*k+c][bin]
			}
			column += max(1, levels)
		}
	}
	return out
}
