package hull

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"privkern/tests/tier"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

// scene returns machines of clusters whose coordinates are unit·(offset + spread), and queries
// near them.
func scene(t *testing.T, e *engine.Engine, columns int, unit, offset float64) (*Ensemble, *mat.Dense) {
	t.Helper()
	const clusters, samples, queries = 12, 40, 60
	rng := rand.New(rand.NewPCG(9, 1))
	var machines []*Machine
	q := mat.NewDense(queries, columns, nil)
	for b := range clusters {
		centre := make([]float64, columns)
		for j := range centre {
			centre[j] = offset + rng.NormFloat64()/(1+float64(j)/20)
		}
		point := func() []float64 {
			x := make([]float64, columns)
			for j := range x {
				x[j] = unit * (centre[j] + .7*rng.NormFloat64()/(1+float64(j)/20))
			}
			return x
		}
		y := mat.NewDense(samples, columns, nil)
		for i := range samples {
			y.SetRow(i, point())
		}
		m, err := Fit(context.Background(), e, y, Options{Dim: 6, Layers: 2})
		if err != nil {
			t.Fatal(err)
		}
		machines = append(machines, m)
		for i := b; i < queries; i += clusters {
			q.SetRow(i, point())
		}
	}
	s, err := NewEnsemble(machines, make([]int, clusters))
	if err != nil {
		t.Fatal(err)
	}
	return s, q
}

// The search agrees with an exhaustive one for any unit and offset of the data, with few columns
// (which are screened in full) and many, in chunks, and from a slack that is too small.
func TestSearchIsExactAnywhere(t *testing.T) {
	tier.Sequential(t)
	for _, columns := range []int{20, 300} {
		for _, c := range []struct {
			unit, offset float64
			chunk        int
			slack        float64
		}{
			{unit: 1}, {unit: 1, offset: 1e4}, {unit: 1, offset: 1e6}, {unit: 1e-3, offset: -1e5},
			{unit: 1e39}, {unit: 1e-24}, {unit: 1, chunk: 7}, {unit: 1, chunk: 25, slack: 1e-9},
		} {
			t.Run(fmt.Sprintf("%d columns, %+v", columns, c), func(t *testing.T) {
				e, err := engine.Open("cpu", "float64", 2)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = e.Close() }()
				s, q := scene(t, e, columns, c.unit, c.offset)
				want, err := s.Nearest(context.Background(), e, q, Search{Exhaustive: true})
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.Nearest(context.Background(), e, q, Search{Method: Bounded, chunk: c.chunk, slack: c.slack})
				if err != nil {
					t.Fatal(err)
				}
				sameNearest(t, got, want, 1e-9)
				all, err := s.Nearest(context.Background(), e, q, Search{Method: Resident, chunk: c.chunk})
				if err != nil {
					t.Fatal(err)
				}
				sameNearest(t, all, want, 1e-9)
				if got.Pairs != want.Pairs || got.Evaluated > got.Pairs || got.Unsafe > want.Unsafe {
					t.Errorf("%d of %d pairs, %d without an image; exhaustive: %d pairs, %d without", got.Evaluated, got.Pairs,
						got.Unsafe, want.Pairs, want.Unsafe)
				}
				if c.unit == 1e-24 && !strings.Contains(strings.Join(e.Warnings(), "\n"), "float32 does not resolve") {
					t.Errorf("nothing is said of float32: %q", e.Warnings())
				}
			})
		}
	}
}

// Among equal distances the machine that comes first is the nearest.
func TestTies(t *testing.T) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	s, q := scene(t, e, 300, 1, 0)
	twice, err := NewEnsemble(append(s.machines, s.machines...), make([]int, 2*len(s.machines)))
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []Method{Bounded, Resident} {
		n, err := twice.Nearest(context.Background(), e, q, Search{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range n.Machine {
			if m[0] >= len(s.machines) {
				t.Errorf("method %d, query %d: machine %d, whose twin %d comes first", method, i, m[0], m[0]-len(s.machines))
			}
		}
	}
}

// In float32 the bounds in all coordinates are distances in the machines' own precision, and are
// not computed again. Their bits do not depend on the other queries.
func TestSingleDistancesAreComputedOnce(t *testing.T) {
	e, err := engine.Open("cpu", "float32", 2)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	s, q := scene(t, e, 300, 1, 0)
	got, err := s.Nearest(context.Background(), e, q, Search{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Evaluated == got.Pairs {
		t.Fatal("the bounds rule out nothing")
	}
	for i, at := range got.Machine {
		need := [][]bool{{true}, {true}}
		d, err := s.machines[at[0]].chosenDistances(context.Background(), e, rowsOf(q, []int{i}), need)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(d[0][0], d[1][0]); got.Distance.At(i, 0) != want {
			t.Errorf("query %d: distance %v, alone %v", i, got.Distance.At(i, 0), want)
		}
	}
	run := &search{known: make([][][]float64, 2), best: make([][]float64, 3)}
	t1 := task{rows: []int{2, 0}, need: [][]bool{{true, false}, {true, true}}}
	run.keep(1, t1, [][]float64{{5, math.NaN()}, {6, 7}})
	if d, ok := run.kept(1, task{rows: []int{0, 2}, need: [][]bool{{false, true}, {true, false}}}); !ok || d[0][1] != 5 ||
		d[1][0] != 7 {
		t.Errorf("kept %v, %v", d, ok)
	}
	for _, missing := range []task{{[]int{0}, [][]bool{{true}, {false}}}, {[]int{1}, [][]bool{{false}, {true}}}} {
		if _, ok := run.kept(1, missing); ok {
			t.Errorf("%v is kept", missing)
		}
	}
	if _, ok := run.kept(0, t1); ok {
		t.Error("another machine's are kept")
	}
}
