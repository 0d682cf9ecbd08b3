//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// engines opens the host's engine and the device's, or skips the test with the
// reason; with PRIVKERN_TEST_BACKEND=cuda there must be one.
func engines(t *testing.T, dtype string) (host, device *engine.Engine) {
	t.Helper()
	device, err := engine.Open("cuda", dtype, 1)
	if err != nil && os.Getenv("PRIVKERN_TEST_BACKEND") == "cuda" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := device.Close(); err != nil {
			t.Error(err)
		}
		g := shared.gpu
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.pool.inUse != 0 || g.users == 0 && g.pool.kept != 0 {
			t.Errorf("%d bytes of device memory are in use, and %d kept, after the last engine closed", g.pool.inUse,
				g.pool.kept)
		}
	})
	if host, err = engine.Open("cpu", dtype, 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	return host, device
}

// cases are those of all operations that the device has.
func cases() (all []op.Case) {
	for _, o := range op.All() {
		all = append(all, o.Cases()...)
	}
	return append(all, op.BuiltinCases()...)
}

// program computes "out", the case's result, from "in0", "in1", ….
func program(c op.Case) engine.Program {
	return engine.Program{Name: c.Name, Key: "test " + c.Name, Draws: true, Build: func(b *engine.Builder) {
		nodes := make(gorgonia.Nodes, len(c.In))
		for i, o := range c.In {
			if o.Scalar {
				nodes[i] = b.Scalar(fmt.Sprint("in", i))
			} else {
				r, cols := o.Dims()
				nodes[i] = b.Input(fmt.Sprint("in", i), r, cols)
			}
		}
		b.Output("out", c.Node(nodes))
	}}
}

func inputs(e *engine.Engine, c op.Case) engine.Values {
	v := engine.Values{}
	for i, o := range c.In {
		if o.Scalar {
			v[fmt.Sprint("in", i)] = e.Scalar(o.At(0, 0))
		} else {
			v[fmt.Sprint("in", i)] = e.Matrix(o.Dense)
		}
	}
	return v
}

// Every operation that the device has gives the host's numbers.
func TestOperationsLikeTheHost(t *testing.T) {
	log.SetOutput(io.Discard) // gorgonia's normalisation of groups prints its operands
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	for _, precision := range []struct {
		dtype     string
		tolerance float64
	}{{"float64", 1e-12}, {"float32", 5e-6}} {
		t.Run(precision.dtype, func(t *testing.T) {
			host, device := engines(t, precision.dtype)
			for _, c := range cases() {
				t.Run(c.Name, func(t *testing.T) {
					want, err := host.Run(context.Background(), program(c), inputs(host, c))
					if err != nil {
						t.Fatal(err)
					}
					got, err := device.Run(context.Background(), program(c), inputs(device, c))
					if err != nil {
						t.Fatal(err)
					}
					tolerance := precision.tolerance * max(1, c.Condition)
					if c.Exact {
						tolerance = 0
					}
					near(t, "out", got["out"], want["out"], tolerance)
					again, err := device.Run(context.Background(), program(c), inputs(device, c))
					if err != nil {
						t.Fatal(err)
					}
					near(t, "again", again["out"], got["out"], 0)
				})
			}
			if w := device.Warnings(); len(w) > 0 {
				t.Errorf("warnings: %v", w)
			}
		})
	}
}

// numbers are the elements of a value; truth values are 1 and 0.
func numbers(t *testing.T, v gorgonia.Value) []float64 {
	t.Helper()
	var truth []bool
	switch data := engine.Data(v).(type) {
	case int:
		return []float64{float64(data)}
	case []int:
		f := make([]float64, len(data))
		for i, n := range data {
			f[i] = float64(n)
		}
		return f
	case bool:
		truth = []bool{data}
	case []bool:
		truth = data
	default:
		f, err := engine.Floats(v)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := make([]float64, len(truth))
	for i, b := range truth {
		if b {
			f[i] = 1
		}
	}
	return f
}

// near compares values relative to 1 + |want|, and NaN with NaN.
func near(t *testing.T, what string, got, want gorgonia.Value, tolerance float64) {
	t.Helper()
	if !got.Shape().Eq(want.Shape()) {
		t.Fatalf("%s has shape %v, want %v", what, got.Shape(), want.Shape())
	}
	if got.Dtype() != want.Dtype() {
		t.Fatalf("%s is %v, want %v", what, got.Dtype(), want.Dtype())
	}
	g, w := numbers(t, got), numbers(t, want)
	if len(g) != len(w) {
		t.Fatalf("%s has %d elements, want %d", what, len(g), len(w))
	}
	worst, at := 0.0, -1
	for i := range w {
		if g[i] == w[i] {
			continue
		}
		if math.IsNaN(g[i]) != math.IsNaN(w[i]) || math.IsInf(g[i], 0) || math.IsInf(w[i], 0) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, g[i], w[i])
		}
		if d := math.Abs(g[i]-w[i]) / (1 + math.Abs(w[i])); d > worst {
			worst, at = d, i
		}
	}
	if worst > tolerance {
		t.Errorf("%s: element %d is %.17g, want %.17g: off by %.2g, allowed is %.2g", what, at, g[at], w[at], worst,
			tolerance)
	}
}

// Operations without floating-point operands run from the loaded module: a graph in float32 does
// not have the kernels compiled for float64.
func TestMovesTakeTheOtherKernelsModule(t *testing.T) {
	if err := Release(); err != nil { // with the modules of tests before
		t.Fatal(err)
	}
	_, device := engines(t, "float32")
	g := shared.gpu
	p := engine.Program{Name: "mask", Key: "mask", Build: func(b *engine.Builder) {
		x := b.Input("x", 4, 3)
		b.Output("out", gorgonia.Must(gorgonia.Transpose(gorgonia.Must(gorgonia.Gt(x, b.Constant(0), false)))))
	}}
	in := engine.Values{"x": device.Matrix(mat.NewDense(4, 3, nil))}
	if _, err := device.Run(context.Background(), p, in); err != nil {
		t.Fatal(err)
	}
	g.building.Lock()
	defer g.building.Unlock()
	for p := range g.modules {
		if p.dtype != tensor.Float32 {
			t.Errorf("the kernels of the unit %v are compiled for %v", p.unit, p.dtype)
		}
	}
	if len(g.modules) == 0 {
		t.Error("no kernels are compiled")
	}
}
