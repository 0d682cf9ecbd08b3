// Package corpus is a list of gorgonia graphs for tests on the CPU and on a device: every public
// operation on scalars, vectors, matrices and tensors of rank three and four, and small models
// with their gradients.
//
// It follows gorgonia's examples and tests of operations (v0.9.18). Inputs come from fixed
// pseudo-random streams. Graphs that gorgonia computes wrongly are included with their [Fault],
// so that a test fails once they are computed correctly.
package corpus

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// Graph is one graph with its inputs.
//
// Its program has the outputs of Build, "out0", "out1", …, and, unless it is Constant, the
// objective "loss" with its derivatives "d0", "d1", … with respect to the inputs. The objective
// is out0 if that is a scalar, and otherwise Σ out0², whose derivative differs for every element.
type Graph struct {
	Name  string
	In    []Input
	Build func(in gorgonia.Nodes) gorgonia.Nodes // panics on an error, as gorgonia.Must does
	// Constant graphs have no derivative, or one that is zero everywhere.
	Constant bool
	// Condition bounds the growth of relative errors in the graph, and multiplies tolerances between
	// backends. Zero stands for 1.
	Condition float64
}

// Input is an input of a graph; its elements are independent draws.
type Input struct {
	Shape []int // empty for a scalar
	Draw  func(r *rand.Rand, element int) float64
	// Label inputs have no derivative.
	Label bool
}

// Program returns the program of the graph.
func (g Graph) Program() engine.Program {
	return engine.Program{Name: g.Name, Key: "corpus " + g.Name, Draws: true, Build: func(b *engine.Builder) {
		in := make(gorgonia.Nodes, len(g.In))
		for i, input := range g.In {
			in[i] = b.Tensor(fmt.Sprint("in", i), input.Shape...)
		}
		out := g.Build(in)
		for i, n := range out {
			b.Output(fmt.Sprint("out", i), n)
		}
		by := g.parameters()
		if len(by) == 0 {
			return
		}
		loss := out[0]
		if !loss.IsScalar() {
			loss = b.Sum(b.Square(loss))
		}
		b.Output("loss", loss)
		nodes := make(gorgonia.Nodes, len(by))
		for i, number := range by {
			nodes[i] = in[number]
		}
		for i, grad := range b.Gradient(loss, nodes...) {
			b.Output(fmt.Sprint("d", by[i]), grad)
		}
	}}
}

// parameters returns the indices of the inputs with a derivative.
func (g Graph) parameters() (numbers []int) {
	for i, input := range g.In {
		if !g.Constant && !input.Label {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// Elements returns the elements of the inputs in row-major order, the same in every call. Single
// precision rounds them.
func (g Graph) Elements() [][]float64 {
	all := make([][]float64, len(g.In))
	for i, input := range g.In {
		rng := rand.New(rand.NewPCG(uint64(i+1), 17))
		all[i] = make([]float64, tensor.Shape(input.Shape).TotalSize())
		for j := range all[i] {
			all[i][j] = input.Draw(rng, j)
		}
	}
	return all
}

// Values returns the inputs of the graph's program with the given elements.
func (g Graph) Values(dtype tensor.Dtype, elements [][]float64) engine.Values {
	v := engine.Values{}
	for i, input := range g.In {
		v[fmt.Sprint("in", i)] = value(dtype, input.Shape, elements[i])
	}
	return v
}

func value(dtype tensor.Dtype, shape []int, elements []float64) gorgonia.Value {
	if len(shape) == 0 {
		return engine.NewScalar(dtype, elements[0])
	}
	if dtype == tensor.Float64 {
		return engine.TensorOf(slices.Clone(elements), shape...)
	}
	single := make([]float32, len(elements))
	for i, x := range elements {
		single[i] = float32(x)
	}
	return engine.TensorOf(single, shape...)
}

// All returns the graphs of the corpus, which have different names.
func All() []Graph {
	return slices.Concat(unaries(), binaries(), comparisons(), broadcasts(), reductions(), norms(), arrangements(),
		arrangedIndices(), slicings(), products(), layers(), models())
}

// The inputs below avoid kinks and ties at zero, except digits, which have ties.

func normal(shape ...int) Input {
	return Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return r.NormFloat64() }}
}

// positive returns an input with elements of at least 0.2.
func positive(shape ...int) Input {
	return Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return 0.2 + 1.8*r.Float64() }}
}

// digits returns an input of −1, 0 and 1, so that many elements of two inputs are equal.
func digits(shape ...int) Input {
	return Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return float64(r.IntN(3) - 1) }}
}

// weights returns an input of small numbers, as the parameters of a network.
func weights(shape ...int) Input {
	return Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return 0.3 * r.NormFloat64() }}
}

func probabilities(shape ...int) Input {
	return Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return 0.1 + 0.8*r.Float64() }}
}

// label returns the input without a derivative.
func label(in Input) Input {
	in.Label = true
	return in
}

// coins returns an input of 0 and 1.
func coins(shape ...int) Input {
	return label(Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return float64(r.IntN(2)) }})
}

// classes returns an input of one-hot rows.
func classes(rows, number int) Input {
	return label(Input{Shape: []int{rows, number}, Draw: func(_ *rand.Rand, i int) float64 {
		if i%number == i/number%number {
			return 1
		}
		return 0
	}})
}

// numbers returns the input 0, 1, 2, ….
func numbers(shape ...int) Input {
	return label(Input{Shape: shape, Draw: func(_ *rand.Rand, i int) float64 { return float64(i) }})
}

// The signatures of gorgonia's functions in the tables.
type (
	unary  = func(*gorgonia.Node) (*gorgonia.Node, error)
	binary = func(a, b *gorgonia.Node) (*gorgonia.Node, error)
)

// one returns the graph of a function of one input.
func one(name string, in Input, f unary) Graph {
	return Graph{Name: name, In: []Input{in}, Build: func(in gorgonia.Nodes) gorgonia.Nodes {
		return gorgonia.Nodes{gorgonia.Must(f(in[0]))}
	}}
}

// two returns the graph of a function of two inputs.
func two(name string, a, b Input, f binary) Graph {
	return Graph{Name: name, In: []Input{a, b}, Build: func(in gorgonia.Nodes) gorgonia.Nodes {
		return gorgonia.Nodes{gorgonia.Must(f(in[0], in[1]))}
	}}
}

// alone returns the graph without its derivatives.
func alone(g Graph) Graph {
	g.Name, g.Constant = g.Name+", the value alone", true
	return g
}

// constant returns a scalar of the element type of a node.
func constant(like *gorgonia.Node, v float64) *gorgonia.Node {
	if like.Dtype() == tensor.Float32 {
		return gorgonia.NewConstant(float32(v))
	}
	return gorgonia.NewConstant(v)
}
