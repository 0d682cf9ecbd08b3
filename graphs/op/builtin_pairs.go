package op

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// binary is the type of gorgonia's functions of two nodes.
type binary = func(a, b *gorgonia.Node) (*gorgonia.Node, error)

// operatorOfTwo is the field of an elemBinOp with the number of its operator.
const operatorOfTwo = "ʘBinaryOperator.ʘBinaryOperatorType"

// gorgonia's numbers of the operators on pairs of elements.
const (
	addOperator = iota
	subtractOperator
	multiplyOperator
	divideOperator
	powerOperator
	lessOperator // the first of the comparisons, in the order of kernels.Relation
)

// pairsOn returns the operands of an operation on matching elements, z_i = f(x_(i·sa), y_(i·sb)) for
// steps sa and sb of one, or zero for a scalar, which goes with every element.
func pairsOn(t Operands) (k kernels.Binary, ok bool) {
	k = kernels.Binary{A: t.In(0), SA: 1, B: t.In(1), SB: 1, Out: t.Out(), N: t.Out().Size()}
	for _, m := range []struct {
		of     kernels.Matrix
		stride *int
	}{{k.A, &k.SA}, {k.B, &k.SB}} {
		switch m.of.Size() {
		case 1:
			*m.stride = 0
		case k.N:
		default:
			t.Fail(fmt.Errorf("operands of %d and %d elements for %d", k.A.Size(), k.B.Size(), k.N))
			return k, false
		}
	}
	return k, true
}

// pairFunctions are the operations on pairs of elements that are no comparisons.
func pairFunctions() []Builtin {
	type b = kernels.Binary
	type k = kernels.Elementwise
	return []Builtin{
		arithmetic("add", addOperator, gorgonia.Add, func(p b) k { return kernels.Add{Binary: p} }),
		arithmetic("subtract", subtractOperator, gorgonia.Sub, func(p b) k { return kernels.Subtract{Binary: p} }),
		arithmetic("multiply", multiplyOperator, gorgonia.HadamardProd, func(p b) k { return kernels.Multiply{Binary: p} }),
		arithmetic("divide", divideOperator, gorgonia.HadamardDiv, func(p b) k { return kernels.Divide{Binary: p} }),
		arithmetic("power", powerOperator, gorgonia.Pow, func(p b) k { return kernels.RaiseTo{Binary: p} }),
		extreme("larger", "maxBetween", gorgonia.MaxBetween, func(p b) k { return kernels.Larger{Binary: p} }),
		extreme("smaller", "minBetween", gorgonia.MinBetween, func(p b) k { return kernels.Smaller{Binary: p} }),
	}
}

// arithmetic is an operation on pairs of elements. The host divides by the elements of
// tensors in a way of its own.
func arithmetic(name string, operator int, f binary, kernel func(kernels.Binary) kernels.Elementwise) Builtin {
	element := func(t Operands) kernels.Elementwise {
		k, ok := pairsOn(t)
		switch {
		case !ok:
			return nil
		case operator == divideOperator && len(t.Shape(1)) > 0:
			return kernels.Quotient{Binary: k}
		}
		return kernel(k)
	}
	return Builtin{Name: name, kind: "elemBinOp",
		element: func(p *parameters) func(Operands) kernels.Elementwise {
			if p.code(operatorOfTwo) != operator {
				return nil
			}
			return element
		},
		host: arithmeticOnHost(operator),
		cases: func(s *sampler) []Case {
			graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) { return f(in[0], in[1]) }
			x, y := s.normal(70, 41), s.positive(70, 41)
			if operator == powerOperator {
				x = s.positive(70, 41)
			}
			small := []Operand{s.positive(7, 5), s.positive(7, 5)}
			return []Case{
				built(name, 10, []Operand{x, y}, graph),
				built(name+" with a scalar", 10, []Operand{x, s.scalar(3)}, graph),
				built(name+" with a scalar first", 10, []Operand{s.scalar(2), y}, graph),
				built(name+" of scalars", 10, []Operand{s.scalar(2), s.scalar(3)}, graph),
				built(name+" at the edges", 10, []Operand{s.edge(true), s.edge(false)}, graph),
				built(name+" with zero", 10, []Operand{s.edge(true), s.scalar(0)}, graph),
				built(name+" with zero first", 10, []Operand{s.scalar(0), s.edge(true)}, graph),
				built(name+" of vectors", 10, []Operand{s.positive(1, 37), s.positive(37, 1)}, onVectors(f)),
				slope(name+", derivative by the first", 0, 1000, small, graph),
				slope(name+", derivative by the second", 1, 1000, small, graph),
				slope(name+" with a scalar, derivative by it", 1, 1000, []Operand{s.positive(7, 5), s.scalar(2)}, graph),
				slope(name+" by rows, derivative", 1, 1000, []Operand{s.positive(7, 5), s.positive(7, 1)},
					func(in gorgonia.Nodes) (*gorgonia.Node, error) {
						a, b, err := gorgonia.Broadcast(in[0], in[1], gorgonia.NewBroadcastPattern(nil, []byte{1}))
						if err != nil {
							return nil, err
						}
						return f(a, b)
					}),
			}
		}}
}

// onVectors is a function of two matrices as vectors.
func onVectors(f binary) func(in gorgonia.Nodes) (*gorgonia.Node, error) {
	return func(in gorgonia.Nodes) (*gorgonia.Node, error) { return f(vectorOf(in[0]), vectorOf(in[1])) }
}

// vectorOf is a matrix as a vector.
func vectorOf(a *gorgonia.Node) *gorgonia.Node { return gorgonia.Must(gorgonia.Ravel(a)) }

// shaped is a matrix in another shape.
func shaped(a *gorgonia.Node, shape ...int) *gorgonia.Node {
	return gorgonia.Must(gorgonia.Reshape(a, tensor.Shape(shape)))
}

// extreme is the larger or the smaller of two elements.
func extreme(name, kind string, f binary, kernel func(kernels.Binary) kernels.Elementwise) Builtin {
	return Builtin{Name: name, kind: kind,
		element: func(*parameters) func(Operands) kernels.Elementwise {
			return func(t Operands) kernels.Elementwise {
				if k, ok := pairsOn(t); ok {
					return kernel(k)
				}
				return nil
			}
		},
		cases: func(s *sampler) []Case {
			graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) { return f(in[0], in[1]) }
			in := []Operand{s.normal(70, 41), s.normal(70, 41)}
			return []Case{
				exact(name, in, graph),
				exact(name+" at the edges", []Operand{s.edge(true), s.edge(false)}, graph),
				slope(name+", derivative by the first", 0, 1, in, graph),
				slope(name+", derivative by the second", 1, 1, in, graph),
			}
		}}
}

// comparisons are the relations between pairs of elements, as numbers 1 and 0 of the
// element type or as truth values.
func comparisons() (all []Builtin) {
	for relation, c := range []struct {
		name  string
		graph func(a, b *gorgonia.Node, numbers bool) (*gorgonia.Node, error)
	}{
		kernels.Less:           {"less", gorgonia.Lt},
		kernels.Greater:        {"greater", gorgonia.Gt},
		kernels.LessOrEqual:    {"less or equal", gorgonia.Lte},
		kernels.GreaterOrEqual: {"greater or equal", gorgonia.Gte},
		kernels.Equal:          {"equal", gorgonia.Eq},
		kernels.NotEqual:       {"not equal", gorgonia.Ne},
	} {
		all = append(all, comparison(relation, c.name, true, c.graph), comparison(relation, c.name, false, c.graph))
	}
	return append(all, match("equal truth values", kernels.Equal, gorgonia.Eq),
		match("unlike truth values", kernels.NotEqual, gorgonia.Ne))
}

// match is a comparison of truth values, as truth values.
func match(name string, relation kernels.Relation,
	f func(a, b *gorgonia.Node, numbers bool) (*gorgonia.Node, error)) Builtin {
	element := func(t Operands) kernels.Elementwise {
		k, ok := pairsOn(t)
		if !ok {
			return nil
		}
		return kernels.MatchTruth{A: kernels.Truth(k.A.At), SA: k.SA, B: kernels.Truth(k.B.At), SB: k.SB,
			Unlike: relation == kernels.NotEqual, Out: kernels.Truth(k.Out.At), N: k.N}
	}
	return Builtin{Name: name, kind: "elemBinOp",
		other: map[int]tensor.Dtype{0: tensor.Bool, 1: tensor.Bool, -1: tensor.Bool},
		element: func(p *parameters) func(Operands) kernels.Elementwise {
			if p.code(operatorOfTwo) != lessOperator+relation {
				return nil
			}
			return element
		},
		cases: func(s *sampler) []Case {
			return []Case{exact(name, []Operand{s.whole(70, 41), s.whole(70, 41), s.scalar(0)},
				func(in gorgonia.Nodes) (*gorgonia.Node, error) {
					a, err := gorgonia.Gt(in[0], in[2], false)
					if err != nil {
						return nil, err
					}
					b, err := gorgonia.Gt(in[1], in[2], false)
					if err != nil {
						return nil, err
					}
					return f(a, b, false)
				})}
		}}
}

// comparison is one relation.
func comparison(relation kernels.Relation, name string, numbers bool,
	f func(a, b *gorgonia.Node, numbers bool) (*gorgonia.Node, error)) Builtin {
	var other map[int]tensor.Dtype
	if !numbers {
		name += ", truth"
		other = map[int]tensor.Dtype{-1: tensor.Bool}
	}
	element := func(t Operands) kernels.Elementwise {
		k, ok := pairsOn(t)
		switch {
		case !ok:
			return nil
		case numbers:
			return kernels.Compare{A: k.A, SA: k.SA, B: k.B, SB: k.SB, Relation: relation, Out: k.Out, N: k.N}
		}
		return kernels.CompareTruth{A: k.A, SA: k.SA, B: k.B, SB: k.SB, Relation: relation,
			Out: kernels.Truth(k.Out.At), N: k.N}
	}
	return Builtin{Name: name, kind: "elemBinOp", other: other,
		element: func(p *parameters) func(Operands) kernels.Elementwise {
			if p.code(operatorOfTwo) != lessOperator+relation || p.truth("retSame") != numbers {
				return nil
			}
			return element
		},
		cases: func(s *sampler) []Case {
			graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) { return f(in[0], in[1], numbers) }
			x, y := s.whole(70, 41), s.whole(70, 41)
			return []Case{
				exact(name, []Operand{x, y}, graph),
				exact(name+" at the edges", []Operand{s.edge(true), s.edge(false)}, graph),
				exact(name+" with a scalar", []Operand{x, s.scalar(1)}, graph),
				exact(name+" with a scalar first", []Operand{s.scalar(0), y}, graph),
				exact(name+" of scalars", []Operand{s.scalar(1), s.scalar(1)}, graph),
				exact(name+" of vectors", []Operand{s.whole(1, 37), s.whole(37, 1)},
					onVectors(func(a, b *gorgonia.Node) (*gorgonia.Node, error) { return f(a, b, numbers) })),
			}
		}}
}
