package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// rounded draws Gaussian numbers and rounds them to a grid.
func rounded(n int, deviation, grid float64, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 11))
	values := make([]float64, n)
	for i := range values {
		values[i] = 0.3 + deviation*rng.NormFloat64()
		if grid > 0 {
			values[i] = math.RoundToEven(values[i]/grid) * grid
		}
	}
	return values
}

func TestSupports(t *testing.T) {
	const n, grid = 50_000, 0x1p-10
	sample := func(values []float64, grid float64) SupportSample {
		return SupportSample{Values: values, D: 1, Grid: []float64{grid}}
	}
	odd := rounded(n, 1, 2*grid, 2) // every second point, shifted by one
	for i := range odd {
		odd[i] += grid
	}
	honest := sample(rounded(n, 1, grid, 1), grid)
	for _, c := range []struct {
		name   string
		second SupportSample
		want   string
	}{
		{"honest", sample(rounded(n, 1, grid, 2), grid), ""},
		{"narrow", sample(rounded(n, grid/8, grid, 2), grid), ""},
		{"fine", sample(rounded(n, 1000, grid, 2), grid), ""}, // hardly a point twice
		{"floating point", sample(rounded(n, 1, 0, 2), grid), "are no multiples of"},
		{"one number off", sample(append(rounded(n-1, 1, grid, 2), 0.1), grid), "1 of 50000 values are no multiples"},
		{"infinite", sample(append(rounded(n-1, 1, grid, 2), math.Inf(1)), grid), "1 of 50000 values are no multiples"},
		{"twice the grid", sample(rounded(n, 1, 2*grid, 2), grid), "coarser than the stated grid"},
		{"odd multiples", sample(odd, grid), "coarser than the stated grid"},
		{"another grid", sample(rounded(n, 1, 2*grid, 2), 2*grid), "of the neighbour"},
		{"no grid", SupportSample{Values: rounded(n, 1, grid, 2), D: 1}, "1 coordinates with 1 and 0 spacings"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := strings.Join(TestSupport(honest, c.second), "; ")
			if (found == "") != (c.want == "") || !strings.Contains(found, c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
	if found := TestSupport(sample([]float64{0, 3}, 3), sample([]float64{6},
		3)); len(found) != 1 || !strings.Contains(found[0], "no power of two") {
		t.Errorf("a grid of 3: %q", found)
	}
	// A grid that is stated to follow a scale does.
	for _, c := range []struct {
		grid  float64
		found bool
	}{{0, true}, {0x1p-21, true}, {0x1p-20, false}, {0x1p-9, false}, {0x1p-8, true}} {
		t.Run(fmt.Sprintf("grid %g", c.grid), func(t *testing.T) {
			s := SupportSample{Values: []float64{0, 0}, D: 1, Grid: []float64{c.grid}, Scale: []float64{1}}
			if found := TestSupport(s, s); (len(found) > 0) != c.found {
				t.Errorf("a grid of %g for noise of scale 1: %q", c.grid, found)
			}
		})
	}
}

// The occupancy errs for no honest sample, of laws that differ much in shape.
func TestOccupancyIsFair(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 5))
		points := make([]float64, 20_000)
		for i := range points {
			v := rng.NormFloat64()
			if seed%2 == 1 {
				v = rng.ExpFloat64() * float64(1-2*int(rng.Uint64()&1))
			}
			points[i] = v * math.Exp2(float64(seed%16))
		}
		for i := range points {
			points[i] = math.RoundToEven(points[i])
		}
		s := SupportSample{Values: points, D: 1, Grid: []float64{1}}
		if found := TestSupport(s, s); found != nil {
			t.Errorf("seed %d: %q", seed, found)
		}
	}
}
