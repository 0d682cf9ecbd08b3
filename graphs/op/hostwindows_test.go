package op_test

import (
	"fmt"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/op"
	"privkern/graphs/parallel"
)

// The kernels of windows, of their largest elements, of transposes of members, and of squares and roots have the bits
// of gorgonia's own, and so have those of derivatives.
func TestHostKernelsOfWindows(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		g := gorgonia.NewGraph()
		x := gorgonia.NewTensor(g, dtype, 4, gorgonia.WithShape(3, 2, 9, 8), gorgonia.WithName("x"))
		square := func(side int) tensor.Shape { return tensor.Shape{side, side} }
		var all gorgonia.Nodes
		for _, c := range [][3]int{{3, 0, 1}, {4, 2, 2}, {3, 1, 3}} { // side, padding, stride
			all = append(all,
				gorgonia.Must(gorgonia.Im2Col(x, square(c[0]), square(c[1]), square(c[2]), square(1))),
				gorgonia.Must(gorgonia.Im2Col(x, tensor.Shape{2, c[0]}, square(c[1]), square(c[2]), square(2))),
				gorgonia.Must(gorgonia.MaxPool2D(x, square(c[0]), []int{c[1] / 2, c[1] / 2}, []int{c[2], c[2]})))
		}
		all = append(all, gorgonia.Must(gorgonia.MaxPool2D(x, square(2), []int{0, 0}, []int{1, 1})),
			gorgonia.Must(gorgonia.Transpose(x, 0, 1, 3, 2)), gorgonia.Must(gorgonia.Sqrt(gorgonia.Must(gorgonia.Square(x)))))
		sum := gorgonia.NewConstant(0.0)
		if dtype == tensor.Float32 {
			sum = gorgonia.NewConstant(float32(0))
		}
		for _, n := range all {
			sum = gorgonia.Must(gorgonia.Add(sum, gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(n))))))
		}
		if _, err := gorgonia.Grad(sum, x); err != nil {
			t.Fatal(err)
		}
		tested := compared(t, g)
		for _, want := range []string{"im2colOp", "col2imOp", "maxPoolOp", "maxPoolDiffOp", "transposeOp", "elemUnaryOp"} {
			if tested[want] == 0 {
				t.Errorf("%v: %s has no kernel; tested are %v", dtype, want, tested)
			}
		}
	}
}

// compared computes all nodes of a graph by gorgonia, in the order of their operands, and those that have a CPU kernel
// by that, too. It counts these by their types.
func compared(t *testing.T, g *gorgonia.ExprGraph) map[string]int {
	t.Helper()
	tested, values := map[string]int{}, map[*gorgonia.Node]gorgonia.Value{}
	var value func(n *gorgonia.Node) gorgonia.Value
	value = func(n *gorgonia.Node) gorgonia.Value {
		if v := values[n]; v != nil {
			return v
		}
		var in []gorgonia.Value
		for it := g.From(n.ID()); it.Next(); {
			in = append(in, value(it.Node().(*gorgonia.Node)))
		}
		switch {
		case n.Op() == nil && n.Value() != nil: // a constant
			values[n] = n.Value()
		case n.Op() == nil || op.IsLength(n.Op()):
			values[n] = valueFor(t, g, n)
		default:
			want, err := op.Do(n.Op(), in...)
			if err != nil {
				t.Fatal(n.Op(), err)
			}
			values[n] = want
			if kernel := op.OnHost(n.Op(), in...); kernel != nil {
				got := tensor.New(tensor.Of(n.Dtype()), tensor.WithShape(n.Shape()...))
				if err := kernel(parallel.NewPool(3), got); err != nil {
					t.Fatal(n.Op(), err)
				}
				if !sameElements(got.Data(), op.RowMajor(want).Data()) {
					t.Errorf("%v of %v: other elements than gorgonia's", n.Op(), in[0].Shape())
				}
				_, kind, _ := strings.Cut(fmt.Sprintf("%T", n.Op()), ".")
				tested[kind]++
			}
		}
		return values[n]
	}
	for _, n := range g.AllNodes() {
		value(n)
	}
	return tested
}
