// Package corpus holds graphs of gorgonia as its users write them: every public
// operation on scalars, vectors, matrices and tensors of rank three and four, and
// small models with their gradients. Tests run them on the CPU and on a device.
//
// The list follows gorgonia's own examples and operation tests (v0.9.18). Inputs come
// from fixed pseudo-random streams. What gorgonia itself does wrong is in the list as
// well, with its answer (see [Fault]), so that a graph that begins to run is noticed.
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
// Its program has the outputs "out0", "out1", … that Build returns, and, unless it is
// Constant, the objective "loss" with its derivatives "d0", "d1", … by the inputs. The
// objective is out0 where that is a scalar, and otherwise Σ out0², under which every
// element counts differently.
type Graph struct {
	Name  string
	In    []Input
	Build func(in gorgonia.Nodes) gorgonia.Nodes // panics on an error, as gorgonia.Must does
	// Constant: there is no derivative, or it is zero wherever it exists.
	Constant bool
	// Condition bounds how much the graph enlarges relative errors; tolerances
	// between backends are multiplied by it. Zero stands for 1.
	Condition float64
}

// Input is an input of a graph; its elements are independent draws.
type Input struct {
	Shape []int // empty for a scalar
	Draw  func(r *rand.Rand, element int) float64
	// Label: the graph is not differentiated by this input.
	Label bool
}

// Program is the graph as a program.
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

// parameters are the numbers of the inputs by which the graph is differentiated.
func (g Graph) parameters() (numbers []int) {
	for i, input := range g.In {
		if !g.Constant && !input.Label {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// Elements are the elements of the inputs, in row-major order. They are the same in
// every call; single precision rounds them.
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

// Values are inputs of the graph's program with the given elements.
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

// All are the graphs of the corpus, each with a name of its own.
func All() []Graph {
	return slices.Concat(unaries(), binaries(), comparisons(), broadcasts(), reductions(), norms(), arrangements(),
		arrangedIndices(), slicings(), products(), layers(), models())
}

// Inputs. Where the graph has a kink or a tie at zero, draws do not meet it; digits meet
// ties on purpose.

func normal(shape ...int) Input {
	return Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return r.NormFloat64() }}
}

// positive elements are at least 0.2.
func positive(shape ...int) Input {
	return Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return 0.2 + 1.8*r.Float64() }}
}

// digits are −1, 0 and 1, so that many elements of two inputs are equal.
func digits(shape ...int) Input {
	return Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return float64(r.IntN(3) - 1) }}
}

// weights are small, as the parameters of a network.
func weights(shape ...int) Input {
	return Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return 0.3 * r.NormFloat64() }}
}

func probabilities(shape ...int) Input {
	return Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return 0.1 + 0.8*r.Float64() }}
}

// label turns an input into one that is not differentiated by.
func label(in Input) Input {
	in.Label = true
	return in
}

// coins are 0 or 1.
func coins(shape ...int) Input {
	return label(Input{Shape: shape, Draw: func(r *rand.Rand, _ int) float64 { return float64(r.IntN(2)) }})
}

// classes are rows with a single 1, in turn.
func classes(rows, number int) Input {
	return label(Input{Shape: []int{rows, number}, Draw: func(_ *rand.Rand, i int) float64 {
		if i%number == i/number%number {
			return 1
		}
		return 0
	}})
}

// numbers are 0, 1, 2, ….
func numbers(shape ...int) Input {
	return label(Input{Shape: shape, Draw: func(_ *rand.Rand, i int) float64 { return float64(i) }})
}

// The functions of gorgonia that a row of the tables names.
type (
	unary  = func(*gorgonia.Node) (*gorgonia.Node, error)
	binary = func(a, b *gorgonia.Node) (*gorgonia.Node, error)
)

// one is a graph of a function of one input.
func one(name string, in Input, f unary) Graph {
	return Graph{Name: name, In: []Input{in}, Build: func(in gorgonia.Nodes) gorgonia.Nodes {
		return gorgonia.Nodes{gorgonia.Must(f(in[0]))}
	}}
}

// two is a graph of a function of two inputs.
func two(name string, a, b Input, f binary) Graph {
	return Graph{Name: name, In: []Input{a, b}, Build: func(in gorgonia.Nodes) gorgonia.Nodes {
		return gorgonia.Nodes{gorgonia.Must(f(in[0], in[1]))}
	}}
}

// alone is a graph without its derivatives.
func alone(g Graph) Graph {
	g.Name, g.Constant = g.Name+", the value alone", true
	return g
}

// constant is a scalar of the element type of a node.
func constant(like *gorgonia.Node, v float64) *gorgonia.Node {
	if like.Dtype() == tensor.Float32 {
		return gorgonia.NewConstant(float32(v))
	}
	return gorgonia.NewConstant(v)
}
