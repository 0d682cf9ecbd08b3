package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/mechanism"
	"privkern/graphs/engine"
	"privkern/graphs/op"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// CoinPress as Section 4.1 has it.
const (
	coinPressSteps = 12
	coinPressLast  = 0.75
)

// candidate is one pair of hyperparameters with the noise of its draws.
type candidate struct {
	model  *sparse.Model
	length int // index of its lengthscale
	noise  sparse.Noise
	// score is how the private mean of log-likelihoods is taken; its interval is
	// Eqs. (32) and (33).
	score mechanism.CoinPress
}

// search is Algorithm 2 but for the data.
type search struct {
	*sparse.Problem
	settings   *hyperparameterSettings
	candidates []candidate
	budget     mechanism.SelectionBudget
}

func newSearch(t *experiment.Trial, s *hyperparameterSettings) (_ *search, err error) {
	out := &search{settings: s}
	each := mechanism.Guarantee{Epsilon: math.Inf(1)}
	var steps []mechanism.ZCDP
	if !s.Noiseless() {
		if out.budget, err = mechanism.NewSelectionBudget(s.Epsilon, s.Delta, s.Gamma); err != nil {
			return nil, err
		}
		each = out.budget.Candidate
		rho, err := mechanism.ClassicZCDPFor(each.Epsilon, each.Delta)
		if err != nil {
			return nil, err
		}
		if steps, err = mechanism.SplitZCDP(rho, coinPressSteps, coinPressLast); err != nil {
			return nil, err
		}
	}
	calibration := s.calibration(each, s.Bound)
	for _, sigma := range s.Sigmas {
		for i, l := range s.Lengthscales {
			c := candidate{model: s.model(sigma, l), length: i}
			if c.noise, err = c.model.Calibrate(calibration); err != nil {
				return nil, err
			}
			radius := s.OutputBound * s.OutputBound / (sigma * sigma)
			c.score = mechanism.CoinPress{Radius: radius, Steps: steps, Intervals: s.CoinPress}
			c.score.Centre = -math.Log(2*math.Pi)/2 - math.Log(sigma) - radius
			out.candidates = append(out.candidates, c)
		}
	}
	first := out.candidates[0]
	out.Problem = &sparse.Problem{
		Trial: t, Engine: engine.Of(t.Engine), Model: first.model, Noise: first.noise, Update: s.Update(),
	}
	return out, nil
}

// sample is the data of one repeat, with the parts that no noise changes, by lengthscale.
type sample struct {
	search     *search
	x          *mat.Dense // for training
	y          []float64
	validation *mat.Dense
	truth      []float64
	parts      map[int]*lengthPart
}

// lengthPart holds the noise-free part for one lengthscale.
type lengthPart struct {
	sums sparsegp.Sums
	at   *sparsegp.Projection // at the validation inputs
}

// fill computes the noise-free parts of samples for all candidates, those of a lengthscale in common runs.
//
// Failures and warnings depend on public inputs; parts of the lengthscales that are drawn alone would disclose which
// ones were.
func (s *search) fill(ctx context.Context, all []*sample) error {
	x, y, validation := make([]*mat.Dense, len(all)), make([][]float64, len(all)), make([]*mat.Dense, len(all))
	for i, d := range all {
		x[i], y[i], validation[i] = d.x, d.y, d.validation
	}
	for _, c := range s.candidates {
		if all[0].parts[c.length] != nil {
			continue
		}
		double := c.noise.SigmaB == 0 // nothing covers the rounding of float32
		sums, err := sparsegp.SumAll(ctx, s.Engine, c.model.Inducing, x, y, double)
		if err != nil {
			return err
		}
		at, err := sparsegp.ProjectAll(ctx, s.Engine, c.model.Inducing, validation)
		if _, ok := errors.AsType[*op.NotPositiveDefiniteError](err); ok {
			return fmt.Errorf("lengthscale %s: the covariance of the inducing inputs: %w; use fewer inducing inputs, "+
				"shorter lengthscales, or more jitter", experiment.FormatNumber(c.model.Lengthscale), err)
		}
		if err != nil {
			return err
		}
		for i, d := range all {
			d.parts[c.length] = &lengthPart{sums[i], at[i]}
		}
	}
	return nil
}

// draw trains a candidate's model without noise, and returns the log-likelihoods of the validation set.
func (d *sample) draw(ctx context.Context, c candidate) ([]float64, error) {
	k := d.parts[c.length]
	p, err := c.model.Infer(ctx, d.search.Engine, k.sums, c.noise, d.search.Update)
	if err != nil {
		return nil, err
	}
	mean, variance, err := k.at.Predict(ctx, d.search.Engine, p.Mean, p.Cov)
	if err != nil {
		return nil, err
	}
	return d.likelihoods(c, mean, variance), nil
}

// likelihoods returns the log-likelihoods of the validation set (Eq. 18) for predictions of a candidate's model. It
// overwrites variance.
func (d *sample) likelihoods(c candidate, mean, variance []float64) []float64 {
	for i, v := range variance {
		v += c.model.Noise
		miss := d.truth[i] - mean[i]
		variance[i] = -(math.Log(2*math.Pi*v) + miss*miss/v) / 2
	}
	return variance
}

// choice is the result of one repeat.
type choice struct {
	mechanism.Selected[struct{}]
	indefinite int // draws without a model; as secret as their number
	outside    int // draws whose mean log-likelihood is beyond the interval; likewise
}

// simulate makes the data of one repeat.
func (s *search) simulate(repeat int) *sample {
	n, half := s.settings.N, s.settings.N/2
	x := sparse.UniformInputs(n, s.Stream("inputs", repeat))
	y := sparse.Observe(sparse.Values(sparse.Sinc, x), s.settings.Sigma, s.Stream("observation noise", repeat))
	bound := s.settings.OutputBound
	for i, v := range y[:half] {
		y[i] = max(-bound, min(bound, v))
	}
	return &sample{search: s, parts: map[int]*lengthPart{},
		x: x.Slice(0, half, 0, 1).(*mat.Dense), y: y[:half],
		validation: x.Slice(half, n, 0, 1).(*mat.Dense), truth: y[half:]}
}

// best scores every candidate once, without noise.
func (d *sample) best(ctx context.Context) (choice, error) {
	var out choice
	for i, c := range d.search.candidates {
		likelihoods, err := d.draw(ctx, c)
		if err != nil {
			return out, err
		}
		sum := 0.0
		for _, v := range likelihoods {
			sum += max(c.score.Centre-c.score.Radius, min(c.score.Centre+c.score.Radius, v))
		}
		if out.Draws++; !out.Found || sum > out.Value {
			out.Found, out.Candidate, out.Value = true, i, sum
		}
	}
	return out, nil
}
