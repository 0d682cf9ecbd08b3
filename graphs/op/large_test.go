package op_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/engine"
	"privkern/graphs/op"
	"privkern/graphs/parallel"
)

// dominant is a symmetric matrix whose diagonal dominates.
func dominant(n int) *mat.Dense {
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range i {
			v := math.Sin(float64(i*n + j))
			a.Set(i, j, v)
			a.Set(j, i, v)
		}
		a.Set(i, i, float64(n))
	}
	return a
}

// Large factors and products have the bits of one worker with any number of them.
func TestWorkersChangeNoBitOfLargeOperations(t *testing.T) {
	cpublas.Setup()
	const n = dense.LargeFactor
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		a := engine.NewMatrix(dtype, dominant(n))
		b := engine.NewMatrix(dtype, dominant(n).Slice(0, n, 0, 300).(*mat.Dense))
		l, err := op.Cholesky().Do(a)
		if err != nil {
			t.Fatal(err)
		}
		g := gorgonia.NewGraph()
		x := gorgonia.NewMatrix(g, dtype, gorgonia.WithShape(n, n))
		y := gorgonia.NewMatrix(g, dtype, gorgonia.WithShape(n, 300))
		for _, c := range []struct {
			op gorgonia.Op
			in []gorgonia.Value
		}{
			{op.Cholesky(), []gorgonia.Value{a}},
			{op.Solve(), []gorgonia.Value{a, l, b}},
			{op.Inverse(), []gorgonia.Value{a, l}},
			{op.RidgeSolve(), []gorgonia.Value{a, scalarOf(dtype, 2), b}},
			{op.Scatter(0.5, true), []gorgonia.Value{a}},
			{gorgonia.Must(gorgonia.Mul(x, y)).Op(), []gorgonia.Value{a, b}},
		} {
			var want gorgonia.Value
			for _, workers := range []int{1, 3} {
				pool := parallel.NewPool(workers)
				var got gorgonia.Value
				var err error
				if ours, ok := c.op.(op.Op); ok {
					got, err = ours.Compute(pool, nil, c.in...)
				} else {
					out := tensor.New(tensor.WithShape(n, 300), tensor.Of(dtype))
					got, err = out, op.OnHost(c.op, c.in...)(pool, out)
				}
				if err != nil {
					t.Fatalf("%v: %v", c.op, err)
				}
				if want == nil {
					want = got
				} else {
					same(t, got, want)
				}
			}
		}
	}
}

// scalarOf is a scalar of an element type.
func scalarOf(dtype tensor.Dtype, v float64) gorgonia.Value {
	if dtype == tensor.Float32 {
		return gorgonia.NewF32(float32(v))
	}
	return gorgonia.NewF64(v)
}

// A divided factor fails in the row in which one call does, with its pivot.
func TestLargeMatrixThatIsNotPositiveDefinite(t *testing.T) {
	cpublas.Setup()
	const n = dense.LargeFactor
	for _, row := range []int{0, n / 2, n - 1} {
		for _, v := range []float64{-1, math.NaN()} {
			a := dominant(n)
			a.Set(row, row, v)
			_, err := op.Cholesky().Compute(parallel.NewPool(2), nil, engine.NewMatrix(tensor.Float64, a))
			var failed *op.NotPositiveDefiniteError
			if !errors.As(err, &failed) || failed.Row != row || failed.Pivot >= 0 {
				t.Errorf("%v in row %d: %v", v, row, err)
			}
		}
	}
}

// An inverse of several panels, the last of them narrow, is one.
func TestInverseByPanels(t *testing.T) {
	cpublas.Setup()
	const n = 300
	a := dominant(n)
	l, err := op.Cholesky().Do(engine.NewMatrix(tensor.Float64, a))
	if err != nil {
		t.Fatal(err)
	}
	inverse, err := op.Inverse().Do(engine.NewMatrix(tensor.Float64, a), l)
	if err != nil {
		t.Fatal(err)
	}
	values, err := engine.Floats(inverse)
	if err != nil {
		t.Fatal(err)
	}
	var product mat.Dense
	product.Mul(a, mat.NewDense(n, n, values))
	if !mat.EqualApprox(&product, identity(n), 1e-12) {
		t.Error("A times its inverse is not the identity")
	}
}
