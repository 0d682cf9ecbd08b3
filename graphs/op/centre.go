package op

import (
	"context"
	"fmt"

	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
)

// RowMeans is the operation A → m, m_i the mean of row i, n×1 for an n×p A.
// Sums are taken in float64.
func RowMeans() Op {
	d := &definition{name: "RowMeans", in: []int{2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) { return tensor.Shape{in[0][0], 1}, nil }}
	return Op{d.kernels(rowMeans[float64], rowMeans[float32])}
}

func rowMeans[T cpublas.Float](c call[T]) error {
	a := c.in[0]
	return rowTiles(c.pool, a.rows, func(i int) {
		s := 0.0
		for _, v := range a.row(i) {
			s += float64(v)
		}
		c.out.data[i] = T(s / float64(a.cols))
	})
}

// CentreSymmetric is the operation (K, m) → CKC with C = I − 11ᵀ/n, for a
// symmetric n×n K with the row means m (n×1). The result is exactly symmetric
// where K is.
func CentreSymmetric() Op {
	d := &definition{name: "CentreSymmetric", in: []int{2, 2}, out: 2, shape: func(in []tensor.Shape) (tensor.Shape, error) {
		if _, err := square(in); err != nil {
			return nil, err
		}
		if in[1][0] != in[0][0] || in[1][1] != 1 {
			return nil, fmt.Errorf("means %v of a matrix %v, want %d×1", in[1], in[0], in[0][0])
		}
		return in[0].Clone(), nil
	}}
	return Op{d.kernels(centreSymmetric[float64], centreSymmetric[float32])}
}

func centreSymmetric[T cpublas.Float](c call[T]) error {
	k, m := c.in[0], c.in[1].data
	all := 0.0
	for _, v := range m {
		all += float64(v)
	}
	all /= float64(len(m))
	return rowTiles(c.pool, k.rows, func(i int) {
		out := c.out.row(i)
		for j, v := range k.row(i) {
			// The sum of the two means first: it does not depend on their order.
			out[j] = T(float64(v) - (float64(m[i]) + float64(m[j])) + all)
		}
	})
}

// Trace is the operation A → tr(A) for a square A.
func Trace() Op {
	d := &definition{name: "Trace", in: []int{2}, out: 0, shape: squareToScalar}
	return Op{d.kernels(trace[float64], trace[float32])}
}

func trace[T cpublas.Float](c call[T]) error {
	a, s := c.in[0], 0.0
	for i := range a.rows {
		s += float64(a.data[i*a.cols+i])
	}
	c.out.data[0] = T(s)
	return nil
}

// CholeskyShifted is the operation (A, s) → L, lower triangular with zeros above
// the diagonal, A + sI = L Lᵀ, for a symmetric n×n A and a scalar s. It fails
// with a *NotPositiveDefiniteError.
func CholeskyShifted() Op {
	d := &definition{name: "CholeskyShifted", in: []int{2, 0}, out: 2, shape: square}
	return Op{d.kernels(choleskyShifted[float64], choleskyShifted[float32])}
}

func choleskyShifted[T cpublas.Float](c call[T]) error {
	return factorShifted(c.in[0], c.in[1].data[0], c.out.data)
}

// rowTiles calls f for every row.
func rowTiles(pool *parallel.Pool, rows int, f func(i int)) error {
	return pool.For(context.Background(), rows, rowTile, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			f(i)
		}
		return nil
	})
}
