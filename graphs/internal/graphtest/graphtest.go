// Package graphtest has helpers for tests of graph programs: all BLAS implementations, gradients
// against finite differences, and the executor against gorgonia's TapeMachine.
package graphtest

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	_ "privkern/graphs/cuda" // brings the backend "cuda"
	"privkern/graphs/engine"
)

// EachBLAS runs a test with the kernels of package matrix, with gonum's BLAS, and with OpenBLAS
// if it is installed.
func EachBLAS(t *testing.T, test func(t *testing.T)) {
	for _, setting := range []string{"privkern", "gonum", "openblas"} {
		t.Run("blas="+setting, func(t *testing.T) {
			info, restore := cpublas.Force(setting)
			defer restore()
			if setting == "openblas" && info.Path == "" {
				t.Skip("OpenBLAS is not installed")
			}
			test(t)
		})
	}
}

// Backend returns the backend of Engine: PRIVKERN_TEST_BACKEND, by default "cpu". With "cuda" the
// tests of graph programs run on a GPU.
func Backend() string {
	if b := os.Getenv("PRIVKERN_TEST_BACKEND"); b != "" {
		return b
	}
	return "cpu"
}

// Engine opens an engine, and closes it at the end of the test.
func Engine(t testing.TB, dtype string, workers int) *engine.Engine {
	t.Helper()
	e, err := engine.Open(Backend(), dtype, workers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// All programs of the repository run on the device.
		for _, w := range e.Warnings() {
			if strings.Contains(w, engine.FellBack) {
				t.Error(w)
			}
		}
		_ = e.Close()
	})
	return e
}

// Normal returns a matrix of independent standard normal numbers.
func Normal(rng *rand.Rand, rows, cols int) *mat.Dense {
	a := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	return a
}

// Definite returns a symmetric positive definite n×n matrix with eigenvalues of at least 1.
func Definite(rng *rand.Rand, n int) *mat.Dense {
	b := Normal(rng, n, n)
	a := mat.NewDense(n, n, nil)
	a.Mul(b, b.T())
	for i := range n {
		for j := range i {
			a.Set(i, j, a.At(j, i))
		}
		a.Set(i, i, a.At(i, i)+1)
	}
	return a
}

// Rand returns a fixed random stream.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// Inputs holds float64 inputs by name.
type Inputs map[string]*mat.Dense

func (in Inputs) values() engine.Values {
	v := engine.Values{}
	for name, a := range in {
		v[name] = engine.NewMatrix(tensor.Float64, a)
	}
	return v
}

// Run runs a program in float64.
func Run(t testing.TB, p engine.Program, in Inputs) engine.Values {
	t.Helper()
	out, err := Engine(t, "float64", 1).Run(context.Background(), p, in.values())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Gradient compares the symbolic derivatives of a scalar with respect to every input with central
// differences. The scalar is f of the inputs in the order of names. TapeMachine computes it as
// well.
func Gradient(t *testing.T, names []string, in Inputs, f func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node) {
	t.Helper()
	TapeMachine(t, gradient(t, names, in, f), in)
	Differences(t, names, in, f)
}

// Differences is Gradient without TapeMachine, for graphs that reshape inputs, which TapeMachine
// overwrites.
func Differences(t *testing.T, names []string, in Inputs,
	f func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node) {
	t.Helper()
	full := gradient(t, names, in, f)
	valueOnly := engine.Program{Name: t.Name(), Key: "value", Build: func(b *engine.Builder) {
		b.Output("value", f(b, inputs(b, names, in)))
	}}
	e := Engine(t, "float64", 1)
	run := func(p engine.Program) engine.Values {
		out, err := e.Run(context.Background(), p, in.values())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	value := func() float64 {
		v, err := engine.Scalar(run(valueOnly)["value"])
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	out := run(full)
	for _, name := range names {
		grad, err := engine.Floats(out["d"+name])
		if err != nil {
			t.Fatal(err)
		}
		data := in[name].RawMatrix().Data
		if len(grad) != len(data) {
			t.Fatalf("the derivative by %s has %d elements, want %d", name, len(grad), len(data))
		}
		for i, x := range data {
			const h = 1e-5
			data[i] = x + h
			above := value()
			data[i] = x - h
			below := value()
			data[i] = x
			want := (above - below) / (2 * h)
			if !(math.Abs(grad[i]-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("derivative by element %d of %s: %.10g, differences give %.10g", i, name, grad[i], want)
			}
		}
	}
}

// inputs declares the inputs of a graph.
func inputs(b *engine.Builder, names []string, in Inputs) gorgonia.Nodes {
	nodes := make(gorgonia.Nodes, len(names))
	for i, name := range names {
		rows, cols := in[name].Dims()
		nodes[i] = b.Input(name, rows, cols)
	}
	return nodes
}

// gradient returns the program of a value with its derivatives with respect to the inputs.
func gradient(t *testing.T, names []string, in Inputs,
	f func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node) engine.Program {
	return engine.Program{Name: t.Name(), Key: "gradient", Build: func(b *engine.Builder) {
		nodes := inputs(b, names, in)
		value := f(b, nodes)
		b.Output("value", value)
		for i, grad := range b.Gradient(value, nodes...) {
			b.Output("d"+names[i], grad)
		}
	}}
}

// Weigh returns the scalar Σ sin(X)∘X, whose derivative differs for every element of X.
func Weigh(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node {
	return b.Sum(b.Hadamard(b.Sin(x), x))
}

// TapeMachine compares the executor with gorgonia's TapeMachine on the same graph.
func TapeMachine(t *testing.T, p engine.Program, in Inputs) {
	t.Helper()
	g, err := engine.Build(p, tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range in.values() {
		if err := gorgonia.Let(g.Inputs[name], v); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]*gorgonia.Value{}
	for name, n := range g.Outputs {
		want[name] = new(gorgonia.Value)
		gorgonia.Read(n, want[name])
	}
	m := gorgonia.NewTapeMachine(g.Expr)
	defer m.Close()
	if err := m.RunAll(); err != nil {
		t.Fatalf("TapeMachine: %v", err)
	}
	for name, v := range Run(t, p, in) {
		Close(t, "executor against TapeMachine, output "+name, v, *want[name], 1e-13)
	}
}

// Close compares two values element by element, relative to 1 + |want|.
func Close(t *testing.T, what string, got, want gorgonia.Value, tol float64) {
	t.Helper()
	g, err := engine.Floats(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := engine.Floats(want)
	if err != nil {
		t.Fatal(err)
	}
	if len(g) != len(w) {
		t.Fatalf("%s: %d elements, want %d", what, len(g), len(w))
	}
	for i := range w {
		if !(math.Abs(g[i]-w[i]) <= tol*(1+math.Abs(w[i]))) {
			t.Fatalf("%s: element %d is %.17g, want %.17g", what, i, g[i], w[i])
		}
	}
}
