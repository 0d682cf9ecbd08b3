package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/op"
)

// The error of a run is returned by each use of its outputs, or of values computed from them,
// with the name of its program; other runs do not see it.
func TestFailureOfAQueuedRun(t *testing.T) {
	e, f := onFake(t)
	l := run(t, e, factor(), Values{"a": square2(-1, 0, 0, 1)}, "l")
	twice := run(t, e, doubled(), Values{"x": l["l"]}, "twice")
	other := run(t, e, factor(), Values{"a": square2(4, 0, 0, 1)}, "l")
	if f.waits != 0 {
		t.Errorf("the host waited %d times", f.waits)
	}
	wantFloats(t, other["l"], 2, 0, 0, 1)
	for name, use := range map[string]func() error{
		"download":      func() error { _, err := l["l"].(*Resident).Value(context.Background()); return err },
		"of its result": func() error { _, err := Host(context.Background(), twice); return err },
		"a run that waits": func() error {
			_, err := e.Run(context.Background(), doubled(), Values{"x": twice["twice"]})
			return err
		},
		"once more": func() error { _, err := e.Run(context.Background(), doubled(), Values{"x": l["l"]}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			var failed *op.NotPositiveDefiniteError
			if err := use(); !errors.As(err, &failed) || !strings.Contains(err.Error(), "factor: ") {
				t.Errorf("got %v", err)
			}
		})
	}
	good := run(t, e, doubled(), Values{"x": other["l"]}, "twice")
	wantFloats(t, good["twice"], 4, 0, 0, 2)
}

// A host that computes at once fails at once.
func TestFailureOnTheHost(t *testing.T) {
	e := open(t, "float64", 1)
	_, err := e.Run(context.Background(), factor(), Values{"a": square2(-1, 0, 0, 1)}, Stay("l"))
	var failed *op.NotPositiveDefiniteError
	if !errors.As(err, &failed) {
		t.Errorf("got %v", err)
	}
}

// A resident value that cannot be an input is an error with the reason.
func TestResidentsThatDoNotFit(t *testing.T) {
	e, _ := onFake(t)
	other := open(t, "float64", 1)
	keep := func(e *Engine, v gorgonia.Value) *Resident {
		r, err := e.Keep(v)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for want, r := range map[string]*Resident{
		"resident value of another engine": keep(other, square2(1, 2, 3, 4)),
		"it has shape (1, 4), want (2, 2)": keep(e, TensorOf([]float64{1, 2, 3, 4}, 1, 4)),
		"it is float32, want float64":      keep(e, NewMatrix(tensor.Float32, mat.NewDense(2, 2, nil))),
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := e.Run(context.Background(), doubled(), Values{"x": r}); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("as an input: %v", err)
			}
			s, err := e.Session(doubled())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Pin("x", r); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("pinned: %v", err)
			}
		})
	}
	if _, err := other.Keep(keep(e, square2(1, 2, 3, 4))); !errors.Is(err, errForeign) {
		t.Errorf("kept by another engine: %v", err)
	}
	one := keep(e, square2(1, 2, 3, 4))
	two := keep(e, one)
	one.Close()
	wantFloats(t, two, 1, 2, 3, 4)
}

// Runs that fail or are cancelled leave nothing, also where outputs would have stayed.
func TestNothingStaysAfterErrors(t *testing.T) {
	for name, arrange := range map[string]func(f *fakeDevice, cancel func()){
		"launch": func(f *fakeDevice, _ func()) { f.failAfter = 2 },
		"memory": func(f *fakeDevice, _ func()) { f.outOfAfter = 4 },
		"cancel": func(_ *fakeDevice, cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			e, f := onFake(t)
			a, err := e.Keep(sampleInputs()["a"])
			if err != nil {
				t.Fatal(err)
			}
			s, err := e.Session(sample())
			if err != nil {
				t.Fatal(err)
			}
			before := f.live()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			arrange(f, cancel)
			if _, err := s.Run(ctx, Values{"a": a, "b": sampleInputs()["b"]}, Stay("s", "x", "logdet", "grad")); err == nil {
				t.Error("no error")
			}
			f.failAfter, f.outOfAfter = 0, 0
			if n := f.live(); n != before {
				t.Errorf("%d buffers after the failure, %d before", n, before)
			}
			s.Close()
			cancel()
			if _, err := a.Value(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("a download in a context that has ended: %v", err)
			}
		})
	}
}

// Where the device is full, runs that hold memory end; a value that still does not fit is an error.
func TestFullDevice(t *testing.T) {
	e, f := onFake(t)
	kept, err := e.Keep(square2(1, 2, 3, 4))
	if err != nil {
		t.Fatal(err)
	}
	x := run(t, e, doubled(), Values{"x": kept}, "twice")
	kept.Close()
	x.Close()
	f.most = f.held
	again, err := e.Keep(square2(4, 3, 2, 1))
	if err != nil {
		t.Fatalf("though a run that holds memory could end: %v", err)
	}
	f.most = f.held
	before := deviceFailed.Load()
	defer deviceFailed.Store(before)
	if _, err := e.Keep(square2(1, 2, 3, 4)); !errors.Is(err, ErrOutOfDeviceMemory) || !DeviceFailed() {
		t.Errorf("got %v", err)
	}
	if _, err := e.Run(context.Background(), doubled(), Values{"x": again}, Stay("twice")); !errors.Is(err,
		ErrOutOfDeviceMemory) {
		t.Errorf("got %v", err)
	}
	f.most = 0
	wantFloats(t, again, 4, 3, 2, 1)
}
