package op

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// softmaxes are softmax, its logarithm, sparsemax, and their derivatives. All of them work on
// the lines of a tensor along one axis; x and y below are a line of operand and result, and g
// is the derivative of the objective by y.
func softmaxes() []Builtin {
	return []Builtin{softmax(), softmaxGradient(), sparsemax(), sparsemaxGradient()}
}

// softmax is y_i = exp(x_i − m) / Σ_j exp(x_j − m) with the largest element m, which keeps
// exponentials finite and leaves y as it is. Its logarithm is x_i − m − log Σ_j exp(x_j − m). On
// a device both are computed in float64 and rounded once.
func softmax() Builtin {
	return Builtin{Name: "softmax", kind: "softmaxOp",
		queue: func(p *parameters) func(Stream) {
			axis, logarithm := p.integer("axis"), p.truth("isLog")
			return func(t Stream) {
				axis, shape := axis, t.Shape(0)
				if axis == -1 && (shape.IsColVec() || shape.IsVector() && !shape.IsRowVec()) {
					axis = 0
				}
				if l, ok := alongOn(t, shape, axis); ok {
					t.Launch(kernels.Softmax{In: t.In(0), Lines: l, Logarithm: logarithm, Out: t.Out()})
				}
			}
		},
		cases: softmaxCases}
}

// softmaxGradient is the derivative of softmax, from its result: (g_i − Σ_j g_j y_j) y_i, or of
// the logarithm g_i − exp(y_i) Σ_j g_j. Its default axis is the last one for every shape.
func softmaxGradient() Builtin {
	return Builtin{Name: "softmax, derivative", kind: "softmaxDiffOp",
		queue: func(p *parameters) func(Stream) {
			axis, logarithm := p.integer("axis"), p.truth("isLog")
			return func(t Stream) {
				if l, ok := alongOn(t, t.Shape(1), axis); ok {
					t.Launch(kernels.SoftmaxGradient{Y: t.In(1), G: t.In(2), Lines: l, Logarithm: logarithm, Out: t.Out()})
				}
			}
		},
		cases: softmaxCases}
}

// alongOn returns the lines along one axis, where negative ones count from the end.
func alongOn(t Stream, shape tensor.Shape, axis int) (kernels.Lines, bool) {
	if axis < 0 {
		axis += len(shape)
	}
	if axis < 0 || axis >= len(shape) {
		t.Fail(fmt.Errorf("axis %d of shape %v", axis, shape))
		return kernels.Lines{}, false
	}
	return linesOf(shape, axis, axis+1), true
}

// softmaxCases are those of softmax and its logarithm along any axis.
func softmaxCases(s *sampler) (all []Case) {
	long, small := []Operand{s.normal(9, 560)}, []Operand{s.normal(6, 20)}
	for _, f := range []struct {
		name  string
		graph func(x *gorgonia.Node, axes ...int) (*gorgonia.Node, error)
	}{{"softmax", gorgonia.SoftMax}, {"logarithm of softmax", gorgonia.LogSoftMax}} {
		add := func(what string, in []Operand, shape []int, axes ...int) {
			graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) { return f.graph(shaped(in[0], shape...), axes...) }
			all = append(all, built(f.name+" "+what, 10, in, graph), slope(f.name+" "+what+", derivative", 0, 100, in, graph))
		}
		add("of rows", long, []int{9, 560})
		add("of columns", small, []int{6, 20}, 0)
		add("of a vector", small, []int{120})
		add("of a row", small, []int{1, 120})
		add("where NaN is", []Operand{s.holed(6, 20)}, []int{6, 20})
		add("along the middle of three axes", small, []int{3, 8, 5}, 1)
		add("along the last of four axes", small, []int{2, 3, 4, 5})
	}
	return all
}

// sparsemax is the Euclidean projection of rows onto the simplex, y_i = max(x_i − τ, 0) with the
// τ for which Σ_i y_i = 1 (Martins and Astudillo, "From softmax to sparsemax", 2016, Proposition
// 1). The support has the elements with 1 + r x_(r) > Σ_(s ≤ r) x_(s) for their rank r. Along the
// first axis of a matrix the host gives the result transposed, in the shape of the operand; it
// cannot do tensors of more axes.
func sparsemax() Builtin {
	return Builtin{Name: "sparsemax", kind: "sparsemaxOp",
		queue: func(p *parameters) func(Stream) {
			axis := p.integer("axis")
			return func(t Stream) {
				in, shape := t.In(0), t.Shape(0)
				l, ok := alongOn(t, shape, -1)
				switch {
				case !ok:
				case axis != -1 && len(shape) != 2:
					t.Fail(fmt.Errorf("axis %d of shape %v", axis, shape))
				case axis == 0:
					columns := t.Scratch(in.Cols, in.Rows)
					t.Launch(kernels.Transpose{In: in, Out: columns, Rows: in.Rows, Cols: in.Cols})
					t.Launch(kernels.Sparsemax{In: columns, Rows: in.Cols, Cols: in.Rows, Out: t.Out()})
				default:
					t.Launch(kernels.Sparsemax{In: in, Rows: l.Outer, Cols: l.Length, Out: t.Out()})
				}
			}
		},
		cases: sparsemaxCases}
}

// sparsemaxGradient is the derivative of sparsemax, from its result: g_i minus the mean of g over
// the support y > 0 for an element of it, zero elsewhere.
func sparsemaxGradient() Builtin {
	return Builtin{Name: "sparsemax, derivative", kind: "sparsemaxDiffOp",
		queue: always(func(t Stream) {
			if l, ok := alongOn(t, t.Shape(0), -1); ok {
				t.Launch(kernels.SparsemaxGradient{Y: t.In(0), G: t.In(1), Rows: l.Outer, Cols: l.Length, Out: t.Out()})
			}
		}),
		cases: sparsemaxCases}
}

// sparsemaxCases are those of sparsemax.
func sparsemaxCases(s *sampler) []Case {
	along := func(axes ...int) func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		return func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Sparsemax(in[0], axes...) }
	}
	graph := along()
	return []Case{
		built("sparsemax", 10, []Operand{s.normal(9, 300)}, graph),
		built("sparsemax along the second axis", 10, []Operand{s.normal(9, 11)}, along(1)),
		built("sparsemax along the first axis", 10, []Operand{s.normal(9, 11)}, along(0)),
		built("sparsemax of equals", 10, []Operand{s.whole(9, 7)}, graph),
		slope("sparsemax, derivative", 0, 100, []Operand{s.normal(9, 11)}, graph),
	}
}
