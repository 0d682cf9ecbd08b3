package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
)

// onFake is an engine whose devices share a fake, which must hold nothing in the end.
func onFake(t *testing.T) (*Engine, *fakeDevice) {
	t.Helper()
	e, f := open(t, "float64", 1), newFake(t)
	e.device = func() Device { return f }
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if n := f.live(); n != 0 {
			t.Errorf("%d buffers leak", n)
		}
	})
	return e, f
}

// backends are an engine that computes at once and one with a queue.
func backends(t *testing.T, test func(t *testing.T, e *Engine)) {
	t.Run("host", func(t *testing.T) {
		e := open(t, "float64", 1)
		defer func() { _ = e.Close() }()
		test(t, e)
	})
	t.Run("device", func(t *testing.T) {
		e, _ := onFake(t)
		test(t, e)
	})
}

// factor computes "l", the Cholesky factor of "a", and doubled "twice", 2·"x", of 2×2
// matrices.
func factor() Program {
	return Program{Name: "factor", Key: "factor", Build: func(b *Builder) {
		b.Output("l", b.Cholesky(b.Input("a", 2, 2)))
	}}
}

func doubled() Program {
	return Program{Name: "doubled", Key: "doubled", Build: func(b *Builder) {
		b.Output("twice", b.Hadamard(b.Constant(2), b.Input("x", 2, 2)))
	}}
}

func square2(values ...float64) gorgonia.Value { return TensorOf(values, 2, 2) }

// run runs a program all of whose outputs stay.
func run(t *testing.T, e *Engine, p Program, in Values, stay ...string) Values {
	t.Helper()
	out, err := e.Run(context.Background(), p, in, Stay(stay...))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// wantFloats compares the elements of a value, of the host or resident.
func wantFloats(t *testing.T, v gorgonia.Value, want ...float64) {
	t.Helper()
	all, err := Host(context.Background(), Values{"v": v})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Floats(all["v"]); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, want %v; %v", got, want, err)
	}
}

// A value passes from program to program without the host, and is right once it is copied; the
// values that it comes from may be closed in between.
func TestResidentBetweenPrograms(t *testing.T) {
	backends(t, func(t *testing.T, e *Engine) {
		e.StartCounting()
		a, err := e.Keep(square2(4, 2, 2, 10))
		if err != nil {
			t.Fatal(err)
		}
		l := run(t, e, factor(), Values{"a": a}, "l")
		a.Close()
		twice := run(t, e, doubled(), Values{"x": l["l"]}, "twice")
		l.Close()
		four := run(t, e, doubled(), Values{"x": twice["twice"]}, "twice")
		twice.Close()
		if c := e.Profile().Total; c.Synchronisations != 0 || c.BytesDown != 0 || c.BytesUp != 4*8+8 {
			t.Errorf("before anything is asked for: %+v", c)
		}
		wantFloats(t, four["twice"], 8, 0, 4, 12)
		wantFloats(t, four["twice"], 8, 0, 4, 12)
		if c := e.Profile().Total; c.Synchronisations != 2 || c.BytesDown != 2*4*8 || c.BytesUp != 4*8+8 || c.Runs != 3 {
			t.Errorf("after two downloads: %+v", c)
		}
		four.Close()
		four.Close()
		if _, err := four["twice"].(*Resident).Value(context.Background()); !errors.Is(err, ErrResidentClosed) {
			t.Errorf("a closed value is read: %v", err)
		}
		if _, err := e.Run(context.Background(), doubled(), Values{"x": four["twice"]}); !errors.Is(err, ErrResidentClosed) ||
			!strings.Contains(err.Error(), `doubled: input "x"`) {
			t.Errorf("a closed value is an input: %v", err)
		}
	})
}

// One output goes to the host and another stays; the bits are those of a run without.
func TestSomeOutputsStay(t *testing.T) {
	backends(t, func(t *testing.T, e *Engine) {
		s, err := e.Session(sample())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		out, err := s.Run(context.Background(), sampleInputs(), Stay("s", "grad"))
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if _, err := Floats(out["s"]); err == nil || !strings.Contains(err.Error(), "resident") {
			t.Errorf("the elements of a resident value: %v", err)
		}
		if text := fmt.Sprint(out["s"]); text != "resident float64 (2, 2)" {
			t.Errorf("it prints as %s", text)
		}
		all, err := Host(context.Background(), out)
		if err != nil {
			t.Fatal(err)
		}
		checkSample(t, all)
		again, err := s.Run(context.Background(), sampleInputs())
		if err != nil {
			t.Fatal(err)
		}
		checkSample(t, again)
		if _, err := s.Run(context.Background(), sampleInputs(), Stay("t")); err == nil ||
			!strings.Contains(err.Error(), `no output "t"`) {
			t.Errorf("an output that is not there stays: %v", err)
		}
	})
}

// Inputs, pinned and kept values, and constants that are outputs may stay as well, and two
// outputs of one value.
func TestInputsStay(t *testing.T) {
	p := Program{Name: "identity", Key: "identity", Build: func(b *Builder) {
		x := b.Input("x", 2, 2)
		y := b.Hadamard(x, b.Input("z", 2, 2))
		b.Output("x", x)
		b.Output("z", b.graph.Inputs["z"])
		b.Output("y", y)
		b.Output("y again", y)
	}}
	backends(t, func(t *testing.T, e *Engine) {
		mine := []float64{1, 2, 3, 4}
		z, err := e.Keep(square2(2, 2, 2, 2))
		if err != nil {
			t.Fatal(err)
		}
		out := run(t, e, p, Values{"x": TensorOf(mine, 2, 2), "z": z}, "x", "z", "y")
		z.Close()
		mine[0] = 100
		again, _ := Floats(out["y again"])
		again[1] = 200 // which is the caller's
		wantFloats(t, out["x"], 1, 2, 3, 4)
		wantFloats(t, out["z"], 2, 2, 2, 2)
		wantFloats(t, out["y"], 2, 4, 6, 8)
		out.Close()
	})
}

// A view and its operand stay, each with elements of its own; vectors of one may become
// scalars.
func TestViewsStay(t *testing.T) {
	p := Program{Name: "views", Key: "views", Build: func(b *Builder) {
		l := b.Cholesky(b.Input("a", 2, 2))
		b.Output("l", l)
		b.Output("flat", b.Reshape(l, 1, 4))
		b.Output("one", b.Reshape(b.Sum(l), 1, 1))
	}}
	scaled := Program{Name: "scaled", Key: "scaled", Build: func(b *Builder) {
		b.Output("o", b.Hadamard(b.Scalar("s"), b.Input("x", 1, 4)))
	}}
	backends(t, func(t *testing.T, e *Engine) {
		out := run(t, e, p, Values{"a": square2(4, 2, 2, 10)}, "l", "flat", "one")
		o := run(t, e, scaled, Values{"s": out["one"], "x": out["flat"]})
		wantFloats(t, o["o"], 12, 0, 6, 18)
		out["flat"].(*Resident).Close()
		run(t, e, doubled(), Values{"x": square2(9, 9, 9, 9)}) // asks for memory of that size
		wantFloats(t, out["l"], 2, 0, 1, 3)
		out.Close()
	})
}

// Memory is there until the last run that reads it has ended, also if it is closed before.
func TestCloseWhileQueued(t *testing.T) {
	e, f := onFake(t)
	a, err := e.Keep(square2(4, 2, 2, 10))
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Session(factor())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Pin("a", a); err != nil {
		t.Fatal(err)
	}
	a.Close()
	out, err := s.Run(context.Background(), nil, Stay("l"))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	twice := run(t, e, doubled(), Values{"x": out["l"]}, "twice")
	out.Close()
	if f.waits != 0 || f.uploads != 2 {
		t.Errorf("the host waited %d times and copied %d times, a constant among them", f.waits, f.uploads)
	}
	wantFloats(t, twice["twice"], 4, 0, 2, 6)
	twice.Close()
	run(t, e, factor(), Values{"a": square2(4, 2, 2, 10)}, "l").Close() // before it is written
	if err := f.Sync(); err != nil {
		t.Error(err)
	}
	e.residents.settle()
	if n := f.live(); n != 1 {
		t.Errorf("%d buffers are left, want the constant", n)
	}
}

// The runs that are queued are bounded, and the engine's end waits for them.
func TestQueuedRunsAreBounded(t *testing.T) {
	e, f := onFake(t)
	x := run(t, e, doubled(), Values{"x": square2(1, 2, 3, 4)}, "twice")
	for range 3 * maxUnfinished {
		next := run(t, e, doubled(), Values{"x": x["twice"]}, "twice")
		x.Close()
		x = next
		if n := len(e.residents.queued); n > maxUnfinished {
			t.Fatalf("%d runs are queued", n)
		}
		if f.held > 2*maxUnfinished {
			t.Fatalf("%d buffers", f.held)
		}
	}
	if f.waits == 0 {
		t.Error("nothing has been waited for")
	}
}

// Values that nobody closed are freed with the engine; after that nothing can be kept or
// used.
func TestEngineClosesResidents(t *testing.T) {
	e, f := onFake(t)
	kept, err := e.Keep(square2(1, 2, 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, e, doubled(), Values{"x": kept}, "twice")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if n := f.live(); n != 0 {
		t.Errorf("%d buffers leak", n)
	}
	kept.Close()
	if _, err := Host(context.Background(), out); !errors.Is(err, ErrResidentClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := e.Keep(square2(1, 2, 3, 4)); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// On the CPU values are not copied from run to run, and memory that is closed is used again.
func TestResidentsOfTheHost(t *testing.T) {
	for _, dtype := range []string{"float64", "float32"} {
		t.Run(dtype, func(t *testing.T) {
			e := open(t, dtype, 1)
			defer func() { _ = e.Close() }()
			constant := e.Tensor(mat.NewDense(2, 2, []float64{4, 0, 0, 9}))
			a, err := e.Keep(constant)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			out := run(t, e, factor(), Values{"a": a}, "l")
			address := func(r *Resident) uintptr { return r.memory.tensor.Buf.(*hostBuf).value.Uintptr() }
			if address(a) != constant.Uintptr() {
				t.Error("a constant was copied")
			}
			was := address(out["l"].(*Resident))
			wantFloats(t, out["l"], 2, 0, 0, 3)
			out.Close()
			again := run(t, e, factor(), Values{"a": a}, "l")
			if address(again["l"].(*Resident)) != was {
				t.Error("memory that was closed is not used again")
			}
		})
	}
}

// Goroutines read one value at the same time, and one of them closes it.
func TestGoroutinesShareAResident(t *testing.T) {
	e := open(t, "float64", 2)
	defer func() { _ = e.Close() }()
	a, err := e.Keep(sampleInputs()["a"])
	if err != nil {
		t.Fatal(err)
	}
	var started, all sync.WaitGroup
	for range 4 {
		started.Add(1)
		all.Go(func() {
			s, err := e.Session(sample())
			if err == nil {
				err = s.Pin("a", a)
			}
			started.Done()
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 20 {
				out, err := s.Run(context.Background(), Values{"b": sampleInputs()["b"]}, Stay("s"))
				if err != nil {
					t.Error(err)
					return
				}
				host, err := Host(context.Background(), out)
				if err != nil {
					t.Error(err)
					return
				}
				checkSample(t, host)
				out.Close()
			}
		})
	}
	started.Wait()
	a.Close()
	all.Wait()
}

// Fetch returns the result of Host and closes the values. The CPU hands over memory that nobody else
// uses, and copies it where another value shares it or where it is the caller's own.
func TestFetch(t *testing.T) {
	fetch := func(t *testing.T, r *Resident) []float64 {
		t.Helper()
		got, err := Fetch(t.Context(), Values{"y": r})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Fetch(t.Context(), Values{"y": r}); !errors.Is(err, ErrResidentClosed) {
			t.Errorf("fetched again: %v", err)
		}
		return Data(got["y"]).([]float64)
	}
	backends(t, func(t *testing.T, e *Engine) {
		twice := func(x ...float64) *Resident {
			return run(t, e, doubled(), Values{"x": square2(x...)}, "twice")["twice"].(*Resident)
		}
		alone := fetch(t, twice(1, 2, 3, 4))
		fetch(t, twice(9, 9, 9, 9)) // does not reuse the memory handed over
		shared := twice(1, 2, 3, 4)
		other, err := e.Keep(shared)
		if err != nil {
			t.Fatal(err)
		}
		clear(fetch(t, shared))
		own := []float64{5, 6, 7, 8}
		kept, err := e.Keep(square2(own...))
		if err != nil {
			t.Fatal(err)
		}
		clear(fetch(t, kept))
		want := []float64{2, 4, 6, 8}
		if rest := fetch(t, other); !slices.Equal(alone, want) || !slices.Equal(rest, want) || own[0] != 5 {
			t.Errorf("handed over %v, shared %v, want %v; the caller's own is %v", alone, rest, want, own)
		}
	})
}

// On the CPU memory that nobody else uses is not copied.
func TestFetchCopiesNothing(t *testing.T) {
	e := open(t, "float64", 1)
	defer func() { _ = e.Close() }()
	r := run(t, e, doubled(), Values{"x": square2(1, 2, 3, 4)}, "twice")["twice"].(*Resident)
	inside := Data(r.memory.tensor.Buf.(*hostBuf).value).([]float64)
	got, err := Fetch(t.Context(), Values{"": r})
	if err != nil || &Data(got[""]).([]float64)[0] != &inside[0] {
		t.Errorf("%v was copied: %v", inside, err)
	}
}
