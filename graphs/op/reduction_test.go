package op_test

import (
	"fmt"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// Sums and maxima along any axes of four are those of the definition, element by
// element, where package tensor's own are not.
func TestReductionOfFourAxes(t *testing.T) {
	shape := tensor.Shape{2, 3, 4, 5}
	data := make([]float64, 120)
	for i := range data {
		data[i] = float64((i*37)%101 - 50)
	}
	for _, f := range []struct {
		name  string
		graph func(x *gorgonia.Node, along ...int) (*gorgonia.Node, error)
		fold  func(a, b float64) float64
	}{
		{"sum", gorgonia.Sum, func(a, b float64) float64 { return a + b }},
		{"maximum", gorgonia.Max, func(a, b float64) float64 { return max(a, b) }},
	} {
		for _, along := range [][]int{
			{0}, {1}, {2}, {3}, {0, 2}, {1, 2}, {1, 3}, {2, 3}, {0, 1, 2}, {1, 2, 3}, {0, 1, 2, 3},
		} {
			t.Run(fmt.Sprint(f.name, " along ", along), func(t *testing.T) {
				want := map[int]float64{}
				for i, v := range data {
					at, rest := 0, i
					for axis := len(shape) - 1; axis >= 0; axis-- {
						if !slices.Contains(along, axis) {
							at += rest % shape[axis] * strideOf(shape, along, axis)
						}
						rest /= shape[axis]
					}
					if old, ok := want[at]; ok {
						v = f.fold(old, v)
					}
					want[at] = v
				}
				x := gorgonia.NewTensor(gorgonia.NewGraph(), tensor.Float64, 4, gorgonia.WithShape(shape...),
					gorgonia.WithName("x"))
				node, err := f.graph(x, along...)
				if err != nil {
					t.Fatal(err)
				}
				v, err := op.Do(node.Op(), engine.TensorOf(slices.Clone(data), shape...))
				if err != nil {
					t.Fatal(err)
				}
				if !v.Shape().Eq(node.Shape()) {
					t.Errorf("the shape is %v, want %v", v.Shape(), node.Shape())
				}
				got, err := engine.Floats(v)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != len(want) {
					t.Fatalf("%d elements, want %d", len(got), len(want))
				}
				for i := range got {
					if got[i] != want[i] {
						t.Errorf("element %d is %g, want %g", i, got[i], want[i])
					}
				}
			})
		}
	}
}

// strideOf is the stride of an axis once others are left out.
func strideOf(shape tensor.Shape, along []int, axis int) int {
	n := 1
	for i := axis + 1; i < len(shape); i++ {
		if !slices.Contains(along, i) {
			n *= shape[i]
		}
	}
	return n
}
