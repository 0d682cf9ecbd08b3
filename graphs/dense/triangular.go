package dense

import (
	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
)

// Trsm solves op(A) X = B or X op(A) = B for triangular A in place of the m×n B. A is m×m on
// the left and n×n on the right side. See [cpublas.Trsm].
func Trsm[T cpublas.Float](pool *parallel.Pool, side blas.Side, uplo blas.Uplo, t blas.Transpose, m, n int, a []T,
	lda int, b []T, ldb int) error {
	order := m
	if side == blas.Right {
		order = n
	}
	switch {
	case m*n*order < LargeProduct:
		cpublas.Trsm(side, uplo, t, m, n, 1, a, lda, b, ldb)
		return nil
	case side == blas.Right:
		return trsmRows(pool, uplo, t, m, n, a, lda, b, ldb)
	case n < 2*wide[T]()*solvePart:
		return trsmBlocks(pool, uplo, t, m, n, a, lda, b, ldb)
	}
	return trsmColumns(pool, uplo, t, m, n, a, lda, b, ldb)
}

// trsmColumns solves op(A) X = B for parts of the columns of B, for any size.
func trsmColumns[T cpublas.Float](pool *parallel.Pool, uplo blas.Uplo, t blas.Transpose, m, n int, a []T, lda int,
	b []T, ldb int) error {
	return each(pool, split(0, n, part(n, wide[T]()*solvePart)), func(s span) {
		trsmHalves(blas.Left, uplo, t, m, s.n, a, lda, b[s.at:], ldb)
	})
}

// trsmRows solves X op(A) = B for parts of the rows of B, for any size.
func trsmRows[T cpublas.Float](pool *parallel.Pool, uplo blas.Uplo, t blas.Transpose, m, n int, a []T, lda int, b []T,
	ldb int) error {
	return each(pool, split(0, m, part(m, min(wide[T]()*solvePart, max(m/2, align)))), func(s span) {
		trsmHalves(blas.Right, uplo, t, s.n, n, a, lda, b[s.at*ldb:], ldb)
	})
}

// trsmHalves solves op(A) X = B or X op(A) = B on one goroutine: one half of X, which a product
// then takes off the other one. The libraries' products are a tenth faster than their solves.
func trsmHalves[T cpublas.Float](side blas.Side, uplo blas.Uplo, t blas.Transpose, m, n int, a []T, lda int, b []T,
	ldb int) {
	order := m
	if side == blas.Right {
		order = n
	}
	if order <= wide[T]()*halfPart {
		cpublas.Trsm(side, uplo, t, m, n, 1, a, lda, b, ldb)
		return
	}
	half := part(order, (order+1)/2)
	x, y := span{0, half}, span{half, order - half}
	if lower := (uplo == blas.Lower) == (t == blas.NoTrans); lower == (side == blas.Right) {
		x, y = y, x
	}
	ax, ay := submatrix(a, lda, x.at, x.at, t), submatrix(a, lda, y.at, y.at, t)
	if side == blas.Left {
		bx, by := b[x.at*ldb:], b[y.at*ldb:]
		trsmHalves(side, uplo, t, x.n, n, ax, lda, bx, ldb)
		cpublas.Gemm(t, blas.NoTrans, y.n, n, x.n, -1, submatrix(a, lda, y.at, x.at, t), lda, bx, ldb, 1, by, ldb)
		trsmHalves(side, uplo, t, y.n, n, ay, lda, by, ldb)
		return
	}
	bx, by := b[x.at:], b[y.at:]
	trsmHalves(side, uplo, t, m, x.n, ax, lda, bx, ldb)
	cpublas.Gemm(blas.NoTrans, t, m, y.n, x.n, -1, bx, ldb, submatrix(a, lda, x.at, y.at, t), lda, 1, by, ldb)
	trsmHalves(side, uplo, t, m, y.n, ay, lda, by, ldb)
}

// trsmBlocks solves op(A) X = B where B has few columns: a block of rows of X at a time, which
// is then taken off all rows that follow, by strips.
func trsmBlocks[T cpublas.Float](pool *parallel.Pool, uplo blas.Uplo, t blas.Transpose, m, n int, a []T, lda int,
	b []T, ldb int) error {
	forward := (uplo == blas.Lower) == (t == blas.NoTrans)
	blocks := split(0, m, solvePart)
	for i := range blocks {
		s := blocks[i]
		rest := span{s.at + s.n, m - s.at - s.n}
		if !forward {
			s = blocks[len(blocks)-1-i]
			rest = span{0, s.at}
		}
		x := b[s.at*ldb:]
		cpublas.Trsm(blas.Left, uplo, t, s.n, n, 1, submatrix(a, lda, s.at, s.at, t), lda, x, ldb)
		if rest.n == 0 {
			break
		}
		err := each(pool, split(rest.at, rest.at+rest.n, rowPart), func(r span) {
			cpublas.Gemm(t, blas.NoTrans, r.n, n, s.n, -1, submatrix(a, lda, r.at, s.at, t), lda, x, ldb, 1, b[r.at*ldb:], ldb)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Columns calls f for parts of the n columns of a problem that takes a number of
// multiplications, and for all columns at once where it is not large. f must work on every
// column alone.
func Columns(pool *parallel.Pool, n, multiplications int, f func(at, columns int)) error {
	size := n
	if multiplications >= LargeProduct {
		size = part(n, solvePart)
	}
	return each(pool, split(0, n, size), func(s span) { f(s.at, s.n) })
}
