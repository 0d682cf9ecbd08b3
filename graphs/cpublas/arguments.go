package cpublas

import "gonum.org/v1/gonum/blas"

// The functions below say whether a problem may leave gonum: valid flags, not empty, every
// operand inside its slice. Otherwise gonum answers, or panics with its own words.

func validTrans(t blas.Transpose) bool {
	return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans
}

func validUplo(u blas.Uplo) bool { return u == blas.Upper || u == blas.Lower }

// inside reports whether a row-major rows×cols matrix, stored transposed or not, with this
// stride lies inside a slice of that length.
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

// orderOf is the order of the square operand beside an m×n matrix; not ok for no side.
func orderOf(side blas.Side, m, n int) (order int, ok bool) {
	if side == blas.Right {
		return n, true
	}
	return m, side == blas.Left
}
