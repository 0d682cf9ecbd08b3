package op

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
	"privkern/graphs/parallel"
)

// Random numbers come from gorgonia's own generators on the host, on every backend: they are
// drawn and uploaded in the run that uses them, in the order of the queue, and nothing waits
// for the device. So both backends use the same numbers for the same state of the generator,
// and a device computes the rest itself. gorgonia seeds its
// generators by the clock: a graph with them gives other numbers in every process, so
// that no trial, which its seed has to determine, may contain one.

// randoms are the operations that draw.
func randoms() []Builtin { return []Builtin{random(), dropout(), dropoutGradient()} }

// Random reports whether an operation without operands draws anew whenever it is computed;
// the other ones are constants.
func Random(o gorgonia.Op) bool { return parametersOf(o).kind == "randomOp" }

// Draws reports whether an operation draws random numbers.
func Draws(o gorgonia.Op) bool {
	if Random(o) {
		return true
	}
	p := parametersOf(o)
	return p.kind == "dropoutOp" && p.truth("isTraining") && p.number("probability") != 0
}

// random are independent numbers of one distribution: uniform, normal or binomial.
func random() Builtin {
	return Builtin{Name: "random numbers", kind: "randomOp",
		queue: func(p *parameters) func(Stream) {
			return func(t Stream) {
				t.Send(t.Out(), func() (gorgonia.Value, error) { return drawn(p.operation) })
			}
		},
		cases: randomCases}
}

// drawn computes an operation on the host. gorgonia's generators panic for an empty range.
func drawn(o gorgonia.Op, in ...gorgonia.Value) (v gorgonia.Value, err error) {
	defer parallel.Catch(&err)
	return o.Do(in...)
}

// randomCases draw from distributions of a single number.
func randomCases(s *sampler) (all []Case) {
	for _, c := range []struct {
		name string
		node func(g *gorgonia.ExprGraph, dtype tensor.Dtype) *gorgonia.Node
	}{
		{"random matrix", func(g *gorgonia.ExprGraph, dtype tensor.Dtype) *gorgonia.Node {
			return gorgonia.GaussianRandomNode(g, dtype, 1.5, 0, 7, 5)
		}},
		{"random scalar", func(g *gorgonia.ExprGraph, dtype tensor.Dtype) *gorgonia.Node {
			return gorgonia.GaussianRandomNode(g, dtype, 1.5, 0)
		}},
		{"random counts", func(g *gorgonia.ExprGraph, dtype tensor.Dtype) *gorgonia.Node {
			return gorgonia.BinomialRandomNode(g, dtype, 3, 1, 7, 5)
		}},
	} {
		all = append(all, exact(c.name, []Operand{s.normal(7, 5)}, func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			return gorgonia.Add(in[0], c.node(in[0].Graph(), in[0].Dtype()))
		}))
	}
	return all
}

// dropout sets elements to zero with probability p, and divides the others by 1 − p, so that the
// expectation stays. Out of training it is a copy.
func dropout() Builtin {
	return Builtin{Name: "dropout", kind: "dropoutOp",
		queue: func(p *parameters) func(Stream) {
			probability := p.number("probability")
			if !p.truth("isTraining") || probability == 0 {
				return func(t Stream) { t.Copy(t.Out(), t.In(0)) }
			}
			return func(t Stream) {
				kept := t.Truths(t.Out().Size(), func() ([]bool, error) { return keptBy(p.operation, t) })
				t.Launch(kernels.Drop{A: t.In(0), Kept: kept, By: 1 - probability, Out: t.Out(), N: t.Out().Size()})
			}
		},
		cases: func(s *sampler) []Case {
			x := []Operand{s.normal(7, 5)}
			return []Case{exact("dropout of nothing", x, dropped(0)), exact("dropout of everything", x, dropped(1)),
				exact("dropout of hardly anything", x, dropped(1e-300))}
		}}
}

// keptBy draws the elements that a dropout keeps: those that are not zero in a dropout of ones.
func keptBy(dropout gorgonia.Op, t Stream) ([]bool, error) {
	dtype := tensor.Float64
	if t.Single() {
		dtype = tensor.Float32
	}
	if t.Shape(0).IsScalar() {
		return nil, fmt.Errorf("a dropout of a scalar")
	}
	left, err := drawn(dropout, tensor.Ones(dtype, t.Shape(0).Clone()...))
	if err != nil {
		return nil, err
	}
	kept := make([]bool, t.Shape(0).TotalSize())
	switch data := left.Data().(type) {
	case []float64:
		for i, v := range data {
			kept[i] = v != 0
		}
	case []float32:
		for i, v := range data {
			kept[i] = v != 0
		}
	}
	return kept, nil
}

// dropped is a dropout with some probability.
func dropped(probability float64) func(in gorgonia.Nodes) (*gorgonia.Node, error) {
	return func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Dropout(in[0], probability) }
}

// dropoutGradient is gorgonia's derivative of dropout: g/p where the result is not zero, which
// takes the dropped places from its zeros. The derivative of dropout is g/(1 − p).
func dropoutGradient() Builtin {
	return Builtin{Name: "dropout, derivative", kind: "dropoutDiffOp",
		element: func(p *parameters) func(Operands) kernels.Elementwise {
			probability := p.number("probability")
			return func(t Operands) kernels.Elementwise {
				if probability == 0 {
					return kernels.Fill{Out: t.Out(), N: t.Out().Size()}
				}
				return kernels.DropoutGradient{Y: t.In(1), G: t.In(2), P: probability, Out: t.Out(), N: t.Out().Size()}
			}
		},
		cases: func(s *sampler) []Case {
			return []Case{
				slope("dropout of nothing, derivative", 0, 0, []Operand{s.normal(7, 5)}, dropped(0)),
				slope("dropout out of training, derivative", 0, 10, []Operand{s.normal(7, 5)},
					func(in gorgonia.Nodes) (*gorgonia.Node, error) {
						out, err := gorgonia.Dropout(in[0], 0.5)
						if mode, ok := out.Op().(gorgonia.TrainModeOp); ok && err == nil {
							err = mode.SetTraining(false)
						}
						return out, err
					}),
			}
		}}
}
