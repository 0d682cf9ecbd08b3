package op

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// indices are the operations with integers: conversions, and gathers by index.
func indices() []Builtin {
	return []Builtin{toIntegers(), fromIntegers(), picking(), pickingGradient()}
}

// toIntegers truncates x towards zero.
func toIntegers() Builtin {
	return Builtin{Name: "conversion to integers", kind: "dtConvOp", other: map[int]tensor.Dtype{-1: tensor.Int},
		queue: always(func(t Stream) {
			t.Launch(kernels.ToIntegers{A: t.In(0), Out: kernels.Integers(t.Out().At), N: t.Out().Size()})
		}),
		cases: conversionCases}
}

// fromIntegers converts integers to the element type.
func fromIntegers() Builtin {
	return Builtin{Name: "conversion of integers", kind: "dtConvOp", other: map[int]tensor.Dtype{0: tensor.Int},
		queue: always(func(t Stream) {
			t.Launch(kernels.FromIntegers{A: kernels.Integers(t.In(0).At), Out: t.Out(), N: t.Out().Size()})
		}),
		cases: conversionCases}
}

// conversionCases convert to integers and back.
func conversionCases(s *sampler) []Case {
	return []Case{exact("conversion", []Operand{s.normal(7, 5)}, func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		whole, err := integersOf(in[0])
		if err != nil {
			return nil, err
		}
		return gorgonia.ConvType(whole, tensor.Int, in[0].Dtype())
	})}
}

// integersOf converts numbers to integers.
func integersOf(x *gorgonia.Node) (*gorgonia.Node, error) {
	return gorgonia.ConvType(x, x.Dtype(), tensor.Int)
}

// pickedOn returns the lines of an operand along the axis of its indices.
func pickedOn(t Stream, axis int) (kernels.Lines, bool) {
	shape := t.Shape(0)
	if axis >= len(shape) {
		t.Fail(fmt.Errorf("axis %d of shape %v", axis, shape))
		return kernels.Lines{}, false
	}
	return linesOf(shape, axis, axis+1), true
}

// picking gathers the elements with some indices along an axis: y[o, j, i] = x[o, index_j, i],
// where o and i stand for the axes before and after it.
func picking() Builtin {
	return Builtin{Name: "pick by index", kind: "byIndicesOp", other: map[int]tensor.Dtype{1: tensor.Int},
		queue: func(p *parameters) func(Stream) {
			axis := p.integer("axis")
			return func(t Stream) {
				if l, ok := pickedOn(t, axis); ok {
					t.Launch(kernels.Pick{In: t.In(0), Index: kernels.Integers(t.In(1).At), Lines: l, Count: t.In(1).Size(),
						Out: t.Out()})
				}
			}
		},
		cases: pickingCases}
}

// pickingGradient sums the derivatives by all copies of each element: element [o, l, i] is
// Σ_j g[o, j, i] over the j with index_j = l.
func pickingGradient() Builtin {
	return Builtin{Name: "pick by index, derivative", kind: "byIndicesOpDiffOp",
		other: map[int]tensor.Dtype{2: tensor.Int},
		queue: func(p *parameters) func(Stream) {
			axis := p.integer("axis")
			return func(t Stream) {
				if l, ok := pickedOn(t, axis); ok {
					t.Launch(kernels.PickGradient{G: t.In(1), Index: kernels.Integers(t.In(2).At), Lines: l,
						Count: t.In(2).Size(), Out: t.Out()})
				}
			}
		},
		cases: pickingCases}
}

// pickingCases pick some rows or columns more than once. Where there are more indices than
// elements, the host's derivative is wrong.
func pickingCases(s *sampler) (all []Case) {
	for axis, name := range []string{"pick rows", "pick columns"} {
		graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			index, err := integersOf(vectorOf(in[1]))
			if err != nil {
				return nil, err
			}
			return gorgonia.ByIndices(in[0], index, axis)
		}
		index := s.whole(1, 5)
		index.Apply(func(_, _ int, v float64) float64 { return v + 2.25 }, index.Dense)
		in := []Operand{s.normal(5, 6), index}
		all = append(all, exact(name, in, graph), slope(name+", derivative", 0, 10, in, graph))
	}
	return all
}
