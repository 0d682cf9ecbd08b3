package spectral

import (
	"gonum.org/v1/gonum/blas"

	"privkern/graphs/simd/vector"
)

// The number of reflections that are applied together. For few rows, the products of reflections
// with one another dominate, so that blocks are smaller.
const (
	reflectionBlock = 64
	smallBlock      = 32
)

// reflect multiplies the contiguous k×n matrix Z by Q from the right, with the reflections of
// tridiagonalise: the eigenvectors of T in its rows become those of A.
//
// A block H(j) … H(i) is I − Vᵀ F V with lower triangular F (Schreiber and Van Loan, "A
// storage-efficient WY representation for products of Householder transformations", 1989).
func reflect[T Float](n, k int, a []T, lda int, tau []T, z []T) {
	b := reflectionBlock
	if k*fewPairs <= n {
		b = smallBlock
	}
	work := make([]T, b*n+2*b*k+2*b*b)
	take := func(size int) (part []T) {
		part, work = work[:size], work[size:]
		return part
	}
	v, zv, zvf, gram, f := take(b*n), take(b*k), take(b*k), take(b*b), take(b*b)
	for from := 1; from < n; from += b {
		to := min(from+b, n)
		rows, m := to-from, to-1
		for r := range rows {
			row := v[r*m : (r+1)*m]
			clear(row[copy(row, a[(from+r)*lda:(from+r)*lda+from+r]):])
		}
		gemm(blas.NoTrans, blas.Trans, rows, rows, m, 1, v, m, v, m, 0, gram, b)
		triangularFactor(rows, tau[from:to], gram, f, b)
		// Z ← Z (I − Vᵀ F V)ᵀ = Z − Z Vᵀ Fᵀ V
		gemm(blas.NoTrans, blas.Trans, k, rows, m, 1, z, n, v, m, 0, zv, b)
		gemm(blas.NoTrans, blas.Trans, k, rows, rows, 1, zv, b, f, b, 0, zvf, b)
		gemm(blas.NoTrans, blas.NoTrans, k, m, rows, -1, zvf, b, v, m, 1, z, n)
	}
}

// triangularFactor computes F from the Gram matrix VVᵀ: row r of F is tau[r] (−VVᵀ[r, :r] F, 1).
func triangularFactor[T Float](rows int, tau, gram, f []T, ld int) {
	for r := range rows {
		row := f[r*ld : (r+1)*ld]
		clear(row)
		for i := range r {
			c := -tau[r] * gram[r*ld+i]
			for j, x := range f[i*ld : i*ld+i+1] {
				row[j] += vector.Product(c, x)
			}
		}
		row[r] = tau[r]
	}
}
