package process

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/linalg"
)

// Noise is an optimal covariance of the synthetic noise.
type Noise struct {
	Sigma *mat.Dense // n×n, positive semi-definite
	Trace float64
	Rank  int
	// Sensitive is the numerical rank of K_SS − Ξ: below the number of sensitive
	// inputs where those are dense.
	Sensitive int
}

// StrongNoise is the strongly privacy-aware solution, Eq. (11), Σ = (K_XS q⁻¹ K_SX − K_XX − V)⁺,
// for q = K_SS − Ξ (γ×γ, positive definite) and cross = K_XS (n×γ). Eq. (8) is its case γ = 1. No
// other inverse is needed.
//
// Where S is so dense that q is singular in floating point, q⁻¹ is that of its numerical range, if
// the range holds the rows of K_XS: for Ξ = αK_SS it does.
//
// It is the positive part because noise cannot take variance away: directions in which the data
// already disclose less than the requirement allows get none. Its rank is at most γ, the rank of
// K_XS q⁻¹ K_SX (by Weyl's inequality, as K_XX + V is positive semidefinite).
func (p *Observations) StrongNoise(cross, q *mat.Dense) (*Noise, error) {
	g, _ := q.Dims()
	c, err := linalg.PSDComplement(p.engine, cross, q, p.cov)
	var notPD *linalg.NotPositiveDefiniteError
	switch {
	case err == nil && rank(c.Inner, p.epsilon) == g:
		out := p.noise(c.Part, c.Eigenvalues)
		out.Sensitive = g
		return out, nil
	case err != nil && !errors.As(err, &notPD):
		return nil, err
	}
	b, known, err := p.Inner(cross, q)
	if err != nil {
		return nil, err
	}
	out, err := p.PSDNoise(b)
	if err != nil {
		return nil, err
	}
	out.Sensitive = known
	return out, nil
}

// Inner is G(S) = K_XS q⁻¹ K_SX (n×n) for q = K_SS − Ξ (γ×γ) and cross = K_XS (n×γ), the matrix of
// inner products of Eq. (13), and the numerical rank of q. Where that is below γ the inverse is
// that of the numerical range, as for [Observations.StrongNoise], and it is an error where that
// does not suffice.
func (p *Observations) Inner(cross, q *mat.Dense) (g *mat.Dense, known int, err error) {
	s, err := p.sensitiveRange(cross, q)
	if err != nil {
		return nil, 0, err
	}
	solved, err := s.solve(nil, mat.DenseCopyOf(cross.T()), p.epsilon)
	if err != nil {
		return nil, 0, err
	}
	g = &mat.Dense{}
	g.Mul(cross, solved)
	return g, len(s.values), nil
}

// sensitiveRange is the numerical range of q = K_SS − Ξ (γ×γ), or an error where that is not
// all of it and does not serve.
func (p *Observations) sensitiveRange(cross, q *mat.Dense) (*numericalRange, error) {
	s, err := rangeOf(p.engine, q, p.epsilon)
	if err != nil {
		return nil, err
	}
	if n, _ := q.Dims(); len(s.values) < n {
		if err := p.inadmissible(q, cross); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// inadmissible returns the reason why K_SS − Ξ, singular in floating point, admits no strong
// solution: it has a negative eigenvalue, or a direction without variance about which the data are
// informative. A direction u with uᵀ(K_SS − Ξ)u ≤ λ and Ξ = αK_SS has |K_XS u|² ≤ λ/(1 − α) for
// each datum.
func (p *Observations) inadmissible(q, cross *mat.Dense) error {
	values, v, err := spectrum(p.engine, q)
	if err != nil {
		return err
	}
	n := len(values)
	rounding := rangeTolerance * p.epsilon * float64(n) * math.Max(values[n-1], -values[0])
	if values[0] < -rounding || values[n-1] <= 0 {
		return fmt.Errorf("this Xi is inadmissible: K_SS - Xi must be positive definite, "+
			"and has the eigenvalue %.3g", values[0])
	}
	var known mat.Dense
	known.Mul(cross, v.Slice(0, n, 0, n-rank(values, p.epsilon)))
	if most := mat.Max(absolute(&known)); most*most > rounding*float64(n)/mat.Trace(q) {
		return fmt.Errorf("K_SS - Xi of the %d sensitive inputs is singular in floating point "+
			"(condition number at least %.1e), and the data are correlated with what it leaves out: "+
			"the inputs are too close together for this kernel; take fewer",
			n, condition(values, p.epsilon))
	}
	return nil
}

// absolute is the matrix of sizes.
func absolute(a *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, a)
	return &out
}

// PSDNoise is (G − K_XX − V)⁺ for G (n×n). Both triangles of G are averaged first: a
// product is symmetric to rounding only.
func (p *Observations) PSDNoise(g *mat.Dense) (*Noise, error) {
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
	return p.noise(sigma, values), nil
}

// noise is that of the positive part of a matrix with these eigenvalues, ascending.
func (p *Observations) noise(sigma *mat.Dense, values []float64) *Noise {
	out := &Noise{Sigma: sigma, Rank: rank(values, p.epsilon)}
	for _, v := range values {
		out.Trace += math.Max(0, v)
	}
	return out
}

// rank counts the eigenvalues (ascending) that are positive beyond rounding.
// The threshold is rangeTolerance·n·epsilon times the largest size of an eigenvalue, the
// error that each of them carries.
func rank(values []float64, epsilon float64) int {
	n := len(values)
	largest := math.Max(math.Abs(values[0]), math.Abs(values[n-1]))
	count := 0
	for _, v := range values {
		if v > rangeTolerance*epsilon*float64(n)*largest {
			count++
		}
	}
	return count
}

// Eigenvalues are those of a symmetric matrix, ascending; both triangles are averaged
// first.
func Eigenvalues(a *mat.Dense) ([]float64, error) {
	var e mat.EigenSym
	if !e.Factorize(Symmetric(a), false) {
		return nil, fmt.Errorf("the eigenvalues of a symmetric matrix did not converge")
	}
	return e.Values(nil), nil
}

// RankOf is the numerical rank of a positive semi-definite matrix.
func RankOf(sigma mat.Symmetric) (int, error) {
	var e mat.EigenSym
	if !e.Factorize(sigma, false) {
		return 0, fmt.Errorf("the eigenvalues of the noise covariance did not converge")
	}
	return rank(e.Values(nil), epsilon64), nil
}

// Draw samples N(0, Σ) as Σ^½ω: unlike the paper's OᵀU the symmetric root does
// not depend on the signs of eigenvectors, which differ between libraries.
// ω has n standard normal numbers. Eigenvalues that rounding makes negative count as
// zero.
func Draw(e *engine.Engine, sigma *mat.Dense, rng *rand.Rand) ([]float64, error) {
	n, _ := sigma.Dims()
	values, v, err := spectrum(e, sigma)
	if err != nil {
		return nil, err
	}
	omega := mat.NewVecDense(n, nil)
	for i := range n {
		omega.SetVec(i, rng.NormFloat64())
	}
	return rootTimes(values, v, omega), nil
}

// Root is Σ^½ω for a noise covariance (n×n) and n numbers.
func (p *Observations) Root(sigma *mat.Dense, omega []float64) ([]float64, error) {
	values, v, err := spectrum(p.engine, sigma)
	if err != nil {
		return nil, err
	}
	return rootTimes(values, v, mat.NewVecDense(len(omega), omega)), nil
}

// rootTimes is V diag(√λ⁺) Vᵀ ω.
func rootTimes(values []float64, v *mat.Dense, omega *mat.VecDense) []float64 {
	var u, z mat.VecDense
	u.MulVec(v.T(), omega)
	for i, value := range values {
		u.SetVec(i, u.AtVec(i)*math.Sqrt(math.Max(0, value)))
	}
	z.MulVec(v, &u)
	return z.RawVector().Data
}

// Symmetric copies a symmetric dense matrix (n×n), the mean of both halves.
func Symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, a.At(i, j)/2+a.At(j, i)/2) // the sum may be beyond the largest number
		}
	}
	return s
}
