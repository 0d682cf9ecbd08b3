package corpus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/tests/tier"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

var precisions = []tensor.Dtype{tensor.Float64, tensor.Float32}

// The table is sound: names are unique, and every fault has a graph.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, g := range All() {
		if names[g.Name] {
			t.Errorf("two graphs are called %q", g.Name)
		}
		names[g.Name] = true
	}
	for _, name := range Faults() {
		if !names[name] {
			t.Errorf("there is no graph %q, which has a fault", name)
		}
	}
	if sound := len(names) - len(Faults()); sound < 76 {
		t.Errorf("%d graphs run, want at least 76", sound)
	}
}

// On the CPU the engine has the values and derivatives of gorgonia's TapeMachine in the shapes
// and types of the graph, to the last bit except for operations with a kernel of package op.
// gorgonia still has its [Fault] in each graph with one.
func TestLikeTapeMachine(t *testing.T) {
	for _, dtype := range precisions {
		host := open(t, dtype)
		for _, g := range All() {
			t.Run(dtype.String()+"/"+g.Name, func(t *testing.T) {
				fault, in := g.Fault(), g.Values(dtype, g.Elements())
				graph, err := engine.Build(g.Program(), dtype)
				if fault.Stage == Building {
					expect(t, "building", err, fault.Says)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				// The machine writes over inputs here and there.
				want, failure := tapeMachine(graph, g.Values(dtype, g.Elements()))
				got, err := host.Run(context.Background(), g.Program(), in)
				if fault.Stage == Running {
					expect(t, "TapeMachine", failure, fault.Says)
					expect(t, "the engine", err, fault.Says)
					return
				}
				if failure != nil {
					t.Fatalf("TapeMachine: %v", failure)
				}
				if err != nil {
					t.Fatal(err)
				}
				// A second run uses the memory of the first again, but not that of its outputs.
				again, err := host.Run(context.Background(), g.Program(), in)
				if err != nil {
					t.Fatal(err)
				}
				alike, tolerance := true, max(unequalBits[g.Name], rounding(graph, dtype))
				for _, name := range graph.OutputNames {
					n, v := graph.Outputs[name], got[name]
					if !slices.Equal(v.Shape(), n.Shape()) || v.Dtype() != n.Dtype() {
						t.Errorf("%s is %v %v, want %v %v", name, v.Dtype(), v.Shape(), n.Dtype(), n.Shape())
					}
					if difference := differ(t, again[name], v, unequalBits[g.Name]); difference != "" {
						t.Errorf("%s in a second run: %s", name, difference)
					}
					if difference := differ(t, v, want[name], tolerance); difference != "" {
						alike = false
						if fault.Stage != Answering {
							t.Errorf("%s: %s", name, difference)
						}
					}
				}
				if alike && fault.Stage == Answering {
					t.Errorf("TapeMachine is right: it is no longer true that %s", fault.Says)
				}
			})
		}
	}
}

// unequalBits are tolerances, relative to 1 + |want|, for graphs with results of several
// roundings: gonum's product of a float32 matrix with a vector adds in an order that
// depends on where in memory the vector lies.
var unequalBits = map[string]float64{"contraction of a matrix and a vector": 2.4e-7}

// rounding is a tolerance, relative to 1 + |want|, for a graph with one of gorgonia's
// operations that has a kernel of package op: that rounds otherwise. It is 0 for others.
func rounding(g *engine.Graph, dtype tensor.Dtype) float64 {
	for _, n := range g.Expr.AllNodes() {
		if n.Op() != nil && n.Op().Arity() == 1 && !n.IsScalar() && op.OnHost(n.Op(),
			tensor.New(tensor.WithShape(n.Shape()...), tensor.Of(dtype))) != nil {
			return map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 1e-6}[dtype]
		}
	}
	return 0
}

// Derivatives agree with central differences in float64, except where gorgonia's formula is wrong.
func TestDerivatives(t *testing.T) {
	tier.Sequential(t)
	host := open(t, tensor.Float64)
	for _, g := range All() {
		stage := g.Fault().Stage
		if len(g.parameters()) == 0 || stage == Building || stage == Running {
			continue
		}
		t.Run(g.Name, func(t *testing.T) {
			elements := g.Elements()
			out, err := host.Run(context.Background(), g.Program(), g.Values(tensor.Float64, elements))
			if err != nil {
				t.Fatal(err)
			}
			loss := func() float64 {
				out, err := host.Run(context.Background(), g.Program(), g.Values(tensor.Float64, elements))
				if err != nil {
					t.Fatal(err)
				}
				loss, err := engine.Scalar(out["loss"])
				if err != nil {
					t.Fatal(err)
				}
				return loss
			}
			wrong := false
			for _, p := range g.parameters() {
				grad, err := engine.Floats(out[fmt.Sprint("d", p)])
				if err != nil || len(grad) != len(elements[p]) {
					t.Fatalf("derivative by input %d: %d elements, want %d; %v", p, len(grad), len(elements[p]), err)
				}
				for i, x := range elements[p] {
					const h = 1e-5
					elements[p][i] = x + h
					above := loss()
					elements[p][i] = x - h
					below := loss()
					elements[p][i] = x
					want := (above - below) / (2 * h)
					if math.Abs(grad[i]-want) <= 1e-6*(1+math.Abs(want)) {
						continue
					}
					wrong = true
					if stage != Differentiating {
						t.Errorf("derivative by element %d of input %d: %.10g, differences give %.10g", i, p, grad[i], want)
					}
					break
				}
			}
			if !wrong && stage == Differentiating {
				t.Errorf("the derivative is right: it is no longer true that %s", g.Fault().Says)
			}
		})
	}
}

// Softmax and log-softmax of one node have the same hash in gorgonia, which merges them.
func TestLogSoftmaxIsTakenForSoftmax(t *testing.T) {
	merged := Graph{Name: "softmax and log-softmax", In: []Input{normal(5, 7)}, Constant: true,
		Build: func(in gorgonia.Nodes) gorgonia.Nodes {
			return gorgonia.Nodes{must(gorgonia.SoftMax(in[0])), must(gorgonia.LogSoftMax(in[0]))}
		}}
	graph, err := engine.Build(merged.Program(), tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	if graph.Outputs["out0"] != graph.Outputs["out1"] {
		t.Error("they are two nodes: the graph can move to the corpus")
	}
}

func open(t *testing.T, dtype tensor.Dtype) *engine.Engine {
	t.Helper()
	e, err := engine.Open("cpu", dtype.String(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func expect(t *testing.T, what string, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: got %v, want %q", what, err, says)
	}
}

// tapeMachine runs a graph on gorgonia's TapeMachine.
func tapeMachine(g *engine.Graph, in engine.Values) (out engine.Values, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	for name, v := range in {
		if err := gorgonia.Let(g.Inputs[name], v); err != nil {
			return nil, err
		}
	}
	values := map[string]*gorgonia.Value{}
	for name, n := range g.Outputs {
		values[name] = new(gorgonia.Value)
		gorgonia.Read(n, values[name])
	}
	m := gorgonia.NewTapeMachine(g.Expr)
	err = m.RunAll()
	if err := errors.Join(err, m.Close()); err != nil {
		return nil, err
	}
	out = engine.Values{}
	for name, v := range values {
		out[name] = *v
	}
	return out, nil
}

// differ describes a difference of two values above a tolerance relative to 1 + |want|; NaN
// equals NaN. It does not compare shapes, because gorgonia's values do not always have the shapes
// of their nodes.
func differ(t *testing.T, got, want gorgonia.Value, tolerance float64) string {
	t.Helper()
	if got.Dtype() != want.Dtype() {
		return fmt.Sprintf("it is %v, want %v", got.Dtype(), want.Dtype())
	}
	g, w := elements(t, got), elements(t, want)
	if len(g) != len(w) {
		return fmt.Sprintf("%d elements, want %d", len(g), len(w))
	}
	for i := range w {
		if math.IsNaN(g[i]) != math.IsNaN(w[i]) || math.Abs(g[i]-w[i]) > tolerance*(1+math.Abs(w[i])) {
			return fmt.Sprintf("element %d is %.17g, want %.17g", i, g[i], w[i])
		}
	}
	return ""
}

// elements returns the elements of a value in row-major order, with 1 for true.
func elements(t *testing.T, v gorgonia.Value) []float64 {
	t.Helper()
	if v.Dtype() != tensor.Bool {
		f, err := engine.Floats(v)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if d, ok := v.(*tensor.Dense); ok && (d.RequiresIterator() || d.DataOrder().IsTransposed()) {
		v = d.Materialize()
	}
	truths, ok := engine.Data(v).([]bool)
	if !ok {
		truths = []bool{v.Data().(bool)}
	}
	f := make([]float64, len(truths))
	for i, x := range truths {
		if x {
			f[i] = 1
		}
	}
	return f
}
