package op

import (
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cuda/kernels"
)

// Builtin is an operation of gorgonia that has a launch on a CUDA device. Its type is
// not exported, so that it is known by type and printed form.
//
// On the host gorgonia computes these itself. A form that no Builtin matches has no
// kernel on the device and falls back to the host, with a warning.
type Builtin struct {
	Name string
	kind string // the type's name in package gorgonia
	// match returns what queues the operation of this printed form, or nil.
	match func(text string) func(Stream)
	cases func(*sampler) []Case
}

// Cases are the operation's cases, as [Op.Cases].
func (b Builtin) Cases() []Case { return b.cases(newSampler()) }

// Launch returns what queues an operation if it is this one, or nil.
func (b Builtin) Launch(o gorgonia.Op) func(Stream) {
	if kindOf(o) != b.kind {
		return nil
	}
	return b.match(o.String())
}

// kindOf is the name of an operation's type in package gorgonia.
func kindOf(o gorgonia.Op) string {
	return strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", o), "*"), "gorgonia.")
}

// byKind are the operations by type.
var byKind = func() map[string][]Builtin {
	m := map[string][]Builtin{}
	for _, b := range Builtins() {
		m[b.kind] = append(m[b.kind], b)
	}
	return m
}()

// launchBuiltin returns what queues one of gorgonia's operations, or nil.
func launchBuiltin(o gorgonia.Op) func(Stream) {
	kind, text := kindOf(o), o.String()
	for _, b := range byKind[kind] {
		if launch := b.match(text); launch != nil {
			return launch
		}
	}
	return nil
}

// Builtins lists gorgonia's operations that have a launch.
func Builtins() []Builtin {
	return []Builtin{
		elementwise("add", "+", gorgonia.Add, func(k binary) kernels.Kernel { return kernels.Add(k) }),
		elementwise("subtract", "-", gorgonia.Sub, func(k binary) kernels.Kernel { return kernels.Subtract(k) }),
		elementwise("multiply", "⊙", gorgonia.HadamardProd, func(k binary) kernels.Kernel { return kernels.Multiply(k) }),
		elementwise("divide", "÷", gorgonia.HadamardDiv, func(k binary) kernels.Kernel { return kernels.Divide(k) }),
		function("negate", "neg", gorgonia.Neg, func(k unary) kernels.Kernel { return kernels.Negate(k) }),
		function("square", "square", gorgonia.Square, func(k unary) kernels.Kernel { return kernels.Square(k) }),
		function("sine", "sin", gorgonia.Sin, func(k unary) kernels.Kernel { return kernels.Sine(k) }),
		function("cosine", "cos", gorgonia.Cos, func(k unary) kernels.Kernel { return kernels.Cosine(k) }),
		matrixProduct(), transposition(), reshape(), summation(), repetition(), dimension(), concatenation(),
	}
}

// built is a case with a graph.
func built(name string, condition float64, in []Operand, graph func(in gorgonia.Nodes) (*gorgonia.Node, error)) Case {
	return Case{Name: name, In: in, Condition: condition,
		Graph: func(in gorgonia.Nodes) *gorgonia.Node { return gorgonia.Must(graph(in)) }}
}

// binary are the parameters of the kernels on two operands, unary on one.
type (
	binary = struct {
		A   kernels.Matrix
		SA  int
		B   kernels.Matrix
		SB  int
		Out kernels.Matrix
		N   int
	}
	unary = struct {
		A, Out kernels.Matrix
		N      int
	}
)

// elementwise is an operation on matching elements; a scalar goes with every
// element.
func elementwise(name, symbol string, f func(a, b *gorgonia.Node) (*gorgonia.Node, error),
	kernel func(binary) kernels.Kernel) Builtin {
	launch := func(t Stream) {
		a, b, n := t.In(0), t.In(1), t.Out().Size()
		stride := func(m kernels.Matrix) int {
			if m.Size() == 1 {
				return 0
			}
			return 1
		}
		for _, m := range []kernels.Matrix{a, b} {
			if m.Size() != n && m.Size() != 1 {
				t.Fail(fmt.Errorf("operands of %d and %d elements for %d", a.Size(), b.Size(), n))
				return
			}
		}
		t.Launch(kernel(binary{A: a, SA: stride(a), B: b, SB: stride(b), Out: t.Out(), N: n}))
	}
	return Builtin{Name: name, kind: "elemBinOp",
		match: func(text string) func(Stream) {
			if found, _, _ := strings.Cut(text, " "); found == symbol {
				return launch
			}
			return nil
		},
		cases: func(s *sampler) []Case {
			graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) { return f(in[0], in[1]) }
			return []Case{
				built(name, 10, []Operand{s.normal(70, 41), s.positive(70, 41)}, graph),
				built(name+" with a scalar", 10, []Operand{s.normal(70, 41), s.scalar(3)}, graph),
				built(name+" with a scalar first", 10, []Operand{s.scalar(-2), s.positive(70, 41)}, graph),
			}
		}}
}

// function is an operation on single elements.
func function(name, text string, f func(*gorgonia.Node) (*gorgonia.Node, error),
	kernel func(unary) kernels.Kernel) Builtin {
	return Builtin{Name: name, kind: "elemUnaryOp",
		match: func(found string) func(Stream) {
			if found != text {
				return nil
			}
			return func(t Stream) { t.Launch(kernel(unary{A: t.In(0), Out: t.Out(), N: t.Out().Size()})) }
		},
		cases: func(s *sampler) []Case {
			return []Case{built(name, 1, []Operand{s.normal(70, 41)},
				func(in gorgonia.Nodes) (*gorgonia.Node, error) { return f(in[0]) })}
		}}
}

// matrixProduct is a product, perhaps with transpositions, such as "Aᵀ × B".
func matrixProduct() Builtin {
	return Builtin{Name: "product", kind: "linAlgBinOp",
		match: func(text string) func(Stream) {
			tA, tB, ok := transpositions(text)
			if !ok {
				return nil
			}
			return func(t Stream) {
				k := t.In(0).Cols
				if tA == blas.Trans {
					k = t.In(0).Rows
				}
				t.Gemm(tA, tB, t.Out().Rows, t.Out().Cols, k, 1, t.In(0), t.In(1), t.Out())
			}
		},
		cases: func(s *sampler) []Case {
			x, y := s.normal(70, 41), s.normal(41, 33)
			square := func(in gorgonia.Nodes) *gorgonia.Node { // its derivatives have transpositions
				return gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Mul(in[0], in[1]))))))
			}
			return []Case{
				built("product", 100, []Operand{x, y}, func(in gorgonia.Nodes) (*gorgonia.Node,
					error) {
					return gorgonia.Mul(in[0], in[1])
				}),
				{Name: "product, derivative by the first", Condition: 1e4, In: []Operand{x, y},
					Graph: func(in gorgonia.Nodes) *gorgonia.Node { return gradient(square(in), in[0]) }},
				{Name: "product, derivative by the second", Condition: 1e4, In: []Operand{x, y},
					Graph: func(in gorgonia.Nodes) *gorgonia.Node { return gradient(square(in), in[1]) }},
			}
		}}
}

// transpositions reads those of a product.
func transpositions(text string) (tA, tB blas.Transpose, ok bool) {
	left, right, ok := strings.Cut(text, " × ")
	tA, tB = blas.NoTrans, blas.NoTrans
	if left == "Aᵀ" {
		tA, left = blas.Trans, "A"
	}
	if right == "Bᵀ" {
		tB, right = blas.Trans, "B"
	}
	return tA, tB, ok && left == "A" && right == "B"
}

// transposition is Aᵀ of a matrix: a copy, because kernels take no strides.
func transposition() Builtin {
	return Builtin{Name: "transpose", kind: "transposeOp",
		match: func(text string) func(Stream) {
			if text != "Aᵀ{1, 0}" {
				return nil
			}
			return func(t Stream) {
				a := t.In(0)
				t.Launch(kernels.Transpose{In: a, Out: t.Out(), Rows: a.Rows, Cols: a.Cols})
			}
		},
		cases: func(s *sampler) []Case {
			return []Case{built("transpose", 1, []Operand{s.normal(70, 41)},
				func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Transpose(in[0]) })}
		}}
}

// reshape copies the elements, which stay in row-major order.
func reshape() Builtin {
	return Builtin{Name: "reshape", kind: "reshapeOp",
		match: func(string) func(Stream) { return func(t Stream) { t.Copy(t.Out(), t.In(0)) } },
		cases: func(s *sampler) []Case {
			return []Case{built("reshape", 1, []Operand{s.normal(70, 41)},
				func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Reshape(in[0], tensor.Shape{41, 70}) })}
		}}
}

// summation is a sum of all elements, of columns or of rows.
func summation() Builtin {
	sumColumns := func(t Stream) {
		if vector(t, 0) {
			sumAllOn(t)
			return
		}
		a := t.In(0)
		t.Launch(kernels.SumColumns{A: a, Rows: a.Rows, Cols: a.Cols, Scale: 1, Out: t.Out()})
	}
	sumRows := func(t Stream) {
		a := t.In(0)
		t.Launch(kernels.SumRows{A: a, Rows: a.Rows, Cols: a.Cols, Scale: 1, Out: t.Out()})
	}
	return Builtin{Name: "sum", kind: "sumOp",
		match: func(text string) func(Stream) {
			switch text {
			case "Σ[0 1]":
				return sumAllOn
			case "Σ[0]":
				return sumColumns
			case "Σ[1]":
				return sumRows
			}
			return nil
		},
		cases: func(s *sampler) []Case {
			x := []Operand{s.normal(70, 41)}
			return []Case{
				built("sum", 100, x, func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Sum(in[0]) }),
				built("sum of columns", 100, x, func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Sum(in[0], 0) }),
				built("sum of rows", 100, x, func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Sum(in[0], 1) }),
				built("sum of a vector", 100, x, func(in gorgonia.Nodes) (*gorgonia.Node, error) {
					return gorgonia.Sum(gorgonia.Must(gorgonia.Sum(in[0], 1)))
				}),
			}
		}}
}

// sumAllOn adds all elements: one partial sum a block, then a fixed tree over the
// blocks, which does not depend on the order in which they run.
func sumAllOn(t Stream) {
	sum := kernels.SumAll{A: t.In(0), N: t.In(0).Size()}
	sum.Parts = t.Doubles(sum.Grid().Blocks)
	t.Launch(sum)
	totalOn(t, sum.Parts, sum.Grid())
}

// vector says whether an operand has one dimension only. The kernels see it as a
// row; gorgonia counts its elements along axis 0.
func vector(t Stream, operand int) bool { return len(t.Shape(operand)) == 1 }

// repetition takes its number from the shapes; the second input is the same
// number. A vector that is repeated along axis 1 becomes the columns of a matrix.
func repetition() Builtin {
	launch := func(t Stream) {
		a, out := t.In(0), t.Out()
		if vector(t, 0) && out.Rows > 1 {
			a.Rows, a.Cols = a.Cols, 1
		}
		if a.Rows == 0 || a.Cols == 0 || out.Rows%a.Rows != 0 || out.Cols%a.Cols != 0 {
			t.Fail(fmt.Errorf("%d×%d cannot be repeated to %d×%d", a.Rows, a.Cols, out.Rows, out.Cols))
			return
		}
		t.Launch(kernels.Repeat{In: a, Out: out, Rows: out.Rows, Cols: out.Cols, ByRow: out.Rows / a.Rows,
			ByCol: out.Cols / a.Cols})
	}
	// The derivative of a sum repeats its own.
	repeat := func(in gorgonia.Nodes, along ...int) *gorgonia.Node {
		out := gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Sum(in[0], along...))))
		if !out.IsScalar() {
			out = gorgonia.Must(gorgonia.Sum(out))
		}
		return gradient(out, in[0])
	}
	return Builtin{Name: "repeat", kind: "repeatOp",
		match: func(string) func(Stream) { return launch },
		cases: func(s *sampler) []Case {
			scalar := func(in gorgonia.Nodes) *gorgonia.Node { return repeat(in) }
			vector := func(in gorgonia.Nodes) *gorgonia.Node { return repeat(in, 1) }
			return []Case{
				{Name: "repeat a scalar", In: []Operand{s.normal(70, 41)}, Condition: 100, Graph: scalar},
				{Name: "repeat a vector of 70", In: []Operand{s.normal(70, 41)}, Condition: 100, Graph: vector},
				// Rows and columns look alike.
				{Name: "repeat a vector of 41", In: []Operand{s.normal(41, 41)}, Condition: 100, Graph: vector},
			}
		}}
}

// dimension is a number that the shapes give: "SizeOf=5", or "SizeOf(0)" for the
// length of a dimension.
func dimension() Builtin {
	return Builtin{Name: "size", kind: "sizeOp", match: matchSize, cases: repetition().cases}
}

// matchSize reads the printed form of a size.
func matchSize(text string) func(Stream) {
	if v, err := strconv.Atoi(strings.TrimPrefix(text, "SizeOf=")); err == nil {
		return func(t Stream) { t.Launch(kernels.Fill{Out: t.Out(), V: float64(v), N: 1}) }
	}
	axis, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(text, "SizeOf("), ")"))
	if err != nil {
		return nil
	}
	return func(t Stream) {
		shape := t.Shape(0)
		if axis >= len(shape) {
			t.Fail(fmt.Errorf("dimension %d of shape %v", axis, shape))
			return
		}
		t.Launch(kernels.Fill{Out: t.Out(), V: float64(shape[axis]), N: 1})
	}
}

// concatenation copies one operand after another.
func concatenation() Builtin {
	launch := func(byColumn bool) func(Stream) {
		return func(t Stream) {
			at := 0
			for i := range t.Operands() {
				a := t.In(i)
				to := t.Part(t.Out(), at, a.Rows, a.Cols)
				if byColumn {
					at += a.Cols
				} else {
					at += a.Size()
				}
				t.Launch(kernels.CopyBlock{In: a, LdIn: a.Cols, Out: to, LdOut: t.Out().Cols, Rows: a.Rows, Cols: a.Cols})
			}
		}
	}
	return Builtin{Name: "concatenate", kind: "concatOp",
		match: func(text string) func(Stream) {
			switch text {
			case "Concat(axis=0)":
				return launch(false)
			case "Concat(axis=1)":
				return launch(true)
			}
			return nil
		},
		cases: func(s *sampler) []Case {
			x := s.normal(70, 41)
			return []Case{
				built("concatenate columns", 1, []Operand{x, s.normal(70, 3)},
					func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Concat(1, in...) }),
				built("concatenate rows", 1, []Operand{x, s.normal(2, 41)},
					func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Concat(0, in...) }),
			}
		}}
}
