package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

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

// sample is the data of one repeat, with the parts that no noise changes, by lengthscale, computed
// at the first use.
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

// of returns the noise-free part for a candidate.
func (d *sample) of(ctx context.Context, c candidate) (*lengthPart, error) {
	if k := d.parts[c.length]; k != nil {
		return k, nil
	}
	sum := sparsegp.Sum
	if c.noise.SigmaB == 0 {
		sum = sparsegp.SumDouble // nothing covers the rounding of float32
	}
	s, err := sum(ctx, d.search.Engine, c.model.Inducing, d.x, d.y, nil)
	if err != nil {
		return nil, err
	}
	at, err := sparsegp.Project(ctx, d.search.Engine, c.model.Inducing, d.validation)
	var notPD *op.NotPositiveDefiniteError
	if errors.As(err, &notPD) {
		return nil, fmt.Errorf("lengthscale %s: the covariance of the inducing inputs: %w; use fewer inducing inputs, "+
			"shorter lengthscales, or more jitter", experiment.FormatNumber(c.model.Lengthscale), err)
	}
	if err != nil {
		return nil, err
	}
	d.parts[c.length] = &lengthPart{s, at}
	return d.parts[c.length], nil
}

// draw trains a candidate's model, with noise from rng, and returns the
// log-likelihoods of the validation set (Eq. 18). There are none where the noise
// is beyond λ: the noisy sums alone decide that.
func (d *sample) draw(ctx context.Context, c candidate, rng *rand.Rand) (*sparse.Posterior, []float64, error) {
	k, err := d.of(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	p, err := c.model.Infer(ctx, d.search.Engine, c.noise.NoisyCopy(k.sums, rng), c.noise, d.search.Update)
	var notPD *op.NotPositiveDefiniteError
	if errors.As(err, &notPD) && c.noise.SigmaB > 0 {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	mean, variance, err := k.at.Predict(ctx, d.search.Engine, p.Mean, p.Cov)
	var negative *sparsegp.VarianceError
	if errors.As(err, &negative) && c.noise.SigmaB > 0 {
		return nil, nil, nil // at a validation row, which is private
	}
	if err != nil {
		return nil, nil, err
	}
	out := make([]float64, len(mean))
	for i, v := range variance {
		v += c.model.Noise
		miss := d.truth[i] - mean[i]
		out[i] = -(math.Log(2*math.Pi*v) + miss*miss/v) / 2
	}
	return p, out, nil
}

// choice is the result of one repeat.
type choice struct {
	mechanism.Selected[*sparse.Posterior]
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

func (s *search) searchOnce(ctx context.Context, repeat int) (choice, error) {
	d := s.simulate(repeat)
	// Failures and warnings depend on public inputs; checking only the lengthscales that are drawn
	// would disclose which ones were.
	for _, c := range s.candidates {
		if _, err := d.of(ctx, c); err != nil {
			return choice{}, err
		}
	}
	if s.settings.Noiseless() {
		return d.best(ctx)
	}
	var out choice
	rows := len(d.truth)
	selected, err := mechanism.Select(s.budget, len(s.candidates), s.settings.Rule,
		func(i int, rng *rand.Rand) (*sparse.Posterior, mechanism.Score, error) {
			if err := ctx.Err(); err != nil {
				return nil, mechanism.Score{}, err
			}
			c := s.candidates[i]
			score := mechanism.Score{Value: math.NaN(), Count: rows, Centre: c.score.Centre, Radius: c.score.Radius}
			p, likelihoods, err := d.draw(ctx, c, rng)
			if err != nil {
				return nil, score, err
			}
			if p == nil {
				out.indefinite++ // NaN is never taken
				return nil, score, nil
			}
			mean, err := c.score.Mean(likelihoods, rng)
			if math.Abs(mean-c.score.Centre) > c.score.Radius {
				out.outside++
			}
			score.Value = float64(rows) * mean
			return p, score, err
		}, s.Stream("mechanism", repeat))
	out.Selected = selected
	return out, err
}

// best scores every candidate once, without noise.
func (d *sample) best(ctx context.Context) (choice, error) {
	var out choice
	for i, c := range d.search.candidates {
		p, likelihoods, err := d.draw(ctx, c, nil)
		if err != nil {
			return out, err
		}
		sum := 0.0
		for _, v := range likelihoods {
			sum += max(c.score.Centre-c.score.Radius, min(c.score.Centre+c.score.Radius, v))
		}
		if out.Draws++; !out.Found || sum > out.Value {
			out.Found, out.Candidate, out.Model, out.Value = true, i, p, sum
		}
	}
	return out, nil
}
