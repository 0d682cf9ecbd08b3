package engine

import (
	"errors"
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/op"
	"privkern/graphs/parallel"
)

// Program is a computation as a gorgonia graph: a function from named inputs
// to named outputs. An engine builds it once for each goroutine that runs it
// at the same time, and keeps the graphs.
//
// Build must depend on the Key alone: the engine takes any program with an equal key for
// the same one.
type Program struct {
	// Name identifies the computation in errors, such as "kernel matrix".
	Name string
	// Key stands for the graph: two programs with the same key must build the
	// same one. It carries the name, every parameter and every shape.
	Key string
	// Draws lets operations draw random numbers. gorgonia seeds its generators by the
	// clock, so that results cannot be repeated: no trial may run such a program.
	Draws bool
	// Build adds the program's nodes. The builder keeps its first error.
	Build func(*Builder)
}

// Values are inputs or outputs by name: *tensor.Dense for matrices, vectors and tensors,
// *gorgonia.F64 or *gorgonia.F32 for scalars. The outputs of comparisons that are not
// asked for numbers are tensors of bool, or *gorgonia.B.
type Values map[string]gorgonia.Value

// Builder adds inputs, operations and outputs to a program's graph; see the
// methods for the operations. It keeps its first error, as a bufio.Writer does:
// operations added afterwards change nothing, and their nodes stand for no value.
// [Build] returns the error, so that a program is a page of formulas without a
// check.
type Builder struct {
	graph *Graph
	err   error          // the first one
	none  *gorgonia.Node // the result of operations after an error, 1×1
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
	// needed holds the nodes that some output depends on. Its edges are right where those
	// of Expr are not: gorgonia rewrites log(1−x) and the like and removes the node that
	// was there, after which a graph that has been asked for edges before takes one node's
	// operands for another's.
	needed *gorgonia.ExprGraph
	draws  bool // is allowed to
}

// Build builds a program's graph for an element type, and refuses one that
// gorgonia would compute wrongly. Its error is the builder's first; it names the
// program, the operation and the shapes of the operands.
func Build(p Program, dtype tensor.Dtype) (*Graph, error) {
	b := newBuilder(p.Name, dtype)
	b.graph.draws = p.Draws
	b.Fail(protect(func() error { p.Build(b); return nil }))
	if err := b.graph.checkOperations(); err != nil {
		b.err = err // gorgonia's own of the derivative may have come first
	}
	if b.err == nil {
		b.Fail(protect(b.graph.finish))
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

// Tensor declares an input of any shape: a scalar without lengths, a vector with one.
func (b *Builder) Tensor(name string, shape ...int) *gorgonia.Node {
	if len(shape) == 0 {
		return b.Scalar(name)
	}
	for _, length := range shape {
		if length < 1 {
			b.Fail(fmt.Errorf("input %q has the shape %v: it is empty", name, shape))
			return b.none
		}
	}
	return b.addInput(name, gorgonia.NewTensor(b.graph.Expr, b.graph.DType, len(shape),
		gorgonia.WithShape(shape...), gorgonia.WithName(name)))
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

// finish finds the nodes that are needed, and refuses graphs whose nodes gorgonia would
// silently merge or confuse.
func (g *Graph) finish() error {
	if len(g.Outputs) == 0 {
		return errors.New("it has no output")
	}
	outputs := make(gorgonia.Nodes, len(g.OutputNames))
	for i, name := range g.OutputNames {
		outputs[i] = g.Outputs[name]
	}
	g.needed = g.Expr.ExactSubgraphRoots(outputs...)
	seen := map[uint32]*gorgonia.Node{}
	for _, n := range g.needed.AllNodes() {
		// gorgonia's machines distinguish nodes by a 32-bit hash alone.
		h := n.Hashcode()
		if other := seen[h]; other != nil && other != n {
			return fmt.Errorf("the nodes %q and %q have the same hash %#x; rename an input", other.Name(), n.Name(), h)
		}
		seen[h] = n
		if n.Op() == nil {
			continue
		}
		if !g.draws && op.Draws(n.Op()) {
			return fmt.Errorf("%v draws random numbers, which gorgonia seeds by the clock; draw them on the host and make them "+
				"an input", n.Op())
		}
		operands := children(g.needed, n)
		if len(operands) > 0 {
			if err := checkSlice(n, operands[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOperations refuses operations that no backend computes.
func (g *Graph) checkOperations() error {
	for _, n := range g.Expr.AllNodes() {
		if n.Op() == nil {
			continue
		}
		if why := op.Refused(n.Op()); why != "" {
			return fmt.Errorf("%v is refused: %s", n.Op(), why)
		}
	}
	return nil
}

// checkSlice refuses a slice in steps that leave a remainder where gorgonia plans one
// element less than it computes, which it does along every axis but the first.
func checkSlice(n, operand *gorgonia.Node) error {
	slicing, ok := n.Op().(interface{ IsSlice() tensor.Slice })
	if !ok || n.Op().Arity() != 1 || slicing.IsSlice() == nil || slicing.IsSlice().Step() < 2 {
		return nil
	}
	zeros := tensor.New(tensor.Of(operand.Dtype()), tensor.WithShape(operand.Shape().Clone()...))
	v, err := n.Op().Do(zeros)
	if err != nil {
		return fmt.Errorf("slice %v of %v: %w", n.Op(), operand.Shape(), err)
	}
	if !v.Shape().Eq(n.Shape()) {
		return fmt.Errorf("the slice %v of %v is %v, and gorgonia takes it for %v; let its length be a multiple of its step",
			n.Op(), operand.Shape(), v.Shape(), n.Shape())
	}
	return nil
}

// protect calls f and returns a panic as an error, because gorgonia's graph builders panic on
// some wrong shapes.
func protect(f func() error) (err error) {
	defer parallel.Catch(&err)
	return f()
}

// The length of an axis follows from the shape of an operand, which need not be computed for
// it: the derivative of a sum reads the lengths of its operand, and no elements.

// isLength reports whether a node is the length of an axis, as a scalar of the element type.
func isLength(n *gorgonia.Node) bool {
	return n.Op() != nil && op.IsLength(n.Op()) && (n.Dtype() == tensor.Float64 || n.Dtype() == tensor.Float32)
}

// constant returns the value of a node that is the same in all runs.
func constant(n *gorgonia.Node, operands []*gorgonia.Node) (gorgonia.Value, error) {
	if !isLength(n) {
		return n.Op().Do()
	}
	length, err := op.Length(n.Op(), operands[0].Shape())
	if err != nil {
		return nil, err
	}
	return NewScalar(n.Dtype(), float64(length)), nil
}

// computed returns the inputs, and the nodes whose elements some output depends on.
func (g *Graph) computed() map[*gorgonia.Node]bool {
	computed := map[*gorgonia.Node]bool{}
	for _, n := range g.needed.AllNodes() {
		if n.Op() == nil {
			computed[n] = true
		}
	}
	var add func(n *gorgonia.Node)
	add = func(n *gorgonia.Node) {
		if computed[n] {
			return
		}
		computed[n] = true
		if isLength(n) {
			return
		}
		for _, c := range children(g.needed, n) {
			add(c)
		}
	}
	for _, n := range g.Outputs {
		add(n)
	}
	return computed
}
