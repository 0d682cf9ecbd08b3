package bayesopt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"privkern/graphs/engine"
	"privkern/graphs/gp"
	"privkern/graphs/kernel"
	"privkern/graphs/linalg"
)

// process is a Gaussian process with mean m, conditioned on values at points.
type process struct {
	gp.Hyperparameters
	features [][]float64
	values   []float64
	factor   mat.Cholesky  // of the covariance of the values
	weights  *mat.VecDense // K⁻¹(y − m)
}

// prior is a normal law of the logarithm of a hyper-parameter.
type prior struct{ mean, deviation float64 }

// priors are those of lengthscales, variance and noise, for d features in [0, 1] and values of variance one. The
// lengthscale grows with √d as distances do (Hvarfner, Hellsten and Nardi, "Vanilla Bayesian optimization performs
// great in high dimensions", ICML 2024).
func priors(d int) []prior {
	var out []prior
	for range d {
		out = append(out, prior{math.Log(0.4 * math.Sqrt(float64(d))), 1})
	}
	return append(out, prior{0, 1}, prior{math.Log(1e-4), 2})
}

// leastNoise bounds the variance of the noise from below, so that covariances stay definite.
const leastNoise = 1e-7

// fit returns the process whose hyper-parameters are the most probable, given values at features.
func fit(ctx context.Context, e *engine.Engine, features [][]float64, values []float64) (*process, error) {
	p := &process{features: features, values: values}
	o := &objective{engine: e, y: values, priors: priors(len(features[0]))}
	o.x = mat.NewDense(len(features), len(features[0]), nil)
	for i, row := range features {
		o.x.SetRow(i, row)
	}
	best := math.Inf(1)
	for _, start := range []struct{ lengthscale, noise float64 }{{0, 0}, {-1, 2}, {0.5, 4}} {
		theta := make([]float64, len(o.priors)+1)
		for i, q := range o.priors {
			theta[i] = q.mean
			if i < len(features[0]) {
				theta[i] += start.lengthscale
			}
		}
		theta[len(o.priors)-1] += start.noise
		r, err := o.minimise(ctx, theta)
		if err != nil {
			return nil, err
		}
		if r != nil && r.F < best {
			best, p.Hyperparameters = r.F, o.hyperparameters(r.X)
		}
	}
	if math.IsInf(best, 1) {
		return nil, errors.New("choice by Gaussian processes: no Gaussian process has a likelihood for these values")
	}
	return p, p.condition()
}

// objective is the negative logarithm of likelihood times priors. Its variables are the logarithms of lengthscales,
// variance and noise, the latter above leastNoise, and the mean.
type objective struct {
	engine   *engine.Engine
	x        *mat.Dense
	y        []float64
	priors   []prior
	last     []float64
	value    float64
	gradient []float64
	err      error
}

// hyperparameters returns those of theta.
func (o *objective) hyperparameters(theta []float64) gp.Hyperparameters {
	_, d := o.x.Dims()
	h := gp.Hyperparameters{Variance: math.Exp(theta[d]), Noise: leastNoise + math.Exp(theta[d+1]), Mean: theta[d+2]}
	for _, v := range theta[:d] {
		h.Lengthscales = append(h.Lengthscales, math.Exp(v))
	}
	return h
}

// evaluate computes value and gradient at theta. A covariance that is not positive definite in floating point has
// likelihood zero.
func (o *objective) evaluate(ctx context.Context, theta []float64) {
	if o.err != nil || slices.Equal(o.last, theta) {
		return
	}
	o.last = append(o.last[:0], theta...)
	o.value, o.gradient = math.Inf(1), make([]float64, len(theta))
	for i, q := range o.priors {
		if math.Abs(theta[i]-q.mean) > 10*q.deviation { // where exponentials may overflow
			return
		}
	}
	h := o.hyperparameters(theta)
	value, gradient, err := gp.Evaluate(ctx, o.engine, o.x, o.y, kernel.Matern(2.5, 1, 1), h)
	if _, ok := errors.AsType[*linalg.NotPositiveDefiniteError](err); ok {
		return
	}
	if err != nil {
		o.err = fmt.Errorf("choice by Gaussian processes: %w", err)
		return
	}
	gradient[len(o.priors)-1] *= (h.Noise - leastNoise) / h.Noise
	o.value = -value
	for i := range gradient {
		o.gradient[i] = -gradient[i]
	}
	for i, q := range o.priors {
		z := (theta[i] - q.mean) / q.deviation
		o.value += z * z / 2
		o.gradient[i] += z / q.deviation
	}
}

// minimise searches from theta, and returns nil where it finds nothing.
func (o *objective) minimise(ctx context.Context, theta []float64) (*optimize.Result, error) {
	r, err := optimize.Minimize(optimize.Problem{
		Func: func(u []float64) float64 { o.evaluate(ctx, u); return o.value },
		Grad: func(to, u []float64) { o.evaluate(ctx, u); copy(to, o.gradient) },
		Status: func() (optimize.Status, error) {
			if o.err != nil {
				return optimize.Failure, o.err
			}
			return optimize.NotTerminated, nil
		},
	}, theta, &optimize.Settings{
		GradientThreshold: 1e-4, MajorIterations: 100,
		Converger: &optimize.FunctionConverge{Absolute: 1e-6, Iterations: 5},
	}, &optimize.LBFGS{})
	if o.err != nil {
		return nil, o.err
	}
	if r == nil || math.IsNaN(r.F) || err != nil && math.IsInf(r.F, 0) {
		return nil, nil
	}
	return r, nil // a line search that ends early has found a point as well
}

// covariance returns σ²k at two points, with the Matérn kernel of ν = 5/2: (1 + r + r²/3)exp(−r), r = √5|x − x'|/ℓ.
func (p *process) covariance(a, b []float64) float64 {
	s := 0.0
	for k, l := range p.Lengthscales {
		v := (a[k] - b[k]) / l
		s += v * v
	}
	r := math.Sqrt(5 * s)
	return p.Variance * (1 + r + r*r/3) * math.Exp(-r)
}

// condition computes the factor and the weights.
func (p *process) condition() error {
	n := len(p.values)
	cov, residual := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			cov.SetSym(i, j, p.covariance(p.features[i], p.features[j]))
		}
		cov.SetSym(i, i, cov.At(i, i)+p.Noise)
		residual.SetVec(i, p.values[i]-p.Mean)
	}
	if !p.factor.Factorize(cov) {
		return errors.New("choice by Gaussian processes: the covariance of the values is not positive definite")
	}
	p.weights = mat.NewVecDense(n, nil)
	return p.factor.SolveVecTo(p.weights, residual)
}

// add conditions the process on one more value.
func (p *process) add(x []float64, value float64) error {
	p.features, p.values = append(slices.Clip(p.features), x), append(slices.Clip(p.values), value)
	return p.condition()
}

// at returns mean and standard deviation of the process at a point.
func (p *process) at(x []float64) (mean, deviation float64) {
	k := mat.NewVecDense(len(p.values), nil)
	for i, f := range p.features {
		k.SetVec(i, p.covariance(x, f))
	}
	var solved mat.VecDense
	if err := p.factor.SolveVecTo(&solved, k); err != nil {
		return p.Mean, math.Sqrt(p.Variance) // the condition is bounded by the noise
	}
	variance := p.Variance - mat.Dot(k, &solved)
	return p.Mean + mat.Dot(k, p.weights), math.Sqrt(max(variance, 1e-12*p.Variance))
}

// least is the smallest mean of the process at the points whose values are known.
func (p *process) least() float64 {
	least := math.Inf(1)
	for _, x := range p.features {
		mean, _ := p.at(x)
		least = min(least, mean)
	}
	return least
}
