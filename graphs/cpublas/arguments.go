package cpublas

import "gonum.org/v1/gonum/blas"

// The functions below report whether arguments are valid: flags are defined, no size is zero, and
// every operand lies inside its slice. Other arguments go to gonum, which handles empty problems
// and panics with its own messages.

func validTrans(t blas.Transpose) bool {
	return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans
}

func validUplo(u blas.Uplo) bool { return u == blas.Upper || u == blas.Lower }

// inside reports whether a row-major matrix with rows×cols elements in op(A) lies inside a slice
// of the given length.
func inside(t blas.Transpose, rows, cols, length, stride int) bool {
	if t != blas.NoTrans {
		rows, cols = cols, rows
	}
	return rows > 0 && cols > 0 && stride >= cols && length >= (rows-1)*stride+cols
}

func gemmInside(ta, tb blas.Transpose, m, n, k, la, lda, lb, ldb, lc, ldc int) bool {
	return validTrans(ta) && validTrans(tb) &&
		inside(ta, m, k, la, lda) && inside(tb, k, n, lb, ldb) && inside(blas.NoTrans, m, n, lc, ldc)
}

func syrkInside(uplo blas.Uplo, t blas.Transpose, n, k, la, lda, lc, ldc int) bool {
	return validUplo(uplo) && validTrans(t) && inside(t, n, k, la, lda) && inside(blas.NoTrans, n, n, lc, ldc)
}

func syr2kInside(uplo blas.Uplo, t blas.Transpose, n, k, la, lda, lb, ldb, lc, ldc int) bool {
	return syrkInside(uplo, t, n, k, la, lda, lc, ldc) && inside(t, n, k, lb, ldb)
}

func symmInside(side blas.Side, uplo blas.Uplo, m, n, la, lda, lb, ldb, lc, ldc int) bool {
	order, ok := orderOf(side, m, n)
	return ok && validUplo(uplo) && inside(blas.NoTrans, order, order, la, lda) &&
		inside(blas.NoTrans, m, n, lb, ldb) && inside(blas.NoTrans, m, n, lc, ldc)
}

func triangleInside(side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n, la, lda, lb,
	ldb int) bool {
	order, ok := orderOf(side, m, n)
	return ok && validUplo(uplo) && validTrans(t) && (diag == blas.Unit || diag == blas.NonUnit) &&
		inside(blas.NoTrans, order, order, la, lda) && inside(blas.NoTrans, m, n, lb, ldb)
}

// orderOf returns the order of the square operand of a product with an m×n matrix. ok is false for an
// undefined side.
func orderOf(side blas.Side, m, n int) (order int, ok bool) {
	if side == blas.Right {
		return n, true
	}
	return m, side == blas.Left
}
