package op

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// movements are the operations that copy elements from one place to another, and those on
// shapes.
func movements() []Builtin {
	return []Builtin{transposition(), reshape(), repetition(), dimension(), concatenation(), slicing(), sliceGradient(),
		element(), diagonal(), upsampling(), upsamplingGradient()}
}

// transposition puts axes into another order: axis a of the result is axis pattern[a] of the
// operand. It is a copy, because kernels take no strides.
func transposition() Builtin {
	return Builtin{Name: "transpose", kind: "transposeOp", host: transpositionOnHost,
		queue: func(p *parameters) func(Stream) {
			pattern := p.integers("pattern")
			return func(t Stream) {
				in, shape := t.In(0), t.Shape(0)
				switch {
				case len(pattern) != len(shape):
					t.Fail(fmt.Errorf("axes %v of shape %v", pattern, shape))
				case slices.IsSorted(pattern):
					t.Copy(t.Out(), in)
				case len(pattern) == 2:
					t.Launch(kernels.Transpose{In: in, Out: t.Out(), Rows: in.Rows, Cols: in.Cols})
				default:
					permuteOn(t, in, shape, pattern, t.Out())
				}
			}
		},
		cases: func(s *sampler) []Case {
			transpose := func(shape []int, axes ...int) func(in gorgonia.Nodes) (*gorgonia.Node, error) {
				return func(in gorgonia.Nodes) (*gorgonia.Node, error) {
					return gorgonia.Transpose(shaped(in[0], shape...), axes...)
				}
			}
			x, small := []Operand{s.normal(70, 41)}, []Operand{s.normal(6, 20)}
			return []Case{
				exact("transpose", x, transpose([]int{70, 41})),
				exact("transpose a row", x, transpose([]int{1, 2870})),
				exact("transpose three axes", small, transpose([]int{4, 3, 10}, 2, 0, 1)),
				exact("transpose members", []Operand{s.normal(3, 70*41)}, transpose([]int{3, 70, 41}, 0, 2, 1)),
				exact("transpose four axes", small, transpose([]int{2, 3, 4, 5}, 0, 3, 1, 2)),
				exact("transpose five axes", small, transpose([]int{2, 3, 2, 2, 5}, 4, 1, 3, 0, 2)),
				slope("transpose four axes, derivative", 0, 1, small, transpose([]int{2, 3, 4, 5}, 2, 0, 3, 1)),
			}
		}}
}

// reshape copies the elements, which stay in row-major order.
func reshape() Builtin {
	return Builtin{Name: "reshape", kind: "reshapeOp",
		queue: always(func(t Stream) {
			if sameSize(t) {
				t.Copy(t.Out(), t.In(0))
			}
		}),
		element: func(*parameters) func(Operands) kernels.Elementwise {
			return func(t Operands) kernels.Elementwise {
				if !sameSize(t) {
					return nil
				}
				n := t.Out().Size()
				return kernels.Repeat{A: t.In(0), Inner: n, By: 1, Out: t.Out(), N: n}
			}
		},
		cases: func(s *sampler) []Case {
			return []Case{exact("reshape", []Operand{s.normal(70, 41)},
				func(in gorgonia.Nodes) (*gorgonia.Node, error) { return shaped(in[0], 41, 70), nil })}
		}}
}

// sameSize reports whether the result has as many elements as the operand.
func sameSize(t Operands) bool {
	same := t.In(0).Size() == t.Out().Size()
	if !same {
		t.Fail(fmt.Errorf("%v as %v", t.Shape(0), t.OutShape()))
	}
	return same
}

// repetition repeats each element along an axis: y[o, r, i] = x[o, ⌊r/by⌋, i], where o and i stand
// for the axes before and after it. The number of repetitions follows from the shapes; the second
// operand is the same number.
func repetition() Builtin {
	return Builtin{Name: "repeat", kind: "repeatOp",
		element: func(p *parameters) func(Operands) kernels.Elementwise {
			along := p.integer("along")
			return func(t Operands) kernels.Elementwise {
				if k, ok := repetitionOn(t, along); ok {
					return k
				}
				return nil
			}
		},
		host:  repetitionOnHost,
		cases: repetitionCases}
}

// repetitionOn returns the repetition along an axis of runs, of which each has the elements of
// the axes after it.
func repetitionOn(t Operands, along int) (kernels.Repeat, bool) {
	in, shape := t.In(0), t.OutShape()
	n := sizeOf(shape)
	if along < 0 || along >= len(shape) || in.Size() == 0 || n%in.Size() != 0 {
		t.Fail(fmt.Errorf("%v cannot be repeated to %v along axis %d", t.Shape(0), shape, along))
		return kernels.Repeat{}, false
	}
	return kernels.Repeat{A: in, Inner: sizeOf(shape[along+1:]), By: n / in.Size(), Out: t.Out(), N: n}, true
}

// repetitionCases have repetitions and sizes: the derivative of a sum repeats its own,
// and so does broadcasting.
func repetitionCases(s *sampler) []Case {
	sum := func(axes ...int) func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		return func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Sum(in[0], axes...) }
	}
	broadcast := func(axes ...byte) func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		return func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.BroadcastAdd(in[0], in[1], nil, axes) }
	}
	return []Case{
		slope("repeat a scalar", 0, 100, []Operand{s.normal(70, 41)}, sum()),
		slope("repeat a vector of 70", 0, 100, []Operand{s.normal(70, 41)}, sum(1)),
		slope("repeat a vector of 41", 0, 100, []Operand{s.normal(70, 41)}, sum(0)),
		// Rows and columns look alike.
		slope("repeat a vector of a square", 0, 100, []Operand{s.normal(41, 41)}, sum(1)),
		built("repeat a column", 1, []Operand{s.normal(70, 41), s.normal(70, 1)}, broadcast(1)),
		built("repeat a row", 1, []Operand{s.normal(70, 41), s.normal(1, 41)}, broadcast(0)),
		slope("repeat a column, derivative", 1, 100, []Operand{s.normal(7, 4), s.normal(7, 1)}, broadcast(1)),
		slope("repeat a row, derivative", 1, 100, []Operand{s.normal(7, 4), s.normal(1, 4)}, broadcast(0)),
	}
}

// lengthKind is gorgonia's type of the lengths of axes.
const lengthKind = "sizeOp"

// dimension is the length of an axis, 1 for a scalar.
func dimension() Builtin {
	return Builtin{Name: "size", kind: lengthKind,
		element: func(p *parameters) func(Operands) kernels.Elementwise {
			axis := p.integer("axis")
			return func(t Operands) kernels.Elementwise {
				length, err := lengthOf(t.Shape(0), axis)
				if err != nil {
					t.Fail(err)
					return nil
				}
				return kernels.Fill{Out: t.Out(), V: float64(length), N: 1}
			}
		},
		cases: func(s *sampler) []Case {
			return []Case{
				exact("size", []Operand{s.normal(7, 4)},
					func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.SizeOf(1, in[0]) }),
				built("mean", 10, []Operand{s.normal(7, 4)},
					func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Mean(in[0]) }),
			}
		}}
}

// lengthOf returns the length of an axis, 1 for a scalar.
func lengthOf(shape tensor.Shape, axis int) (int, error) {
	switch {
	case len(shape) == 0:
		return 1, nil
	case axis < 0 || axis >= len(shape):
		return 0, fmt.Errorf("axis %d of shape %v", axis, shape)
	}
	return shape[axis], nil
}

// IsLength reports whether one of gorgonia's operations is the length of an axis.
func IsLength(o gorgonia.Op) bool { return parametersOf(o).kind == lengthKind }

// Length returns the result of such an operation for an operand of a shape.
func Length(o gorgonia.Op, shape tensor.Shape) (int, error) {
	p := parametersOf(o)
	axis := p.integer("axis")
	if p.err != nil {
		return 0, p.err
	}
	return lengthOf(shape, axis)
}

// concatenation copies one operand after another.
func concatenation() Builtin {
	return Builtin{Name: "concatenate", kind: "concatOp",
		queue: func(p *parameters) func(Stream) {
			axis := p.integer("axis")
			return func(t Stream) {
				rows, width, ok := partsOn(t, axis)
				if !ok {
					return
				}
				at := 0
				for i := range t.Operands() {
					a := t.In(i)
					cols := a.Size() / rows
					t.Launch(kernels.CopyBlock{In: a, LdIn: cols, Out: t.Part(t.Out(), at, rows, cols), LdOut: width, Rows: rows,
						Cols: cols})
					at += cols
				}
			}
		},
		cases: func(s *sampler) []Case {
			x := s.normal(70, 41)
			concat := func(axis int) func(in gorgonia.Nodes) (*gorgonia.Node, error) {
				return func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Concat(axis, in...) }
			}
			deep := func(in gorgonia.Nodes) (*gorgonia.Node, error) {
				return gorgonia.Concat(1, shaped(in[0], 3, 2, 4), shaped(in[1], 3, 1, 4))
			}
			in := []Operand{s.normal(6, 4), s.normal(3, 4)}
			return []Case{
				exact("concatenate columns", []Operand{x, s.normal(70, 3)}, concat(1)),
				exact("concatenate rows", []Operand{x, s.normal(2, 41)}, concat(0)),
				exact("concatenate three", []Operand{x, s.normal(2, 41), s.normal(1, 41)}, concat(0)),
				exact("concatenate vectors", []Operand{s.normal(1, 5), s.normal(7, 1)}, func(in gorgonia.Nodes) (*gorgonia.Node,
					error) {
					return gorgonia.Concat(0, vectorOf(in[0]), vectorOf(in[1]))
				}),
				exact("concatenate along the middle of three axes", in, deep),
				slope("concatenate columns, derivative", 1, 1, []Operand{s.normal(7, 4), s.normal(7, 1)}, concat(1)),
				slope("concatenate along the middle of three axes, derivative", 0, 1, in, deep),
			}
		}}
}

// partsOn returns the sides of the result of a concatenation as a matrix: the axes before the
// axis are its rows, the axis and those after it its columns.
func partsOn(t Stream, axis int) (rows, cols int, ok bool) {
	whole := t.OutShape()
	if axis < 0 || axis >= len(whole) {
		t.Fail(fmt.Errorf("axis %d of shape %v", axis, whole))
		return 0, 0, false
	}
	return sizeOf(whole[:axis]), sizeOf(whole[axis:]), true
}

// sliceView returns the slice along one axis of operand 0 as a view of n elements.
func sliceView(t Stream, p *parameters, along, n int) (kernels.View, bool) {
	shape := t.Shape(0)
	if along < 0 || along >= len(shape) {
		t.Fail(fmt.Errorf("axis %d of shape %v", along, shape))
		return kernels.View{}, false
	}
	l := linesOf(shape, along, along+1)
	start, step := 0, 1
	if s := p.slice(); s != nil {
		start, step = s.Start(), max(1, s.Step())
	}
	length := n / max(1, l.Count())
	if length < 1 || length*l.Count() != n || start+(length-1)*step >= l.Length {
		t.Fail(fmt.Errorf("a slice of %d elements of shape %v along axis %d, from %d on in steps of %d", n, shape, along,
			start, step))
		return kernels.View{}, false
	}
	return viewOf(t, start*l.Inner, []int{l.Outer, length, l.Inner}, []int{l.Length * l.Inner, step * l.Inner, 1})
}

// slicing is a range of an axis. One of length 1 loses the axis.
func slicing() Builtin {
	return Builtin{Name: "slice", kind: "sliceOp",
		queue: func(p *parameters) func(Stream) {
			along := p.integer("along")
			_ = p.slice() // an error of it is one of the operation
			return func(t Stream) {
				n := t.Out().Size()
				if view, ok := sliceView(t, p, along, n); ok {
					t.Launch(kernels.Gather{In: t.In(0), Out: t.Out(), N: n, View: view})
				}
			}
		},
		cases: sliceCases}
}

// sliceGradient is the derivative of a slice: the gradient at the places of the slice, zero
// elsewhere.
func sliceGradient() Builtin {
	return Builtin{Name: "slice, derivative", kind: "sliceIncrOp",
		queue: func(p *parameters) func(Stream) {
			along := p.integer("along")
			_ = p.slice()
			return func(t Stream) {
				out, g := t.Out(), t.In(1)
				t.Launch(kernels.Fill{Out: out, N: out.Size()})
				if view, ok := sliceView(t, p, along, g.Size()); ok {
					t.Launch(kernels.Scatter{In: g, Out: out, N: g.Size(), View: view})
				}
			}
		},
		cases: sliceCases}
}

// sliceCases are those of slices and of their derivatives.
func sliceCases(s *sampler) (all []Case) {
	for _, c := range []struct {
		name  string
		graph func(x *gorgonia.Node) (*gorgonia.Node, error)
	}{
		{"slice of rows", func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Slice(x, gorgonia.S(1, 4)) }},
		{"slice of columns", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Slice(x, nil, gorgonia.S(2, 5))
		}},
		{"slice of both", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Slice(x, gorgonia.S(3, 5), gorgonia.S(1, 7))
		}},
		{"slice of one row", func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Slice(x, gorgonia.S(2)) }},
		{"slice of one column", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Slice(x, nil, gorgonia.S(3))
		}},
		{"slice of one element", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Slice(x, gorgonia.S(2), gorgonia.S(3))
		}},
		{"slice of every second row", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Slice(x, gorgonia.S(0, 6, 2))
		}},
		{"slice of every third column", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Slice(x, nil, gorgonia.S(1, 7, 3))
		}},
		{"slice of a vector", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Slice(vectorOf(x), gorgonia.S(5, 12))
		}},
		{"slice of three axes", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Slice(shaped(x, 4, 3, 4), nil, gorgonia.S(1, 3), gorgonia.S(0, 2))
		}},
		{"slice of one of three axes", func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Slice(shaped(x, 4, 3, 4), nil, gorgonia.S(1))
		}},
	} {
		graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) { return c.graph(in[0]) }
		in := []Operand{s.normal(6, 8)}
		all = append(all, exact(c.name, in, graph), slope(c.name+", derivative", 0, 1, in, graph))
	}
	return all
}

// element is one element of a tensor.
func element() Builtin {
	return Builtin{Name: "element", kind: "atOp",
		queue: func(p *parameters) func(Stream) {
			coordinates := p.integers("coordinates")
			return func(t Stream) {
				if at, ok := placeOf(t, coordinates); ok {
					t.Copy(t.Out(), t.Part(t.In(0), at, 1, 1))
				}
			}
		},
		cases: func(s *sampler) []Case {
			return []Case{
				exact("element", []Operand{s.normal(7, 5)},
					func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.At(in[0], 3, 2) }),
				exact("element of three axes", []Operand{s.normal(6, 5)},
					func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.At(shaped(in[0], 2, 3, 5), 1, 2, 4) }),
			}
		}}
}

// placeOf returns the position of an element in the operand, in row-major order.
func placeOf(t Stream, coordinates []int) (at int, ok bool) {
	shape := t.Shape(0)
	ok = len(coordinates) == len(shape)
	if ok {
		for i, stride := range shape.CalcStrides() {
			ok = ok && coordinates[i] >= 0 && coordinates[i] < shape[i]
			at += coordinates[i] * stride
		}
	}
	if !ok {
		t.Fail(fmt.Errorf("element %v of shape %v", coordinates, shape))
	}
	return at, ok
}

// diagonal is the n×n matrix with the n elements of a tensor on its diagonal.
func diagonal() Builtin {
	return Builtin{Name: "diagonal matrix", kind: "diagFlatOp",
		queue: always(func(t Stream) {
			in, out := t.In(0), t.Out()
			n := in.Size()
			t.Launch(kernels.Fill{Out: out, N: out.Size()})
			if view, ok := viewOf(t, 0, []int{n}, []int{n + 1}); ok {
				t.Launch(kernels.Scatter{In: in, Out: out, N: n, View: view})
			}
		}),
		cases: func(s *sampler) []Case {
			return []Case{exact("diagonal matrix", []Operand{s.normal(1, 37)},
				func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.DiagFlat(vectorOf(in[0])) })}
		}}
}

// upsampling repeats the pixels of images: y[n, c, i, j] = x[n, c, ⌊i/by⌋, ⌊j/by⌋].
func upsampling() Builtin {
	return Builtin{Name: "upsample", kind: "upsampleOp",
		queue: func(p *parameters) func(Stream) {
			by := p.integer("stride") + 1
			return func(t Stream) {
				if view, ok := pixelsView(t, by); ok {
					t.Launch(kernels.Gather{In: t.In(0), Out: t.Out(), N: t.Out().Size(), View: view})
				}
			}
		},
		cases: upsamplingCases}
}

// pixelsView returns a view of images that repeats each pixel along both axes.
func pixelsView(t Stream, by int) (kernels.View, bool) {
	shape := t.Shape(0)
	if !imagesOn(t, shape) {
		return kernels.View{}, false
	}
	h, w := shape[2], shape[3]
	return viewOf(t, 0, []int{shape[0] * shape[1], h, by, w, by}, []int{h * w, w, 0, 1, 0})
}

// upsamplingGradient sums the derivatives by all copies of each pixel.
func upsamplingGradient() Builtin {
	return Builtin{Name: "upsample, derivative", kind: "upsampleDiffOp",
		queue: func(p *parameters) func(Stream) {
			by := p.integer("stride") + 1
			return func(t Stream) {
				if shape := t.Shape(0); imagesOn(t, shape) {
					sumOn(t, t.In(2), []int{shape[0] * shape[1], shape[2], by, shape[3], by}, []int{2, 4}, t.Out())
				}
			}
		},
		cases: upsamplingCases}
}

// upsamplingCases are those of repeated pixels.
func upsamplingCases(s *sampler) []Case {
	graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		return gorgonia.Upsample2D(shaped(in[0], 2, 3, 4, 5), 3)
	}
	in := []Operand{s.normal(6, 20)}
	return []Case{exact("upsample", in, graph), slope("upsample, derivative", 0, 100, in, graph)}
}
