package engine

import (
	"errors"
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Program is a computation as a gorgonia graph: a function from named inputs
// to named outputs. An engine builds it once for each goroutine that runs it
// at the same time, and keeps what it built.
//
// Build must depend on the Key alone: the engine takes any program with an equal key for
// the same one.
type Program struct {
	// Name says in errors what is computed, such as "kernel matrix".
	Name string
	// Key stands for the graph: two programs with the same key must build the
	// same one. It carries the name, every parameter and every shape.
	Key string
	// Build adds the program's nodes. What goes wrong in it the builder keeps.
	Build func(*Builder)
}

// Values are inputs or outputs by name: *tensor.Dense for matrices,
// *gorgonia.F64 or *gorgonia.F32 for scalars.
type Values map[string]gorgonia.Value

// Builder adds inputs, operations and outputs to a program's graph; see the
// methods for the operations. It keeps its first error, as a bufio.Writer does:
// what is added afterwards changes nothing, and its nodes stand for no value.
// [Build] returns the error, so that a program is a page of formulas without a
// check.
type Builder struct {
	graph *Graph
	err   error          // the first one
	none  *gorgonia.Node // what operations return after an error, 1×1
}

// Graph is a program's expression graph. It is not changed after [Build].
type Graph struct {
	Program string
	Expr    *gorgonia.ExprGraph
	DType   tensor.Dtype
	Inputs  map[string]*gorgonia.Node
	Outputs map[string]*gorgonia.Node
	// Names in the order in which they were declared.
	InputNames, OutputNames []string
}

// Build builds a program's graph for an element type, and refuses one that
// gorgonia would compute wrongly. Its error is the builder's first; it names the
// program, the operation and the shapes of the operands.
func Build(p Program, dtype tensor.Dtype) (*Graph, error) {
	b := newBuilder(p.Name, dtype)
	b.Fail(protect(func() error { p.Build(b); return nil }))
	if b.err == nil {
		b.err = b.graph.check()
	}
	if b.err != nil {
		return nil, fmt.Errorf("building the graph of %s: %w", p.Name, b.err)
	}
	return b.graph, nil
}

// newBuilder starts an empty graph.
func newBuilder(program string, dtype tensor.Dtype) *Builder {
	return &Builder{graph: &Graph{Program: program, Expr: gorgonia.NewGraph(gorgonia.WithGraphName(program)),
		DType: dtype, Inputs: map[string]*gorgonia.Node{}, Outputs: map[string]*gorgonia.Node{}}}
}

// Fail records an error unless there is one already. A nil error is none.
func (b *Builder) Fail(err error) {
	if b.err == nil && err != nil {
		b.err = err
		b.none = gorgonia.NewMatrix(gorgonia.NewGraph(), b.DType(), gorgonia.WithShape(1, 1), gorgonia.WithName("none"))
	}
}

// DType is the element type of the graph.
func (b *Builder) DType() tensor.Dtype { return b.graph.DType }

// Input declares a rows×cols input. Names must be unique: gorgonia merges
// inputs of one name.
func (b *Builder) Input(name string, rows, cols int) *gorgonia.Node {
	if rows < 1 || cols < 1 {
		b.Fail(fmt.Errorf("input %q is %d×%d: it is empty", name, rows, cols))
		return b.none
	}
	return b.addInput(name, gorgonia.NewMatrix(b.graph.Expr, b.graph.DType,
		gorgonia.WithShape(rows, cols), gorgonia.WithName(name)))
}

// Scalar declares a scalar input.
func (b *Builder) Scalar(name string) *gorgonia.Node {
	return b.addInput(name, gorgonia.NewScalar(b.graph.Expr, b.graph.DType, gorgonia.WithName(name)))
}

// addInput declares a node as an input.
func (b *Builder) addInput(name string, n *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return b.none
	}
	if b.graph.Inputs[name] != nil {
		b.Fail(fmt.Errorf("two inputs are called %q", name))
	}
	b.graph.Inputs[name] = n
	b.graph.InputNames = append(b.graph.InputNames, name)
	return n
}

// Constant returns a scalar constant of the graph's element type.
func (b *Builder) Constant(v float64) *gorgonia.Node {
	if b.graph.DType == tensor.Float32 {
		return gorgonia.NewConstant(float32(v))
	}
	return gorgonia.NewConstant(v)
}

// Output names a node as an output.
func (b *Builder) Output(name string, n *gorgonia.Node) {
	switch {
	case b.err != nil:
	case n == nil:
		b.Fail(fmt.Errorf("output %q is no node", name))
	case b.graph.Outputs[name] != nil:
		b.Fail(fmt.Errorf("two outputs are called %q", name))
	default:
		b.graph.Outputs[name] = n
		b.graph.OutputNames = append(b.graph.OutputNames, name)
	}
}

// check refuses what gorgonia merges or confuses without a word. Merging is silent:
// without the check a program with two nodes of one hash would compute one of them for
// both.
func (g *Graph) check() error {
	if len(g.Outputs) == 0 {
		return errors.New("it has no output")
	}
	seen := map[uint32]*gorgonia.Node{}
	for _, n := range g.Expr.AllNodes() {
		// gorgonia's machines distinguish nodes by a 32-bit hash alone.
		h := n.Hashcode()
		if other := seen[h]; other != nil && other != n {
			return fmt.Errorf("the nodes %q and %q have the same hash %#x; rename an input", other.Name(), n.Name(), h)
		}
		seen[h] = n
		// Tensor constants that print alike are merged, and long ones print
		// alike.
		if n.Op() != nil && len(children(g.Expr, n)) == 0 && !n.Shape().IsScalar() {
			return fmt.Errorf("the node %q is a tensor constant; make it an input", n.Name())
		}
	}
	return nil
}

// protect turns a panic into an error: gorgonia's graph builders panic on
// wrong shapes here and there.
func protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if e, ok := v.(error); ok {
				err = fmt.Errorf("panic: %w", e)
			} else {
				err = fmt.Errorf("panic: %v", v)
			}
		}
	}()
	return f()
}
