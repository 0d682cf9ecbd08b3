package cpublas

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"privkern/graphs/simd/matrix"
)

// The functions below call the registered routines of either precision, for generic code.
// Matrices are row-major.

// Gemm computes C = alpha op(A) op(B) + beta C. op(A) is m×k, op(B) is k×n and C is m×n; ld is
// the distance of rows. With beta = 0, C may hold any values before, including NaN.
func Gemm[T Float](ta, tb blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T,
	ldc int) {
	switch a := any(a).(type) {
	case []float64:
		blas64.Implementation().Dgemm(ta, tb, m, n, k, float64(alpha), a, lda, any(b).([]float64), ldb, float64(beta),
			any(c).([]float64), ldc)
	case []float32:
		blas32.Implementation().Sgemm(ta, tb, m, n, k, float32(alpha), a, lda, any(b).([]float32), ldb, float32(beta),
			any(c).([]float32), ldc)
	}
}

// Syrk computes one triangle of C = alpha A Aᵀ + beta C, or with Aᵀ A. C is n×n, op(A) n×k. The
// other triangle is not written; callers mirror it for an exactly symmetric matrix.
func Syrk[T Float](uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int) {
	switch a := any(a).(type) {
	case []float64:
		blas64.Implementation().Dsyrk(uplo, t, n, k, float64(alpha), a, lda, float64(beta), any(c).([]float64), ldc)
	case []float32:
		blas32.Implementation().Ssyrk(uplo, t, n, k, float32(alpha), a, lda, float32(beta), any(c).([]float32), ldc)
	}
}

// Trsm solves op(A) X = alpha B or X op(A) = alpha B for triangular A with a stored diagonal; X
// overwrites B. B is m×n, A is m×m on the left and n×n on the right side. A singular A gives
// infinities without an error.
func Trsm[T Float](side blas.Side, uplo blas.Uplo, t blas.Transpose, m, n int, alpha T, a []T, lda int, b []T,
	ldb int) {
	switch a := any(a).(type) {
	case []float64:
		blas64.Implementation().Dtrsm(side, uplo, t, blas.NonUnit, m, n, float64(alpha), a, lda, any(b).([]float64), ldb)
	case []float32:
		blas32.Implementation().Strsm(side, uplo, t, blas.NonUnit, m, n, float32(alpha), a, lda, any(b).([]float32), ldb)
	}
}

// Cholesky overwrites the lower triangle of the symmetric n×n matrix A with its factor L, A = L
// Lᵀ, and does not write the upper triangle. It returns 0, or the order k of the first leading
// block that is not positive definite; the contents of A are then undefined.
//
// With gonum it is a left-looking blocked factorisation (Golub and Van Loan, "Matrix
// Computations", Section 4.2), because gonum's own is float64 only. Each block of columns is
// updated by products with those before it, so that nearly all of the n³/3 operations are in Gemm
// and Syrk.
func Cholesky[T Float](n int, a []T, lda int) (k int) {
	if active.kernels {
		return matrix.Cholesky(blas.Lower, n, a, lda)
	}
	if lib := active.lib; lib != nil && n >= smallPotrf && squareFits(n, len(a), lda) {
		switch a := any(a).(type) {
		case []float64:
			return callPotrf(lib.float64.potrf, 'L', n, a, lda)
		case []float32:
			return callPotrf(lib.float32.potrf, 'L', n, a, lda)
		}
	}
	const block = 64
	for j := 0; j < n; j += block {
		nb := min(block, n-j)
		if j > 0 {
			Syrk(blas.Lower, blas.NoTrans, nb, j, -1, a[j*lda:], lda, 1, a[j*lda+j:], lda)
		}
		if k := choleskyBlock(nb, a[j*lda+j:], lda); k != 0 {
			return j + k
		}
		if rest := n - j - nb; rest > 0 {
			if j > 0 {
				Gemm(blas.NoTrans, blas.Trans, rest, nb, j, -1, a[(j+nb)*lda:], lda, a[j*lda:], lda, 1, a[(j+nb)*lda+j:], lda)
			}
			Trsm(blas.Right, blas.Lower, blas.Trans, rest, nb, 1, a[j*lda+j:], lda, a[(j+nb)*lda+j:], lda)
		}
	}
	return 0
}

// choleskyBlock factors a small block row by row. It tests for NaN explicitly, because
// comparisons with NaN are false.
func choleskyBlock[T Float](n int, a []T, lda int) int {
	for i := range n {
		row := a[i*lda : i*lda+i+1]
		d := row[i]
		for j := range i {
			left := a[j*lda : j*lda+j+1]
			s := row[j]
			for k, v := range left[:j] {
				s -= v * row[k]
			}
			s /= left[j]
			row[j] = s
			d -= s * s
		}
		if d <= 0 || math.IsNaN(float64(d)) || math.IsInf(float64(d), 1) {
			return i + 1
		}
		row[i] = T(math.Sqrt(float64(d)))
	}
	return 0
}
