package dense

import (
	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
)

// Cholesky overwrites the lower triangle of the symmetric n×n matrix A with its factor, and
// returns 0 or the order of the first leading block that is not positive definite. See
// [cpublas.Cholesky].
func Cholesky[T cpublas.Float](pool *parallel.Pool, n int, a []T, lda int) (k int, err error) {
	if n < LargeFactor {
		return cpublas.Cholesky(n, a, lda), nil
	}
	return cholesky(pool, n, a, lda)
}

// cholesky halves the matrix (Gustavson, "Recursion leads to automatic variable blocking for
// dense linear-algebra algorithms", 1997): L₂₁ = A₂₁ L₁₁⁻ᵀ by rows, then the factor of
// A₂₂ − L₂₁ L₂₁ᵀ. Nearly all operations are those of large products and solves.
func cholesky[T cpublas.Float](pool *parallel.Pool, n int, a []T, lda int) (k int, err error) {
	if n <= factorPart {
		return cpublas.Cholesky(n, a, lda), nil
	}
	half := part(n, (n+1)/2)
	if k, err := cholesky(pool, half, a, lda); k != 0 || err != nil {
		return k, err
	}
	left, rest := a[half*lda:], n-half
	if err := trsmRows(pool, blas.Lower, blas.Trans, rest, half, a, lda, left, lda); err != nil {
		return 0, err
	}
	trailing := left[half:]
	if err := syrk(pool, blas.Lower, blas.NoTrans, rest, half, -1, left, lda, 1, trailing, lda); err != nil {
		return 0, err
	}
	if k, err = cholesky(pool, rest, trailing, lda); k != 0 {
		k += half
	}
	return k, err
}
