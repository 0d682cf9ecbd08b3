package sdp

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// cholesky is the factor of a symmetric matrix without the condition estimate of [mat.Cholesky],
// which takes longer than the factor: solutions are judged by certificates.
type cholesky struct{ upper blas64.Triangular }

// factorize reports whether the matrix is positive definite.
func (c *cholesky) factorize(a *mat.SymDense) (ok bool) {
	s := mat.NewSymDense(a.SymmetricDim(), nil)
	s.CopySym(a)
	c.upper, ok = lapack64.Potrf(s.RawSymmetric())
	return ok
}

// solve writes A⁻¹b to x, which may be empty, and reports whether it is finite.
func (c *cholesky) solve(x, b *mat.VecDense) bool {
	x.CloneFromVec(b)
	n := x.Len()
	lapack64.Potrs(c.upper, blas64.General{Rows: n, Cols: 1, Stride: 1, Data: x.RawVector().Data[:n]})
	return finite(x)
}
