package privacygp

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/linalg"
)

// noise is an optimal covariance of the synthetic noise.
type noise struct {
	sigma *mat.Dense // n×n, positive semi-definite
	trace float64
	rank  int
}

// strongNoise is the strongly privacy-aware solution, Eq. (11),
// Σ = (K_XS q⁻¹ K_SX − K_XX − V)⁺, for q = K_SS − Ξ (γ×γ, positive definite) and
// cross = K_XS (n×γ). Eq. (8) is its case γ = 1.
func (p *process) strongNoise(cross, q *mat.Dense) (*noise, error) {
	solved, _, err := linalg.SolveSPD(p.engine, q, mat.DenseCopyOf(cross.T()))
	if err != nil {
		var notPD *linalg.NotPositiveDefiniteError
		if errors.As(err, &notPD) {
			return nil, p.inadmissible(q, err)
		}
		return nil, err
	}
	var b mat.Dense
	b.Mul(cross, solved)
	return p.psdNoise(&b)
}

// inadmissible explains why K_SS − Ξ is not positive definite in floating point.
func (p *process) inadmissible(q *mat.Dense, cause error) error {
	_, values, err := linalg.PSDPart(p.engine, q)
	if err != nil {
		return cause
	}
	n := len(values)
	if values[0] < -10*p.epsilon*float64(n)*values[n-1] {
		return fmt.Errorf("this Xi is inadmissible: K_SS - Xi must be positive definite, and has the eigenvalue %.3g: %w", values[0], cause)
	}
	return fmt.Errorf("K_SS - Xi of the %d sensitive inputs is singular in floating point (condition number at least %.1e): the inputs are too close together for this kernel; take fewer: %w", n, condition(values, p.epsilon), cause)
}

// psdNoise is (G − K_XX − V)⁺ for G (n×n).
func (p *process) psdNoise(g *mat.Dense) (*noise, error) {
	n, _ := g.Dims()
	b := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			b.Set(i, j, (g.At(i, j)+g.At(j, i))/2-p.cov.At(i, j))
		}
	}
	sigma, values, err := linalg.PSDPart(p.engine, b)
	if err != nil {
		return nil, err
	}
	out := &noise{sigma: sigma}
	for _, v := range values {
		out.trace += math.Max(0, v)
	}
	out.rank = rank(values, p.epsilon)
	return out, nil
}

// rank counts the eigenvalues (ascending) that are positive beyond rounding.
func rank(values []float64, epsilon float64) int {
	n := len(values)
	largest := math.Max(math.Abs(values[0]), math.Abs(values[n-1]))
	count := 0
	for _, v := range values {
		if v > 10*epsilon*float64(n)*largest {
			count++
		}
	}
	return count
}

// rankOf is the numerical rank of a positive semi-definite matrix.
func rankOf(sigma mat.Symmetric) (int, error) {
	var e mat.EigenSym
	if !e.Factorize(sigma, false) {
		return 0, fmt.Errorf("the eigenvalues of the noise covariance did not converge")
	}
	return rank(e.Values(nil), epsilon64), nil
}

// draw samples N(0, Σ) as Σ^½ω: unlike the paper's OᵀU the symmetric root does
// not depend on the signs of eigenvectors, which differ between libraries.
func draw(sigma *mat.Dense, rng *rand.Rand) ([]float64, error) {
	n, _ := sigma.Dims()
	var e mat.EigenSym
	if !e.Factorize(symmetric(sigma), true) {
		return nil, fmt.Errorf("the eigen-decomposition of the noise covariance did not converge")
	}
	omega := mat.NewVecDense(n, nil)
	for i := range n {
		omega.SetVec(i, rng.NormFloat64())
	}
	var v mat.Dense
	var u, z mat.VecDense
	e.VectorsTo(&v)
	u.MulVec(v.T(), omega)
	for i, value := range e.Values(nil) {
		u.SetVec(i, u.AtVec(i)*math.Sqrt(math.Max(0, value)))
	}
	z.MulVec(&v, &u)
	return z.RawVector().Data, nil
}

// symmetric copies a symmetric dense matrix.
func symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return s
}
