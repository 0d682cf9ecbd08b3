package privacygp

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/linalg"
)

// process is a Gaussian process on the line with the kernel exp(−θ(x−y)²), of
// unit prior variance, and its n training inputs.
type process struct {
	engine *engine.Engine
	theta  float64
	kernel kernel.Kernel
	x      []float64
	cov    *mat.Dense // n×n, K_XX + V
	// epsilon is the spacing of the engine's numbers at 1.
	epsilon float64
	// condition is the condition number of K_XX + V, at most 1/epsilon
	// (4.5e15 in float64), which stands for a singular matrix.
	condition float64
	// rank is the numerical rank of K_XX + V. Where it is below n, predictions
	// are from the numerical range: with V = 0 dense data leave nothing else.
	rank int
	// span is the numerical range, computed when it is first needed.
	span *numericalRange
}

// newProcess computes the covariance of data with noise variance v at x.
func newProcess(e *engine.Engine, theta, v float64, x []float64) (*process, error) {
	p := &process{engine: e, theta: theta, kernel: kernel.RBF(theta), x: x, epsilon: epsilon64}
	if e.DType() == "float32" {
		p.epsilon = epsilon32
	}
	cov, err := p.between(x, x)
	if err != nil {
		return nil, err
	}
	for i := range x {
		cov.Set(i, i, cov.At(i, i)+v)
	}
	p.cov = cov
	_, values, err := linalg.PSDPart(e, cov)
	if err != nil {
		return nil, fmt.Errorf("eigenvalues of K_XX + V: %w", err)
	}
	p.condition, p.rank = condition(values, p.epsilon), rank(values, p.epsilon)
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

// warnings says what is computed but suspect.
func (p *process) warnings() []string {
	w := p.engine.Warnings()
	if p.condition*p.epsilon > suspectDigits {
		w = append(w, fmt.Sprintf("computed but suspect: K_XX + V of the %d training inputs has condition number %.1e "+
			"and numerical rank %d; fewer inputs, a larger theta or noise_variance > 0 make it smaller",
			len(p.x), p.condition, p.rank))
	}
	if p.epsilon == epsilon32 {
		w = append(w, "computed in float32: traces, and the tolerances that predictive variances are held to, are accurate to about 1e-6 only")
	}
	return w
}

// between returns the kernel matrix of inputs x and y, len(x)×len(y).
func (p *process) between(x, y []float64) (*mat.Dense, error) {
	return p.kernel.Matrix(p.engine, column(x), column(y))
}

func column(x []float64) *mat.Dense {
	return mat.NewDense(len(x), 1, append([]float64(nil), x...))
}

// predictiveVariance is Var[f(at) | X, W], Eq. (4), for noise covariance sigma
// (n×n; nil for none). Rounding below zero is returned as 0.
func (p *process) predictiveVariance(sigma mat.Matrix, at []float64) ([]float64, error) {
	cross, err := p.between(p.x, at) // n×m
	if err != nil {
		return nil, err
	}
	explained, err := p.explained(sigma, cross)
	if err != nil {
		return nil, err
	}
	for j, v := range explained {
		explained[j] = math.Max(0, 1-v)
	}
	return explained, nil
}

// explained is kᵀ(K_XX + V + Σ)⁻¹k for the columns k of cross.
func (p *process) explained(sigma mat.Matrix, cross *mat.Dense) ([]float64, error) {
	_, m := cross.Dims()
	out := make([]float64, m)
	solved, err := p.factorised(sigma, cross)
	if err != nil {
		return nil, err
	}
	if solved != nil {
		for j := range out {
			out[j] = mat.Dot(cross.ColView(j), solved.ColView(j))
		}
		return out, nil
	}
	s, err := p.numericalRange()
	if err != nil {
		return nil, err
	}
	return s.explained(sigma, cross, p.epsilon)
}

// solve returns (K_XX + V + Σ)⁻¹ b.
func (p *process) solve(sigma mat.Matrix, b *mat.Dense) (*mat.Dense, error) {
	x, err := p.factorised(sigma, b)
	if err != nil || x != nil {
		return x, err
	}
	s, err := p.numericalRange()
	if err != nil {
		return nil, err
	}
	return s.solve(sigma, b, p.epsilon)
}

// numericalRange is that of K_XX + V.
func (p *process) numericalRange() (_ *numericalRange, err error) {
	if p.span == nil {
		p.span, err = rangeOf(p.cov, p.epsilon)
	}
	return p.span, err
}

// factorised returns (K_XX + V + Σ)⁻¹ b by a Cholesky factorisation; nil where
// K_XX + V has not full numerical rank, or the sum is singular.
func (p *process) factorised(sigma mat.Matrix, b *mat.Dense) (*mat.Dense, error) {
	if p.rank < len(p.x) {
		return nil, nil
	}
	total := mat.DenseCopyOf(p.cov)
	if sigma != nil {
		total.Add(total, sigma)
	}
	x, _, err := linalg.SolveSPD(p.engine, total, b)
	var notPD *linalg.NotPositiveDefiniteError
	if errors.As(err, &notPD) {
		return nil, nil
	}
	return x, err
}

// exact returns the sensitive inputs that are training inputs: without noise
// and with V = 0 their outputs are released as they are.
func (p *process) exact(sensitive []float64) []float64 {
	var out []float64
	for _, s := range sensitive {
		for _, x := range p.x {
			if within(s, x) {
				out = append(out, s)
				break
			}
		}
	}
	return out
}
