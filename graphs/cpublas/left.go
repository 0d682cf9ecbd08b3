package cpublas

import (
	"gonum.org/v1/gonum/blas"

	"privkern/graphs/simd/matrix"
)

// NewLeft copies op(A), m×k, for the products that our own kernels take without further copies; nil
// where the registered routines are those of a library or gonum's. Products have the bits of [Gemm].
func NewLeft[T Float](t blas.Transpose, m, k int, a []T, lda int) *matrix.Left[T] {
	if !active.kernels {
		return nil
	}
	return matrix.NewLeft(t, m, k, a, lda)
}
