package cpublas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"

	"privkern/graphs/simd/matrix"
)

// kernelBLAS is gonum's BLAS with the matrix-matrix routines of package matrix, on the calling
// goroutine. Empty problems and wrong arguments go to gonum.
type kernelBLAS struct{ serial }

var (
	_ blas.Float64 = kernelBLAS{}
	_ blas.Float32 = kernelBLAS{}
)

// Dgemm computes C = alpha op(A) op(B) + beta C.
func (i kernelBLAS) Dgemm(ta, tb blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	if !gemmInside(ta, tb, m, n, k, len(a), lda, len(b), ldb, len(c), ldc) {
		i.serial.Dgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	matrix.Gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Sgemm computes C = alpha op(A) op(B) + beta C.
func (i kernelBLAS) Sgemm(ta, tb blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	if !gemmInside(ta, tb, m, n, k, len(a), lda, len(b), ldb, len(c), ldc) {
		i.serial.Sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	matrix.Gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dsyrk computes one triangle of C = alpha A Aᵀ + beta C, or with Aᵀ A.
func (i kernelBLAS) Dsyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64,
	c []float64, ldc int) {
	if !syrkInside(uplo, t, n, k, len(a), lda, len(c), ldc) {
		i.Implementation.Dsyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	matrix.Syrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
}

// Ssyrk computes one triangle of C = alpha A Aᵀ + beta C, or with Aᵀ A.
func (i kernelBLAS) Ssyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32,
	c []float32, ldc int) {
	if !syrkInside(uplo, t, n, k, len(a), lda, len(c), ldc) {
		i.Implementation.Ssyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	matrix.Syrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
}

// Dsyr2k computes one triangle of C = alpha (A Bᵀ + B Aᵀ) + beta C, or with Aᵀ B and Bᵀ A.
func (i kernelBLAS) Dsyr2k(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int) {
	if !syr2kInside(uplo, t, n, k, len(a), lda, len(b), ldb, len(c), ldc) {
		i.Implementation.Dsyr2k(uplo, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	matrix.Syr2k(uplo, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Ssyr2k computes one triangle of C = alpha (A Bᵀ + B Aᵀ) + beta C, or with Aᵀ B and Bᵀ A.
func (i kernelBLAS) Ssyr2k(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, b []float32,
	ldb int, beta float32, c []float32, ldc int) {
	if !syr2kInside(uplo, t, n, k, len(a), lda, len(b), ldb, len(c), ldc) {
		i.Implementation.Ssyr2k(uplo, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	matrix.Syr2k(uplo, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dsymm computes C = alpha A B + beta C or C = alpha B A + beta C for symmetric A.
func (i kernelBLAS) Dsymm(side blas.Side, uplo blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int) {
	if !symmInside(side, uplo, m, n, len(a), lda, len(b), ldb, len(c), ldc) {
		i.Implementation.Dsymm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	matrix.Symm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Ssymm computes C = alpha A B + beta C or C = alpha B A + beta C for symmetric A.
func (i kernelBLAS) Ssymm(side blas.Side, uplo blas.Uplo, m, n int, alpha float32, a []float32, lda int, b []float32,
	ldb int, beta float32, c []float32, ldc int) {
	if !symmInside(side, uplo, m, n, len(a), lda, len(b), ldb, len(c), ldc) {
		i.Implementation.Ssymm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	matrix.Symm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dtrsm solves op(A) X = alpha B or X op(A) = alpha B for triangular A.
func (i kernelBLAS) Dtrsm(side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int) {
	if !triangleInside(side, uplo, t, diag, m, n, len(a), lda, len(b), ldb) {
		i.Implementation.Dtrsm(side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
		return
	}
	matrix.Trsm(side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
}

// Strsm solves op(A) X = alpha B or X op(A) = alpha B for triangular A.
func (i kernelBLAS) Strsm(side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n int, alpha float32,
	a []float32, lda int, b []float32, ldb int) {
	if !triangleInside(side, uplo, t, diag, m, n, len(a), lda, len(b), ldb) {
		i.Implementation.Strsm(side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
		return
	}
	matrix.Trsm(side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
}

// Dtrmm computes B = alpha op(A) B or B = alpha B op(A) for triangular A.
func (i kernelBLAS) Dtrmm(side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int) {
	if !triangleInside(side, uplo, t, diag, m, n, len(a), lda, len(b), ldb) {
		i.Implementation.Dtrmm(side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
		return
	}
	matrix.Trmm(side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
}

// Strmm computes B = alpha op(A) B or B = alpha B op(A) for triangular A.
func (i kernelBLAS) Strmm(side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n int, alpha float32,
	a []float32, lda int, b []float32, ldb int) {
	if !triangleInside(side, uplo, t, diag, m, n, len(a), lda, len(b), ldb) {
		i.Implementation.Strmm(side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
		return
	}
	matrix.Trmm(side, uplo, t, diag, m, n, alpha, a, lda, b, ldb)
}

// kernelLAPACK is spectralLAPACK with the Cholesky factor of package matrix.
type kernelLAPACK struct{ spectralLAPACK }

var _ lapack.Float64 = kernelLAPACK{}

// Dpotrf computes the Cholesky factor of a positive definite matrix in place.
func (l kernelLAPACK) Dpotrf(uplo blas.Uplo, n int, a []float64, lda int) bool {
	if !validUplo(uplo) || !inside(blas.NoTrans, n, n, len(a), lda) {
		return l.Implementation.Dpotrf(uplo, n, a, lda)
	}
	return matrix.Cholesky(uplo, n, a, lda) == 0
}
