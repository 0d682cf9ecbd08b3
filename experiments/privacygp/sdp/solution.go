package sdp

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Solution is a noise covariance with its certificate.
//
// Σ is optimal to Gap in any case: the certificate is computed from Σ, M, A and q alone,
// by other operations than those of the method that found Σ.
type Solution struct {
	// Sigma is the noise covariance, n×n, positive semi-definite.
	Sigma *mat.SymDense
	// Trace is Tr Σ.
	Trace float64
	// Violation is the largest amount by which a constraint matrix falls short
	// of being positive semi-definite (0, or at the level of rounding):
	// Σ + Violation·I is feasible.
	Violation float64
	// Upper and Lower enclose the optimum: the trace of the feasible
	// Σ + Violation·I, and the value of a dual feasible point.
	Upper, Lower float64
	// Iterations counts Newton steps.
	Iterations int
	// Unit is the mean of M's diagonal: the variance of a datum without Σ.
	Unit float64
	// Schur is, for the weak problem, the γ×γ matrix Q that replaces
	// K_SS − Ξ in the strong solution with the same noise: the strong problem
	// (11) with Ξ = K_SS − Q has Sigma as its optimum, if that Ξ is positive
	// semi-definite. Nil for the diagonal problem.
	Schur *mat.SymDense
}

// Gap is the certified distance from the optimum: Tr Σ exceeds the optimum by
// no more, to rounding. Upper and Lower are computed independently of each
// other, each to a few units in its last place, so that Upper may come out just
// below Lower at the optimum: the gap is then 0.
func (s *Solution) Gap() float64 { return math.Max(0, s.Upper-s.Lower) }

// RelativeGap is the gap relative to Tr Σ, or to the variance of a datum where
// that is larger.
func (s *Solution) RelativeGap() float64 { return s.Gap() / math.Max(s.Trace, s.Unit) }

// unitOf is the mean of a diagonal.
func unitOf(m *mat.SymDense) float64 { return mat.Trace(m) / float64(m.SymmetricDim()) }

// better reports whether s is certified more tightly than t, which may be nil.
func (s *Solution) better(t *Solution) bool { return t == nil || s.Gap() < t.Gap() }

// tighten takes over the better bound of t: bounds of different iterates
// enclose the same optimum.
func (s *Solution) tighten(t *Solution) {
	if t != nil {
		s.Lower = math.Max(s.Lower, t.Lower)
	}
}

// eigen returns the eigenvalues, ascending, and the eigenvectors as columns.
func eigen(a mat.Symmetric) ([]float64, *mat.Dense, error) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil, nil, fmt.Errorf("sdp: the eigen-decomposition of a %d×%d matrix did not converge",
			a.SymmetricDim(), a.SymmetricDim())
	}
	var v mat.Dense
	e.VectorsTo(&v)
	return e.Values(nil), &v, nil
}

// eigenvalues returns the eigenvalues, ascending.
func eigenvalues(a mat.Symmetric) ([]float64, error) {
	var e mat.EigenSym
	if !e.Factorize(a, false) {
		return nil, fmt.Errorf("sdp: the eigenvalues of a %d×%d matrix did not converge", a.SymmetricDim(), a.SymmetricDim())
	}
	return e.Values(nil), nil
}

// violation is by how much the smallest eigenvalue of Σ + M − a aᵀ/q lies below zero,
// the largest of all columns a of A and their q: the constraints of (7) and (10). Each
// costs the eigenvalues of an n×n matrix, 4n³/3 operations.
func violation(ctx context.Context, sigma, m *mat.SymDense, a *mat.Dense, q []float64) (float64, error) {
	var worst float64
	var sum, c mat.SymDense
	sum.AddSym(sigma, m)
	for i, qi := range q {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		c.SymRankOne(&sum, -1/qi, a.ColView(i))
		values, err := eigenvalues(&c)
		if err != nil {
			return 0, err
		}
		worst = math.Max(worst, -values[0])
	}
	return worst, nil
}

// checkProblem refuses problems outside the domain of both programs.
func checkProblem(m *mat.SymDense, a *mat.Dense, q []float64) error {
	n := m.SymmetricDim()
	rows, cols := a.Dims()
	if rows != n || cols != len(q) {
		return fmt.Errorf("sdp: M is %d×%d, A is %d×%d and there are %d tolerances; "+
			"want A with %d rows and a column for each tolerance", n, n, rows, cols, len(q), n)
	}
	for i, v := range q {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("sdp: K(s,s) − ξ is %g for sensitive input %d; it must be positive: "+
				"no noise raises the predictive variance to the prior variance", v, i+1)
		}
	}
	if !finite(m) || !finite(a) {
		return fmt.Errorf("sdp: a kernel matrix holds a value that is not finite")
	}
	return nil
}

// finite reports whether a matrix has neither NaN nor infinities.
func finite(a mat.Matrix) bool {
	r, c := a.Dims()
	for i := range r {
		for j := range c {
			if v := a.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}
