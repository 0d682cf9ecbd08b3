package op

import (
	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/parallel"
)

// largeProductOnHost is the kernel of a product of matrices whose workers share it.
func largeProductOnHost(p *parameters, in []gorgonia.Value) HostKernel {
	if p.code(linearOperator) != matrixMatrix {
		return nil
	}
	tA, tB := p.truth("transA"), p.truth("transB")
	if !isLarge(in, tA, tB) {
		return nil
	}
	return func(pool *parallel.Pool, out *tensor.Dense) error {
		if in[0].Dtype() == tensor.Float32 {
			return largeProduct[float32](pool, out, in, tA, tB)
		}
		return largeProduct[float64](pool, out, in, tA, tB)
	}
}

// isLarge reports whether package dense divides a product. Operands that gorgonia refuses are
// not large.
func isLarge(in []gorgonia.Value, tA, tB bool) bool {
	if len(in) != 2 || in[0].Dtype() != in[1].Dtype() ||
		in[0].Dtype() != tensor.Float64 && in[0].Dtype() != tensor.Float32 {
		return false
	}
	a, b := in[0].Shape(), in[1].Shape()
	if len(a) != 2 || len(b) != 2 {
		return false
	}
	m, k := sides(a[0], a[1], tA)
	l, n := sides(b[0], b[1], tB)
	return k == l && m*n*k >= dense.LargeProduct
}

// largeProduct computes op(A) op(B).
func largeProduct[T cpublas.Float](pool *parallel.Pool, out *tensor.Dense, in []gorgonia.Value, tA, tB bool) error {
	a, err := asMatrix[T](in[0])
	if err != nil {
		return err
	}
	b, err := asMatrix[T](in[1])
	if err != nil {
		return err
	}
	c, err := elementsOf[T](out)
	if err != nil {
		return err
	}
	m, k := sides(a.rows, a.cols, tA)
	_, n := sides(b.rows, b.cols, tB)
	return dense.Gemm(pool, transposed(tA), transposed(tB), m, n, k, 1, a.data, a.cols, b.data, b.cols, 0, c, n)
}

// transposed returns the flag of a library's product.
func transposed(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}
