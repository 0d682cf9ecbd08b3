package cpublas

import (
	"gonum.org/v1/gonum/blas"

	"privkern/graphs/simd/vector"
)

// vectorInside reports whether n elements at an increment lie inside a slice of that length.
func vectorInside(n, length, inc int) bool { return n > 0 && inc != 0 && length > (n-1)*max(inc, -inc) }

// strided is the same for routines that do nothing for a negative increment.
func strided(n, length, inc int) bool { return inc > 0 && vectorInside(n, length, inc) }

func triangular(uplo blas.Uplo, t blas.Transpose, diag blas.Diag, n, la, lda, lx, incX int) bool {
	return validUplo(uplo) && validTrans(t) && (diag == blas.Unit || diag == blas.NonUnit) &&
		inside(blas.NoTrans, n, n, la, lda) && vectorInside(n, lx, incX)
}

func gemvInside(t blas.Transpose, m, n, la, lda, lx, incX, ly, incY int) bool {
	rows, cols := m, n
	if t != blas.NoTrans {
		rows, cols = n, m
	}
	return validTrans(t) && inside(blas.NoTrans, m, n, la, lda) && vectorInside(cols, lx, incX) &&
		vectorInside(rows, ly, incY)
}

// Ddot is the sum of x_i y_i.
func (i Kernels) Ddot(n int, x []float64, incX int, y []float64, incY int) float64 {
	if !vectorInside(n, len(x), incX) || !vectorInside(n, len(y), incY) {
		return i.Implementation.Ddot(n, x, incX, y, incY)
	}
	return vector.DotInc(n, x, incX, y, incY)
}

// Dnrm2 is the Euclidean norm of x.
func (i Kernels) Dnrm2(n int, x []float64, incX int) float64 {
	if !strided(n, len(x), incX) {
		return i.Implementation.Dnrm2(n, x, incX)
	}
	return vector.NormInc(n, x, incX)
}

// Dasum is the sum of |x_i|.
func (i Kernels) Dasum(n int, x []float64, incX int) float64 {
	if !strided(n, len(x), incX) {
		return i.Implementation.Dasum(n, x, incX)
	}
	return vector.AbsSumInc(n, x, incX)
}

// Daxpy computes y += alpha x.
func (i Kernels) Daxpy(n int, alpha float64, x []float64, incX int, y []float64, incY int) {
	if alpha == 0 || !vectorInside(n, len(x), incX) || !vectorInside(n, len(y), incY) {
		i.Implementation.Daxpy(n, alpha, x, incX, y, incY)
		return
	}
	vector.AxpyInc(n, alpha, x, incX, y, incY)
}

// Dscal computes x = alpha x.
func (i Kernels) Dscal(n int, alpha float64, x []float64, incX int) {
	if alpha == 0 || !strided(n, len(x), incX) {
		i.Implementation.Dscal(n, alpha, x, incX)
		return
	}
	vector.ScalInc(n, alpha, x, incX)
}

// Dgemv computes y = alpha op(A) x + beta y.
func (i Kernels) Dgemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int,
	beta float64, y []float64, incY int) {
	if alpha == 0 || !gemvInside(t, m, n, len(a), lda, len(x), incX, len(y), incY) {
		i.Implementation.Dgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	vector.Gemv(t != blas.NoTrans, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Dger computes A += alpha x yᵀ.
func (i Kernels) Dger(m, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64, lda int) {
	if alpha == 0 || !inside(blas.NoTrans, m, n, len(a), lda) || !vectorInside(m, len(x), incX) ||
		!vectorInside(n, len(y), incY) {
		i.Implementation.Dger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	vector.Ger(m, n, alpha, x, incX, y, incY, a, lda)
}

// Dsymv computes y = alpha A x + beta y for symmetric A.
func (i Kernels) Dsymv(uplo blas.Uplo, n int, alpha float64, a []float64, lda int, x []float64, incX int,
	beta float64, y []float64, incY int) {
	if alpha == 0 || !validUplo(uplo) || !inside(blas.NoTrans, n, n, len(a), lda) || !vectorInside(n, len(x), incX) ||
		!vectorInside(n, len(y), incY) {
		i.Implementation.Dsymv(uplo, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	vector.Symv(uplo == blas.Upper, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Dtrmv computes x = op(A) x for triangular A.
func (i Kernels) Dtrmv(uplo blas.Uplo, t blas.Transpose, diag blas.Diag, n int, a []float64, lda int, x []float64,
	incX int) {
	if !triangular(uplo, t, diag, n, len(a), lda, len(x), incX) {
		i.Implementation.Dtrmv(uplo, t, diag, n, a, lda, x, incX)
		return
	}
	vector.Trmv(uplo == blas.Upper, t != blas.NoTrans, diag == blas.Unit, n, a, lda, x, incX)
}

// Dtrsv solves op(A) x = b for triangular A; x overwrites b.
func (i Kernels) Dtrsv(uplo blas.Uplo, t blas.Transpose, diag blas.Diag, n int, a []float64, lda int, x []float64,
	incX int) {
	if !triangular(uplo, t, diag, n, len(a), lda, len(x), incX) {
		i.Implementation.Dtrsv(uplo, t, diag, n, a, lda, x, incX)
		return
	}
	vector.Trsv(uplo == blas.Upper, t != blas.NoTrans, diag == blas.Unit, n, a, lda, x, incX)
}

// Sdot is the sum of x_i y_i.
func (i Kernels) Sdot(n int, x []float32, incX int, y []float32, incY int) float32 {
	if !vectorInside(n, len(x), incX) || !vectorInside(n, len(y), incY) {
		return i.Implementation.Sdot(n, x, incX, y, incY)
	}
	return vector.DotInc(n, x, incX, y, incY)
}

// Snrm2 is the Euclidean norm of x.
func (i Kernels) Snrm2(n int, x []float32, incX int) float32 {
	if !strided(n, len(x), incX) {
		return i.Implementation.Snrm2(n, x, incX)
	}
	return vector.NormInc(n, x, incX)
}

// Sasum is the sum of |x_i|.
func (i Kernels) Sasum(n int, x []float32, incX int) float32 {
	if !strided(n, len(x), incX) {
		return i.Implementation.Sasum(n, x, incX)
	}
	return vector.AbsSumInc(n, x, incX)
}

// Saxpy computes y += alpha x.
func (i Kernels) Saxpy(n int, alpha float32, x []float32, incX int, y []float32, incY int) {
	if alpha == 0 || !vectorInside(n, len(x), incX) || !vectorInside(n, len(y), incY) {
		i.Implementation.Saxpy(n, alpha, x, incX, y, incY)
		return
	}
	vector.AxpyInc(n, alpha, x, incX, y, incY)
}

// Sscal computes x = alpha x.
func (i Kernels) Sscal(n int, alpha float32, x []float32, incX int) {
	if alpha == 0 || !strided(n, len(x), incX) {
		i.Implementation.Sscal(n, alpha, x, incX)
		return
	}
	vector.ScalInc(n, alpha, x, incX)
}

// Sgemv computes y = alpha op(A) x + beta y.
func (i Kernels) Sgemv(t blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int,
	beta float32, y []float32, incY int) {
	if alpha == 0 || !gemvInside(t, m, n, len(a), lda, len(x), incX, len(y), incY) {
		i.Implementation.Sgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	vector.Gemv(t != blas.NoTrans, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Sger computes A += alpha x yᵀ.
func (i Kernels) Sger(m, n int, alpha float32, x []float32, incX int, y []float32, incY int, a []float32, lda int) {
	if alpha == 0 || !inside(blas.NoTrans, m, n, len(a), lda) || !vectorInside(m, len(x), incX) ||
		!vectorInside(n, len(y), incY) {
		i.Implementation.Sger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	vector.Ger(m, n, alpha, x, incX, y, incY, a, lda)
}

// Ssymv computes y = alpha A x + beta y for symmetric A.
func (i Kernels) Ssymv(uplo blas.Uplo, n int, alpha float32, a []float32, lda int, x []float32, incX int,
	beta float32, y []float32, incY int) {
	if alpha == 0 || !validUplo(uplo) || !inside(blas.NoTrans, n, n, len(a), lda) || !vectorInside(n, len(x), incX) ||
		!vectorInside(n, len(y), incY) {
		i.Implementation.Ssymv(uplo, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	vector.Symv(uplo == blas.Upper, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Strmv computes x = op(A) x for triangular A.
func (i Kernels) Strmv(uplo blas.Uplo, t blas.Transpose, diag blas.Diag, n int, a []float32, lda int, x []float32,
	incX int) {
	if !triangular(uplo, t, diag, n, len(a), lda, len(x), incX) {
		i.Implementation.Strmv(uplo, t, diag, n, a, lda, x, incX)
		return
	}
	vector.Trmv(uplo == blas.Upper, t != blas.NoTrans, diag == blas.Unit, n, a, lda, x, incX)
}

// Strsv solves op(A) x = b for triangular A; x overwrites b.
func (i Kernels) Strsv(uplo blas.Uplo, t blas.Transpose, diag blas.Diag, n int, a []float32, lda int, x []float32,
	incX int) {
	if !triangular(uplo, t, diag, n, len(a), lda, len(x), incX) {
		i.Implementation.Strsv(uplo, t, diag, n, a, lda, x, incX)
		return
	}
	vector.Trsv(uplo == blas.Upper, t != blas.NoTrans, diag == blas.Unit, n, a, lda, x, incX)
}
