package engine

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cost"
	"privkern/graphs/engine/counts"
	"privkern/graphs/op"
)

const counted = 64 // the order of the matrices

// countedProgram is a product and a Cholesky factor of its operand and a constant.
func countedProgram() Program {
	return Program{Name: "counted", Key: "counted", Build: func(b *Builder) {
		a := b.Input("a", counted, counted)
		b.Output("l", b.Cholesky(a))
		b.Output("p", b.Mul(a, b.Input("b", counted, counted)))
	}}
}

func countedInputs(e *Engine) Values {
	a := mat.NewDense(counted, counted, nil)
	for i := range counted {
		a.Set(i, i, 2)
	}
	return Values{"a": e.Matrix(a), "b": e.Matrix(a)}
}

// The work of a program is counted from StartCounting on.
func TestCounts(t *testing.T) {
	const runs, matrix = 3, 8 * counted * counted
	e := open(t, "float64", 1)
	run := func() Values {
		out, err := e.Run(context.Background(), countedProgram(), countedInputs(e))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := run()
	if p := e.Profile(); len(p.Programs) != 0 || p.Total.Runs != 0 {
		t.Fatalf("counted before it began: %+v", p)
	}
	e.StartCounting()
	var after Values
	for range runs {
		after = run()
	}
	if !reflect.DeepEqual(Data(before["l"]), Data(after["l"])) {
		t.Error("counting changes a result")
	}
	p := e.Profile()
	if len(p.Programs) != 1 {
		t.Fatalf("%d programs", len(p.Programs))
	}
	got := p.Programs[0]
	if got.Seconds <= 0 {
		t.Errorf("%g s", got.Seconds)
	}
	for name, s := range got.Predicted {
		// Three launches of the factor, one of the product, a copy of both operands, two of results and a wait.
		if s < runs*(4*5e-6+3*10e-6+20e-6) || s > 1 {
			t.Errorf("predicted for %s: %g s", name, s)
		}
	}
	if len(got.Predicted) != len(cost.Devices) {
		t.Errorf("predicted for %v", got.Predicted)
	}
	want := counts.Count{Program: "counted", DType: "float64", Runs: runs, Launches: runs * 4, Synchronisations: runs,
		Copies: runs * 3, BytesUp: runs * 2 * matrix, BytesDown: runs * 2 * matrix,
		Operations: got.Operations, Traffic: got.Traffic, Seconds: got.Seconds, CPU: got.CPU,
		Predicted: got.Predicted}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	const n = counted
	if least := float64(runs * (n*n*n/3 + 2*n*n*n)); got.Operations < least || got.Operations > 1.2*least {
		t.Errorf("%g operations, want about %g", got.Operations, least)
	}
	text, err := e.MarshalProfile()
	if err != nil || !json.Valid(text) || !strings.Contains(string(text), `"launches":12`) {
		t.Errorf("%s, %v", text, err)
	}
}

// A pinned input is copied once, a program in another element type has a count of its own,
// and the total is the sum.
func TestCountsOfSessions(t *testing.T) {
	e := open(t, "float64", 1)
	e.StartCounting()
	s, err := e.Session(countedProgram())
	if err != nil {
		t.Fatal(err)
	}
	in := countedInputs(e)
	if err := s.Pin("b", in["b"]); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := s.Run(context.Background(), Values{"a": in["a"]}); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	single := NewMatrix(tensor.Float32, mat.NewDense(counted, counted, nil))
	// Zero is not positive definite: a run that fails is counted all the same.
	zeros := Values{"a": single, "b": single}
	if _, err := e.RunAs(context.Background(), tensor.Float32, countedProgram(), zeros); err == nil {
		t.Fatal("a factor of zero")
	}
	p := e.Profile()
	by := map[string]counts.Count{}
	for _, c := range p.Programs {
		by[c.DType] = c
	}
	if c := by["float64"]; c.Runs != 5 || c.BytesUp != 6*8*counted*counted {
		t.Errorf("%+v", c)
	}
	if c := by["float32"]; c.Runs != 1 || c.BytesUp != 2*4*counted*counted || c.BytesDown != 0 {
		t.Errorf("%+v", c)
	}
	if p.Total.Runs != 6 || p.Total.BytesUp != by["float64"].BytesUp+by["float32"].BytesUp ||
		p.Total.Predicted["H100"] != by["float64"].Predicted["H100"]+by["float32"].Predicted["H100"] {
		t.Errorf("the total is %+v", p.Total)
	}
}

// An operation without a kernel costs two copies for each operand and the result, and a
// wait, whether a device refuses it or the CPU computes it.
func TestCountsOfFallbacks(t *testing.T) {
	for name, device := range map[string]func(e *Engine) Device{
		"a device": func(*Engine) Device {
			f := newFake(t)
			f.hasKernel = func(string) bool { return false }
			return f
		},
		"the CPU": func(e *Engine) Device { return e.device() },
	} {
		t.Run(name, func(t *testing.T) {
			e := open(t, "float64", 1)
			e.StartCounting()
			inner := device(e)
			e.device = func() Device { return inner }
			g := Program{Name: "foreign", Key: "foreign", Build: func(b *Builder) {
				x := b.Input("x", 3, 3)
				b.Output("y", gorgonia.Must(gorgonia.ApplyOp(foreign{op.Cholesky()}, x)))
			}}
			identity := e.Matrix(mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}))
			if _, err := e.Run(context.Background(), g, Values{"x": identity}); err != nil {
				t.Fatal(err)
			}
			c := e.Profile().Total
			if c.Fallbacks != 1 || c.Copies != 4 || c.BytesUp != 2*72 || c.BytesDown != 2*72 || c.Synchronisations != 2 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// foreign is an operation that no device has a kernel for.
type foreign struct{ op.Op }

// Counts of goroutines that run at the same time add up.
func TestCountsOfManyGoroutines(t *testing.T) {
	e := open(t, "float64", 1)
	e.StartCounting()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				if _, err := e.Run(context.Background(), countedProgram(), countedInputs(e)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if c := e.Profile().Total; c.Runs != 80 || c.Launches != 320 || c.Synchronisations != 80 {
		t.Errorf("%+v", c)
	}
}

// A chain that a device computes by one kernel is one launch, which reads the chain's inputs
// and writes its results.
func TestCountsOfChains(t *testing.T) {
	e := open(t, "float64", 1)
	e.StartCounting()
	f := newFuser(t)
	e.device = func() Device { return f }
	p := Program{Name: "chain", Key: "chain", Build: func(b *Builder) {
		x, y := b.Input("x", 30, 20), b.Input("y", 30, 20)
		b.Output("z", b.Square(b.Add(x, b.Hadamard(x, y))))
	}}
	in := Values{"x": e.Matrix(mat.NewDense(30, 20, nil)), "y": e.Matrix(mat.NewDense(30, 20, nil))}
	if _, err := e.Run(context.Background(), p, in); err != nil {
		t.Fatal(err)
	}
	c := e.Profile().Total
	if f.fused != 1 || c.Launches != 1 || c.Traffic != 3*600*8 || c.Operations != 3*600 || c.Predicted["H100"] <= 0 {
		t.Errorf("%d chains, %+v", f.fused, c)
	}
}
