package op

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
)

// Eigen is the operation A → E for symmetric n×n A: row 0 of the (n+1)×n E
// holds the eigenvalues in ascending order, and column j of the rows below an
// eigenvector of unit length for the j-th of them. It is computed in float64
// whatever the element type. It has no derivative, because eigenvectors of
// repeated eigenvalues are arbitrary; PSDPart has.
func Eigen() Op {
	d := &definition{name: "Eigen", in: []int{2}, out: 2, shape: func(in []tensor.Shape) (tensor.Shape, error) {
		if _, err := square(in); err != nil {
			return nil, err
		}
		return tensor.Shape{in[0][0] + 1, in[0][0]}, nil
	}}
	return Op{d.kernels(eigen[float64], eigen[float32])}
}

func eigen[T cpublas.Float](c call[T]) error {
	w, v, err := symmetricEigen(c.in[0])
	if err != nil {
		return err
	}
	for j, x := range w {
		c.out.data[j] = T(x)
	}
	for i, x := range v {
		c.out.data[len(w)+i] = T(x)
	}
	return nil
}

// symmetricEigen returns the eigenvalues of a symmetric matrix in ascending
// order, and the eigenvectors as columns.
func symmetricEigen[T cpublas.Float](a matrix[T]) (w, v []float64, err error) {
	n := a.rows
	v, w = make([]float64, n*n), make([]float64, n)
	for i, x := range a.data {
		v[i] = float64(x)
		if math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
			return nil, nil, &NoConvergenceError{Order: n}
		}
	}
	s := blas64.Symmetric{N: n, Stride: n, Data: v, Uplo: blas.Lower}
	work := make([]float64, 1)
	lapack64.Syev(lapack.EVCompute, s, w, work, -1)
	work = make([]float64, int(work[0]))
	if !lapack64.Syev(lapack.EVCompute, s, w, work, len(work)) {
		return nil, nil, &NoConvergenceError{Order: n}
	}
	return w, v, nil
}

// Eigenvalues is the operation E → the 1×n eigenvalues of an Eigen result, in
// ascending order.
func Eigenvalues() Op {
	d := &definition{name: "Eigenvalues", in: []int{2}, out: 2, shape: func(in []tensor.Shape) (tensor.Shape, error) {
		return tensor.Shape{1, in[0][1]}, nil
	}}
	return Op{d.kernels(firstRow[float64], firstRow[float32])}
}

func firstRow[T cpublas.Float](c call[T]) error {
	copy(c.out.data, c.in[0].row(0))
	return nil
}

// PSDPart is the operation (A, E) → A⁺ = V max(W, 0) Vᵀ, the nearest positive
// semidefinite matrix, exactly symmetric, for symmetric A and its Eigen E. The
// derivative is taken by A alone: E is how A⁺ is computed, not another input.
// Where an eigenvalue is zero, A⁺ has no derivative, and the one from below is
// taken.
func PSDPart() Op {
	d := &definition{name: "PSDPart", in: []int{2, 2}, out: 2, shape: square, diff: []bool{true, false},
		sym: func(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			da, err := psdGradient().Apply(in[1], grad)
			return gorgonia.Nodes{da, nil}, err
		}}
	return Op{d.kernels(psdPart[float64], psdPart[float32])}
}

// psdPart multiplies V₊ √W₊ by its transpose.
func psdPart[T cpublas.Float](c call[T]) error {
	n := c.in[0].rows
	w, v := c.in[1].data[:n], c.in[1].data[n:]
	first := 0 // eigenvalues ascend
	for first < n && w[first] <= 0 {
		first++
	}
	k := n - first
	if k == 0 {
		clear(c.out.data)
		return nil
	}
	scaled := make([]T, n*k)
	for i := range n {
		for j := range k {
			scaled[i*k+j] = v[i*n+first+j] * T(math.Sqrt(float64(w[first+j])))
		}
	}
	cpublas.Syrk(blas.Upper, blas.NoTrans, n, k, 1, scaled, k, 0, c.out.data, n)
	return mirror(nil, c.out)
}

// psdGradient is the operation (E, G) → V (Γ ∘ VᵀGV) Vᵀ, where Γ_ij is the
// divided difference of max(·, 0) at the eigenvalues i and j (Daleckii and
// Krein).
func psdGradient() Op {
	d := &definition{name: "PSDPartGradient", in: []int{2, 2}, out: 2, shape: sameShape(1)}
	return Op{d.kernels(psdPullback[float64], psdPullback[float32])}
}

func psdPullback[T cpublas.Float](c call[T]) error {
	n := c.in[1].rows
	w, v := c.in[0].data[:n], c.in[0].data[n:]
	t, s := make([]T, n*n), make([]T, n*n)
	cpublas.Gemm(blas.Trans, blas.NoTrans, n, n, n, 1, v, n, c.in[1].data, n, 0, t, n)
	cpublas.Gemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, t, n, v, n, 0, s, n)
	for i := range n {
		for j := range n {
			s[i*n+j] *= dividedDifference(w[i], w[j])
		}
	}
	cpublas.Gemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, v, n, s, n, 0, t, n)
	cpublas.Gemm(blas.NoTrans, blas.Trans, n, n, n, 1, t, n, v, n, 0, c.out.data, n)
	return nil
}

// dividedDifference is (max(a,0) − max(b,0)) / (a − b), and its limit for a = b.
func dividedDifference[T cpublas.Float](a, b T) T {
	switch {
	case a > 0 && b > 0:
		return 1
	case a <= 0 && b <= 0:
		return 0
	}
	return (max(a, 0) - max(b, 0)) / (a - b)
}
