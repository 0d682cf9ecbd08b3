package op_test

import (
	"math"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/op"
)

// rowsOf is a tensor of rows.
func rowsOf(rows ...[]float64) *tensor.Dense {
	var data []float64
	for _, r := range rows {
		data = append(data, r...)
	}
	return tensor.New(tensor.WithShape(len(rows), len(rows[0])), tensor.WithBacking(data))
}

// Kernels that leave out rows of zeros after a leading block agree with results worked out by
// hand; rows that resemble padding and are none count.
func TestPaddingIsLeftOut(t *testing.T) {
	lambda := gorgonia.NewF64(1)
	for _, c := range []struct {
		name string
		op   op.Op
		in   []gorgonia.Value
		want []float64
	}{
		{"positive and zero", op.LargestEigen(1), []gorgonia.Value{rowsOf([]float64{3, 0, 0}, []float64{0, 2, 0},
			[]float64{0, 0, 0})}, []float64{3, 1, 0, 0}},
		{"zeros are the largest", op.LargestEigen(1), []gorgonia.Value{rowsOf([]float64{-3, 0, 0}, []float64{0, -2, 0},
			[]float64{0, 0, 0})}, []float64{0, 0, 0, 1}},
		{"as many as are zero", op.LargestEigen(2), []gorgonia.Value{rowsOf([]float64{3, 0}, []float64{0, 0})},
			[]float64{3, 1, 0, 0, 0, 1}},
		{"singular values", op.LeftSingular(), []gorgonia.Value{rowsOf([]float64{0, -3, 0}, []float64{2, 0, 0},
			[]float64{0, 0, 0})}, []float64{3, 1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0}},
		{"singular values of zeros", op.LeftSingular(), []gorgonia.Value{rowsOf([]float64{0, 0})}, []float64{0, 0}},
		{"products of columns", op.Scatter(2, false), []gorgonia.Value{rowsOf([]float64{1, 2}, []float64{0, 0})},
			[]float64{2, 4, 4, 8}},
		{"products of rows", op.Scatter(2, true), []gorgonia.Value{rowsOf([]float64{1, 2}, []float64{0, 0})},
			[]float64{10, 0, 0, 0}},
		{"nothing else than zeros", op.Scatter(2, true), []gorgonia.Value{rowsOf([]float64{0, 0}, []float64{0, 0})},
			[]float64{0, 0, 0, 0}},
		{"solutions", op.RidgeSolve(), []gorgonia.Value{rowsOf([]float64{3, 0}, []float64{0, 1}), lambda,
			rowsOf([]float64{8}, []float64{0})}, []float64{2, 0}},
		{"solutions beside an identity", op.RidgeSolve(), []gorgonia.Value{rowsOf([]float64{3, 0}, []float64{0, 1}), lambda,
			rowsOf([]float64{8}, []float64{6})}, []float64{2, 3}},
		{"a diagonal of ones beside other elements", op.RidgeSolve(), []gorgonia.Value{rowsOf([]float64{2, 1},
			[]float64{1, 1}), lambda, rowsOf([]float64{5}, []float64{0})}, []float64{2, -1}},
		{"another diagonal", op.RidgeSolve(), []gorgonia.Value{rowsOf([]float64{3, 0}, []float64{0, 2}), lambda,
			rowsOf([]float64{8}, []float64{6})}, []float64{2, 2}},
		{"norm", op.RidgeGramNorm(), []gorgonia.Value{rowsOf([]float64{3, 0}, []float64{0, 1}), lambda,
			rowsOf([]float64{32, 0}, []float64{0, 0})}, []float64{2}},
		{"norm beside an identity", op.RidgeGramNorm(), []gorgonia.Value{rowsOf([]float64{3, 0}, []float64{0, 1}), lambda,
			rowsOf([]float64{32, 0}, []float64{0, 4})}, []float64{3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := c.op.Do(c.in...)
			if err != nil {
				t.Fatal(err)
			}
			var got []float64
			switch data := v.Data().(type) {
			case []float64:
				got = data
			case float64:
				got = []float64{data}
			}
			if len(got) != len(c.want) {
				t.Fatalf("%v, want %v", v, c.want)
			}
			for i, v := range got {
				if !(math.Abs(math.Abs(v)-math.Abs(c.want[i])) < 1e-12) {
					t.Errorf("element %d is %g, want %g", i, v, c.want[i])
				}
			}
		})
	}
}
