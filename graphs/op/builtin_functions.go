package op

import (
	"sync"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// unary is the type of gorgonia's functions of one node.
type unary = func(*gorgonia.Node) (*gorgonia.Node, error)

// elementary is a function of single elements.
type elementary struct {
	name      string
	graph     unary
	kernel    func(kernels.Unary) kernels.Elementwise
	condition float64      // of its case; 0 for a result that is the host's to the last bit
	positive  bool         // it is not defined for other numbers
	constant  bool         // it has no derivative
	host      *elementwise // the CPU kernel, if it is not gorgonia's
	// scalar is the kernel for a scalar, where the host has another function for it.
	scalar func(kernels.Unary) kernels.Elementwise
}

// elementaries are gorgonia's functions of single elements.
func elementaries() []elementary {
	type u = kernels.Unary
	type k = kernels.Elementwise
	return []elementary{
		{name: "absolute value", graph: gorgonia.Abs, kernel: func(a u) k { return kernels.Absolute{Unary: a} }},
		{name: "sign", graph: gorgonia.Sign, constant: true, kernel: func(a u) k { return kernels.Sign{Unary: a} },
			scalar: func(a u) k { return kernels.Sign{Unary: a, Bit: true} }},
		{name: "ceiling", graph: gorgonia.Ceil, kernel: func(a u) k { return kernels.RoundUp{Unary: a} }, constant: true},
		{name: "floor", graph: gorgonia.Floor, kernel: func(a u) k { return kernels.RoundDown{Unary: a} }, constant: true},
		{name: "sine", graph: gorgonia.Sin, condition: 1, kernel: func(a u) k { return kernels.Sine{Unary: a} }},
		{name: "cosine", graph: gorgonia.Cos, condition: 1, kernel: func(a u) k { return kernels.Cosine{Unary: a} }},
		{name: "exponential", graph: gorgonia.Exp, condition: 1, host: exponentials,
			kernel: func(a u) k { return kernels.Exponential{Unary: a} }},
		{name: "logarithm", graph: gorgonia.Log, condition: 1, positive: true,
			kernel: func(a u) k { return kernels.Logarithm{Unary: a} }},
		{name: "binary logarithm", graph: gorgonia.Log2, condition: 1, positive: true,
			kernel: func(a u) k { return kernels.BinaryLogarithm{Unary: a} }},
		{name: "negate", graph: gorgonia.Neg, kernel: func(a u) k { return kernels.Negate{Unary: a} }},
		{name: "square", graph: gorgonia.Square, host: squares,
			kernel: func(a u) k { return kernels.Square{Unary: a} }},
		{name: "square root", graph: gorgonia.Sqrt, positive: true, host: roots,
			kernel: func(a u) k { return kernels.SquareRoot{Unary: a} }},
		{name: "reciprocal", graph: gorgonia.Inverse, positive: true,
			kernel: func(a u) k { return kernels.Reciprocal{Unary: a} }},
		{name: "reciprocal root", graph: gorgonia.InverseSqrt, condition: 1, positive: true,
			kernel: func(a u) k { return kernels.ReciprocalRoot{Unary: a} }},
		{name: "cube", graph: gorgonia.Cube, condition: 1, kernel: func(a u) k { return kernels.Cube{Unary: a} }},
		{name: "hyperbolic tangent", graph: gorgonia.Tanh, condition: 1, host: tangents,
			kernel: func(a u) k { return kernels.HyperbolicTangent{Unary: a} }},
		{name: "logistic", graph: gorgonia.Sigmoid, condition: 1,
			kernel: func(a u) k { return kernels.Sigmoid{Unary: a} }},
		{name: "logarithm of one plus", graph: gorgonia.Log1p, condition: 1, positive: true,
			kernel: func(a u) k { return kernels.LogarithmOfOnePlus{Unary: a} }},
		{name: "exponential minus one", graph: gorgonia.Expm1, condition: 1,
			kernel: func(a u) k { return kernels.ExponentialMinusOne{Unary: a} }},
		{name: "softplus", graph: gorgonia.Softplus, condition: 1,
			kernel: func(a u) k { return kernels.Softplus{Unary: a} }},
	}
}

// operators are the names of gorgonia's operators on single elements by their addresses,
// which alone distinguish them. They are read from the operations of gorgonia's own
// functions.
var operators = sync.OnceValue(func() map[uintptr]string {
	found := map[uintptr]string{}
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		x := gorgonia.NewScalar(gorgonia.NewGraph(), dtype, gorgonia.WithName("x"))
		for _, e := range elementaries() {
			p := parametersOf(gorgonia.Must(e.graph(x)).Op())
			found[p.address(operatorOfOne)] = e.name
		}
	}
	return found
})

// operatorOfOne is the field of an elemUnaryOp with its operator.
const operatorOfOne = "ʘUnaryOperator"

// functions are the operations on single elements.
func functions() (all []Builtin) {
	for _, e := range elementaries() {
		kernel := func(t Operands) kernels.Elementwise {
			f := e.kernel
			if e.scalar != nil && len(t.Shape(0)) == 0 {
				f = e.scalar
			}
			return f(kernels.Unary{A: t.In(0), Out: t.Out(), N: t.Out().Size()})
		}
		is := func(p *parameters) bool { return operators()[p.address(operatorOfOne)] == e.name }
		b := Builtin{Name: e.name, kind: "elemUnaryOp", cases: e.cases,
			element: func(p *parameters) func(Operands) kernels.Elementwise {
				if !is(p) {
					return nil
				}
				return kernel
			}}
		if e.host != nil {
			b.host = func(p *parameters, in []gorgonia.Value) HostKernel {
				// A scalar, which has no kernel, costs no look at the parameters.
				if kernel := e.host.on(in); kernel != nil && is(p) {
					return kernel
				}
				return nil
			}
		}
		all = append(all, b)
	}
	return all
}

// cases are those of a function: of a matrix, of a scalar, and its derivative.
func (e elementary) cases(s *sampler) []Case {
	numbers := s.normal
	if e.positive {
		numbers = s.positive
	}
	graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) { return e.graph(in[0]) }
	all := []Case{
		built(e.name, e.condition, []Operand{numbers(70, 41)}, graph),
		built(e.name+" of a scalar", e.condition, []Operand{s.scalar(0.75)}, graph),
		built(e.name+" of zero", e.condition, []Operand{s.scalar(0)}, graph),
		built(e.name+" at the edges", e.condition, []Operand{s.edge(true)}, graph),
	}
	for i := range all {
		all[i].Exact = e.condition == 0
	}
	if !e.constant {
		all = append(all, slope(e.name+", derivative", 0, 100, []Operand{numbers(7, 5)}, graph))
	}
	return all
}
