package hull

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// fitted returns machines and queries of a scene, and the result of an exhaustive search on the host.
func fitted(t *testing.T, dtype string) (*Ensemble, *mat.Dense, *Nearest) {
	t.Helper()
	e, err := engine.Open("cpu", dtype, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	s, q := scene(t, e, 30, 1, 100)
	want, err := s.Nearest(context.Background(), e, q, Search{Exhaustive: true})
	if err != nil {
		t.Fatal(err)
	}
	return s, q, want
}

// agrees compares a search that computes all distances with one on the host.
func agrees(t *testing.T, got, want *Nearest, tolerance float64) {
	t.Helper()
	sameNearest(t, got, want, tolerance)
	if got.Pairs != want.Pairs || got.Evaluated != got.Pairs || got.Unsafe != want.Unsafe {
		t.Errorf("%d of %d pairs, %d without an image; want all of %d, %d", got.Evaluated, got.Pairs, got.Unsafe,
			want.Pairs, want.Unsafe)
	}
}

// sameNearest compares distances over all groups and their machines.
func sameNearest(t *testing.T, got, want *Nearest, tolerance float64) {
	t.Helper()
	for i, m := range want.Machine {
		d, w := got.Distance.At(i, 0), want.Distance.At(i, 0)
		if got.Machine[i][0] != m[0] || !(math.Abs(d-w) <= tolerance*w) {
			t.Errorf("query %d: distance %g to machine %d, want %g to %d", i, d, got.Machine[i][0], w, m[0])
		}
	}
}

// On a device all distances are computed with one wait, and only the constants, the queries and the
// distances are copied.
func TestSearchOnDevice(t *testing.T) {
	for dtype, tolerance := range map[string]float64{"float64": 1e-12, "float32": 1e-4} {
		t.Run(dtype, func(t *testing.T) {
			s, q, want := fitted(t, dtype)
			e, d := onDevice(t, dtype)
			e.StartCounting()
			got, err := s.Nearest(context.Background(), e, q, Search{})
			if err != nil {
				t.Fatal(err)
			}
			agrees(t, got, want, tolerance)
			if len(d.size) > 4 {
				t.Errorf("%d buffers stay after a search", len(d.size))
			}
			const machines, layers, queries, p, dims, n = 12, 2, 60, 30, 6, 40
			size := int64(e.ElementType().Size())
			constants := int64(machines) * size * (p + dims*p + n*(dims+dims-1) + dims + dims - 1 + layers*n*(dims+p+1))
			// All machines in one run. Coordinates: the offset taken off; the product; two
			// copies. A layer: the safety, half squares, five of the affine hull, the distance.
			const launches = 2 + 1 + 2 + layers*(2+5+1)
			c := e.Profile().Total
			if c.Launches != launches || c.Synchronisations != 1 || c.Runs != 1 || c.Fallbacks != 0 {
				t.Errorf("%d launches, %d waits, %d runs, %d fallbacks; want %d, 1, 1, 0", c.Launches, c.Synchronisations,
					c.Runs, c.Fallbacks, launches)
			}
			if up, down := constants+size*queries*p, size*machines*layers*queries; c.BytesUp != up || c.BytesDown != down {
				t.Errorf("%d bytes up, %d down; want %d and %d", c.BytesUp, c.BytesDown, up, down)
			}
		})
	}
}

// Constants that are kept are copied once for several searches, until Close, and once more
// for another engine.
func TestKeptConstants(t *testing.T) {
	s, q, want := fitted(t, "float64")
	e, d := onDevice(t, "float64")
	search := func() int64 {
		t.Helper()
		e.StartCounting()
		before := e.Profile().Total.BytesUp
		got, err := s.Nearest(context.Background(), e, q, Search{})
		if err != nil {
			t.Fatal(err)
		}
		agrees(t, got, want, 1e-12)
		return e.Profile().Total.BytesUp - before
	}
	without := search()
	s.Keep()
	first, second := search(), search()
	if queries := int64(8 * 60 * 30); first != without || second != queries {
		t.Errorf("%d bytes without constants that stay, then %d and %d; want %d for queries", without, first, second, queries)
	}
	used := d.used
	s.Close()
	if third := search(); third != first || d.used >= used {
		t.Errorf("after Close %d bytes are copied, and %d of %d stay", third, d.used, used)
	}
	s.Keep()
	search()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	other, _ := onDevice(t, "float64")
	got, err := s.Nearest(context.Background(), other, q, Search{})
	if err != nil {
		t.Fatal(err)
	}
	agrees(t, got, want, 1e-12)
	s.Close()
}

// A device without room for all constants keeps some, one without room for all queries
// takes fewer at a time, and one without room for a machine is an error.
func TestFullDevice(t *testing.T) {
	s, q, want := fitted(t, "float64")
	for _, room := range []int{250e3, 150e3, 80e3, 60e3} {
		e, d := onDevice(t, "float64")
		d.room = room
		s.Keep()
		for range 2 {
			got, err := s.Nearest(context.Background(), e, q, Search{})
			if err != nil {
				t.Fatalf("%d bytes: %v", room, err)
			}
			agrees(t, got, want, 1e-12)
		}
		if d.refused == 0 {
			t.Errorf("%d bytes are not too few", room)
		}
		s.Close()
	}
	e, d := onDevice(t, "float64")
	d.room = 20e3
	if _, err := s.Nearest(context.Background(), e, q, Search{}); !errors.Is(err, engine.ErrOutOfDeviceMemory) {
		t.Errorf("without room for a machine: %v", err)
	}
}

// Machines of different numbers of samples are padded to a class and share runs; those of other
// numbers of directions or layers have runs of their own. The results agree with the host.
func TestSearchOfUnlikeMachines(t *testing.T) {
	for dtype, tolerance := range map[string]float64{"float64": 1e-10, "float32": 1e-3} {
		t.Run(dtype, func(t *testing.T) {
			host, err := engine.Open("cpu", dtype, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = host.Close() }()
			rng := rand.New(rand.NewPCG(1, 8))
			normal := func(n int, at float64) *mat.Dense {
				y := mat.NewDense(n, 9, nil)
				y.Apply(func(_, j int, _ float64) float64 { return at + rng.NormFloat64()/math.Sqrt(float64(1+j)) }, y)
				return y
			}
			var machines []*Machine
			// Classes of 32, 64 and 512 samples; of the latter those of fewer layers apart.
			for i, c := range []struct{ n, dim, layers int }{{30, 4, 2}, {270, 4, 2}, {60, 4, 2}, {420, 4, 2}, {31, 4, 2},
				{300, 4, 1}, {290, 3, 2}, {512, 4, 2}} {
				m, err := Fit(context.Background(), host, normal(c.n, float64(i)/2), Options{Dim: c.dim, Layers: c.layers})
				if err != nil {
					t.Fatal(err)
				}
				machines = append(machines, m)
			}
			s, err := NewEnsemble(machines, make([]int, len(machines)))
			if err != nil {
				t.Fatal(err)
			}
			q := normal(70, 1.5)
			want, err := s.Nearest(context.Background(), host, q, Search{Exhaustive: true})
			if err != nil {
				t.Fatal(err)
			}
			e, _ := onDevice(t, dtype)
			for most, runs := range map[int]int64{0: 5, 2: 6, 1: 8} {
				e.StartCounting()
				before := e.Profile().Total.Runs
				s.device.e, s.device.most = e, most
				s.device.bundles = nil
				got, err := s.Nearest(context.Background(), e, q, Search{})
				if err != nil {
					t.Fatal(err)
				}
				agrees(t, got, want, tolerance)
				if n := e.Profile().Total.Runs - before; n != runs {
					t.Errorf("%d runs with at most %d machines in one, want %d", n, most, runs)
				}
			}
			other, _ := onDevice(t, map[string]string{"float64": "float32", "float32": "float64"}[dtype])
			if _, err := s.Nearest(context.Background(), other, q, Search{}); err == nil ||
				!strings.Contains(err.Error(), "machine 0 was fitted in "+dtype) {
				t.Errorf("in another element type: %v", err)
			}
		})
	}
}

// An error leaves nothing on the device.
func TestSearchThatFails(t *testing.T) {
	s, q, _ := fitted(t, "float64")
	empty := func(t *testing.T, e *engine.Engine, d *testDevice) {
		t.Helper()
		// Constants of programs stay with the engine.
		if err := e.Close(); err != nil || len(d.size) != 0 {
			t.Errorf("%d buffers stay: %v", len(d.size), err)
		}
	}
	for _, launch := range []int{1, 4, 7} {
		e, d := onDevice(t, "float64")
		d.fails = launch
		if _, err := s.Nearest(context.Background(), e, q, Search{}); err == nil || d.all != launch {
			t.Errorf("launch %d of %d fails: %v", launch, d.all, err)
		}
		if d.used > 10e3 {
			t.Errorf("%d bytes stay after a failure", d.used)
		}
		empty(t, e, d)
	}
	e, d := onDevice(t, "float64")
	ctx, cancel := context.WithCancel(context.Background())
	d.after = func(launches int) {
		if launches == 4 {
			cancel()
		}
	}
	if _, err := s.Nearest(ctx, e, q, Search{}); !errors.Is(err, context.Canceled) || d.all > 4 {
		t.Errorf("cancelled after 4 launches of %d: %v", d.all, err)
	}
	empty(t, e, d)
	if _, err := s.Nearest(context.Background(), e, q, Search{}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("on a closed engine: %v", err)
	}
}

// The search of a trial of handwritten digits, 60 machines of 1,000 samples with five layers and
// 20,000 points in two searches, takes less than a second on a GPU by prediction. The device
// counts without computing.
func TestCostOfAFullSearch(t *testing.T) {
	const samples, columns, dims, layers, points = 1000, 784, 20, 5, 10000
	zeros := func(rows, cols int) *tensor.Dense {
		return engine.TensorOf(make([]float64, rows*cols), rows, cols)
	}
	solutions := zeros(samples, dims+columns+1)
	machines := make([]*Machine, 60)
	for b := range machines {
		m := &Machine{samples: samples, columns: columns, mean: make([]float64, columns),
			directions: mat.NewDense(dims, columns, nil), variances: make([]float64, dims)}
		for l := range layers {
			m.layers = append(m.layers, layer{points: zeros(samples, dims-l), weights: zeros(1, dims-l),
				solutions: solutions})
		}
		machines[b] = m
	}
	s, err := NewEnsemble(machines, make([]int, len(machines)))
	if err != nil {
		t.Fatal(err)
	}
	e, d := onDevice(t, "float64")
	d.idle = true
	s.Keep()
	defer s.Close()
	e.StartCounting()
	q := mat.NewDense(points, columns, nil)
	for range 2 {
		if _, err := s.Nearest(context.Background(), e, q, Search{}); err != nil {
			t.Fatal(err)
		}
	}
	c := e.Profile().Total
	t.Logf("%d launches, %d waits, %d copies of %.3g GB up and %.3g GB down, predicted %v", c.Launches, c.Synchronisations,
		c.Copies, float64(c.BytesUp)/1e9, float64(c.BytesDown)/1e9, c.Predicted)
	if c.Launches > 900 || c.Synchronisations != 2 || c.Predicted["H100"] > 1 {
		t.Errorf("%d launches, %d waits, %.3g s on an H100", c.Launches, c.Synchronisations, c.Predicted["H100"])
	}
	// The solutions once, of 1,024 padded samples, and the points.
	if most := int64(8*(60*layers*1024*(dims+columns+1+dims)) + 2*8*points*columns + 10e6); c.BytesUp > most {
		t.Errorf("%d bytes up, want at most %d", c.BytesUp, most)
	}
}
