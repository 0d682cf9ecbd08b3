package kernel

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
)

// Estimates equal the definition, by column, in one run and in several, alone and among others.
func TestMarginalDensity(t *testing.T) {
	const d = 2
	for _, size := range []struct{ n, q int }{{40, 7}, {70_000, 60}} {
		for _, dtype := range []string{"float64", "float32"} {
			e, rng := graphtest.Engine(t, dtype, 2), graphtest.Rand(3)
			x, at := graphtest.Normal(rng, size.n, d), graphtest.Normal(rng, size.q, d)
			at.Set(1, 0, 100) // far from all samples
			got, err := MarginalDensity(t.Context(), e, x, at, 0.3)
			if err != nil {
				t.Fatal(err)
			}
			for i := range size.q {
				for j := range d {
					want := 0.0
					for k := range size.n {
						z := (at.At(i, j) - x.At(k, j)) / 0.3
						want += math.Exp(-z*z/2) / (math.Sqrt(2*math.Pi) * 0.3)
					}
					want /= float64(size.n)
					if v := got.At(i, j); !(math.Abs(v-want) <= 1e-13*(1+want)) || i != 1 && v == 0 {
						t.Fatalf("%s, %d samples, point %d, column %d: %g, want %g", dtype, size.n, i, j, v, want)
					}
				}
			}
			alone, err := MarginalDensity(t.Context(), e, x, mat.DenseCopyOf(at.Slice(size.q-1, size.q, 0, d)), 0.3)
			if err != nil || alone.At(0, 0) != got.At(size.q-1, 0) || alone.At(0, 1) != got.At(size.q-1, 1) {
				t.Errorf("%s, %d samples: %v alone, %v among others, %v", dtype, size.n, mat.Formatted(alone),
					got.RawRowView(size.q-1), err)
			}
		}
	}
}

func TestMarginalDensityRefuses(t *testing.T) {
	e, x := graphtest.Engine(t, "float64", 1), mat.NewDense(3, 2, nil)
	for _, c := range []struct {
		x, at     *mat.Dense
		bandwidth float64
		want      string
	}{
		{x, x, 0, "the bandwidth is 0"}, {x, x, -1, "the bandwidth is -1"}, {x, x, 1e-200, "the bandwidth is 1e-200"},
		{x, x, 1e200, "the bandwidth is 1e+200"}, {x, x, math.NaN(), "the bandwidth is NaN"},
		{mat.NewDense(1, 1, []float64{math.NaN()}), x, 1, "the matrix of samples has NaN"},
		{x, mat.NewDense(1, 2, []float64{0, math.Inf(1)}), 1, "the matrix of points has +Inf"},
		{x, mat.NewDense(2, 3, nil), 1, "3 columns, the samples 2"},
	} {
		_, err := MarginalDensity(t.Context(), e, c.x, c.at, c.bandwidth)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
}
