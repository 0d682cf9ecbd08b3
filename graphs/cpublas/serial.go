package cpublas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// serial is gonum's BLAS with products on the calling goroutine. gonum's own products start as
// many goroutines as there are processors in every call, in addition to those of a pool.
//
// gonum divides a product with at least four blocks in its result, and adds the blocks of the
// inner dimension in order. Calls of at most three blocks in the same order have the same bits.
type serial struct{ gonum.Implementation }

var (
	_ blas.Float64 = serial{}
	_ blas.Float32 = serial{}
)

// Constants of gonum: blocks are gonumBlock×gonumBlock, and products of gonumParallel blocks are
// divided.
const (
	gonumBlock    = 64
	gonumParallel = 4
)

// Dgemm computes C = alpha op(A) op(B) + beta C.
func (s serial) Dgemm(ta, tb blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int) {
	inBlocks(s.Implementation.Dgemm, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Sgemm computes C = alpha op(A) op(B) + beta C.
func (s serial) Sgemm(ta, tb blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32,
	ldb int, beta float32, c []float32, ldc int) {
	inBlocks(s.Implementation.Sgemm, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// inBlocks calls gonum's product once, if gonum does not divide it, panics or has nothing to
// multiply, or else for strips of blocks.
func inBlocks[T Float](gemm func(ta, tb blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T,
	c []T, ldc int), ta, tb blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	blocks := ((m + gonumBlock - 1) / gonumBlock) * ((n + gonumBlock - 1) / gonumBlock)
	if blocks < gonumParallel || alpha == 0 || !gemmFits(ta, tb, m, n, k, len(a), lda, len(b), ldb, len(c), ldc) {
		gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	const wide = (gonumParallel - 1) * gonumBlock
	for i := 0; i < m; i += gonumBlock {
		rows := min(gonumBlock, m-i)
		for j := 0; j < n; j += wide {
			cols, to := min(wide, n-j), c[i*ldc+j:]
			by := beta
			for l := 0; l < k; l += gonumBlock {
				gemm(ta, tb, rows, cols, min(gonumBlock, k-l), alpha, submatrix(a, lda, i, l, ta), lda,
					submatrix(b, ldb, l, j, tb), ldb, by, to, ldc)
				by = 1
			}
		}
	}
}

// submatrix returns the elements of A from row i, column j of op(A) on.
func submatrix[T Float](a []T, lda, i, j int, t blas.Transpose) []T {
	if t != blas.NoTrans {
		i, j = j, i
	}
	return a[i*lda+j:]
}
