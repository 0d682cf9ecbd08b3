package clusters

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
)

// Differences of the distances equal those of squared distances, for one query and for several
// blocks, also far from zero.
func TestDistances(t *testing.T) {
	const n, d = 40, 6
	for _, queries := range []int{1, queryBlock, 2*queryBlock + 3} {
		for _, dtype := range []string{"float64", "float32"} {
			e, rng := graphtest.Engine(t, dtype, 2), graphtest.Rand(5)
			x, q := graphtest.Normal(rng, n, d), graphtest.Normal(rng, queries, d)
			for _, a := range []*mat.Dense{x, q} {
				a.Apply(func(_, _ int, v float64) float64 { return v + 1e5 }, a)
			}
			squared := func(i, j int) (s float64) {
				for k := range d {
					s += (q.At(i, k) - x.At(j, k)) * (q.At(i, k) - x.At(j, k))
				}
				return s
			}
			seen := 0
			err := Distances(t.Context(), e, x, q, func(i int, got []float64, size float64) {
				if i != seen || len(got) != n {
					t.Fatalf("query %d with %d distances, want query %d", i, len(got), seen)
				}
				seen++
				for j, v := range got {
					want := squared(i, j) - squared(i, 0)
					if math.Abs(v-got[0]-want) > 1e-9*size {
						t.Fatalf("%s, query %d: point %d is farther than point 0 by %g, want %g", dtype, i, j, v-got[0], want)
					}
				}
			})
			if err != nil || seen != queries {
				t.Errorf("%d of %d queries, %v", seen, queries, err)
			}
		}
	}
}

func TestDistancesRefuse(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	err := Distances(t.Context(), e, mat.NewDense(3, 2, nil), mat.NewDense(1, 3, nil), nil)
	if err == nil || !strings.Contains(err.Error(), "3 columns, the points 2") {
		t.Error(err)
	}
}
