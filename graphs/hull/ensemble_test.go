package hull_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/hull"
	"privkern/graphs/internal/graphtest"
)

// clusters returns machines of samples around different centres, in three
// groups, and queries near them. Coordinates decay as those of pictures do;
// noise adds the same to all.
func clusters(t *testing.T, dtype string, noise float64) (*hull.Ensemble, []*hull.Machine, *mat.Dense) {
	t.Helper()
	const columns, perCluster, queries = 300, 30, 45
	rng := graphtest.Rand(7)
	e := graphtest.Engine(t, dtype, 2)
	point := func(centre []float64, noise float64) []float64 {
		x := make([]float64, columns)
		for j := range x {
			x[j] = (centre[j] + .5*rng.NormFloat64()) / (1 + float64(j)/10)
			x[j] += noise * rng.NormFloat64()
		}
		return x
	}
	var machines []*hull.Machine
	var groups []int
	q := mat.NewDense(queries, columns, nil)
	for b := range 9 {
		centre := make([]float64, columns)
		for j := range centre {
			centre[j] = rng.NormFloat64()
		}
		y := mat.NewDense(perCluster, columns, nil)
		for i := range perCluster {
			y.SetRow(i, point(centre, noise))
		}
		m, err := hull.Fit(context.Background(), e, y, hull.Options{Dim: 6, Layers: 3})
		if err != nil {
			t.Fatal(err)
		}
		machines, groups = append(machines, m), append(groups, b%3)
		for i := b; i < queries; i += 9 {
			q.SetRow(i, point(centre, 0))
		}
	}
	s, err := hull.NewEnsemble(machines, groups)
	if err != nil {
		t.Fatal(err)
	}
	return s, machines, q
}

// Pruning changes no distance and no decision, over all machines and in every group, whether the
// bounds exclude many machines or few.
func TestPruningIsExact(t *testing.T) {
	for _, dtype := range []string{"float64", "float32"} {
		for _, noise := range []float64{0, 1} {
			s, machines, q := clusters(t, dtype, noise)
			for _, byGroup := range []bool{false, true} {
				e := graphtest.Engine(t, dtype, 2)
				want, err := s.Nearest(context.Background(), e, q, hull.Search{ByGroup: byGroup, Exhaustive: true})
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.Nearest(context.Background(), e, q, hull.Search{ByGroup: byGroup, Method: hull.Bounded})
				if err != nil {
					t.Fatal(err)
				}
				rows, _ := got.Distance.Dims()
				name := fmt.Sprintf("%s, noise %g", dtype, noise)
				tolerance := map[string]float64{"float64": 1e-12, "float32": 1e-5}[dtype]
				sameNearest(t, name, got, want, tolerance)
				if want.Pairs != int64(rows*len(machines)) || got.Pairs != want.Pairs || got.Evaluated < int64(rows) {
					t.Errorf("%d (%d evaluated) and %d pairs of %d queries and %d machines", got.Pairs, got.Evaluated, want.Pairs,
						rows, len(machines))
				}
				if noise == 0 && !byGroup && got.Evaluated > want.Pairs/2 {
					t.Errorf("%s: %d of %d pairs were evaluated: nothing was ruled out", dtype, got.Evaluated, got.Pairs)
				}
				all, err := s.Nearest(context.Background(), e, q, hull.Search{ByGroup: byGroup, Method: hull.Resident})
				if err != nil {
					t.Fatal(err)
				}
				same(t, name+", all distances", all, want, tolerance)
				alone, err := s.Nearest(context.Background(), graphtest.Engine(t, dtype, 1), q,
					hull.Search{ByGroup: byGroup, Method: hull.Bounded})
				if err != nil {
					t.Fatal(err)
				}
				if !mat.Equal(alone.Distance, got.Distance) || alone.Evaluated != got.Evaluated {
					t.Errorf("%s, noise %g: one worker and two give different bits, or evaluate %d and %d pairs", dtype, noise,
						alone.Evaluated, got.Evaluated)
				}
			}
		}
	}
}

// same compares two searches that compute all distances.
func same(t *testing.T, name string, got, want *hull.Nearest, tolerance float64) {
	t.Helper()
	sameNearest(t, name, got, want, tolerance)
	if got.Pairs != want.Pairs || got.Evaluated != want.Evaluated || got.Unsafe != want.Unsafe {
		t.Errorf("%s: %d of %d pairs and %d without an image, want %d of %d and %d", name, got.Evaluated, got.Pairs,
			got.Unsafe, want.Evaluated, want.Pairs, want.Unsafe)
	}
}

// sameNearest compares distances and their machines.
func sameNearest(t *testing.T, name string, got, want *hull.Nearest, tolerance float64) {
	t.Helper()
	rows, groups := want.Distance.Dims()
	for i := range rows {
		for g := range groups {
			d, w := got.Distance.At(i, g), want.Distance.At(i, g)
			if !(math.Abs(d-w) <= tolerance*w) || got.Machine[i][g] != want.Machine[i][g] {
				t.Errorf("%s, query %d: distance %.16g to machine %d, want %.16g to %d", name, i, d, got.Machine[i][g], w,
					want.Machine[i][g])
			}
		}
	}
}

// The search on the backend under test, twice with constants that stay, agrees with one on the host.
func TestSearchOnBackend(t *testing.T) {
	for dtype, tolerance := range map[string]float64{"float64": 1e-11, "float32": 1e-3} {
		t.Run(dtype, func(t *testing.T) {
			rng := graphtest.Rand(5)
			host, err := engine.Open("cpu", dtype, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = host.Close() }()
			q := mat.NewDense(15, 12, nil)
			var machines []*hull.Machine
			for b := range 3 {
				y := graphtest.Normal(rng, 20+b, 12)
				y.Apply(func(_, j int, v float64) float64 { return 10 + float64(b) + v/float64(1+j) }, y)
				m, err := hull.Fit(context.Background(), host, y, hull.Options{Dim: 4, Layers: 2})
				if err != nil {
					t.Fatal(err)
				}
				machines = append(machines, m)
				for i := b; i < 15; i += 3 {
					q.SetRow(i, y.RawRowView(i))
					q.Set(i, 0, q.At(i, 0)+.3*rng.NormFloat64())
				}
			}
			s, err := hull.NewEnsemble(machines, []int{0, 1, 0})
			if err != nil {
				t.Fatal(err)
			}
			want, err := s.Nearest(context.Background(), host, q, hull.Search{ByGroup: true, Exhaustive: true})
			if err != nil {
				t.Fatal(err)
			}
			e := graphtest.Engine(t, dtype, 1)
			s.Keep()
			defer s.Close()
			for range 2 {
				got, err := s.Nearest(context.Background(), e, q, hull.Search{ByGroup: true, Method: hull.Resident})
				if err != nil {
					t.Fatal(err)
				}
				same(t, dtype, got, want, tolerance)
			}
		})
	}
}
