//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/cuda/driver"
	"privkern/graphs/descent"
	"privkern/graphs/engine"
)

// graphDriver is the driver, with counts of launches, and captures that fail.
type graphDriver struct {
	driver.API
	launches, graphs, captures int
	ends, instances            error
	full, capturing            bool // full while a stream captures
}

func (d *graphDriver) BeginCapture(s driver.Stream) error {
	d.capturing = true
	return d.API.BeginCapture(s)
}

func (d *graphDriver) Alloc(bytes int) (driver.Pointer, error) {
	if d.full && d.capturing {
		return 0, driver.OutOfMemory
	}
	return d.API.Alloc(bytes)
}

func (d *graphDriver) Launch(f driver.Function, blocks, members, x, y int, s driver.Stream, words []uint64) error {
	d.launches++
	return d.API.Launch(f, blocks, members, x, y, s, words)
}

func (d *graphDriver) LaunchGraph(x driver.Exec, s driver.Stream) error {
	d.graphs++
	return d.API.LaunchGraph(x, s)
}

func (d *graphDriver) EndCapture(s driver.Stream) (driver.Graph, error) {
	d.captures, d.capturing = d.captures+1, false
	g, err := d.API.EndCapture(s)
	if d.ends != nil {
		_ = d.DestroyGraph(g)
		return 0, d.ends
	}
	return g, err
}

func (d *graphDriver) Instantiate(g driver.Graph) (driver.Exec, error) {
	if d.instances != nil {
		return 0, d.instances
	}
	return d.API.Instantiate(g)
}

// replaying returns an engine whose runs are replayed or not, with its driver. At its end nothing
// of recordings is left.
func replaying(t *testing.T, replays bool) (*engine.Engine, *graphDriver) {
	t.Helper()
	_, e := engines(t, "float64")
	g := shared.gpu
	d := &graphDriver{API: g.api}
	api, before, inUse := g.api, g.replays, g.pool.inUse
	g.api, g.replays = d, replays
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if len(g.recordings) > 0 || g.pool.inUse != inUse {
			t.Errorf("%d recordings and %d bytes are left", len(g.recordings), g.pool.inUse-inUse)
		}
		g.api, g.replays = api, before
	})
	return e, d
}

// designs are problems of one size class, the last of which fails.
func designs() []descent.Problem {
	rng := rand.New(rand.NewPCG(1, 2))
	problems := make([]descent.Problem, 3)
	for i := range problems {
		c := mat.NewDense(7, 20, nil)
		c.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, c)
		problems[i].C = c
	}
	problems[2].C.SetRow(3, make([]float64, 20))
	return problems
}

func descend(t *testing.T, e *engine.Engine) []descent.Descent {
	t.Helper()
	all, err := descent.DescendAll(context.Background(), e, designs(), descent.Options{Iterations: 150, Tolerance: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A descent that is replayed has the bits of one that is launched step by step, and a fifth of the
// calls of the driver.
func TestReplays(t *testing.T) {
	plain, d := replaying(t, false)
	want, launches := descend(t, plain), d.launches
	if d.graphs > 0 || d.captures > 0 {
		t.Errorf("%d graphs are launched without replays", d.graphs)
	}
	plain.Close()
	e, d := replaying(t, true)
	for range 3 { // the recording serves other problems of the class
		d.launches = 0
		if got := descend(t, e); !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	}
	if d.launches > launches/5 || d.graphs < 25 || d.captures > 4 {
		t.Errorf("%d launches instead of %d, %d graphs, %d captures", d.launches, launches, d.graphs, d.captures)
	}
	if w := e.Warnings(); len(w) > 0 {
		t.Error(w)
	}
}

// Where a recording fails, the runs are launched step by step, and a warning has the reason.
func TestRecordingThatFails(t *testing.T) {
	plain, _ := replaying(t, false)
	want := descend(t, plain)
	plain.Close()
	for text, fail := range map[string]func(*graphDriver){
		"ending a capture":            func(d *graphDriver) { d.ends = driver.Error(901) },
		"making a graph of a capture": func(d *graphDriver) { d.instances = driver.Error(900) },
		"are asked for":               func(d *graphDriver) { d.full = true },
		"out of device memory":        func(d *graphDriver) { d.instances = driver.OutOfMemory },
	} {
		t.Run(text, func(t *testing.T) {
			e, d := replaying(t, true)
			fail(d)
			if got := descend(t, e); !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			if w := strings.Join(e.Warnings(), ";"); !strings.Contains(w, text) || !strings.Contains(w, "launch by launch") {
				t.Errorf("warned of %q", w)
			}
			if d.captures != 1 || d.graphs > 0 {
				t.Errorf("%d captures, %d graphs", d.captures, d.graphs)
			}
		})
	}
}

// powers computes "y", A¹²x, and "l", the Cholesky factor of A.
func powers() engine.Program {
	const n = 8
	return engine.Program{Name: "powers", Key: "powers of a matrix", Build: func(b *engine.Builder) {
		a, x := b.Input("a", n, n), b.Input("x", n, 1)
		b.Output("l", b.Cholesky(a))
		for range 12 {
			x = b.Mul(a, x)
		}
		b.Output("y", x)
	}}
}

// Replays follow inputs that move, failures are those of their own run, also where nobody waits
// for it, and a recording whose memory others need is given up.
func TestReplaysOfOtherInputs(t *testing.T) {
	host, _ := engines(t, "float64")
	e, d := replaying(t, true)
	const n = 8
	matrix := func(shift float64) *mat.Dense {
		a := mat.NewDense(n, n, nil)
		a.Apply(func(i, j int, _ float64) float64 { return 1 / float64(1+i+j) }, a)
		for i := range n {
			a.Set(i, i, a.At(i, i)+shift)
		}
		return a
	}
	kept := keep(t, e, e.Matrix(matrix(1)))
	defer func() { kept.Close() }()
	x := fractions(e, n, 1)
	type pending struct {
		got engine.Values
		err error
	}
	var left []pending
	settle := func() {
		for _, p := range left {
			if _, err := engine.Host(context.Background(), p.got); (err == nil) != (p.err == nil) ||
				err != nil && err.Error() != p.err.Error() {
				t.Errorf("later: %v, want %v", err, p.err)
			}
			p.got.Close()
		}
		left = nil
	}
	for i := range 20 {
		shift := 1.0
		switch i {
		case 8, 9, 11, 15:
			shift = float64(-i) // not positive definite
		case 17:
			g := shared.gpu
			settle()
			if err := g.call(func() error { g.mu.Lock(); defer g.mu.Unlock(); g.dropIdle(); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		in := engine.Values{"a": kept, "x": x}
		if shift != 1 || i > 18 {
			other := keep(t, e, e.Matrix(matrix(shift)))
			defer other.Close()
			in["a"] = other
		}
		want, expected := host.Run(context.Background(), powers(), engine.Values{"a": host.Matrix(matrix(shift)), "x": x})
		var stay []string
		if i%2 == 1 {
			stay = []string{"l", "y"}
		}
		got, err := e.Run(context.Background(), powers(), in, engine.Stay(stay...))
		if stay != nil && err == nil {
			if i%4 == 3 { // it is waited for later
				left = append(left, pending{got, expected})
				continue
			}
			got, err = engine.Fetch(context.Background(), got)
		}
		if (err == nil) != (expected == nil) || err != nil && err.Error() != expected.Error() {
			t.Fatalf("run %d: %v, want %v", i, err, expected)
		}
		if err == nil {
			near(t, "y", got["y"], want["y"], 1e-12)
			near(t, "l", got["l"], want["l"], 1e-12)
		}
	}
	settle()
	if d.graphs < 5 || d.captures < 2 {
		t.Errorf("%d graphs, %d captures", d.graphs, d.captures)
	}
	if w := e.Warnings(); len(w) != 1 || !strings.Contains(w[0], "needed the memory") {
		t.Error(w)
	}
}

// An input that stays as an output is the caller's, also where a replay has it in an arena.
func TestReplaysLeaveInputs(t *testing.T) {
	e, d := replaying(t, true)
	const n = 8
	p := engine.Program{Name: "powers", Key: "powers and their base", Build: func(b *engine.Builder) {
		a, x := b.Input("a", n, n), b.Input("x", n, 1)
		b.Output("x", x)
		for range 12 {
			x = b.Mul(a, x)
		}
		b.Output("y", x)
	}}
	var all []engine.Values
	in := func(i int) engine.Values {
		x := mat.NewDense(n, 1, slices.Repeat([]float64{float64(i)}, n))
		return engine.Values{"a": fractions(e, n, n), "x": e.Matrix(x)}
	}
	for i := range 8 {
		all = append(all, runs(t, e, p, in(i), "x", "y"))
	}
	for i, out := range all {
		want := in(i)["x"]
		got, err := engine.Fetch(context.Background(), out)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "x", got["x"], want, 0)
	}
	if d.graphs < 4 {
		t.Errorf("%d graphs", d.graphs)
	}
}

// A run whose context has ended fails, replayed or not.
func TestReplaysEndWithTheirContext(t *testing.T) {
	e, d := replaying(t, true)
	const n = 8
	kept := keep(t, e, e.Matrix(mat.DenseCopyOf(mat.NewDiagDense(n, slices.Repeat([]float64{2}, n)))))
	defer kept.Close()
	in := engine.Values{"a": kept, "x": fractions(e, n, 1)}
	for range 5 {
		runs(t, e, powers(), in)
	}
	graphs := d.graphs
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Run(ctx, powers(), in); !errors.Is(err, context.Canceled) || graphs == 0 || d.graphs > graphs {
		t.Errorf("got %v, %d graphs, then %d", err, graphs, d.graphs)
	}
}

// A run that cannot be recorded, as cuSOLVER waits in it, is queued launch by launch without a warning.
func TestNoReplaysOfWaits(t *testing.T) {
	e, d := replaying(t, true)
	const n = 8
	p := engine.Program{Name: "spectrum", Key: "spectrum of a power", Build: func(b *engine.Builder) {
		a := b.Input("a", n, n)
		x := a
		for range 200 {
			x = b.Mul(a, x)
		}
		b.Output("y", x)
		b.Output("w", b.Eigen(a))
	}}
	for range 5 {
		runs(t, e, p, engine.Values{"a": fractions(e, n, n)})
	}
	if w := e.Warnings(); len(w) > 0 || d.captures > 0 {
		t.Errorf("%d captures, warned of %q", d.captures, w)
	}
}

// The lane of a recording is no other device's, also where that follows one of its runs.
func TestLanesOfRecordings(t *testing.T) {
	e, _ := replaying(t, true)
	const n = 8
	kept := keep(t, e, e.Matrix(mat.DenseCopyOf(mat.NewDiagDense(n, slices.Repeat([]float64{2}, n)))))
	defer kept.Close()
	for range 5 {
		runs(t, e, powers(), engine.Values{"a": kept, "x": fractions(e, n, 1)})
	}
	for r := range shared.gpu.recordings {
		d := &device{gpu: shared.gpu, like: r.lane}
		if err := d.on(func(l *lane) error {
			if l == r.lane {
				t.Error("another device has the lane")
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if err := d.Sync(); err != nil {
			t.Error(err)
		}
	}
	if len(shared.gpu.recordings) != 1 {
		t.Errorf("%d recordings", len(shared.gpu.recordings))
	}
}
