package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/parallel"
)

// parallelFake is a fakeDevice whose launches come from two goroutines.
type parallelFake struct {
	*fakeDevice
	pool   *parallel.Pool
	light  string // the beginning of the steps that are not heavy, if any
	launch func(op string) error

	mu sync.Mutex
}

func newParallelFake(t *testing.T) *parallelFake {
	return &parallelFake{fakeDevice: newFake(t), pool: parallel.NewPool(2),
		launch: func(string) error { return nil }}
}

func (f *parallelFake) workers() *parallel.Pool { return f.pool }
func (f *parallelFake) share()                  {}
func (f *parallelFake) divisible(DTensor) bool  { return true }
func (f *parallelFake) heavy(s step, _ DTensor, _ []DTensor) bool {
	return f.light == "" || !strings.HasPrefix(s.op.(fmt.Stringer).String(), f.light)
}

func (f *parallelFake) Alloc(bytes int) (Buf, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fakeDevice.Alloc(bytes)
}

func (f *parallelFake) Free(b Buf) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fakeDevice.Free(b)
}

func (f *parallelFake) Launch(op gorgonia.Op, out DTensor, in []DTensor) error {
	if err := f.launch(op.String()); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fakeDevice.Launch(op, out, in)
}

// launched is the number of launches that have been handed on.
func (f *parallelFake) launched() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.launches)
}

// branches has two branches of three steps, no two of which have one name, and a sum.
func branches() Program {
	return Program{Name: "branches", Key: "branches", Build: func(b *Builder) {
		a, c := b.Input("a", 2, 2), b.Input("c", 2, 2)
		left := b.Trace(b.TriangularSolve(b.Cholesky(a), c))
		right := b.CholeskyLogDet(b.RowGram(1, b.CholeskyShifted(c, b.Constant(1))))
		b.Output("o", b.Add(left, right))
	}}
}

func branchInputs() Values {
	m := func() gorgonia.Value { return NewMatrix(tensor.Float64, mat.NewDense(2, 2, []float64{4, 0, 0, 9})) }
	return Values{"a": m(), "c": m()}
}

// checkBranches compares with tr L⁻¹C + 2 log|C + I| = 5 + 2 log 50, worked out by hand.
func checkBranches(t *testing.T, out Values) {
	t.Helper()
	if got, err := Scalar(out["o"]); err != nil || math.Abs(got-5-2*math.Log(50)) > 1e-14 {
		t.Errorf("got %.17g, want %.17g; %v", got, 5+2*math.Log(50), err)
	}
}

// together is a launch that waits until two heavy steps are in it, which they never are if
// steps run in order; the time is that of a failure.
func together(t *testing.T, names ...string) func(string) error {
	both := make(chan struct{})
	var mu sync.Mutex
	inside := 0
	return func(name string) error {
		if operation, _, _ := strings.Cut(name, "("); !slices.Contains(names, operation) {
			return nil
		}
		mu.Lock()
		if inside++; inside == 2 {
			close(both)
		}
		mu.Unlock()
		select {
		case <-both:
		case <-time.After(20 * time.Second):
			t.Errorf("%s runs alone", name)
		}
		return nil
	}
}

// Two heavy branches run at the same time, the light steps before them notwithstanding.
func TestBranchesRunAtTheSameTime(t *testing.T) {
	for _, light := range []string{"", "Cholesky"} {
		f := newParallelFake(t)
		f.light = light
		f.launch = together(t, "Cholesky", "CholeskyShifted")
		if light != "" {
			f.launch = together(t, "TriangularSolve", "Scatter")
		}
		x := newExecutor(t, branches(), f, nil)
		out, err := x.Run(context.Background(), branchInputs())
		if err != nil {
			t.Fatal(err)
		}
		checkBranches(t, out)
		x.Close()
		if n := f.live(); n > 0 {
			t.Errorf("%d buffers leak", n)
		}
	}
}

// The first failure in the order of the graph is reported, not the first in time, and all
// memory is freed; a panic is a failure.
func TestFirstFailureOfBranches(t *testing.T) {
	f := newParallelFake(t)
	x := newExecutor(t, branches(), f, nil)
	if x.schedule == nil {
		t.Fatal("steps run in order")
	}
	cause := errors.New("cause")
	for i, first := range x.steps {
		for j, second := range x.steps[i:] {
			f.launch = func(name string) error {
				switch name {
				case first.op.String():
					return fmt.Errorf("%s: %w", name, cause)
				case second.op.String():
					panic("of " + name)
				}
				return nil
			}
			if _, err := x.Run(context.Background(), branchInputs()); !errors.Is(err, cause) ||
				!strings.Contains(err.Error(), first.op.String()) {
				t.Errorf("steps %d and %d fail: got %v, want the failure of %v", i, i+j, err, first.op)
			}
		}
		f.launch = func(name string) error {
			if name == first.op.String() {
				panic(cause)
			}
			return nil
		}
		if _, err := x.Run(context.Background(), branchInputs()); !errors.Is(err, cause) {
			t.Errorf("step %d panics: %v", i, err)
		}
		f.launch = func(string) error { return nil }
		out, err := x.Run(context.Background(), branchInputs())
		if err != nil {
			t.Fatalf("the executor cannot run after a failure: %v", err)
		}
		checkBranches(t, out)
	}
	x.Close()
	if n := f.live(); n > 0 {
		t.Errorf("%d buffers leak", n)
	}
}

// A run ends with its context, and frees the memory of both branches.
func TestCancelledBranches(t *testing.T) {
	f := newParallelFake(t)
	x := newExecutor(t, branches(), f, nil)
	ctx, cancel := context.WithCancel(context.Background())
	both := together(t, "Cholesky", "CholeskyShifted")
	f.launch = func(name string) error {
		defer cancel()
		return both(name)
	}
	if _, err := x.Run(ctx, branchInputs()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := f.launched(); n > 3 {
		t.Errorf("%d launches", n)
	}
	x.Close()
	if n := f.live(); n > 0 {
		t.Errorf("%d buffers leak", n)
	}
}

// While the first step computes, no more steps run ahead of it than there is room for.
func TestRoomAheadOfTheOrder(t *testing.T) {
	const n = 6
	p := Program{Name: "ahead", Key: "ahead", Build: func(b *Builder) {
		a := b.Input("a", 2, 2)
		sum := b.Trace(a)
		for i := range n {
			sum = b.Add(sum, b.CholeskyLogDet(b.RowGram(float64(i+1), a)))
		}
		b.Output("o", sum)
	}}
	// While a trace waits, there are matrices of 32 bytes and a scalar of 8 bytes from each.
	for room, want := range map[int]int{16: 0, 48: 5, 1000: 2 * n} {
		f := newParallelFake(t)
		x := newExecutor(t, p, f, nil)
		x.schedule.room = room
		ahead := -1
		f.launch = func(name string) error {
			if name == "Trace" {
				for !f.pool.Acquire() { // until the other goroutine has ended
					runtime.Gosched()
				}
				f.pool.Release()
				ahead = f.launched()
			}
			return nil
		}
		if _, err := x.Run(context.Background(), Values{"a": NewMatrix(tensor.Float64,
			mat.NewDense(2, 2, []float64{1, 0, 0, 1}))}); err != nil {
			t.Fatal(err)
		}
		if ahead != want {
			t.Errorf("in %d bytes %d steps run ahead, want %d", room, ahead, want)
		}
		x.Close()
		if n := f.live(); n > 0 {
			t.Errorf("%d buffers leak", n)
		}
	}
}
