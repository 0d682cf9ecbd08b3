package engine

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"privkern/graphs/internal/cputime"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
)

// busyDevice takes some processor time on each of a number of goroutines for an operation, and
// sleeps as long.
type busyDevice struct {
	*hostDevice
	goroutines int
	each       time.Duration
}

// spin takes processor time of the calling goroutine's thread.
func spin(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for began := cputime.Thread(); cputime.Thread()-began < int64(d); {
	}
}

// Launch implements [Device].
func (d busyDevice) Launch(o gorgonia.Op, out DTensor, in []DTensor) error {
	var all sync.WaitGroup
	all.Add(d.goroutines) // no goroutine takes the work of two
	err := d.pool.For(context.Background(), d.goroutines, 1, func(int, int) error {
		all.Done()
		all.Wait()
		spin(d.each)
		return nil
	})
	time.Sleep(d.each)
	return errors.Join(err, d.hostDevice.Launch(o, out, in))
}

// The processor time of runs is that of all their goroutines, whoever else computes at the same
// time, and no time in which they wait.
func TestCPUOfRuns(t *testing.T) {
	if _, ok := cputime.Process(); !ok {
		t.Skip("threads have no clocks here")
	}
	const each = 30 * time.Millisecond
	for _, c := range []struct {
		name                   string
		workers, runs, outside int // outside: goroutines that are no runs
	}{
		{"one worker", 1, 1, 0},
		{"three workers", 3, 1, 0},
		{"runs at the same time", 1, 3, 0},
		{"beside what is no run", 2, 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t, "float64", c.workers)
			inner := e.device
			e.device = func() Device { return busyDevice{inner().(*hostDevice), c.workers, each} }
			p := Program{Name: "busy", Key: "busy", Build: func(b *Builder) {
				b.Output("y", b.Neg(b.Input("x", 2, 2)))
			}}
			e.StartCPU()
			var all sync.WaitGroup
			for range c.runs {
				all.Go(func() {
					if _, err := e.Run(t.Context(), p, Values{"x": e.Matrix(mat.NewDense(2, 2, nil))}); err != nil {
						t.Error(err)
					}
				})
			}
			for range c.outside {
				all.Go(func() { spin(each) })
			}
			all.Wait()
			got := e.Profile().CPU
			runs := float64(c.runs*c.workers) * each.Seconds()
			if got == nil || got.Graphs < runs || got.Graphs > runs+.5*each.Seconds() {
				t.Fatalf("%+v, want %g s in runs", got, runs)
			}
			if least := runs + float64(c.outside)*each.Seconds(); got.Process < least {
				t.Errorf("the process took %g s, want at least %g", got.Process, least)
			}
			if want := got.Graphs / got.Process; math.Abs(got.Share-want) > 1e-12 || got.Share > 1 {
				t.Errorf("a share of %g, want %g", got.Share, want)
			}
			if p := e.Profile(); len(p.Programs) != 1 || p.Programs[0].CPU != got.Graphs || p.Programs[0].Runs != 0 {
				t.Errorf("programs %+v: they are timed, not counted", p.Programs)
			}
		})
	}
}

// Nothing is measured before it begins, nor after it ends.
func TestCPUIsMeasuredOnDemand(t *testing.T) {
	e := open(t, "float64", 1)
	run := func() {
		if _, err := e.Run(t.Context(), countedProgram(), countedInputs(e)); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if _, _, ok := e.CPUTimes(); ok {
		t.Error("measured before it began")
	}
	e.StartCounting()
	run()
	e.StopCounting()
	between := e.Profile().Total.CPU
	run()
	if got := e.Profile().Total.CPU; got != between {
		t.Errorf("%g s after the end, want %g", got, between)
	}
	process, graphs, ok := e.CPUTimes()
	if _, known := cputime.Process(); ok != known || known && (between <= 0 || graphs != between || process < graphs) {
		t.Errorf("runs took %g s, then %g of %g s", between, graphs, process)
	}
}
