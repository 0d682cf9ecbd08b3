// Package attack looks for a row of a user's file in a release, by an observer who
// knows all others.
package attack

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/internal/floatnoise"
)

// An attack on a single release by an observer who knows all rows but one, the settings and the
// program. Normal numbers of math/rand/v2 are multiples k·w of 128 public numbers w, |k| ≤ 2^31,
// about 2^39 in all: of the candidates for the missing row only the true one leaves such numbers as
// noise. Exact noise is possible for all candidates.

// Attacker holds the public description of a release: the linear map from the noise to the
// published values.
type Attacker struct {
	Layers    *floatnoise.Layers
	Mechanism *cloak.Mechanism
	// from maps the noisy whitened coordinates to the published values (P×R); offset is published
	// for zeros.
	From   *mat.Dense
	Offset []float64
}

// Whitened returns the coordinates that noise was added to.
func (a *Attacker) Whitened(t *testing.T, published []float64) []float64 {
	t.Helper()
	b := mat.NewVecDense(len(published), nil)
	for i, v := range published {
		b.SetVec(i, v-a.Offset[i])
	}
	var out mat.VecDense
	var qr mat.QR
	qr.Factorize(a.From)
	if err := qr.SolveVecTo(&out, false, b); err != nil {
		t.Fatal(err)
	}
	return out.RawVector().Data
}

// tolerance is the error of coordinates in units of the noise, from the rounding of published
// values.
const tolerance = 2e-14

// Best returns the candidate for which the most coordinates of the noise are possible, and among
// several the likeliest one. The query matrix is applied to a candidate.
func (a *Attacker) Best(t *testing.T, noisy []float64, candidates [][]float64) (best int) {
	t.Helper()
	n := a.Mechanism.Noise
	most, least := -1, 0.0
	for i, private := range candidates {
		query, err := a.Mechanism.Query.Of(private)
		if err != nil {
			t.Fatal(err)
		}
		count, square := 0, 0.0
		for j, v := range query {
			v = math.RoundToEven(v/n.Grid()*(1<<32)) / (1 << 32) * n.Grid()
			z := (noisy[j] - v) / n.Scale()
			if square += z * z; a.Layers.Possible(z, tolerance) {
				count++
			}
		}
		if count > most || count == most && square < least {
			best, most, least = i, count, square
		}
	}
	return best
}

// Unit is a column with a one.
func Unit(n, i int) []float64 {
	out := make([]float64, n)
	out[i] = 1
	return out
}

// Samplers are normal numbers in floating point, and nil for the exact noise of package
// release: see [floatnoise.Release].
func Samplers(stream uint64) map[string]*rand.Rand {
	return map[string]*rand.Rand{"math/rand/v2": rand.New(rand.NewPCG(stream, 99)), "exact": nil}
}

// AtMost is a bound on how often one of probability p succeeds, beyond which a
// right program gets less than once in a million times.
func AtMost(times int, p float64) int {
	tail := 1.0
	for k := 0; ; k++ {
		lk, _ := math.Lgamma(float64(k + 1))
		ln, _ := math.Lgamma(float64(times + 1))
		lr, _ := math.Lgamma(float64(times - k + 1))
		if tail < 1e-6 {
			return k - 1
		}
		if k == times {
			return times
		}
		tail -= math.Exp(ln - lk - lr + float64(k)*math.Log(p) + float64(times-k)*math.Log1p(-p))
	}
}

// Guessing bounds the probability of the right one among n equally likely
// candidates under (ε, δ), δ aside.
func Guessing(epsilon float64, n int) float64 {
	return math.Exp(epsilon) / (math.Exp(epsilon) + float64(n-1))
}

// Delta is that of the releases that are attacked.
const Delta = 1e-6
