package corpus

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// arrangedIndices returns graphs that move integers and truth values, as in masks and indices.
// gorgonia converts integers back to numbers, except scalars.
func arrangedIndices() (graphs []Graph) {
	part := func(slices ...tensor.Slice) unary {
		return func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Slice(x, slices...) }
	}
	for _, c := range []struct {
		name     string
		f        unary
		integers bool // gorgonia has no such operation on truth values
	}{
		{"transpose", func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Transpose(x) }, false},
		{"transpose by [2 0 1]", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Transpose(must(gorgonia.Reshape(x, tensor.Shape{3, 5, 4})), 2, 0, 1)
		}, false},
		{"reshape", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Reshape(x, tensor.Shape{5, 2, 6})
		}, false},
		{"[1:4, 2:6]", part(gorgonia.S(1, 4), gorgonia.S(2, 6)), false},
		{"[:, 3]", part(nil, gorgonia.S(3)), false},
		{"[0:6:2]", part(gorgonia.S(0, 6, 2)), false},
		{"concatenation along axis 0", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Concat(0, x, must(gorgonia.Slice(x, gorgonia.S(1, 3))))
		}, false},
		{"concatenation along axis 1", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Concat(1, must(gorgonia.Slice(x, nil, gorgonia.S(2, 5))), x, x)
		}, false},
		{"upsampling", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Upsample2D(must(gorgonia.Reshape(x, tensor.Shape{1, 2, 3, 10})), 2)
		}, false},
		{"repetition along axis 0", broadcast(gorgonia.S(2), 0), true},
		{"repetition along axis 1", broadcast(nil, 1), true},
	} {
		truth := one(c.name+" of truth values", normal(6, 10), func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return c.f(must(gorgonia.Gt(x, constant(x, 0), false)))
		})
		integers := one(c.name+" of integers", numbers(6, 10), func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.ConvType(must(c.f(indices(x))), tensor.Int, x.Dtype())
		})
		truth.Constant, integers.Constant = true, true
		if graphs = append(graphs, integers); !c.integers {
			graphs = append(graphs, truth)
		}
	}
	for at := range 2 {
		graphs = append(graphs, alone(one(fmt.Sprintf("row picked by element %d of slices of indices", at), normal(5, 7),
			func(x *gorgonia.Node) (*gorgonia.Node, error) {
				all := must(gorgonia.Reshape(indices(must(gorgonia.Slice(must(gorgonia.Abs(x)), nil, gorgonia.S(0, 2)))),
					tensor.Shape{10}))
				return gorgonia.ByIndices(x, must(gorgonia.Slice(all, gorgonia.S(4*at, 4*at+4))), 0)
			})))
	}
	return graphs
}

// indices converts numbers to integers.
func indices(x *gorgonia.Node) *gorgonia.Node {
	return must(gorgonia.ConvType(x, x.Dtype(), tensor.Int))
}

// broadcast repeats a slice of x along an axis of x.
func broadcast(rows tensor.Slice, axis byte) unary {
	return func(x *gorgonia.Node) (*gorgonia.Node, error) {
		slices := []tensor.Slice{rows}
		if rows == nil {
			slices = append(slices, gorgonia.S(2))
		}
		y, _, err := gorgonia.Broadcast(must(gorgonia.Slice(x, slices...)), x,
			gorgonia.NewBroadcastPattern([]byte{axis}, nil))
		return y, err
	}
}
