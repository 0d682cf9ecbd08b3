package engine

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

	"privkern/graphs/op"
)

func open(t testing.TB, dtype string, workers int) *Engine {
	t.Helper()
	e, err := Open("cpu", dtype, workers)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestOpen(t *testing.T) {
	e := open(t, "float32", 3)
	if e.Backend() != "cpu" || e.DType() != "float32" || e.Workers() != 3 || e.BLAS().Name == "" {
		t.Errorf("got %s %s %d %+v", e.Backend(), e.DType(), e.Workers(), e.BLAS())
	}
	if open(t, "float64", 0).Workers() < 1 {
		t.Error("no workers by default")
	}
	for _, c := range []struct {
		backend, dtype string
		workers        int
		want           string
	}{
		{"tpu", "float64", 1, `unknown backend "tpu": it must be cpu or cuda`},
		{"cpu", "float16", 1, `unknown element type "float16"`},
		{"cpu", "float64", -1, "-1 workers"},
		{"cuda", "float64", 1, "CUDA needs Linux"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if _, err := Open(c.backend, c.dtype, c.workers); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: got %v", c, err)
			}
		})
	}
	if _, err := Open("cuda", "float64", 1); !errors.Is(err, ErrNoCUDA) {
		t.Errorf("got %v, want ErrNoCUDA", err)
	}
}

func TestRun(t *testing.T) {
	e := open(t, "float64", 2)
	for range 3 {
		out, err := e.Run(context.Background(), sample(), sampleInputs())
		if err != nil {
			t.Fatal(err)
		}
		checkSample(t, out)
	}
	if len(e.idle) != 1 {
		t.Errorf("%d executors were built, want 1", len(e.idle))
	}
}

// Goroutines that run one program at the same time do not meet: under the race
// detector this would show. Inputs are shared between them.
func TestConcurrentRuns(t *testing.T) {
	e := open(t, "float64", 2)
	in := sampleInputs()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				out, err := e.Run(context.Background(), sample(), in)
				if err != nil {
					t.Error(err)
					return
				}
				checkSample(t, out)
			}
		})
	}
	wg.Wait()
	if n := len(e.idle); n < 1 || n > 8 {
		t.Errorf("%d executors for 8 goroutines", n)
	}
}

// gorgonia's product transposes the header of an operand for a moment. The
// header must be the executor's own.
func TestConcurrentRunsOfAProductWithATranspose(t *testing.T) {
	p := Program{Name: "product", Key: "product", Build: func(b *Builder) {
		a, x := b.Input("a", 2, 3), b.Input("x", 3, 1)
		b.Output("grad", b.Gradient(b.Sum(b.Mul(a, x)), x)[0]) // aᵀ·1
	}}
	e := open(t, "float64", 2)
	in := Values{
		"a": NewMatrix(tensor.Float64, mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})),
		"x": NewMatrix(tensor.Float64, mat.NewDense(3, 1, nil)),
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				out, err := e.Run(context.Background(), p, in)
				if err != nil {
					t.Error(err)
					return
				}
				if g, _ := Floats(out["grad"]); len(g) != 3 || g[0] != 5 || g[1] != 7 || g[2] != 9 {
					t.Errorf("gradient %v, want [5 7 9]", g)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestSessionPinsInputs(t *testing.T) {
	e := open(t, "float64", 1)
	s, err := e.Session(sample())
	if err != nil {
		t.Fatal(err)
	}
	in := sampleInputs()
	if err := s.Pin("a", in["a"]); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		out, err := s.Run(context.Background(), Values{"b": in["b"]})
		if err != nil {
			t.Fatal(err)
		}
		checkSample(t, out)
	}
	s.Close()
	s.Close()
	// Nothing stays pinned for whoever comes next.
	if out, err := e.Run(context.Background(), sample(), in); err != nil {
		t.Error(err)
	} else {
		checkSample(t, out)
	}
}

// The number of programs that an engine keeps is bounded.
func TestIdleExecutorsAreBounded(t *testing.T) {
	e := open(t, "float64", 1)
	for i := range maxIdle + 10 {
		p := sample()
		p.Key = fmt.Sprint("sample ", i)
		if _, err := e.Run(context.Background(), p, sampleInputs()); err != nil {
			t.Fatal(err)
		}
	}
	if len(e.idle) != maxIdle {
		t.Errorf("%d executors are kept, want %d", len(e.idle), maxIdle)
	}
}

func TestElementTypesDoNotMix(t *testing.T) {
	e := open(t, "float32", 1)
	in := Values{}
	for name, v := range sampleInputs() {
		m, _ := Dense(v)
		in[name] = e.Matrix(m)
	}
	if _, err := e.Run(context.Background(), sample(), in); err != nil {
		t.Fatal(err)
	}
	if out, err := e.RunAs(context.Background(), tensor.Float64, sample(), sampleInputs()); err != nil {
		t.Error(err)
	} else {
		checkSample(t, out)
	}
}

func TestClosed(t *testing.T) {
	e := open(t, "float64", 1)
	s, err := e.Session(sample())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := e.Run(context.Background(), sample(), sampleInputs()); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestWarningsAreRecordedOnce(t *testing.T) {
	e := open(t, "float64", 1)
	f := newFake(t)
	f.hasKernel = func(op string) bool { return op != "Solve" }
	e.device = func() Device { return f }
	for range 3 {
		if _, err := e.Run(context.Background(), sample(), sampleInputs()); err != nil {
			t.Fatal(err)
		}
	}
	e.Warn("b")
	e.Warn("b")
	got := e.Warnings()
	if len(got) != 2 || got[0] != "Solve has no kernel on cpu and was computed on the host" || got[1] != "b" {
		t.Errorf("got %q", got)
	}
	_ = e.Close()
	if n := f.live(); n != 0 {
		t.Errorf("%d buffers leak", n)
	}
}

func TestErrorsKeepTheirType(t *testing.T) {
	in := sampleInputs()
	in["a"] = NewMatrix(tensor.Float64, mat.NewDense(2, 2, []float64{1, 0, 0, -1}))
	_, err := open(t, "float64", 1).Run(context.Background(), sample(), in)
	var notPD *op.NotPositiveDefiniteError
	if !errors.As(err, &notPD) || notPD.Row != 1 {
		t.Errorf("got %v", err)
	}
}

// An operation of gorgonia's that panics does not take the process down.
func TestPanickingOperation(t *testing.T) {
	p := Program{Name: "test", Key: "panic", Build: func(b *Builder) {
		b.Output("o", gorgonia.Must(gorgonia.ApplyOp(panicking{op.Cholesky()}, b.Input("a", 2, 2))))
	}}
	_, err := open(t, "float64", 1).Run(context.Background(), p,
		Values{"a": NewMatrix(tensor.Float64, mat.NewDense(2, 2, nil))})
	if err == nil || !strings.Contains(err.Error(), "panic: boom") {
		t.Errorf("got %v", err)
	}
}

type panicking struct{ op.Op }

func (panicking) Do(...gorgonia.Value) (gorgonia.Value, error) { panic("boom") }

func TestParallelFor(t *testing.T) {
	e := open(t, "float64", 4)
	sums := make([]int, 10)
	err := e.ParallelFor(context.Background(), 100, 10, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			sums[lo/10] += i
		}
		return nil
	})
	if err != nil || sums[9] != 945 {
		t.Errorf("%v %v", sums, err)
	}
}

func TestValues(t *testing.T) {
	m := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		got, err := Dense(NewMatrix(dtype, m.Slice(0, 2, 1, 3).(*mat.Dense)))
		if err != nil || !mat.Equal(got, mat.NewDense(2, 2, []float64{2, 3, 5, 6})) {
			t.Errorf("%v: %v, %v", dtype, got, err)
		}
	}
	if v, err := Scalar(gorgonia.NewF32(1.5)); v != 1.5 || err != nil {
		t.Errorf("%v %v", v, err)
	}
	if _, err := Scalar(NewMatrix(tensor.Float64, m)); err == nil {
		t.Error("a matrix passed for a scalar")
	}
	if _, err := Dense(gorgonia.NewF64(1)); err == nil {
		t.Error("a scalar passed for a matrix")
	}
	if _, err := Floats(tensor.New(tensor.WithShape(1, 1), tensor.Of(tensor.Int))); err == nil {
		t.Error("integers passed for numbers")
	}
}

func BenchmarkRunOverhead(b *testing.B) {
	e := open(b, "float64", 1)
	s, err := e.Session(sample())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	in := sampleInputs()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Run(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}
