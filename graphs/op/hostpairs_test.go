package op_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/op"
	"privkern/graphs/parallel"
)

// The kernels of pairs of elements and of repetitions have the bits of gorgonia's own.
func TestHostKernelsOfPairsAndRepetitions(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		g := gorgonia.NewGraph()
		input := func(name string, rows, cols int) *gorgonia.Node {
			return gorgonia.NewMatrix(g, dtype, gorgonia.WithShape(rows, cols), gorgonia.WithName(name))
		}
		const rows, cols = 130, 70 // more than one part
		x, y := input("x", rows, cols), input("y", rows, cols)
		column, row := input("column", rows, 1), input("row", 1, cols)
		sum := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(x, y))))
		gorgonia.Must(gorgonia.Sub(x, y))
		gorgonia.Must(gorgonia.BroadcastAdd(x, column, nil, []byte{1}))
		gorgonia.Must(gorgonia.BroadcastAdd(x, row, nil, []byte{0}))
		if _, err := gorgonia.Grad(sum, x); err != nil {
			t.Fatal(err)
		}
		kinds := map[string]int{}
		for _, n := range g.AllNodes() {
			kind := strings.TrimPrefix(fmt.Sprintf("%T", n.Op()), "*")
			if kind != "gorgonia.elemBinOp" && kind != "gorgonia.repeatOp" {
				continue
			}
			var in []gorgonia.Value
			for it := g.From(n.ID()); it.Next(); {
				in = append(in, valueFor(t, g, it.Node().(*gorgonia.Node)))
			}
			kernel := op.OnHost(n.Op(), in...)
			if kernel == nil {
				continue
			}
			kinds[kind]++
			want, err := n.Op().Do(in...)
			if err != nil {
				t.Fatal(err)
			}
			got := tensor.New(tensor.Of(dtype), tensor.WithShape(n.Shape()...))
			if err := kernel(parallel.NewPool(3), got); err != nil {
				t.Fatal(err)
			}
			if !sameElements(got.Data(), want.Data()) {
				t.Errorf("%v of %v: other elements than gorgonia's", n.Op(), in[0].Shape())
			}
		}
		if kinds["gorgonia.elemBinOp"] < 4 || kinds["gorgonia.repeatOp"] < 4 {
			t.Errorf("the graph has %v, want at least four of each", kinds)
		}
	}
}

// valueFor returns a value of the shape of a node; lengths of axes are one.
func valueFor(t *testing.T, g *gorgonia.ExprGraph, n *gorgonia.Node) gorgonia.Value {
	if n.Op() != nil && op.IsLength(n.Op()) {
		operand := g.From(n.ID())
		operand.Next()
		length, err := op.Length(n.Op(), operand.Node().(*gorgonia.Node).Shape())
		if err != nil {
			t.Fatal(err)
		}
		return engine.NewScalar(n.Dtype(), float64(length))
	}
	if n.IsScalar() {
		return engine.NewScalar(n.Dtype(), .3)
	}
	return tensor.New(tensor.WithShape(n.Shape()...),
		tensor.WithBacking(tensor.Random(n.Dtype(), n.Shape().TotalSize())))
}

func sameElements(a, b any) bool {
	if a, ok := a.([]float32); ok {
		return slices.Equal(a, b.([]float32))
	}
	return slices.Equal(a.([]float64), b.([]float64))
}
