package cloaking

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/runner/experiment"
)

// stripesGrid is the side of the grid of test inputs 0, …, 9 (Section 5.5).
const stripesGrid = 10

// Metrics that all classifications share.
var (
	accuracyMetric   = experiment.Metric{Name: "accuracy", Doc: "share of the test inputs whose class is predicted rightly, averaged over draws"}
	accuracySDMetric = experiment.Metric{Name: "accuracy_sd", Doc: "standard deviation (population) of the accuracy over draws (with noise only)"}
	accuracySEMetric = experiment.Metric{Name: "accuracy_se", Doc: "standard error of the mean accuracy over draws (with noise only)"}
	stepsMetric      = experiment.Metric{Name: "newton_steps", Doc: "Newton steps of the Laplace approximation that were taken: " +
		"with noise, and where iterations is given, results are those after so many"}
	fitRankMetric = experiment.Metric{Name: "rank", Doc: "number of released directions, the smallest over the Newton steps (with noise only)"}
	fitGapMetric  = experiment.Metric{Name: "gap", Doc: "largest certificate over the Newton steps: " + gapMeaning + " (with noise only)"}
)

func stripes() *experiment.Experiment {
	return &experiment.Experiment{
		Name:    "cloaking/stripes",
		Version: 2,
		Summary: "two classes in noisy diagonal stripes, classified with differential privacy",
		Source:  "Smith, Álvarez and Lawrence 2019, Section 5.5, Fig. 4",
		Params: classificationParams(3.5, "", 25,
			count("points", 200, 2, maxPoints, "training points"),
			positive("stripe_width", 5.0, "", "the class changes where x + y + ½ is a multiple of it"),
			experiment.Param{Name: "jitter", Kind: experiment.Number, Default: 0.5, Min: experiment.Bound(0), Doc: "standard deviation of what is added to x + y before the class is read off: noise at the edges of the stripes"},
			experiment.Param{Name: "gradient", Kind: experiment.Number, Default: 0.9, Min: experiment.Bound(0), Max: experiment.Bound(1), Doc: "by how much of its value at the bottom the concentration of points falls towards the top, linearly"},
		),
		Metrics: []experiment.Metric{accuracyMetric, accuracySDMetric, accuracySEMetric, stepsMetric, fitRankMetric, fitGapMetric},
		Check:   func(p experiment.Params) error { return checkClassification(p, p.Int("points")) },
		Memory:  func(p experiment.Params) int64 { return laplaceMemory(p, p.Int("points")) },
		Run:     runStripes,
	}
}

func runStripes(ctx context.Context, t *experiment.Trial) (result *experiment.Result, err error) {
	c, err := newClassifier(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.e.Close()) }()
	train, labels, err := simulateStripes(t.Params, t.Stream("training data"))
	if err != nil {
		return nil, err
	}
	test, truth := stripesTest(t.Params.Float("stripe_width"))
	fit, err := c.predict(ctx, train, labels, test, "")
	if err != nil {
		return nil, err
	}
	grid := experiment.Series{"x": mat.Col(nil, 0, test), "y": mat.Col(nil, 1, test), "label": truth}
	for j, p := range columns(fit.probabilities(t.Params)) {
		grid[drawColumn(j)] = p
	}
	training := experiment.Series{"x": mat.Col(nil, 0, train), "y": mat.Col(nil, 1, train)}
	if !c.publishes() {
		training["label"] = labels
	}
	return &experiment.Result{
		Metrics:  c.accuracyMetrics(fit, truth),
		Series:   map[string]experiment.Series{"grid": grid, "training": training},
		Privacy:  c.privacy("the class of a simulated point"),
		Warnings: c.warnings(fit),
	}, nil
}

// drawColumn names the column of a series that holds one draw.
func drawColumn(draw int) string { return fmt.Sprintf("draw_%d", draw) }

// accuracyMetrics are the metrics of one fit on test inputs with these classes.
func (c *classifier) accuracyMetrics(fit *latent, truth []float64) map[string]float64 {
	each := accuracies(fit.mean, truth)
	mean, variance := stat.PopMeanVariance(each, nil)
	metrics := map[string]float64{accuracyMetric.Name: mean, stepsMetric.Name: float64(fit.steps)}
	if c.scale > 0 {
		rank, gap := fit.rank()
		sd := math.Sqrt(max(0, variance))
		metrics[accuracySDMetric.Name], metrics[accuracySEMetric.Name] = sd, sd/math.Sqrt(float64(c.draws))
		metrics[fitRankMetric.Name], metrics[fitGapMetric.Name] = float64(rank), gap
	}
	return metrics
}

// accuracies returns, for each draw, the share of the test inputs where the
// latent mean (P×D) has the sign of the class. A mean of zero is the negative
// class.
func accuracies(mean *mat.Dense, truth []float64) []float64 {
	points, draws := mean.Dims()
	out := make([]float64, draws)
	for i := range points {
		for j, v := range mean.RawRowView(i) {
			if (v > 0) == (truth[i] > 0) {
				out[j]++
			}
		}
	}
	for j := range out {
		out[j] /= float64(points)
	}
	return out
}

// stripeClass is the class (±1) at x + y.
func stripeClass(sum, width float64) float64 {
	if math.Mod(math.Floor((sum+0.5)/width), 2) == 0 {
		return 1
	}
	return -1
}

// simulateStripes draws training points on [−½, 9½]² and their classes. The
// paper does not say how its points were simulated.
func simulateStripes(p experiment.Params, rng *rand.Rand) (inputs *mat.Dense, labels []float64, err error) {
	n := p.Int("points")
	inputs, labels = mat.NewDense(n, 2, nil), make([]float64, n)
	positive := 0
	for i := range n {
		var x, y float64
		for {
			x, y = rng.Float64()*stripesGrid, rng.Float64()*stripesGrid
			if rng.Float64() >= p.Float("gradient")*y/stripesGrid {
				break
			}
		}
		x, y = x-0.5, y-0.5
		inputs.SetRow(i, []float64{x, y})
		labels[i] = stripeClass(x+y+p.Float("jitter")*rng.NormFloat64(), p.Float("stripe_width"))
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
