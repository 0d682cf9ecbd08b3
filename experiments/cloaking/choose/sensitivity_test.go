package choose

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
)

func TestPublishedSensitivity(t *testing.T) {
	// 9 + all but the smallest.
	trialtest.Near(t, "Eq. (9)", publishedSensitivity([]float64{0.5, 0.125, 2, 0.25}), 11.75, 0)
}

// By hand, over d²: one error z falls from 1/4 to 0; of (z₁ + z₂)² z₂ = 1/2 and
// z₁ from −1/2 to 1/2 makes 1; of (2z₁ + z₂)², 4(a + b) + 2 over a step t is
// largest at t = 3/4: 36/16.
func TestExactSensitivityByHand(t *testing.T) {
	for _, c := range []struct {
		name string
		a    *mat.Dense
		want float64
	}{
		{"one output", mat.NewDense(1, 1, []float64{-1}), 0.25},
		{"equal outputs", mat.NewDense(1, 2, []float64{1, 1}), 1},
		{"unequal outputs", mat.NewDense(1, 2, []float64{2, -1}), 2.25},
		{"two errors", mat.NewDense(2, 2, []float64{3, 0, 0, 1}), 2.25},
		{"an output without effect", mat.NewDense(1, 2, []float64{0, 1}), 0.25},
	} {
		t.Run(c.name, func(t *testing.T) {
			trialtest.Near(t, "sensitivity", exactSensitivity(c.a), c.want, 1e-15)
		})
	}
}

// worstCase returns outputs in [−1/2, 1/2] and a change of one of them, j, that
// changes ‖Az‖² most, from the derivation of exactSensitivity.
func worstCase(a *mat.Dense) (z []float64, j int, from, to float64) {
	var h mat.SymDense
	h.SymOuterK(1, a.T())
	n := h.SymmetricDim()
	worst := -1.0
	for i := range n {
		if w := worstChange(&h, i); w > worst {
			worst, j = w, i
		}
	}
	z = make([]float64, n)
	others := 0.0
	for i := range z {
		if i != j {
			z[i] = math.Copysign(0.5, h.At(j, i))
			others += math.Abs(h.At(j, i))
		}
	}
	step := min(1, (h.At(j, j)+others)/(2*h.At(j, j)))
	return z, j, 0.5 - step, 0.5
}

func squaresOf(a *mat.Dense, z []float64) float64 {
	var e mat.VecDense
	e.MulVec(a, mat.NewVecDense(len(z), z))
	return mat.Dot(&e, &e)
}

// On small matrices no change found by chance, in corners or inside of the box,
// exceeds the sensitivity, and its worst case reaches it.
func TestExactSensitivityIsTheLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 60 {
		m, n := 1+rng.IntN(6), 1+rng.IntN(6)
		a := mat.NewDense(m, n, nil)
		for i := range m {
			for j := range n {
				a.Set(i, j, rng.NormFloat64())
			}
			if i < n && rng.IntN(2) == 0 { // as errors of a fold, which R_j < H_jj needs
				a.Set(i, i, a.At(i, i)-5)
			}
		}
		bound := exactSensitivity(a)
		z := make([]float64, n)
		change := func(j int, from, to float64) float64 {
			z[j] = from
			before := squaresOf(a, z)
			z[j] = to
			return math.Abs(squaresOf(a, z) - before)
		}
		for range 500 {
			corner := rng.IntN(2) == 0
			for i := range z {
				if z[i] = rng.Float64() - 0.5; corner {
					z[i] = math.Copysign(0.5, z[i])
				}
			}
			if got := change(rng.IntN(n), rng.Float64()-0.5, rng.Float64()-0.5); got > bound*(1+1e-12) {
				t.Fatalf("a change of %g exceeds the sensitivity %g of %v", got, bound, mat.Formatted(a))
			}
		}
		worst, j, from, to := worstCase(a)
		copy(z, worst)
		trialtest.Near(t, "the worst change", change(j, from, to), bound, 1e-12*bound)
	}
}

// Errors of outputs less their own mean, and of any constant added to all.
func TestFromMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	const rows, own, n = 3, 4, 7
	a := mat.NewDense(rows, own, nil)
	for i := range rows {
		for j := range own {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	y, shifted, less := make([]float64, n), make([]float64, n), make([]float64, own)
	mean := 0.0
	for i := range y {
		y[i] = rng.NormFloat64()
		shifted[i] = y[i] - 11
		mean += y[i] / n
	}
	for i := range less {
		less[i] = y[i] - mean
	}
	want := squaresOf(a, less)
	trialtest.Near(t, "errors", squaresOf(fromMean(a, n), y), want, 1e-12)
	trialtest.Near(t, "errors, shifted", squaresOf(fromMean(a, n), shifted), want, 1e-9)
}
