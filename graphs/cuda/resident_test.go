//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// stepped computes "x", the solution of A·Aᵀ + 2I for "b", and "factor" its Cholesky factor.
func stepped(n int) engine.Program {
	return engine.Program{Name: "step", Key: fmt.Sprint("resident step ", n), Build: func(b *engine.Builder) {
		l := b.Cholesky(b.IdentityPlusGram(b.Input("a", n, n)))
		b.Output("x", b.CholeskySolve(l, b.Input("b", n, 1)))
	}}
}

// factored computes "l", the Cholesky factor of "a".
func factored(n int) engine.Program {
	return engine.Program{Name: "factor", Key: fmt.Sprint("resident factor ", n), Build: func(b *engine.Builder) {
		b.Output("l", b.Cholesky(b.Input("a", n, n)))
	}}
}

// tripled computes "out", 3·"in".
func tripled(rows, cols int) engine.Program {
	return engine.Program{Name: "tripled", Key: fmt.Sprint("resident tripled ", rows, cols),
		Build: func(b *engine.Builder) {
			b.Output("out", b.Hadamard(b.Constant(3), b.Input("in", rows, cols)))
		}}
}

// fractions are a matrix of different numbers.
func fractions(e *engine.Engine, rows, cols int) gorgonia.Value {
	a := mat.NewDense(rows, cols, nil)
	a.Apply(func(i, j int, _ float64) float64 { return 1 / float64(1+i+2*j) }, a)
	return e.Matrix(a)
}

// runs runs a program, of whose outputs some stay.
func runs(t *testing.T, e *engine.Engine, p engine.Program, in engine.Values, stay ...string) engine.Values {
	t.Helper()
	out, err := e.Run(context.Background(), p, in, engine.Stay(stay...))
	if err != nil {
		t.Error(err)
	}
	return out
}

// keep keeps a value.
func keep(t *testing.T, e *engine.Engine, v gorgonia.Value) *engine.Resident {
	t.Helper()
	r, err := e.Keep(v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// elements brings a value to the host.
func elements(t *testing.T, v gorgonia.Value) gorgonia.Value {
	t.Helper()
	all, err := engine.Host(context.Background(), engine.Values{"v": v})
	if err != nil {
		t.Fatal(err)
	}
	return all["v"]
}

// A loop whose state stays on the device has the bits of one whose state goes to the host and
// back, and nothing waits before its end.
func TestLoopOnTheDevice(t *testing.T) {
	for _, dtype := range []string{"float64", "float32"} {
		t.Run(dtype, func(t *testing.T) {
			_, e := engines(t, dtype)
			const n, steps = 20, 50
			in := engine.Values{"a": fractions(e, n, n), "b": fractions(e, n, 1)}
			for range steps {
				in["b"] = runs(t, e, stepped(n), in)["x"]
			}
			want := in["b"]
			e.StartCounting()
			in = engine.Values{"a": keep(t, e, fractions(e, n, n)), "b": keep(t, e, fractions(e, n, 1))}
			for range steps {
				before := in["b"].(*engine.Resident)
				in["b"] = runs(t, e, stepped(n), in, "x")["x"]
				before.Close()
			}
			got := elements(t, in["b"])
			near(t, "x", got, want, 0)
			in.Close()
			size := int64(map[string]int{"float64": 8, "float32": 4}[dtype])
			if c := e.Profile().Total; c.Copies != 3 || c.BytesUp != size*(n*n+n) || c.BytesDown != size*n ||
				c.Synchronisations != 1 || c.Runs != steps {
				t.Errorf("%d copies, %d bytes up, %d down, %d waits in %d runs", c.Copies, c.BytesUp, c.BytesDown,
					c.Synchronisations, c.Runs)
			}
		})
	}
}

// Goroutines in any streams share constants and each other's results.
func TestResidentsOfGoroutines(t *testing.T) {
	_, e := engines(t, "float64")
	const n, steps = 12, 20
	a := keep(t, e, fractions(e, n, n))
	defer a.Close()
	start := runs(t, e, tripled(n, 1), engine.Values{"in": fractions(e, n, 1)}, "out")
	defer start.Close()
	want := runs(t, e, stepped(n), engine.Values{"a": fractions(e, n, n), "b": elements(t, start["out"])})["x"]
	last := make([]engine.Values, 4)
	var wg sync.WaitGroup
	for worker := range last {
		wg.Go(func() {
			for range steps {
				last[worker].Close()
				last[worker] = runs(t, e, stepped(n), engine.Values{"a": a, "b": start["out"]}, "x")
			}
		})
	}
	wg.Wait()
	for i, out := range last {
		// Read by another goroutine's program, in any lane.
		next := last[(i+1)%len(last)]
		nine := runs(t, e, tripled(n, 1), engine.Values{"in": next["x"]})
		near(t, "three times", nine["out"], runs(t, e, tripled(n, 1), engine.Values{"in": want})["out"], 0)
		near(t, "x", elements(t, out["x"]), want, 0)
	}
	for _, out := range last {
		out.Close()
	}
}

// A run in another lane than the one that its input is computed in follows that.
func TestOtherLanes(t *testing.T) {
	_, e := engines(t, "float64")
	g := shared.gpu
	const n = 30
	want := runs(t, e, factored(n), engine.Values{"a": identityPlus(e, n)})["l"]
	l := runs(t, e, factored(n), engine.Values{"a": identityPlus(e, n)}, "l")
	defer l.Close()
	var taken []*lane // all that are idle
	g.mu.Lock()
	taken, g.idle = g.idle, nil
	g.mu.Unlock()
	if !slicesHaveTail(taken) {
		t.Error("the run has been waited for")
	}
	again := runs(t, e, tripled(n, n), engine.Values{"in": l["l"]}, "out")
	defer again.Close()
	g.mu.Lock()
	others := len(g.idle)
	g.idle = append(g.idle, taken...)
	g.mu.Unlock()
	if others == 0 {
		t.Error("no other lane was made")
	}
	near(t, "tripled", elements(t, again["out"]), runs(t, e, tripled(n, n), engine.Values{"in": want})["out"], 0)
	near(t, "l", elements(t, l["l"]), want, 0)
}

// slicesHaveTail reports whether a run is queued in one of the lanes.
func slicesHaveTail(lanes []*lane) bool {
	for _, l := range lanes {
		if l.tails > 0 {
			return true
		}
	}
	return false
}

// identityPlus is a positive definite matrix.
func identityPlus(e *engine.Engine, n int) gorgonia.Value {
	a := mat.NewDense(n, n, nil)
	a.Apply(func(i, j int, _ float64) float64 {
		if i == j {
			return 2
		}
		return 1 / float64(n)
	}, a)
	return e.Matrix(a)
}

// A matrix that is not positive definite is reported where its factor is used, also after its
// memory was closed; other runs do not see it.
func TestQueuedFailure(t *testing.T) {
	_, e := engines(t, "float64")
	a := keep(t, e, engine.NewMatrix(tensor.Float64, mat.NewDense(3, 3, []float64{1, 0, 0, 0, -2, 0, 0, 0, 1})))
	bad := runs(t, e, factored(3), engine.Values{"a": a}, "l")
	a.Close()
	next := runs(t, e, tripled(3, 3), engine.Values{"in": bad["l"]}, "out")
	good := runs(t, e, factored(3), engine.Values{"a": identityPlus(e, 3)}, "l")
	near(t, "another run", elements(t, good["l"]), runs(t, e, factored(3),
		engine.Values{"a": identityPlus(e, 3)})["l"], 0)
	bad.Close()
	for name, use := range map[string]func() error{
		"download": func() error { _, err := engine.Host(context.Background(), next); return err },
		"run": func() error {
			_, err := e.Run(context.Background(), tripled(3, 3), engine.Values{"in": next["out"]})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var failed *op.NotPositiveDefiniteError
			if err := use(); !errors.As(err, &failed) || failed.Row != 1 || failed.Pivot != -2 ||
				!strings.Contains(err.Error(), "factor: ") {
				t.Errorf("got %v", err)
			}
		})
	}
	next.Close()
	good.Close()
}

// Values that nobody closes are freed with the engine, with any work queued; engines looks at the
// memory.
func TestQueuedRunsAtTheEnd(t *testing.T) {
	_, e := engines(t, "float64")
	x := runs(t, e, tripled(40, 40), engine.Values{"in": fractions(e, 40, 40)}, "out")
	for range 10 {
		x = runs(t, e, tripled(40, 40), engine.Values{"in": x["out"]}, "out")
	}
}
