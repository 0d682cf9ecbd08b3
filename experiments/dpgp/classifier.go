package dpgp

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/graphs/engine"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// classifier is a trial of dpgp/classification but for the data.
type classifier struct {
	*sparse.Problem
	settings *ClassificationSettings
	labels   dirichlet
	total    mechanism.Guarantee // of all classes together
}

// newClassifier is of simulated data.
func newClassifier(t *experiment.Trial, s *ClassificationSettings) (*classifier, error) {
	m := s.model()
	kk, err := m.NormSquared(s.Bound, s.AssumedSpacing())
	if err != nil {
		return nil, err
	}
	return calibrateClassifier(t, s, m, kk, 1)
}

// calibrateClassifier calibrates the noise for a model whose kernel vectors have squared
// norms up to kk, and for a protected unit of unit rows: the sensitivity of a row counts once for
// each of them ([sparse.Model.Calibrate]).
func calibrateClassifier(
	t *experiment.Trial, s *ClassificationSettings, m *sparse.Model, kk float64, unit int,
) (*classifier, error) {
	c := &classifier{settings: s}
	each, sensitivity := c.share(kk)
	c.labels = newDirichlet(s.Alpha, s.Centre, sensitivity)
	noise := sparse.Noise{NormSquared: kk, Sensitivity: float64(unit) * sensitivity(c.labels)}
	if !s.Noiseless() {
		factor, err := mechanism.AnalyticGaussian(each.Epsilon, each.Delta)
		if err != nil {
			return nil, err
		}
		noise.SigmaA = factor * noise.Sensitivity
		noise.SigmaB = noise.SigmaA / s.Ratio
	}
	c.Problem = &sparse.Problem{Trial: t, Engine: engine.Of(t.Engine), Model: m, Noise: noise, Update: s.Update()}
	return c, nil
}

// share returns the budget of the sums that are one query, with their sensitivity, and
// sets the total of all classes.
func (c *classifier) share(kk float64) (each mechanism.Guarantee, sensitivity func(dirichlet) float64) {
	s := c.settings
	each = mechanism.Guarantee{Epsilon: s.Epsilon, Delta: s.Delta}
	c.total = each
	classes, of := float64(s.Classes), substituted
	if s.Neighbours.Neighbours == method.AddRemove {
		of = added
	}
	switch s.Composition {
	case jointly:
		return each, func(d dirichlet) float64 { return of.joint(d, s.Classes, s.Ratio, kk) }
	case equalShares:
		each = mechanism.Guarantee{Epsilon: each.Epsilon / classes, Delta: each.Delta / classes}
		return each, func(d dirichlet) float64 { return of.class(d, s.Ratio, kk) }
	}
	c.total = mechanism.Guarantee{Epsilon: classes * each.Epsilon, Delta: classes * each.Delta}
	return each, func(d dirichlet) float64 { return of.published(d, s.Ratio, kk) }
}

// classSums are the sums of the regression for one class.
func (c *classifier) classSums(ctx context.Context, x *mat.Dense, labels []int, class int) (sparsegp.Sums, error) {
	y, w := make([]float64, len(labels)), make([]float64, len(labels))
	for i, l := range labels {
		is := 0
		if l == class {
			is = 1
		}
		y[i], w[i] = c.labels.y[is], c.labels.w[is]
	}
	// In float64 also for float32: the fit without noise has nothing to cover
	// rounding with.
	return sparsegp.SumDouble(ctx, c.Engine, c.Model.Inducing, x, y, w)
}

// probabilities are those with which the classes are drawn at x.
func probabilities(x float64, classes int) []float64 {
	out, sum := make([]float64, classes), 0.0
	for c := range out {
		out[c] = math.Exp(4 * math.Cos(math.Pi*x/4-2*math.Pi*float64(c)/float64(classes)))
		sum += out[c]
	}
	for c := range out {
		out[c] /= sum
	}
	return out
}

func drawClass(p []float64, rng *rand.Rand) int {
	u := rng.Float64()
	for c, v := range p {
		if u -= v; u < 0 {
			return c
		}
	}
	return len(p) - 1
}

// labelSet is simulated inputs with their classes; the first half is for training.
type labelSet struct {
	x            *mat.Dense // n×1
	labels       []int
	half         int
	best, chance float64 // shares of the test rows that guessing with the truth, or the largest class, gets right
}

func (c *classifier) simulate(repeat int) labelSet {
	n, classes := c.settings.N, c.settings.Classes
	d := labelSet{x: sparse.UniformInputs(n, c.Stream("inputs", repeat)), labels: make([]int, n), half: n / 2}
	rng := c.Stream("labels", repeat)
	counts := make([]int, classes)
	for i := range d.labels {
		p := probabilities(d.x.At(i, 0), classes)
		if d.labels[i] = drawClass(p, rng); i >= d.half {
			d.best += slices.Max(p) / float64(n-d.half)
			counts[d.labels[i]]++
		}
	}
	d.chance = float64(slices.Max(counts)) / float64(n-d.half)
	return d
}

// accuracy holds the results of one data set.
type accuracy struct {
	noisy, exact, best, chance float64
	withoutNoise               error             // why there is no exact
	series                     experiment.Series // of the first
}

// largest is the index of the class with the largest mean at every point.
func largest(means [][]float64) []int {
	out := make([]int, len(means[0]))
	for i := range out {
		for c := range means {
			if means[c][i] > means[out[i]][i] {
				out[i] = c
			}
		}
	}
	return out
}

func rightShare(got, want []int) float64 {
	right := 0
	for i := range got {
		if got[i] == want[i] {
			right++
		}
	}
	return float64(right) / float64(len(got))
}

func (c *classifier) classifyOnce(ctx context.Context, repeat int) (out accuracy, err error) {
	d := c.simulate(repeat)
	out.best, out.chance = d.best, d.chance
	train, test := d.x.Slice(0, d.half, 0, 1).(*mat.Dense), d.x.Slice(d.half, len(d.labels), 0, 1).(*mat.Dense)
	at, err := sparsegp.Project(ctx, c.Engine, c.Model.Inducing, test)
	if err != nil {
		return out, err
	}
	noise, grid := c.Stream("mechanism", repeat), sparse.Grid(sparse.InputsLow, sparse.InputsHigh)
	if repeat == 0 {
		out.series = experiment.Series{"x": mat.Col(nil, 0, grid)}
	}
	var noisy, exact [][]float64
	for class := range c.settings.Classes {
		s, err := c.classSums(ctx, train, d.labels[:d.half], class)
		if err != nil {
			return out, err
		}
		p, mean, err := c.fitClass(ctx, at, c.Noise.NoisyCopy(s, noise), c.Noise)
		if err != nil {
			return out, fmt.Errorf("class %d: %w", class, err)
		}
		noisy = append(noisy, mean)
		if repeat == 0 {
			column := fmt.Sprintf("mean_%d", class)
			if out.series[column], _, err = p.Predict(ctx, c.Engine, grid); err != nil {
				return out, err
			}
		}
		if c.Publishes() {
			continue // whether a fit without noise succeeds would disclose something of the data
		}
		// The classifier without noise has no λ, and may fail where the private one does not.
		if _, mean, err = c.fitClass(ctx, at, s, sparse.Noise{}); err != nil {
			out.withoutNoise = err
			continue
		}
		exact = append(exact, mean)
	}
	out.noisy = rightShare(largest(noisy), d.labels[d.half:])
	if len(exact) == c.settings.Classes {
		out.exact = rightShare(largest(exact), d.labels[d.half:])
	}
	return out, nil
}

// fitClass returns the model of one class from sums with that noise in them, and
// its means at the test inputs.
func (c *classifier) fitClass(
	ctx context.Context, at *sparsegp.Projection, s sparsegp.Sums, noise sparse.Noise,
) (*sparse.Posterior, []float64, error) {
	p, err := c.Model.Infer(ctx, c.Engine, s, noise, c.Update)
	if err != nil {
		return nil, nil, err
	}
	mean, _, err := at.Predict(ctx, c.Engine, p.Mean, p.Cov)
	return p, mean, err
}
