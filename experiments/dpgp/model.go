package dpgp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/mechanism"
	"privkern/graphs/engine"
	"privkern/graphs/op"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// model is what is fixed before any private data are seen: all of it is public.
type model struct {
	inducing    sparsegp.Inducing
	lengthscale float64
	variance    float64 // σ_f²
	// noise is σ², the variance of the observations. It is 1 where the sums carry
	// weights 1/σ_i² (Appendix D).
	noise float64
}

// mechanismNoise is what Algorithm 1 adds to the sums. The zero value adds none.
type mechanismNoise struct {
	normSquared    float64 // R_k²
	sensitivity    float64 // Δ of Eq. (6)
	sigmaA, sigmaB float64 // standard deviations; off the diagonal of B, σ_b/√2
}

// calibrate returns the noise with which the sums together are (ε, δ)-private
// where one row is substituted (Algorithm 1), for sums without weights. With
// ε = inf there is none. r bounds the outputs.
func (m *model) calibrate(epsilon, delta, r, ratio float64, bound string, spacing float64) (mechanismNoise, error) {
	kk, err := m.normSquared(bound, spacing)
	if err != nil {
		return mechanismNoise{}, err
	}
	out := mechanismNoise{normSquared: kk, sensitivity: jointSensitivity(ratio, r, kk)}
	if s := out.sensitivity; !(s > 0) || math.IsInf(s, 1) || math.IsInf(s/ratio, 1) || s/ratio == 0 {
		return mechanismNoise{}, fmt.Errorf("r_y = %g, ratio = %g and kernel_variance = %g give a sensitivity of %g: bring the outputs to a scale near one", r, ratio, m.variance, s)
	}
	if math.IsInf(epsilon, 1) {
		return out, nil
	}
	factor, err := mechanism.AnalyticGaussian(epsilon, delta)
	if err != nil {
		return mechanismNoise{}, err
	}
	out.sigmaA = factor * out.sensitivity
	out.sigmaB = out.sigmaA / ratio
	return out, nil
}

// perturb adds the noise to the sums, in place: one draw for both places beside
// the diagonal of B.
func (n mechanismNoise) perturb(s sparsegp.Sums, rng *rand.Rand) {
	for i := range s.A {
		s.A[i] += n.sigmaA * rng.NormFloat64()
	}
	for i := range s.A {
		s.B.Set(i, i, s.B.At(i, i)+n.sigmaB*rng.NormFloat64())
		for j := range i {
			v := s.B.At(i, j) + n.sigmaB/math.Sqrt2*rng.NormFloat64()
			s.B.Set(i, j, v)
			s.B.Set(j, i, v)
		}
	}
}

// ridge is λ of Eq. (10). The bound on ‖E_b‖ is for noise of one variance; the
// root of the share (d+1)/(2d) is the right factor for the smaller variance off
// the diagonal, the share itself what is printed.
func (n mechanismNoise) ridge(m *model, rho float64, regularisation string) float64 {
	d, _ := m.inducing.Z.Dims()
	size := float64(d)
	factor := (size + 1) / (2 * size)
	if regularisation == regularisationCorrected {
		factor = math.Sqrt(factor)
	}
	return n.sigmaB / m.noise * math.Sqrt(size*math.Log(2*size*size/rho)) * factor
}

// sums are the sums over the data that A and B stand for (Eq. 3), without noise.
// Outputs beyond ±r are clipped; how many were is a fact of the private data.
// Weights may be nil. Where no noise will cover their rounding, they are computed
// in float64.
func (m *model) sums(ctx context.Context, e *engine.Engine, x *mat.Dense, y, weights []float64, r float64, covered bool) (s sparsegp.Sums, clipped int, err error) {
	y = slices.Clone(y)
	for i, v := range y {
		if y[i] = max(-r, min(r, v)); y[i] != v {
			clipped++
		}
	}
	if !covered && e.DType() == "float32" {
		e.Warn("without privacy noise the sums over the data were computed in float64: the rounding of float32 may make the update indefinite")
		s, err = sparsegp.SumDouble(ctx, e, m.inducing, x, y, weights)
		return s, clipped, err
	}
	s, err = sparsegp.Sum(ctx, e, m.inducing, x, y, weights)
	return s, clipped, err
}

// released is a model that may be published: Z, the kernel, m and S. It depends on
// the data through noisy sums alone.
type released struct {
	model *model
	*sparsegp.Posterior
	noise mechanismNoise
	ridge float64 // λ
}

// update is how the posterior is made of noisy sums.
type update struct {
	rho            float64
	regularisation string
	form           sparsegp.Form
}

// infer returns the posterior from sums with that noise in them (Eq. 9). What it
// does is post-processing, an error included.
func (m *model) infer(ctx context.Context, e *engine.Engine, noisy sparsegp.Sums, noise mechanismNoise, u update) (*released, error) {
	ridge := noise.ridge(m, u.rho, u.regularisation)
	p, err := sparsegp.Infer(ctx, e, m.inducing, noisy, 1/m.noise, sparsegp.Noise{
		VarianceA: noise.sigmaA * noise.sigmaA, VarianceB: noise.sigmaB * noise.sigmaB, Ridge: ridge, Form: u.form})
	var notPD *op.NotPositiveDefiniteError
	switch {
	case errors.As(err, &notPD) && noise.sigmaB > 0:
		return nil, fmt.Errorf("the noise is larger than lambda = %.4g allows for, and the update is not positive definite (its budget is spent all the same: a second attempt spends another): use regularisation=corrected, a smaller rho, or another ratio: %w", ridge, err)
	case errors.As(err, &notPD):
		return nil, fmt.Errorf("the update is not positive definite: use fewer inducing inputs, or jitter=1e-8: %w", err)
	case err != nil:
		return nil, err
	}
	return &released{model: m, Posterior: p, noise: noise, ridge: ridge}, nil
}

// predict returns mean and variance of the function at the rows of x, with S and
// with any other covariances at the inducing inputs in its place.
func (r *released) predict(ctx context.Context, e *engine.Engine, x *mat.Dense, others ...*mat.Dense) (mean []float64, variances [][]float64, err error) {
	mean, variances, err = sparsegp.Predict(ctx, e, r.model.inducing, r.Mean, append([]*mat.Dense{r.Cov}, others...), x)
	var notPD *op.NotPositiveDefiniteError
	if errors.As(err, &notPD) {
		err = fmt.Errorf("the covariance of the inducing inputs: %w; use fewer inducing inputs, a shorter lengthscale, or jitter=1e-8", err)
	}
	return mean, variances, err
}

// problem is a trial's model, noise and engine.
type problem struct {
	t     *experiment.Trial
	e     *engine.Engine
	model *model
	noise mechanismNoise
	update
}

// newProblem opens the engine, which the caller closes.
func newProblem(t *experiment.Trial) (*problem, error) {
	if strict, _ := t.Params["strict"].(bool); strict && t.Secure && !math.IsInf(t.Params.Float("epsilon"), 1) {
		return nil, errors.New("strict = true with secure noise: whether an output is beyond r_y would be told, which is private; use strict=false, which clips")
	}
	p, m := t.Params, modelOf(t.Params)
	noise, err := m.calibrate(p.Float("epsilon"), p.Float("delta"), p.Float("r_y"), p.Float("ratio"), p.Text("bound"), spacingOf(p))
	if err != nil {
		return nil, err
	}
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	form := sparsegp.Form(p.Text("covariance"))
	if form == covarianceNaive {
		form = sparsegp.Exact
	}
	return &problem{t: t, e: e, model: m, noise: noise, update: update{p.Float("rho"), p.Text("regularisation"), form}}, nil
}

// fit is Algorithm 1 for one data set, with noise from the named stream.
func (p *problem) fit(ctx context.Context, x *mat.Dense, y []float64, stream string) (r *released, clipped int, err error) {
	bound := p.t.Params.Float("r_y")
	s, clipped, err := p.model.sums(ctx, p.e, x, y, nil, bound, p.noise.sigmaB > 0)
	if err != nil {
		return nil, 0, err
	}
	if clipped > 0 && p.t.Params.Flag("strict") {
		return nil, 0, fmt.Errorf("%d of %d outputs are beyond r_y = %g, which the noise is calibrated for; use a larger r_y, or strict=false to clip them", clipped, len(y), bound)
	}
	if p.noise.sigmaB > 0 {
		p.noise.perturb(s, p.t.Stream(stream))
	}
	r, err = p.model.infer(ctx, p.e, s, p.noise, p.update)
	return r, clipped, err
}

// modelMetrics document what every fit reports.
var modelMetrics = []experiment.Metric{
	{Name: "sensitivity", Doc: "Delta of Eq. (6), of A and ratio·B together"},
	{Name: "sigma_a", Doc: "standard deviation of the noise in every element of A; that of the diagonal of B is sigma_a/ratio"},
	{Name: "lambda", Doc: "lambda of Eq. (10)"},
	{Name: "clipped_fraction", Doc: "share of the outputs that were beyond r_y and clipped to it; left out of a record with secure noise"},
}

// metrics adds the values of modelMetrics to an experiment's own.
func (p *problem) metrics(own map[string]float64, clipped, outputs int) map[string]float64 {
	own["sensitivity"], own["sigma_a"] = p.noise.sensitivity, p.noise.sigmaA
	own["lambda"] = p.noise.ridge(p.model, p.rho, p.regularisation)
	if !p.publishes() {
		own["clipped_fraction"] = float64(clipped) / float64(outputs)
	}
	return own
}

// publishes says whether the record is to leave out what is computed from the data
// but by the mechanism.
func (p *problem) publishes() bool { return p.t.Secure && p.noise.sigmaA > 0 }

// warnings say what is computed but suspect: here, where more than a tenth of the
// outputs was clipped.
func (p *problem) warnings(clipped, outputs int) []string {
	out := p.e.Warnings()
	if 10*clipped > outputs && !p.publishes() {
		out = append(out, fmt.Sprintf("computed but suspect: %d of %d outputs were beyond r_y = %s and were clipped to it", clipped, outputs, experiment.FormatNumber(p.t.Params.Float("r_y"))))
	}
	return out
}
