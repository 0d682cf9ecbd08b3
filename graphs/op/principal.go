package op

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
)

// ScatterParams are the parameters of Scatter.
type ScatterParams struct {
	Scale float64
	Rows  bool
}

// Scatter is the operation A → s AᵀA, or s AAᵀ with rows set, exactly
// symmetric: of centred samples A (N×p) with s = 1/(N−1) the sample covariance
// (p×p), or the Gram matrix (N×N) with the same eigenvalues other than zero.
func Scatter(scale float64, rows bool) Op {
	d := &definition{name: fmt.Sprintf("Scatter(scale=%x,rows=%v)", scale, rows), params: ScatterParams{scale, rows}, in: []int{2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			n := in[0][1]
			if rows {
				n = in[0][0]
			}
			return tensor.Shape{n, n}, nil
		}}
	return Op{d.kernels(
		func(c call[float64]) error { return scatter(c, scale, rows) },
		func(c call[float32]) error { return scatter(c, scale, rows) })}
}

func scatter[T cpublas.Float](c call[T], scale float64, rows bool) error {
	a := c.in[0]
	if rows {
		cpublas.Syrk(blas.Upper, blas.NoTrans, a.rows, a.cols, T(scale), a.data, a.cols, 0, c.out.data, a.rows)
	} else {
		cpublas.Syrk(blas.Upper, blas.Trans, a.cols, a.rows, T(scale), a.data, a.cols, 0, c.out.data, a.cols)
	}
	return mirror(nil, c.out)
}

// LargestEigen is the operation A → E for symmetric n×n A: column 0 of the
// k×(n+1) E holds the k largest eigenvalues in descending order, and each row
// after it an eigenvector of unit length. Like Eigen it is computed in float64
// and has no derivative. It fails with a *NoConvergenceError.
func LargestEigen(k int) Op {
	d := &definition{name: fmt.Sprintf("LargestEigen(k=%d)", k), params: k, in: []int{2}, out: 2, shape: func(in []tensor.Shape) (tensor.Shape, error) {
		if _, err := square(in); err != nil {
			return nil, err
		}
		if k < 1 || k > in[0][0] {
			return nil, fmt.Errorf("%d eigenvalues of a matrix %v", k, in[0])
		}
		return tensor.Shape{k, in[0][0] + 1}, nil
	}}
	return Op{d.kernels(
		func(c call[float64]) error { return largestEigen(c, k) },
		func(c call[float32]) error { return largestEigen(c, k) })}
}

func largestEigen[T cpublas.Float](c call[T], k int) error {
	w, v, err := symmetricEigen(c.in[0])
	if err != nil {
		return err
	}
	n := len(w)
	for i := range k {
		row, j := c.out.row(i), n-1-i
		row[0] = T(w[j])
		for r := range n {
			row[r+1] = T(v[r*n+j])
		}
	}
	return nil
}
