// Package gp estimates the hyper-parameters of Gaussian processes by maximum likelihood, on a
// graph program that gorgonia differentiates.
//
// The observations are y_i = m + f(x_i) + ε_i, with a process f of covariance σ²k(x/ℓ, x'/ℓ), one
// lengthscale ℓ for each input or one for all, and noise of variance ν. With K = σ²k(X/ℓ) + νI
// and r = y − m the objective is (Rasmussen and Williams 2006, Eq. 5.8)
//
//	−log p(y|X) = ½ rᵀK⁻¹r + ½ log|K| + (n/2) log 2π,
//
// and its derivatives are (Eq. 5.9), with α = K⁻¹r,
//
//	∂/∂θ_j = ½ tr(K⁻¹ ∂K/∂θ_j) − ½ αᵀ (∂K/∂θ_j) α,  ∂/∂m = −1ᵀα.
//
// It has several minima in general. [Maximise] starts from several points, which depend on the
// data only through their scales, and follows the best of them to its end. Above 800 rows the starts are followed on a
// sample of the rows, and the maxima of the sample, with its curvature there, on all rows. An evaluation takes about n³
// operations and a few n×n matrices, in float64 on every engine.
//
// Hyper-parameters estimated from private data are private as well: this package gives no guarantee.
package gp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/graphs/engine"
	"privkern/graphs/internal/finite"
	"privkern/graphs/kernel"
)

// Options control a fit.
type Options struct {
	// Kernel is k, a kernel that depends on a distance, with unit parameters: kernel.EQ(1, 1) or
	// kernel.Matern(ν, 1, 1). Other parameters multiply the estimates.
	Kernel kernel.Kernel
	// Isotropic estimates one lengthscale for all inputs instead of one for each.
	Isotropic bool
	// Mean estimates a constant mean m instead of zero.
	Mean bool
	// Iterations bounds the steps from each start; 0 stands for DefaultIterations.
	Iterations int
	// Progress reports every evaluation on all rows, with the number that a search takes as a rule. It may be nil.
	Progress func(done, expected int)
}

// expected is the number of evaluations that a search of d variables takes as a rule.
func (o Options) expected(sampled bool, d int) int {
	if sampled {
		return 5 + 3*d
	}
	return 60 + 6*d
}

// DefaultIterations suffices for a dozen hyper-parameters.
const DefaultIterations = 200

// Hyperparameters holds the hyper-parameters of a Gaussian process with noise, in the units of
// the data.
type Hyperparameters struct {
	Lengthscales []float64 // ℓ, one for each input, or one for all
	Variance     float64   // σ², of the process
	Noise        float64   // ν, of the noise
	Mean         float64   // m
}

// Fit is a maximum of the likelihood.
type Fit struct {
	Hyperparameters
	// LogLikelihood is log p(y|X), a natural logarithm.
	LogLikelihood float64
	// Evaluations is the number of values with gradients, from all starts.
	Evaluations int
	// Converged is set if the gradient at the end of the best start is nearly zero. Otherwise the
	// engine has a warning.
	Converged bool
}

// Maximise fits a Gaussian process to the inputs x (n×d) and the outputs y (n). It returns an
// error for invalid data, an error of the engine, and a likelihood that cannot be computed at any
// start. The engine gets a warning for a search that stops short, a hyper-parameter at its bound,
// and a covariance that is too ill-conditioned.
func Maximise(ctx context.Context, e *engine.Engine, x *mat.Dense, y []float64, o Options) (*Fit, error) {
	p, err := newProblem(e, x, y, o)
	if err != nil {
		return nil, fmt.Errorf("maximum likelihood of a Gaussian process: %w", err)
	}
	return p.maximise(ctx)
}

// Evaluate returns log p(y|X) and its derivatives with respect to the logarithms of lengthscales,
// variance and noise, and to the mean, in this order.
func Evaluate(ctx context.Context, e *engine.Engine, x *mat.Dense, y []float64, k kernel.Kernel,
	h Hyperparameters) (value float64, gradient []float64, err error) {
	o := Options{Kernel: k, Isotropic: len(h.Lengthscales) == 1}
	if err := check(x, y, o); err != nil {
		return 0, nil, fmt.Errorf("likelihood of a Gaussian process: %w", err)
	}
	if _, d := x.Dims(); len(h.Lengthscales) != 1 && len(h.Lengthscales) != d {
		return 0, nil, fmt.Errorf("likelihood of a Gaussian process: %d lengthscales for %d inputs: one for each, or one "+
			"for all, is needed", len(h.Lengthscales), d)
	}
	if math.IsNaN(h.Mean) || math.IsInf(h.Mean, 0) {
		return 0, nil, fmt.Errorf("likelihood of a Gaussian process: the mean is %g; it must be finite", h.Mean)
	}
	theta := make([]float64, 0, len(h.Lengthscales)+3)
	for _, v := range append(h.Lengthscales[:len(h.Lengthscales):len(h.Lengthscales)], h.Variance, h.Noise) {
		if !(v > 0) || math.IsInf(v, 1) {
			return 0, nil, fmt.Errorf("likelihood of a Gaussian process: a hyper-parameter is %g; it must be positive", v)
		}
		theta = append(theta, math.Log(v))
	}
	l := newLikelihood(e, x, y, o)
	value, gradient, err = l.at(ctx, append(theta, h.Mean))
	for i := range gradient {
		gradient[i] = -gradient[i]
	}
	return -value, gradient, err
}

// check returns an error for data and options without a likelihood.
func check(x *mat.Dense, y []float64, o Options) error {
	if x == nil || x.IsEmpty() {
		return errors.New("there are no inputs")
	}
	n, _ := x.Dims()
	if len(y) != n {
		return fmt.Errorf("%d outputs for %d inputs", len(y), n)
	}
	if err := finite.Matrix("the matrix of inputs", x); err != nil {
		return err
	}
	if err := finite.Matrix("the vector of outputs", mat.NewDense(n, 1, y)); err != nil {
		return err
	}
	if err := o.Kernel.Validate(); err != nil {
		return err
	}
	if _, ok := o.Kernel.Stationary(); !ok {
		return fmt.Errorf("the kernel %v does not depend on a distance, and has no lengthscale", o.Kernel)
	}
	if o.Iterations < 0 {
		return fmt.Errorf("%d iterations: the number must not be negative", o.Iterations)
	}
	return nil
}

// scales holds the units of the search: the standard deviation of each input, or their root mean
// square, and the centre and size of the outputs.
type scales struct {
	inputs       []float64
	centre, size float64
}

// scalesOf returns the scales, or an error for inputs or outputs that do not vary, whose
// likelihood has no maximum.
func scalesOf(x *mat.Dense, y []float64, o Options) (s scales, err error) {
	n, d := x.Dims()
	total := 0.0
	for k := range d {
		sd := stat.PopStdDev(mat.Col(nil, k, x), nil)
		if math.IsInf(sd, 1) || math.IsNaN(sd) {
			return s, fmt.Errorf("the squares of input %d overflow; divide it by its size", k+1)
		}
		if !(sd > 0) && !o.Isotropic {
			return s, fmt.Errorf("input %d is the same in all rows: it has no lengthscale; leave it out", k+1)
		}
		s.inputs = append(s.inputs, sd)
		total += sd * sd
	}
	if o.Isotropic {
		s.inputs = []float64{math.Sqrt(total / float64(d))}
	}
	if !(total > 0) {
		return s, fmt.Errorf("all %d inputs are equal: there is no lengthscale", n)
	}
	squares := 0.0
	if o.Mean {
		s.centre = stat.Mean(y, nil)
	}
	for _, v := range y {
		squares += (v - s.centre) * (v - s.centre)
	}
	if s.size = math.Sqrt(squares / float64(n)); math.IsInf(s.size, 1) || math.IsNaN(s.size) {
		return s, errors.New("the squares of the outputs overflow; divide the outputs by their size")
	}
	if !(s.size > 0) {
		return s, errors.New("the outputs are constant: there is nothing to estimate")
	}
	return s, nil
}
