package op

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// Movements also exist for integers and truth values, because indices and masks consist of
// them. These are few and small, so that each movement is one view: of the operand, whose
// elements the result takes in order, or of the result.

// elements describe the type of moved elements.
type elements struct {
	name            string
	of              tensor.Dtype
	gather, scatter func(in, out uintptr, n int, v kernels.View) kernels.Kernel
	graph           unary // converts the numbers of a case to them
}

// integerElements are integers.
func integerElements() elements {
	type at = kernels.Integers
	return elements{"integers", tensor.Int,
		func(in, out uintptr, n int, v kernels.View) kernels.Kernel {
			return kernels.GatherIntegers{In: at(in), Out: at(out), N: n, View: v}
		},
		func(in, out uintptr, n int, v kernels.View) kernels.Kernel {
			return kernels.ScatterIntegers{In: at(in), Out: at(out), N: n, View: v}
		}, integersOf}
}

// truthElements are truth values.
func truthElements() elements {
	type at = kernels.Truth
	return elements{"truth values", tensor.Bool,
		func(in, out uintptr, n int, v kernels.View) kernels.Kernel {
			return kernels.GatherTruth{In: at(in), Out: at(out), N: n, View: v}
		},
		func(in, out uintptr, n int, v kernels.View) kernels.Kernel {
			return kernels.ScatterTruth{In: at(in), Out: at(out), N: n, View: v}
		},
		func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Gt(x, gorgonia.Must(gorgonia.Mean(x)), false)
		}}
}

// movement is a movement of elements. Its views are computed when it is queued.
type movement struct {
	name, kind string
	// view is the result as a view of the operand, or onto each operand, one after
	// another, as a view of the result.
	view func(p *parameters) func(t Stream) (kernels.View, bool)
	onto func(p *parameters) func(t Stream, operand int) (kernels.View, bool)
	// integers: gorgonia has it for integers alone.
	integers bool
	cases    []moveCase
}

// moveCase is a movement of a 6×8 matrix.
type moveCase struct {
	name  string
	graph unary
}

// moves are the movements of integers and of truth values, and the length of an axis as
// an integer.
func moves() (all []Builtin) {
	for _, e := range []elements{integerElements(), truthElements()} {
		for _, m := range movesOfElements() {
			if !m.integers || e.of == tensor.Int {
				all = append(all, m.builtin(e))
			}
		}
	}
	return append(all, dimensionAsInteger())
}

// builtin is the movement of some elements.
func (m movement) builtin(e elements) Builtin {
	return Builtin{Name: m.name + " of " + e.name, kind: m.kind, of: e.of,
		queue: func(p *parameters) func(Stream) {
			if m.view != nil {
				view := m.view(p)
				return func(t Stream) {
					if v, ok := view(t); ok {
						t.Launch(e.gather(t.In(0).At, t.Out().At, t.Out().Size(), v))
					}
				}
			}
			onto := m.onto(p)
			return func(t Stream) {
				for i := range t.Operands() {
					if v, ok := onto(t, i); ok {
						t.Launch(e.scatter(t.In(i).At, t.Out().At, t.In(i).Size(), v))
					}
				}
			}
		},
		cases: func(s *sampler) (all []Case) {
			in := []Operand{s.normal(6, 8)}
			in[0].Scale(3, in[0].Dense)
			for _, c := range m.cases {
				all = append(all, exact(c.name+" of "+e.name, in, func(in gorgonia.Nodes) (*gorgonia.Node, error) {
					x, err := e.graph(in[0])
					if err != nil {
						return nil, err
					}
					return c.graph(x)
				}))
			}
			return all
		}}
}

// movesOfElements are the movements.
func movesOfElements() []movement {
	part := func(x *gorgonia.Node, slices ...tensor.Slice) *gorgonia.Node {
		return gorgonia.Must(gorgonia.Slice(x, slices...))
	}
	return []movement{
		{name: "transpose", kind: "transposeOp", view: transposedView, cases: []moveCase{
			{"transpose", func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Transpose(x) }},
			{"transpose three axes", func(x *gorgonia.Node) (*gorgonia.Node, error) {
				return gorgonia.Transpose(shaped(x, 4, 3, 4), 2, 0, 1)
			}},
		}},
		{name: "reshape", kind: "reshapeOp", view: reshapedView, cases: []moveCase{
			{"reshape", func(x *gorgonia.Node) (*gorgonia.Node, error) { return shaped(x, 4, 12), nil }},
		}},
		{name: "repeat", kind: "repeatOp", view: repeatedView, integers: true, cases: []moveCase{
			{"repeat a row", func(x *gorgonia.Node) (*gorgonia.Node, error) {
				y, _, err := gorgonia.Broadcast(part(x, gorgonia.S(1)), x, gorgonia.NewBroadcastPattern([]byte{0}, nil))
				return y, err
			}},
			{"repeat a column", func(x *gorgonia.Node) (*gorgonia.Node, error) {
				y, _, err := gorgonia.Broadcast(part(x, nil, gorgonia.S(1)), x, gorgonia.NewBroadcastPattern([]byte{1}, nil))
				return y, err
			}},
		}},
		{name: "slice", kind: "sliceOp", view: slicedView, cases: []moveCase{
			{"slice of rows", func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Slice(x, gorgonia.S(1, 4)) }},
			{"slice of every second column", func(x *gorgonia.Node) (*gorgonia.Node, error) {
				return gorgonia.Slice(x, nil, gorgonia.S(2, 8, 2))
			}},
			{"slice of one element", func(x *gorgonia.Node) (*gorgonia.Node, error) {
				return gorgonia.Slice(x, gorgonia.S(2), gorgonia.S(3))
			}},
		}},
		{name: "element", kind: "atOp", view: elementView, cases: []moveCase{
			{"element", func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.At(x, 3, 2) }},
		}},
		{name: "upsample", kind: "upsampleOp", view: upsampledView, cases: []moveCase{
			{"upsample", func(x *gorgonia.Node) (*gorgonia.Node, error) {
				return gorgonia.Upsample2D(shaped(x, 2, 3, 4, 2), 3)
			}},
		}},
		{name: "concatenate", kind: "concatOp", onto: concatenatedView, cases: []moveCase{
			{"concatenate rows", func(x *gorgonia.Node) (*gorgonia.Node, error) {
				return gorgonia.Concat(0, x, part(x, gorgonia.S(1, 4)), x)
			}},
			{"concatenate columns", func(x *gorgonia.Node) (*gorgonia.Node, error) {
				return gorgonia.Concat(1, part(x, nil, gorgonia.S(1, 4)), x)
			}},
		}},
	}
}

// viewOf returns a view, or records an error of the launch.
func viewOf(t Stream, offset int, lengths, strides []int) (kernels.View, bool) {
	view, err := kernels.NewView(offset, lengths, strides)
	if err != nil {
		t.Fail(err)
	}
	return view, err == nil
}

func transposedView(p *parameters) func(Stream) (kernels.View, bool) {
	pattern := p.integers("pattern")
	return func(t Stream) (kernels.View, bool) { return permutedView(t, t.Shape(0), pattern) }
}

func reshapedView(*parameters) func(Stream) (kernels.View, bool) {
	return func(t Stream) (kernels.View, bool) {
		if !sameSize(t) {
			return kernels.View{}, false
		}
		return viewOf(t, 0, []int{t.Out().Size()}, []int{1})
	}
}

func repeatedView(p *parameters) func(Stream) (kernels.View, bool) {
	along := p.integer("along")
	return func(t Stream) (kernels.View, bool) {
		k, ok := repetitionOn(t, along)
		if !ok {
			return kernels.View{}, false
		}
		return viewOf(t, 0, []int{k.N / (k.By * k.Inner), k.By, k.Inner}, []int{k.Inner, 0, 1})
	}
}

func slicedView(p *parameters) func(Stream) (kernels.View, bool) {
	along := p.integer("along")
	_ = p.slice() // an error of it is one of the operation
	return func(t Stream) (kernels.View, bool) { return sliceView(t, p, along, t.Out().Size()) }
}

func elementView(p *parameters) func(Stream) (kernels.View, bool) {
	coordinates := p.integers("coordinates")
	return func(t Stream) (kernels.View, bool) {
		at, ok := placeOf(t, coordinates)
		if !ok {
			return kernels.View{}, false
		}
		return viewOf(t, at, []int{1}, []int{1})
	}
}

func upsampledView(p *parameters) func(Stream) (kernels.View, bool) {
	by := p.integer("stride") + 1
	return func(t Stream) (kernels.View, bool) { return pixelsView(t, by) }
}

func concatenatedView(p *parameters) func(t Stream, operand int) (kernels.View, bool) {
	axis := p.integer("axis")
	return func(t Stream, operand int) (kernels.View, bool) {
		rows, width, ok := partsOn(t, axis)
		if !ok {
			return kernels.View{}, false
		}
		at := 0
		for i := range operand {
			at += t.In(i).Size() / rows
		}
		return viewOf(t, at, []int{rows, t.In(operand).Size() / rows}, []int{width, 1})
	}
}

// dimensionAsInteger is the length of an axis of integers, which is one too.
func dimensionAsInteger() Builtin {
	return Builtin{Name: "size as an integer", kind: lengthKind, of: tensor.Int,
		queue: func(p *parameters) func(Stream) {
			axis := p.integer("axis")
			return func(t Stream) {
				length, err := lengthOf(t.Shape(0), axis)
				if err != nil {
					t.Fail(err)
					return
				}
				t.Send(t.Out(), func() (gorgonia.Value, error) { return gorgonia.NewI(length), nil })
			}
		},
		cases: func(s *sampler) []Case {
			x := []Operand{s.normal(7, 4)}
			return []Case{exact("size as an integer", x, func(in gorgonia.Nodes) (*gorgonia.Node, error) {
				whole, err := integersOf(in[0])
				if err != nil {
					return nil, err
				}
				return gorgonia.SizeOf(1, whole)
			})}
		}}
}
