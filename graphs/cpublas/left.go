package cpublas

import (
	"gonum.org/v1/gonum/blas"

	"privkern/graphs/simd/matrix"
)

// NewLeft copies op(A) (m×k) for products by the kernels of package matrix, which have the bits
// of [Gemm]. It returns nil if another BLAS is registered.
func NewLeft[T Float](t blas.Transpose, m, k int, a []T, lda int) *matrix.Left[T] {
	if !active.kernels {
		return nil
	}
	return matrix.NewLeft(t, m, k, a, lda)
}
