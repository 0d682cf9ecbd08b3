package cpublas

import (
	"math"

	"gonum.org/v1/gonum/blas"
)

// Float is a precision in which the CPU computes.
type Float interface{ float32 | float64 }

// libraryBLAS is gonum's BLAS with the matrix-matrix routines of a loaded library. Small
// problems, empty problems and wrong arguments go to gonum.
//
// The library is column-major: a row-major matrix is passed as the transpose, so that no matrix
// is copied.
type libraryBLAS struct {
	serial
	lib *library
}

var (
	_ blas.Float64 = libraryBLAS{}
	_ blas.Float32 = libraryBLAS{}
)

// Numbers of multiplications below which gonum is faster than a call of the library, by measurement.
const (
	smallGemm = 12 * 12 * 12
	smallTrsm = 16 * 16 * 8
)

// Dgemm computes C = alpha op(A) op(B) + beta C.
func (i libraryBLAS) Dgemm(ta, tb blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int) {
	if m*n*k < smallGemm || !gemmFits(ta, tb, m, n, k, len(a), lda, len(b), ldb, len(c), ldc) {
		i.serial.Dgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	callGemm(i.lib.float64.gemm, trans(ta), trans(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Sgemm computes C = alpha op(A) op(B) + beta C.
func (i libraryBLAS) Sgemm(ta, tb blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32,
	ldb int, beta float32, c []float32, ldc int) {
	if m*n*k < smallGemm || !gemmFits(ta, tb, m, n, k, len(a), lda, len(b), ldb, len(c), ldc) {
		i.serial.Sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	callGemm(i.lib.float32.gemm, trans(ta), trans(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dsyrk computes one triangle of C = alpha A Aᵀ + beta C, or with Aᵀ A.
func (i libraryBLAS) Dsyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	beta float64, c []float64, ldc int) {
	if n*n*k < smallGemm || !syrkFits(uplo, t, n, k, len(a), lda, len(c), ldc) {
		i.Implementation.Dsyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	if beta == 0 {
		clearTriangle(uplo, n, c, ldc)
	}
	callSyrk(i.lib.float64.syrk, byte(uplo), trans(t), n, k, alpha, a, lda, beta, c, ldc)
}

// Ssyrk computes one triangle of C = alpha A Aᵀ + beta C, or with Aᵀ A.
func (i libraryBLAS) Ssyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int,
	beta float32, c []float32, ldc int) {
	if n*n*k < smallGemm || !syrkFits(uplo, t, n, k, len(a), lda, len(c), ldc) {
		i.Implementation.Ssyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	if beta == 0 {
		clearTriangle(uplo, n, c, ldc)
	}
	callSyrk(i.lib.float32.syrk, byte(uplo), trans(t), n, k, alpha, a, lda, beta, c, ldc)
}

// Dtrsm solves op(A) X = alpha B or X op(A) = alpha B for triangular A.
func (i libraryBLAS) Dtrsm(side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n int,
	alpha float64, a []float64, lda int, b []float64, ldb int) {
	if !trsmFits(side, uplo, t, diag, m, n, len(a), lda, len(b), ldb) {
		i.Implementation.Dtrsm(side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
		return
	}
	callTrsm(i.lib.float64.trsm, side, byte(uplo), trans(t), byte(diag), m, n, alpha, a, lda, b, ldb)
}

// Strsm solves op(A) X = alpha B or X op(A) = alpha B for triangular A.
func (i libraryBLAS) Strsm(side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n int,
	alpha float32, a []float32, lda int, b []float32, ldb int) {
	if !trsmFits(side, uplo, t, diag, m, n, len(a), lda, len(b), ldb) {
		i.Implementation.Strsm(side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
		return
	}
	callTrsm(i.lib.float32.trsm, side, byte(uplo), trans(t), byte(diag), m, n, alpha, a, lda, b, ldb)
}

// clearTriangle stores zeros in a triangle of C (n×n), because some releases of OpenBLAS multiply
// by beta = 0 and keep a NaN, unlike gonum.
func clearTriangle[T Float](uplo blas.Uplo, n int, c []T, ldc int) {
	for i := range n {
		if uplo == blas.Upper {
			clear(c[i*ldc+i : i*ldc+n])
		} else {
			clear(c[i*ldc : i*ldc+i+1])
		}
	}
}

// trans returns the character of a valid transposition of a real matrix.
func trans(t blas.Transpose) byte {
	if t == blas.NoTrans {
		return 'N'
	}
	return 'T'
}

// gemmFits reports whether the library can compute a problem; so do syrkFits, trsmFits and
// squareFits.
func gemmFits(ta, tb blas.Transpose, m, n, k, la, lda, lb, ldb, lc, ldc int) bool {
	return gemmInside(ta, tb, m, n, k, la, lda, lb, ldb, lc, ldc) && max(m, n, k, lda, ldb, ldc) <= math.MaxInt32
}

func syrkFits(uplo blas.Uplo, t blas.Transpose, n, k, la, lda, lc, ldc int) bool {
	return syrkInside(uplo, t, n, k, la, lda, lc, ldc) && max(n, k, lda, ldc) <= math.MaxInt32
}

func trsmFits(side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n, la, lda, lb, ldb int) bool {
	order, _ := orderOf(side, m, n)
	return m*n*order >= smallTrsm && triangleInside(side, uplo, t, diag, m, n, la, lda, lb, ldb) &&
		max(m, n, lda, ldb) <= math.MaxInt32
}

func squareFits(n, la, lda int) bool {
	return inside(blas.NoTrans, n, n, la, lda) && max(n, lda) <= math.MaxInt32
}
