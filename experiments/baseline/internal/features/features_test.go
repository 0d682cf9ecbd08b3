package features

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// Norms are at most one in exact arithmetic, and one is nearly reached.
func TestNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, kind := range []Kind{Linear, Fourier} {
		for _, d := range []int{1, 3, 40} {
			m := Settings{Features: kind, Frequencies: experiment.NumberOr[Auto](7), Lengthscale: .3}.Map(d, 1)
			x, most := make([]float64, m.Len(d)), 0.0
			for range 200 {
				u := make([]float64, d)
				for j := range u {
					u[j] = max(-1, min(1, 4*rng.Float64()-2))
				}
				m.Of(u, x)
				sum := new(big.Rat)
				for _, v := range x {
					r := new(big.Rat).SetFloat64(v)
					sum.Add(sum, r.Mul(r, r))
				}
				if sum.Cmp(big.NewRat(1, 1)) > 0 {
					t.Fatalf("kind %d, %d inputs: the squared norm at %v is %s", kind, d, u, sum.FloatString(20))
				}
				norm, _ := sum.Float64()
				most = max(most, norm)
			}
			if most < 1-1e-6 {
				t.Errorf("kind %d, %d inputs: the squared norm is %g at most", kind, d, most)
			}
		}
	}
}

// Sums of products have the number of their rows.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, kind := range []Kind{Linear, Fourier} {
		m := Settings{Features: kind, Frequencies: experiment.NumberOr[Auto](4), Lengthscale: .3}.Map(2, 1)
		x := mat.NewDense(50, m.Len(2), nil)
		for i := range 50 {
			m.Of([]float64{2*rng.Float64() - 1, 2*rng.Float64() - 1}, x.RawRowView(i))
		}
		products := mat.NewSymDense(m.Len(2), nil)
		products.SymOuterK(1, x.T())
		if rows := m.Rows(products); math.Abs(rows-50) > 1e-8 {
			t.Errorf("kind %d: %g rows of 50", kind, rows)
		}
	}
}

// Inner products of Fourier features are near the squared-exponential kernel of the lengthscale.
func TestKernel(t *testing.T) {
	const d, scale = 2, .25
	m := Settings{Features: Fourier, Frequencies: experiment.Or[Auto, int]{IsWord: true}, Lengthscale: scale}.Map(d, 500)
	if len(m.Frequencies) != 500 || m.Numbers(d) != 1000 || m.Len(d) != 1000 {
		t.Fatalf("%d frequencies, %d numbers, %d features", len(m.Frequencies), m.Numbers(d), m.Len(d))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		u, v := []float64{2*rng.Float64() - 1, 2*rng.Float64() - 1}, []float64{2*rng.Float64() - 1, 2*rng.Float64() - 1}
		x, z := make([]float64, m.Len(d)), make([]float64, m.Len(d))
		m.Of(u, x)
		m.Of(v, z)
		far := floats.Distance(u, v, 2) / (2 * scale * math.Sqrt(d))
		if got, want := floats.Dot(x, z), math.Exp(-far*far/2); math.Abs(got-want) > .12 {
			t.Errorf("%v, %v: %g, the kernel is %g", u, v, got, want)
		}
	}
}

// The default number of frequencies grows with rows and epsilon, between two bounds.
func TestCount(t *testing.T) {
	for _, c := range []struct {
		rows            int
		epsilon, factor float64
		want            int
	}{{1000, 1, 1.5, 15}, {1000, 8, 3, 60}, {1, .1, 1, 2}, {1000, math.Inf(1), 1, 100}} {
		if got := Count(c.rows, c.epsilon, c.factor); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
