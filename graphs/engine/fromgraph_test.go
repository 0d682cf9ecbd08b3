package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// network is a graph as gorgonia's users write them, in one of gorgonia's element types.
type network struct {
	g                   *gorgonia.ExprGraph
	x, w, b, pred, cost *gorgonia.Node
	predicted           gorgonia.Value
}

// newNetwork has a vector and a scalar that are learned, and a tensor constant. No derivative by x is asked for.
func newNetwork(dtype tensor.Dtype) *network {
	must := gorgonia.Must
	values := func(shape ...int) *tensor.Dense {
		data := tensor.Range(dtype, 1, 1+tensor.Shape(shape).TotalSize())
		t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
		return must2(t.MulScalar(NewScalar(dtype, .1).Data(), true))
	}
	n := &network{g: gorgonia.NewGraph()}
	n.x = gorgonia.NewMatrix(n.g, dtype, gorgonia.WithName("x"), gorgonia.WithShape(4, 2),
		gorgonia.WithValue(values(4, 2)))
	n.w = gorgonia.NewVector(n.g, dtype, gorgonia.WithName("w"), gorgonia.WithShape(2), gorgonia.WithValue(values(2)))
	n.b = gorgonia.NewScalar(n.g, dtype, gorgonia.WithName("b"), gorgonia.WithValue(NewScalar(dtype, .5)))
	hidden := must(gorgonia.Tanh(must(gorgonia.Neg(n.x))))
	n.pred = must(gorgonia.Sigmoid(must(gorgonia.Add(must(gorgonia.Mul(hidden, n.w)), n.b))))
	n.cost = must(gorgonia.Exp(must(gorgonia.Mean(must(gorgonia.Square(must(gorgonia.Sub(n.pred,
		gorgonia.NewConstant(values(4))))))))))
	gorgonia.Read(n.pred, &n.predicted)
	must2(gorgonia.Grad(n.cost, n.w, n.b))
	return n
}

func must2[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// steps trains with a machine, and returns all that a user sees of it.
func (n *network) steps(t *testing.T, vm gorgonia.VM, solver gorgonia.Solver) (seen []float64) {
	t.Helper()
	for range 5 {
		for range 2 { // gradients of two runs add up
			if err := vm.RunAll(); err != nil {
				t.Fatal(err)
			}
			vm.Reset()
		}
		for _, v := range []gorgonia.Value{n.cost.Value(), n.predicted, must2(n.w.Grad()), must2(n.b.Grad())} {
			seen = append(seen, must2(Floats(v))...)
		}
		if err := solver.Step(gorgonia.NodesToValueGrads(gorgonia.Nodes{n.w, n.b})); err != nil {
			t.Fatal(err)
		}
		seen = append(append(seen, must2(Floats(n.w.Value()))...), must2(Floats(n.b.Value()))...)
	}
	if err := vm.Close(); err != nil {
		t.Error(err)
	}
	return seen
}

// Gorgonia's solvers step on a machine of FromGraph as on gorgonia's own: values, gradients and parameters
// are equal.
func TestFromGraphTrainsAsTapeMachine(t *testing.T) {
	solvers := map[string]func() gorgonia.Solver{
		"vanilla": func() gorgonia.Solver { return gorgonia.NewVanillaSolver(gorgonia.WithL2Reg(.1), gorgonia.WithClip(1)) },
		"Adam":    func() gorgonia.Solver { return gorgonia.NewAdamSolver() },
	}
	train := func(t *testing.T, e *Engine, dtype tensor.Dtype, solver func() gorgonia.Solver, tolerance float64) {
		theirs, ours := newNetwork(dtype), newNetwork(dtype)
		machine := gorgonia.NewTapeMachine(theirs.g, gorgonia.BindDualValues(theirs.w, theirs.b))
		want := theirs.steps(t, machine, solver())
		vm, err := FromGraph(ours.g, e, BindDualValues(ours.w), BindDualValues(ours.b, ours.w))
		if err != nil {
			t.Fatal(err)
		}
		if got := ours.steps(t, vm, solver()); !floats.EqualApprox(got, want, tolerance) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	}
	for name, solver := range solvers {
		t.Run(name, func(t *testing.T) {
			backends(t, func(t *testing.T, e *Engine) { train(t, e, tensor.Float64, solver, 1e-14) })
			train(t, open(t, "float64", 1), tensor.Float32, solver, 1e-6)
		})
	}
}

// A run brings nothing to the host that nobody asked for, and computes no derivative on the way of others.
func TestFromGraphComputesWhatIsAskedFor(t *testing.T) {
	e, f := onFake(t)
	n := newNetwork(tensor.Float64)
	vm, err := FromGraph(n.g, e, Watch(n.pred), BindDualValues())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = vm.Close() }()
	before := n.w.Value()
	values, err := vm.Compute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range []*gorgonia.Node{n.pred, n.cost, n.w.Deriv(), n.b.Deriv()} {
		if len(values) != 4 || values[node] == nil {
			t.Errorf("%v: computed are %v", node, values)
		}
	}
	if n.cost.Value() != nil || n.predicted != nil || n.w.Value() != before {
		t.Error("Compute bound a value")
	}
	if slices.ContainsFunc(f.launches, func(o string) bool { return strings.Contains(o, "⊗") }) {
		t.Errorf("an outer product, which the derivative by x alone needs, is in %v", f.launches)
	}
	if err := vm.RunAll(); err != nil || len(vm.dual) != 2 || n.pred.Value() == nil || n.predicted == n.pred.Value() {
		t.Errorf("%v: %v is read as %v", err, n.pred.Value(), n.predicted)
	}
	if w := e.Warnings(); len(w) > 0 {
		t.Errorf("warnings: %q", w)
	}
	// A part of the graph needs fewer values, and an operation without a kernel is named.
	f.hasKernel = func(o string) bool { return !strings.HasPrefix(o, "tanh") }
	part, err := FromGraph(n.g.ExactSubgraphRoots(n.pred), e)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = part.Close() }()
	n.g.UnbindAll()
	err = errors.Join(part.Let(n.x, TensorOf(make([]float64, 8), 4, 2)), part.Let(n.w, TensorOf(make([]float64, 2), 2)),
		part.Let(n.b, 0.0), part.RunAll(), part.Set(n.b, n.b))
	if got := must2(Floats(n.pred.Value())); err != nil || !slices.Equal(got, []float64{.5, .5, .5, .5}) {
		t.Errorf("%v: %v", err, got)
	}
	if w := e.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], "tanh") || !strings.HasSuffix(w[0], FellBack) {
		t.Errorf("warnings: %q", w)
	}
	if err := part.Let(n.cost, 1.0); err == nil || !strings.Contains(err.Error(), "is not in it") {
		t.Error(err)
	}
	if err := part.Set(n.b, n.cost); err == nil || !strings.Contains(err.Error(), "has no value; name it in Watch") {
		t.Error(err)
	}
}

// A graph, or a use of it, that cannot be right is an error that names the node.
func TestFromGraphRefuses(t *testing.T) {
	other := newNetwork(tensor.Float64)
	for _, c := range []struct {
		name    string
		before  func(n *network) // FromGraph
		options []MachineOption
		after   func(n *network)
		want    string
	}{
		{name: "a node of another graph", options: []MachineOption{Watch(other.w)}, want: "of an option is not in it"},
		{name: "no node", options: []MachineOption{Watch(nil)}, want: "the node <nil> of an option is not in it"},
		{name: "no derivative", options: []MachineOption{func(m *Machine) { m.dual = m.expr.ByName("x") }},
			want: `there is no derivative by "x"; call gorgonia.Grad before`},
		{name: "a Set", before: func(n *network) { gorgonia.Set(n.w, n.w.Deriv()) },
			want: "is a statement that no machine runs"},
		{name: "an operation that writes over another", before: func(n *network) {
			gorgonia.NewUniqueNode(gorgonia.In(n.g), gorgonia.WithType(n.x.Type()), gorgonia.WithShape(4, 2),
				gorgonia.WithChildren(gorgonia.Nodes{n.x}), gorgonia.WithOp(gorgonia.Iop{}))
		}, want: "I is refused: it shares the memory"},
		{name: "no value", after: func(n *network) { n.g.UnbindAll() }, want: "no value is bound to \""},
		{name: "another shape", after: func(n *network) { gorgonia.WithValue(TensorOf(make([]float64, 6), 3, 2))(n.x) },
			want: `input "x": it has shape (3, 2), want (4, 2)`},
		{name: "another type", after: func(n *network) { must2(0, gorgonia.Let(n.b, float32(1))) },
			want: `input "b": it is float32, want float64`},
		{name: "more nodes", after: func(n *network) { gorgonia.Must(gorgonia.Square(n.cost)) },
			want: "it has other nodes than it had"},
		{name: "another range", before: func(n *network) { gorgonia.Must(gorgonia.Slice(n.x, gorgonia.S(0, 2))) },
			after: func(n *network) {
				at := slices.IndexFunc(n.g.AllNodes(), func(n *gorgonia.Node) bool { _, ok := slicing(n); return ok })
				must2(0, gorgonia.UnsafeLet(n.g.AllNodes()[at], gorgonia.S(1, 3)))
			}, want: "has another range than it had"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNetwork(tensor.Float64)
			if c.before != nil {
				c.before(n)
			}
			vm, err := FromGraph(n.g, open(t, "float64", 1), c.options...)
			if err == nil && c.after != nil {
				c.after(n)
				err = vm.RunAll()
			}
			if err == nil || !strings.HasPrefix(err.Error(), "graph of gorgonia: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %q", err, c.want)
			}
		})
	}
	for _, g := range []*gorgonia.ExprGraph{nil, gorgonia.NewGraph()} {
		if _, err := FromGraph(g, open(t, "float64", 1)); err == nil || err.Error() != "graph of gorgonia: it has no nodes" {
			t.Error(err)
		}
	}
}

// After the machine or its engine is closed nothing runs, and too little memory is an error that lasts for one run.
func TestFromGraphEnds(t *testing.T) {
	e, f := onFake(t)
	vm, err := FromGraph(newNetwork(tensor.Float64).g, e)
	if err != nil {
		t.Fatal(err)
	}
	f.most = 4
	if err := vm.RunAll(); !errors.Is(err, ErrOutOfDeviceMemory) {
		t.Errorf("with little memory: %v", err)
	}
	deviceFailed.Store(false) // the test's own failure
	f.most = 0
	if err := errors.Join(vm.RunAll(), vm.Close(), vm.Close()); err != nil {
		t.Error(err)
	}
	if err := vm.RunAll(); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	closed := open(t, "float64", 1)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := FromGraph(newNetwork(tensor.Float64).g, closed); !errors.Is(err, ErrClosed) {
		t.Errorf("on a closed engine: %v", err)
	}
}
