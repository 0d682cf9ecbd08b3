package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/op"
)

// Machine runs a graph that was built with gorgonia on an engine's backend. It is a [gorgonia.VM]: it takes the
// values that are bound to the graph's inputs, and binds those that it computes, so that gorgonia's solvers
// step on the nodes. See [FromGraph]. It is for one goroutine, as the graph is.
type Machine struct {
	engine *Engine
	expr   *gorgonia.ExprGraph
	nodes  gorgonia.Nodes            // of expr, all that there were
	ranges map[*gorgonia.Node]string // of slices
	x      *Executor                 // nil once closed
	reads  []reading
	bound  map[*gorgonia.Node]gorgonia.Value // gradients of dual
	// The options; dual are the inputs whose gradients a run adds to.
	dual    gorgonia.Nodes
	allDual bool
	watched gorgonia.Nodes
	eval    bool
}

var _ gorgonia.VM = (*Machine)(nil)

// reading is a [gorgonia.Read]: the value of a node goes to a variable.
type reading struct {
	of   *gorgonia.Node
	into *gorgonia.Value
}

// MachineOption is an option of [FromGraph].
type MachineOption func(*Machine)

// BindDualValues adds the derivatives by some inputs to their gradients in every run, as the option of that name
// does in gorgonia: a solver's step sets them to zero. Without nodes it takes all inputs that have a derivative.
func BindDualValues(nodes ...*gorgonia.Node) MachineOption {
	return func(m *Machine) { m.dual, m.allDual = append(m.dual, nodes...), m.allDual || len(nodes) == 0 }
}

// Watch names further nodes that have a value after a run.
func Watch(nodes ...*gorgonia.Node) MachineOption {
	return func(m *Machine) { m.watched = append(m.watched, nodes...) }
}

// EvalMode turns dropouts off, which otherwise draw.
func EvalMode() MachineOption { return func(m *Machine) { m.eval = true } }

// FromGraph returns a machine for a graph that was built with gorgonia, in place of [gorgonia.NewTapeMachine]. Inputs
// are the nodes without an operation; [gorgonia.Let] binds their values, of the declared shape and type,
// which are read at every run. Tensor constants are copied to the device once, and must not change.
//
// After a run these nodes have values of it: those that nothing in the graph uses, costs that were
// differentiated, derivatives by inputs, and those of [Watch]; [gorgonia.Read] reads any. All others stay on the
// device and are freed. A run does not depend on the one before, so that Reset does nothing.
//
// A part of a graph is the one that ExactSubgraphRoots returns for some of its nodes.
//
// It fails for graphs that [Build] refuses, for a [gorgonia.Set], which gorgonia's own machines pass over silently, for
// nodes of another graph, and for one of BindDualValues without a derivative. A graph that is changed later
// needs another machine. An operation without a kernel on the device is computed on the host, and the engine has
// a warning that names it.
func FromGraph(g *gorgonia.ExprGraph, e *Engine, options ...MachineOption) (*Machine, error) {
	m := &Machine{engine: e, expr: g, bound: map[*gorgonia.Node]gorgonia.Value{}}
	for _, option := range options {
		option(m)
	}
	var graph *Graph
	err := errors.New("it has no nodes")
	if g != nil && len(g.AllNodes()) > 0 {
		err = protect(func() (err error) { graph, err = m.plan(); return err })
	}
	if err == nil && e.residents.isClosed() {
		err = ErrClosed
	}
	if err != nil {
		return nil, fmt.Errorf("graph of gorgonia: %w", err)
	}
	if m.x, err = e.residents.executor(graph); err != nil {
		return nil, err
	}
	return m, nil
}

// plan finds inputs and outputs.
func (m *Machine) plan() (*Graph, error) {
	m.nodes = slices.Clone(m.expr.AllNodes())
	m.ranges = map[*gorgonia.Node]string{}
	for _, n := range m.nodes {
		if s, ok := slicing(n); ok {
			m.ranges[n] = s
		}
	}
	for _, n := range slices.Concat(m.dual, m.watched) {
		if n == nil || !slices.Contains(m.nodes, n) {
			return nil, fmt.Errorf("the node %v of an option is not in it", n)
		}
	}
	outputs, err := m.outputs()
	if err = errors.Join(err, m.train()); err != nil {
		return nil, err
	}
	graph := newBuilder("graph of gorgonia", m.engine.dtype).graph
	graph.Expr, graph.draws = m.expr, true
	for _, n := range outputs {
		name := named(graph.Outputs, n)
		graph.Outputs[name], graph.OutputNames = n, append(graph.OutputNames, name)
	}
	if err := graph.checkOperations(); err != nil {
		return nil, err
	}
	if err := graph.finish(); err != nil {
		return nil, err
	}
	for _, n := range graph.needed.AllNodes() {
		if n.Op() != nil {
			continue
		}
		if d := n.Dtype(); d == tensor.Float32 || d == tensor.Float64 {
			graph.DType = d
		}
		name := named(graph.Inputs, n)
		graph.Inputs[name], graph.InputNames = n, append(graph.InputNames, name)
	}
	return graph, nil
}

// named returns the node's name, with its number where another one of the nodes has that name.
func named(nodes map[string]*gorgonia.Node, n *gorgonia.Node) string {
	name := n.Name()
	if nodes[name] != nil {
		name = fmt.Sprintf("%s (node %x)", name, n.ID())
	}
	return name
}

// slicing prints the range of a slice, which [gorgonia.UnsafeLet] may change.
func slicing(n *gorgonia.Node) (string, bool) {
	if s, ok := n.Op().(interface{ IsSlice() tensor.Slice }); ok && s.IsSlice() != nil {
		return fmt.Sprint(s.IsSlice().Start(), s.IsSlice().End(), s.IsSlice().Step()), true
	}
	return "", false
}

// outputs returns the nodes whose values a run brings to the host.
func (m *Machine) outputs() (gorgonia.Nodes, error) {
	all := m.expr.ExactSubgraphRoots(m.nodes...) // see Graph.needed
	inside, wanted := gorgonia.NewNodeSet(m.nodes...), gorgonia.NewNodeSet(m.watched...)
	used := map[*gorgonia.Node]bool{}
	statement := map[*gorgonia.Node]bool{}
	for _, n := range m.nodes {
		operands := children(all, n)
		into, is, err := op.Statement(n.Op())
		switch {
		case err != nil:
			return nil, err
		case is && into == nil:
			return nil, fmt.Errorf("%q is a statement that no machine runs; bind the value by Set after a run", n.Name())
		case is:
			m.reads = append(m.reads, reading{operands[0], into})
			wanted.Add(operands[0])
			statement[n] = true
			continue
		}
		for _, o := range operands {
			used[o] = true
		}
	}
	asked := m.dual
	m.dual = nil
	for _, n := range m.nodes {
		isInput, d := n.Op() == nil, n.Deriv()
		if d != nil && !inside.Contains(d) {
			d = nil
		}
		isCost := d != nil && n.IsScalar() && d.Op() != nil && len(children(all, d)) == 0
		if isCost || !isInput && !used[n] && !statement[n] && !op.Leftover(n) {
			wanted.Add(n)
		}
		if !isInput || d == nil {
			continue
		}
		wanted.Add(d)
		if m.allDual || slices.Contains(asked, n) {
			m.dual = append(m.dual, n)
		}
	}
	for _, n := range asked {
		if !slices.Contains(m.dual, n) {
			return nil, fmt.Errorf("there is no derivative by %q; call gorgonia.Grad before", n.Name())
		}
	}
	sorted := wanted.ToSlice()
	slices.SortFunc(sorted, func(a, b *gorgonia.Node) int { return int(a.ID() - b.ID()) })
	return sorted, nil
}

// RunAll implements [gorgonia.VM]. It is Run without an end.
func (m *Machine) RunAll() error { return m.Run(context.Background()) }

// Run computes the graph with the values that are bound to its inputs, and binds and reads the results. Where members
// of a batch fail, the others' results are bound, as in [Engine.Run], and the error is an [op.MembersError].
func (m *Machine) Run(ctx context.Context) error {
	values, err := m.Compute(ctx)
	if values == nil {
		return err
	}
	return errors.Join(err, m.bind(values))
}

// Reset implements [gorgonia.VM], and does nothing.
func (m *Machine) Reset() {}

// Close frees the constants on the device. It cannot run again.
func (m *Machine) Close() error {
	if m.x != nil {
		m.x.Close()
		m.x = nil
	}
	return nil
}

// Let is [gorgonia.Let] for a node of the graph.
func (m *Machine) Let(n *gorgonia.Node, value any) error {
	if !slices.Contains(m.nodes, n) {
		return fmt.Errorf("graph of gorgonia: the node %v is not in it", n)
	}
	return gorgonia.Let(n, value)
}

// Set binds the value that a node has after a run to an input, as the method of gorgonia's machine does.
func (m *Machine) Set(input, from *gorgonia.Node) error {
	if from == nil || from.Value() == nil {
		return fmt.Errorf("graph of gorgonia: %v has no value; name it in Watch, and run", from)
	}
	return m.Let(input, from.Value())
}

// Compute is Run without effects on the nodes: it returns the values by node.
func (m *Machine) Compute(ctx context.Context) (map[*gorgonia.Node]gorgonia.Value, error) {
	if m.x == nil || m.engine.residents.isClosed() {
		return nil, fmt.Errorf("graph of gorgonia: %w", ErrClosed)
	}
	if err := errors.Join(m.unchanged(), m.train()); err != nil {
		return nil, fmt.Errorf("graph of gorgonia: %w", err)
	}
	g, inputs := m.x.graph, Values{}
	for _, name := range g.InputNames {
		v := g.Inputs[name].Value()
		if v == nil {
			return nil, fmt.Errorf("graph of gorgonia: no value is bound to %q; bind one by gorgonia.Let", name)
		}
		inputs[name] = v
	}
	outputs, err := m.x.Run(ctx, inputs)
	if outputs == nil {
		return nil, err
	}
	values := make(map[*gorgonia.Node]gorgonia.Value, len(outputs))
	for name, v := range outputs {
		values[g.Outputs[name]] = v
	}
	return values, err
}

// unchanged fails for a graph with other nodes than it had.
func (m *Machine) unchanged() error {
	if !slices.Equal(m.nodes, m.expr.AllNodes()) {
		return errors.New("it has other nodes than it had; call FromGraph again after a change")
	}
	for n, before := range m.ranges {
		if now, _ := slicing(n); now != before {
			return fmt.Errorf("the slice %q has another range than it had; call FromGraph again after a change", n.Name())
		}
	}
	return nil
}

// train turns the training of all operations on or off, since machines share their graph's.
func (m *Machine) train() error {
	for _, n := range m.nodes {
		if o, ok := n.Op().(gorgonia.TrainModeOp); ok {
			if err := o.SetTraining(!m.eval); err != nil {
				return err
			}
		}
	}
	return nil
}

// bind gives the nodes their values, and variables of Read copies.
func (m *Machine) bind(values map[*gorgonia.Node]gorgonia.Value) (err error) {
	for n, v := range values {
		if n.Op() != nil {
			err = errors.Join(err, gorgonia.UnsafeLet(n, v))
		}
	}
	for _, r := range m.reads {
		v, e := gorgonia.CloneValue(values[r.of])
		if *r.into != nil {
			_, e = gorgonia.Copy(*r.into, v)
		} else if e == nil {
			*r.into = v
		}
		err = errors.Join(err, e)
	}
	for _, n := range m.dual {
		err = errors.Join(err, m.accumulate(n, values[n.Deriv()]))
	}
	return err
}

// accumulate adds a derivative to an input's gradient, which a solver, or the caller, sets to zero.
func (m *Machine) accumulate(by *gorgonia.Node, d gorgonia.Value) error {
	sum, err := by.Grad()
	if err != nil || sum == nil || sum != m.bound[by] {
		if sum, err = gorgonia.CloneValue(by.Value()); err != nil {
			return err
		}
		sum = gorgonia.ZeroValue(sum)
		if err := protect(func() error { gorgonia.WithGrad(sum)(by); return nil }); err != nil {
			return err
		}
		m.bound[by] = sum
	}
	switch sum := sum.(type) {
	case *gorgonia.F64:
		*sum += *d.(*gorgonia.F64)
	case *gorgonia.F32:
		*sum += *d.(*gorgonia.F32)
	case *tensor.Dense:
		var term any = d
		if d.Shape().IsScalar() {
			term = d.Data()
		}
		_, err = tensor.Add(sum, term, tensor.UseUnsafe())
	}
	return err
}
