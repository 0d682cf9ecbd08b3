// Package process holds Gaussian processes on the line that are released with noise: their
// covariances and predictions, and the noise that keeps predictive variances at sensitive inputs
// up.
//
// A user who has W = Y + Z, with noise Z of covariance Σ, predicts f at an input s by Eqs. (3) and
// (4), with the variance
//
//	K(s,s) − K_sX (K_XX + V + Σ)⁻¹ K_Xs.
//
// A [Noise] Σ is chosen so that this is at least ξ at the sensitive inputs:
// [Observations.StrongNoise] is the closed form for many of them (Eq. 11) and for one (Eq. 8);
// package sdp has the programs. Kernel matrices of a smooth kernel are singular in floating point
// as soon as inputs are dense, with V = 0 above all; results are then restricted to their numerical
// range.
package process

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/linalg"
)

// Observations are the outputs of a Gaussian process at n inputs, as their covariance.
type Observations struct {
	engine *engine.Engine
	cov    *mat.Dense // n×n, K_XX + V
	// epsilon is the spacing of the engine's numbers at 1.
	epsilon float64
	// Condition is the condition number of K_XX + V, at most 1/epsilon
	// (4.5e15 in float64), which stands for a singular matrix. Of [ObserveDefinite] it is a bound.
	Condition float64
	// Rank is the numerical rank of K_XX + V. Where it is below n, predictions
	// are from the numerical range: with V = 0 dense data leave nothing else.
	Rank int
	// values and vectors are the spectrum of K_XX + V; nil before it is asked for.
	values  []float64
	vectors *mat.Dense
}

// Observe takes K_XX + V (n×n), in any unit, which it keeps. It takes about 9n³ operations
// for the eigenvalues, which decide how everything else is computed.
func Observe(e *engine.Engine, cov *mat.Dense) (*Observations, error) {
	o := &Observations{engine: e, cov: cov, epsilon: epsilon64}
	if e.DType() == "float32" {
		o.epsilon = epsilon32
	}
	return o, o.Decompose()
}

// ObserveDefinite is [Observe] for a K_XX + V with V = floor·I. Its eigenvalues are at least floor: where that is
// beyond their rounding, the rank is full and no spectrum is computed before it is asked for.
func ObserveDefinite(e *engine.Engine, cov *mat.Dense, floor float64) (*Observations, error) {
	n, _ := cov.Dims()
	o := &Observations{engine: e, cov: cov, epsilon: epsilon64, Rank: n, Condition: mat.Trace(cov) / floor}
	if e.DType() == "float32" || !(floor > 10*rangeTolerance*epsilon64*float64(n)*mat.Trace(cov)) {
		return Observe(e, cov)
	}
	return o, nil
}

// Decompose sets Condition and Rank by the spectrum.
func (p *Observations) Decompose() error {
	values, _, err := p.Spectrum()
	if err != nil {
		return fmt.Errorf("K_XX + V: %w", err)
	}
	p.Condition, p.Rank = condition(values, p.epsilon), rank(values, p.epsilon)
	return nil
}

// Spectrum returns the eigenvalues of K_XX + V, ascending, and the eigenvectors as columns, which are computed once.
// They must not be changed.
func (p *Observations) Spectrum() (values []float64, vectors *mat.Dense, err error) {
	if p.values == nil {
		if p.values, p.vectors, err = spectrum(p.engine, p.cov); err != nil {
			return nil, nil, err
		}
	}
	return p.values, p.vectors, nil
}

// span is the numerical range of K_XX + V.
func (p *Observations) span() (*numericalRange, error) {
	values, vectors, err := p.Spectrum()
	if err != nil {
		return nil, err
	}
	return rangeOfSpectrum(p.engine, values, vectors, p.epsilon), nil
}

// Process is a Gaussian process on the line with the kernel exp(−θ(x−y)²), of unit prior
// variance, and its n training inputs. Variances are relative to the prior one.
type Process struct {
	Observations
	kernel kernel.Kernel
	// X are the training inputs.
	X []float64
}

// New computes the covariance of data with noise variance v at x.
// x has n numbers; v = 0 stands for V = 0.
func New(e *engine.Engine, theta, v float64, x []float64) (*Process, error) {
	p := &Process{Observations: Observations{engine: e}, kernel: kernel.RBF(theta), X: x}
	cov, err := p.Between(x, x)
	if err != nil {
		return nil, err
	}
	for i := range x {
		cov.Set(i, i, cov.At(i, i)+v)
	}
	o, err := Observe(e, cov)
	if err != nil {
		return nil, err
	}
	p.Observations = *o
	return p, nil
}

// condition is the ratio of the largest to the smallest of ascending
// eigenvalues, at most 1/epsilon.
func condition(values []float64, epsilon float64) float64 {
	largest := values[len(values)-1]
	return largest / math.Max(values[0], largest*epsilon)
}

const (
	epsilon64 = 0x1p-52
	epsilon32 = 0x1p-23
	// suspectDigits is how far a condition number may come to 1/epsilon: beyond,
	// a solve with K_XX + V + Σ keeps fewer than about four digits.
	suspectDigits = 1e-4
)

// Covariance is K_XX + V, n×n.
func (p *Observations) Covariance() *mat.SymDense { return Symmetric(p.cov) }

// Warnings returns the warnings about results that are computed but suspect.
func (p *Observations) Warnings() []string {
	w := p.engine.Warnings()
	if p.Condition*p.epsilon > suspectDigits {
		w = append(w, fmt.Sprintf("computed but suspect: K_XX + V of the %d training inputs has condition number %.1e "+
			"and numerical rank %d; the optimal noise needs no inverse of it, but predictions are those of a user of "+
			"its numerical range, who knows less; fewer inputs, a larger theta or noise_variance > 0 make it smaller",
			p.cov.RawMatrix().Rows, p.Condition, p.Rank))
	}
	if p.epsilon == epsilon32 {
		w = append(w, "computed in float32: traces, and the tolerances that predictive variances are held to, "+
			"are accurate to about 1e-6 only")
	}
	return w
}

// Between returns the kernel matrix of inputs x and y, len(x)×len(y).
func (p *Process) Between(x, y []float64) (*mat.Dense, error) {
	return p.kernel.Matrix(p.engine, Column(x), Column(y))
}

// Column is a matrix n×1 of the numbers.
func Column(x []float64) *mat.Dense {
	return mat.NewDense(len(x), 1, append([]float64(nil), x...))
}

// PredictiveVariance is Var[f(at) | X, W], Eq. (4), for noise covariance sigma
// (n×n; nil for none). Rounding below zero is returned as 0.
//
// With c = kᵀ(K_XX + V + Σ)⁻¹k it is 1 − c: where c is close to one, the variance has an
// error of about Condition·epsilon of the prior one.
func (p *Process) PredictiveVariance(sigma mat.Matrix, at []float64) ([]float64, error) {
	cross, err := p.Between(p.X, at) // n×m
	if err != nil {
		return nil, err
	}
	explained, err := p.Explained(sigma, cross)
	if err != nil {
		return nil, err
	}
	for j, v := range explained {
		explained[j] = math.Max(0, 1-v)
	}
	return explained, nil
}

// PredictiveCovariance is that of f at the inputs, given W, Eq. (4) for several inputs
// (m×m), for noise covariance sigma (n×n; nil for none).
func (p *Process) PredictiveCovariance(sigma mat.Matrix, at []float64) (*mat.Dense, error) {
	cross, err := p.Between(p.X, at) // n×m
	if err != nil {
		return nil, err
	}
	out, err := p.Between(at, at)
	if err != nil {
		return nil, err
	}
	solved, err := p.Solve(sigma, cross)
	if err != nil {
		return nil, err
	}
	var explained mat.Dense
	explained.Mul(cross.T(), solved)
	out.Sub(out, &explained)
	return out, nil
}

// Explained is kᵀ(K_XX + V + Σ)⁻¹k for the columns k of cross (n×m) and the noise
// covariance sigma (n×n; nil for none): the prior variances less these are the predictive
// ones, Eq. (4).
func (p *Observations) Explained(sigma mat.Matrix, cross *mat.Dense) ([]float64, error) {
	solved, err := p.factorised(sigma, cross)
	if err != nil || solved != nil {
		return products(cross, solved), err
	}
	s, err := p.span()
	if err != nil {
		return nil, err
	}
	return s.explained(sigma, cross, p.epsilon)
}

// products returns the inner products of the columns of a and of b, none for a nil b.
func products(a, b *mat.Dense) []float64 {
	if b == nil {
		return nil
	}
	_, m := a.Dims()
	out := make([]float64, m)
	for j := range out {
		out[j] = mat.Dot(a.ColView(j), b.ColView(j))
	}
	return out
}

// Solve returns (K_XX + V + Σ)⁻¹ b. b is n×m. On the numerical range the result is
// that of the pseudo-inverse.
func (p *Observations) Solve(sigma mat.Matrix, b *mat.Dense) (*mat.Dense, error) {
	x, err := p.factorised(sigma, b)
	if err != nil || x != nil {
		return x, err
	}
	s, err := p.span()
	if err != nil {
		return nil, err
	}
	return s.solve(sigma, b, p.epsilon)
}

// SolveExplained is Solve and Explained of the same columns, by one factorisation.
func (p *Observations) SolveExplained(sigma mat.Matrix, b *mat.Dense) (x *mat.Dense, explained []float64, err error) {
	x, err = p.factorised(sigma, b)
	if err != nil || x != nil {
		return x, products(b, x), err
	}
	s, err := p.span()
	if err != nil {
		return nil, nil, err
	}
	if explained, err = s.explained(sigma, b, p.epsilon); err != nil {
		return nil, nil, err
	}
	x, err = s.solve(sigma, b, p.epsilon)
	return x, explained, err
}

// factorised returns (K_XX + V + Σ)⁻¹ b by a Cholesky factorisation; nil where
// K_XX + V has not full numerical rank, or the sum is singular.
func (p *Observations) factorised(sigma mat.Matrix, b *mat.Dense) (*mat.Dense, error) {
	if p.Rank < p.cov.RawMatrix().Rows {
		return nil, nil
	}
	total := mat.DenseCopyOf(p.cov)
	if sigma != nil {
		total.Add(total, sigma)
	}
	x, _, err := linalg.SolveSPD(p.engine, total, b)
	if _, ok := errors.AsType[*linalg.NotPositiveDefiniteError](err); ok {
		return nil, nil
	}
	return x, err
}

// Exact returns the sensitive inputs that are training inputs: without noise
// and with V = 0 their outputs are released as they are.
func (p *Process) Exact(sensitive []float64) []float64 {
	var out []float64
	for _, s := range sensitive {
		for _, x := range p.X {
			if Same(s, x) {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

// Same reports whether a and b are the same input to rounding.
func Same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(a)) }
