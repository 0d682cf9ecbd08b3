package classify

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/runner/experiment"
)

// stripesGrid is the side of the grid of test inputs 0, …, 9 (Section 5.5).
const stripesGrid = 10

// Stripes is the classification of simulated points, Fig. 4.
var Stripes = experiment.Of(experiment.Declaration[*stripesSettings, stripesMetrics]{
	Name:    "cloaking/stripes",
	Version: 4,
	Summary: "two classes in noisy diagonal stripes, classified with differential privacy",
	Source:  "Smith, Álvarez and Lawrence 2019, Section 5.5, Fig. 4",
	Check:   func(s *stripesSettings) error { return checkClassifier(&s.ClassifierSettings, s.Method, s.Points) },
	Memory:  func(s *stripesSettings) int64 { return laplaceMemory(s.Method, s.Points) },
	Run:     runStripes,
})

func runStripes(
	ctx context.Context, t *experiment.Trial, s *stripesSettings,
) (*experiment.Outcome[stripesMetrics], error) {
	c, err := newClassifier(t, &s.ClassifierSettings, s.Method)
	if err != nil {
		return nil, err
	}
	return c.stripes(ctx, s)
}

// stripes classifies the points of a grid from simulated ones.
func (c *classifier) stripes(ctx context.Context, s *stripesSettings) (*experiment.Outcome[stripesMetrics], error) {
	train, labels, err := s.simulate(c.t.Stream("training data"))
	if err != nil {
		return nil, err
	}
	test, truth := stripesTest(s.Width)
	fit, err := c.predict(ctx, train, labels, test)
	if err != nil {
		return nil, err
	}
	grid := experiment.Series{"x": mat.Col(nil, 0, test), "y": mat.Col(nil, 1, test), "label": truth}
	probabilities := fit.probabilities(s.Probability)
	for j, p := range columns(probabilities) {
		grid[drawColumn(j)] = p
	}
	training := experiment.Series{"x": mat.Col(nil, 0, train), "y": mat.Col(nil, 1, train)}
	if !c.publishes() {
		training["label"] = labels
	}
	return &experiment.Outcome[stripesMetrics]{
		Metrics:  stripesMetrics{c.accuracyMetrics(fit, truth), c.fitMetrics(fit), c.areaMetrics(probabilities, s.Width)},
		Series:   map[string]experiment.Series{"grid": grid, "training": training},
		Privacy:  c.privacy("the class of a simulated point", nil),
		Warnings: c.warnings(fit),
	}, nil
}

// drawColumn names the column of a series that holds one draw.
func drawColumn(draw int) string { return fmt.Sprintf("draw_%d", draw) }

// stripeClass is the class (±1) at x + y.
func stripeClass(sum, width float64) float64 {
	if math.Mod(math.Floor((sum+0.5)/width), 2) == 0 {
		return 1
	}
	return -1
}

// simulate draws training points on [−½, 9½]² and their classes. The paper does not describe the
// simulation of its points.
func (s *stripesSettings) simulate(rng *rand.Rand) (inputs *mat.Dense, labels []float64, err error) {
	n := s.Points
	inputs, labels = mat.NewDense(n, 2, nil), make([]float64, n)
	positive := 0
	for i := range n {
		var x, y float64
		for {
			x, y = rng.Float64()*stripesGrid, rng.Float64()*stripesGrid
			if rng.Float64() >= s.Gradient*y/stripesGrid {
				break
			}
		}
		x, y = x-0.5, y-0.5
		inputs.SetRow(i, []float64{x, y})
		labels[i] = stripeClass(x+y+s.Jitter*rng.NormFloat64(), s.Width)
		if labels[i] > 0 {
			positive++
		}
	}
	if positive == 0 || positive == n {
		return nil, nil, fmt.Errorf("all %d training points are of one class: use more points or narrower stripes", n)
	}
	return inputs, labels, nil
}

// stripesTest returns the 100 grid points and their classes; with the paper's
// width there are 50 of each.
func stripesTest(width float64) (inputs *mat.Dense, labels []float64) {
	inputs, labels = mat.NewDense(stripesGrid*stripesGrid, 2, nil), make([]float64, stripesGrid*stripesGrid)
	for i := range labels {
		x, y := float64(i%stripesGrid), float64(i/stripesGrid)
		inputs.SetRow(i, []float64{x, y})
		labels[i] = stripeClass(x+y, width)
	}
	return inputs, labels
}

const (
	// nearBoundary is how far in x + y from a boundary between classes a point is still near.
	nearBoundary = 1
	// edgeRows are the rows of the grid at its bottom, and at its top.
	edgeRows = 3
	// highlyConfident is the least probability of a highly confident prediction.
	highlyConfident = 0.9
)

// areaMetrics are those of probabilities (100×D) on the grid of stripesTest.
func (c *classifier) areaMetrics(probabilities *mat.Dense, width float64) areaMetrics {
	var near, far, bottom, top area
	for i := range stripesGrid * stripesGrid {
		x, y := i%stripesGrid, i/stripesGrid
		draws := probabilities.RawRowView(i)
		if boundaryDistance(float64(x+y), width) < nearBoundary {
			near.add(draws)
		} else {
			far.add(draws)
		}
		if y < edgeRows {
			bottom.add(draws)
		} else if y >= stripesGrid-edgeRows {
			top.add(draws)
		}
	}
	m := areaMetrics{Near: near.mean(near.confidence), Far: far.mean(far.confidence)}
	if c.scale > 0 {
		m.SDBottom, m.BothBottom = bottom.mean(bottom.sd), bottom.mean(bottom.both)
		m.SDTop, m.BothTop = top.mean(top.sd), top.mean(top.both)
	}
	return m
}

// boundaryDistance is how far sum = x + y is from where stripeClass changes.
func boundaryDistance(sum, width float64) float64 {
	into := math.Mod(sum+0.5, width)
	return min(into, width-into)
}

// area sums over points of the grid: the mean distance of a point's probabilities from 1/2,
// their standard deviation over draws, and the points with highly confident draws for both
// classes.
type area struct {
	points               int
	confidence, sd, both float64
}

// add takes the draws of one point.
func (a *area) add(p []float64) {
	a.points++
	distance := 0.0
	for _, v := range p {
		distance += math.Abs(v - 0.5)
	}
	a.confidence += distance / float64(len(p))
	_, variance := stat.PopMeanVariance(p, nil)
	a.sd += math.Sqrt(max(0, variance))
	if slices.Min(p) <= 1-highlyConfident && slices.Max(p) >= highlyConfident {
		a.both++
	}
}

// mean is a sum over the points, nil where there are none.
func (a *area) mean(sum float64) *float64 {
	if a.points == 0 {
		return nil
	}
	return new(sum / float64(a.points))
}
