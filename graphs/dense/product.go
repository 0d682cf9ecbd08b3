package dense

import (
	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
)

// Gemm computes C = alpha op(A) op(B) + beta C. op(A) is m×k, op(B) is k×n and C is m×n.
// Sums over k are not divided. See [cpublas.Gemm].
func Gemm[T cpublas.Float](pool *parallel.Pool, ta, tb blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T,
	ldb int, beta T, c []T, ldc int) error {
	if m*n*k < LargeProduct {
		cpublas.Gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return nil
	}
	return gemm(pool, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// gemm is Gemm in parts, for any size.
func gemm[T cpublas.Float](pool *parallel.Pool, ta, tb blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T,
	ldb int, beta T, c []T, ldc int) error {
	var parts []rectangle
	for _, r := range split(0, m, part(m, wide[T]()*rowPart)) {
		for _, s := range split(0, n, part(n, columnPart)) {
			parts = append(parts, rectangle{r, s})
		}
	}
	return each(pool, parts, func(p rectangle) {
		cpublas.Gemm(ta, tb, p.rows.n, p.cols.n, k, alpha, submatrix(a, lda, p.rows.at, 0, ta), lda,
			submatrix(b, ldb, 0, p.cols.at, tb), ldb, beta, c[p.rows.at*ldc+p.cols.at:], ldc)
	})
}

// Syrk computes one triangle of C = alpha A Aᵀ + beta C, or with Aᵀ A. C is n×n, op(A) n×k.
// See [cpublas.Syrk].
func Syrk[T cpublas.Float](pool *parallel.Pool, uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int,
	beta T, c []T, ldc int) error {
	if n*n*k < LargeProduct {
		cpublas.Syrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return nil
	}
	return syrk(pool, uplo, t, n, k, alpha, a, lda, beta, c, ldc)
}

// syrk is Syrk in parts, for any size: strips of rows up to the diagonal, the long ones
// first, and then the blocks on it.
func syrk[T cpublas.Float](pool *parallel.Pool, uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int,
	beta T, c []T, ldc int) error {
	strips := split(0, n, part(n, min(wide[T]()*rowPart, max(n/4, align))))
	var parts, diagonal []rectangle
	for i := range strips {
		s := strips[i]
		lo, hi := s.at+s.n, n
		if uplo == blas.Lower {
			s = strips[len(strips)-1-i]
			lo, hi = 0, s.at
		}
		for _, columns := range split(lo, hi, columnPart) {
			parts = append(parts, rectangle{s, columns})
		}
		diagonal = append(diagonal, rectangle{s, s})
	}
	other := blas.Trans
	if t != blas.NoTrans {
		other = blas.NoTrans
	}
	return each(pool, append(parts, diagonal...), func(p rectangle) {
		rows, to := submatrix(a, lda, p.rows.at, 0, t), c[p.rows.at*ldc+p.cols.at:]
		if p.rows == p.cols {
			cpublas.Syrk(uplo, t, p.rows.n, k, alpha, rows, lda, beta, to, ldc)
			return
		}
		columns := submatrix(a, lda, p.cols.at, 0, t)
		cpublas.Gemm(t, other, p.rows.n, p.cols.n, k, alpha, rows, lda, columns, lda, beta, to, ldc)
	})
}
