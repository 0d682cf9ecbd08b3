// Package matrix computes the matrix-matrix routines of BLAS and the Cholesky factor in Go
// assembly: general and symmetric products, rank-k updates, triangular products and solves, in
// float64 and float32, on the calling goroutine.
//
// The bits of a result are defined. They are the same at every level of package simd, for any
// alignment, and for any division of the rows and columns of a result into calls:
//
//   - An element of a product is a sum over blocks of 256 steps along k. In a block it
//     accumulates in increasing k with one fused multiply-add a step, from zero:
//     s = fma(aᵢₖ, bₖⱼ, s). The element of C is first c = beta·c, rounded, with +0 for
//     beta = 0; each block then adds c = fma(alpha, s, c).
//   - A triangular solve or product works in place on B, first scaled by alpha. A triangle
//     of an order above 32 is halved at a multiple of 32, and the square between the halves
//     is a product with alpha = ∓1. In a triangle of order at most 32, a solve takes
//     x = fma(−aᵢₖ, xₖ, x) in the order in which the xₖ become known, and multiplies by the
//     rounded reciprocal of the diagonal, also where that is 1; a product accumulates from
//     zero in the same order.
//   - A Cholesky factor halves the matrix in the same way: the first factor, a solve, a
//     rank-k update, the second factor. In a block of order at most 32 an element
//     accumulates a = fma(−lᵢₖ, lⱼₖ, a) in increasing k, and is multiplied by the rounded
//     reciprocal of the pivot's root.
//
// The bits of a NaN are undefined. Zeros are not skipped, so that 0·Inf is NaN.
//
// Products follow Goto and van de Geijn, "Anatomy of high-performance matrix multiplication"
// (2008): both operands are packed into panels that fit the caches, and a kernel updates a tile
// of C in registers. A matrix is read in place if the other operand has few columns.
//
// Matrices are row-major; ld is the distance of rows. Only the bounds of slices are checked;
// package cpublas has gonum's checks of arguments.
package matrix

import "gonum.org/v1/gonum/blas"

// Float is the type of an element.
type Float interface{ float32 | float64 }

// part selects the elements of C that a product updates.
type part byte

const (
	full part = iota
	lower
	upper
)

// partOf returns the part of a triangle.
func partOf(uplo blas.Uplo) part {
	if uplo == blas.Upper {
		return upper
	}
	return lower
}

// operand returns the view of op(A).
func operand[T Float](d []T, ld int, t blas.Transpose) view[T] {
	if t == blas.NoTrans {
		return view[T]{d, 0, ld, 1}
	}
	return view[T]{d, 0, 1, ld}
}

// Gemm computes C = alpha op(A) op(B) + beta C. op(A) is m×k, op(B) is k×n and C is m×n.
// With beta = 0, C may hold any values before; with alpha = 0, A and B are not read.
func Gemm[T Float](ta, tb blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T,
	ldc int) {
	use[T]().product(full, m, n, k, alpha, operand(a, lda, ta), operand(b, ldb, tb), beta, c, ldc)
}

// Syrk computes one triangle of C = alpha A Aᵀ + beta C, or with Aᵀ A. C is n×n, op(A) n×k.
// The other triangle is neither read nor written.
func Syrk[T Float](uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int) {
	v := operand(a, lda, t)
	use[T]().product(partOf(uplo), n, n, k, alpha, v, v.t(), beta, c, ldc)
}

// Syr2k computes one triangle of C = alpha A Bᵀ + alpha B Aᵀ + beta C, or with Aᵀ B and
// Bᵀ A, the first product before the second. C is n×n, op(A) and op(B) are n×k.
func Syr2k[T Float](uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T,
	c []T, ldc int) {
	ks, x, y := use[T](), operand(a, lda, t), operand(b, ldb, t)
	ks.product(partOf(uplo), n, n, k, alpha, x, y.t(), beta, c, ldc)
	ks.product(partOf(uplo), n, n, k, alpha, y, x.t(), 1, c, ldc)
}

// Symm computes C = alpha A B + beta C, or alpha B A + beta C on the right side, for a symmetric
// A whose given triangle is read. B and C are m×n, A is m×m or n×n.
func Symm[T Float](side blas.Side, uplo blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T,
	ldc int) {
	use[T]().symmetric(side, uplo, m, n, alpha, operand(a, lda, blas.NoTrans), operand(b, ldb, blas.NoTrans), beta,
		c, ldc)
}

// Trsm solves op(A) X = alpha B, or X op(A) = alpha B on the right side, for triangular A;
// X overwrites the m×n B. A singular A gives infinities and NaN.
func Trsm[T Float](side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n int, alpha T, a []T,
	lda int, b []T, ldb int) {
	use[T]().triangular(true, side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
}

// Trmm computes B = alpha op(A) B, or B = alpha B op(A) on the right side, for triangular A
// in place of the m×n B.
func Trmm[T Float](side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n int, alpha T, a []T,
	lda int, b []T, ldb int) {
	use[T]().triangular(false, side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
}

// Cholesky overwrites one triangle of the symmetric n×n matrix A with its factor, L of A = L Lᵀ
// or U of A = Uᵀ U. It returns 0, or the order of the first leading block with a pivot that is
// not positive and finite; the triangle is then partly overwritten. The other triangle is not
// written.
func Cholesky[T Float](uplo blas.Uplo, n int, a []T, lda int) (order int) {
	return use[T]().cholesky(partOf(uplo), n, a, lda)
}
