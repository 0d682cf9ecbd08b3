package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
)

// modelAt has inducing inputs z, in order.
func modelAt(lengthscale, variance float64, z ...float64) *Model {
	return NewModel(Column(z), lengthscale, variance, 0.01, 0)
}

// With four points one apart and l = 1, by hand: two pairs at distances 0 and 1
// (corrected), one more at 2 (printed); with three, one pair and a term.
func TestEq7ByHand(t *testing.T) {
	e := func(r float64) float64 { return math.Exp(-r * r) }
	for _, c := range []struct {
		z     []float64
		bound Bound
		want  float64
	}{
		{[]float64{0, 1, 2, 3}, Eq7Printed, 2 + 2*e(1) + 2*e(2)},
		{[]float64{0, 1, 2, 3}, Eq7, 2 + 2*e(1)},
		{[]float64{0, 1, 2, 3}, Eq8, 1 + 3*e(0.5)},
		{[]float64{0, 1, 2, 3}, Eq4, 4},
		{[]float64{0, 1, 2}, Eq7Printed, 2 + 2*e(1) + e(2)},
		{[]float64{0, 1, 2}, Eq7, 2 + e(1)},
		{[]float64{0, 1, 2}, Eq8, 1 + 2*e(0.5)},
		{[]float64{0, 1, 2}, Eq4, 3},
		{[]float64{5}, Eq7Printed, 2},
		{[]float64{5}, Eq7, 1},
		{[]float64{5}, Eq8, 1},
		{[]float64{5}, Eq4, 1},
	} {
		t.Run(fmt.Sprintf("%v of %d points", c.bound, len(c.z)), func(t *testing.T) {
			got, err := modelAt(1, 3, c.z...).NormSquared(c.bound, 0)
			if err != nil {
				t.Fatal(err)
			}
			trialtest.Near(t, "R_k²", got, 9*c.want, 1e-12) // σ_f² = 3
		})
	}
}

// randomModel has inducing inputs at random, irregular places.
func randomModel(rng *rand.Rand) *Model {
	z := make([]float64, 1+rng.IntN(12))
	at := rng.NormFloat64()
	for i := range z {
		z[i] = at
		at += 0.05 + rng.ExpFloat64()
	}
	rng.Shuffle(len(z), func(i, j int) { z[i], z[j] = z[j], z[i] })
	return modelAt(0.3+2*rng.Float64(), 0.5+rng.Float64(), z...)
}

func kernelVector(m *Model, x float64) (k []float64, normSquared float64) {
	for _, z := range mat.Col(nil, 0, m.Inducing.Z) {
		v := m.Variance * math.Exp(-(x-z)*(x-z)/(2*m.Lengthscale*m.Lengthscale))
		k, normSquared = append(k, v), normSquared+v*v
	}
	return k, normSquared
}

// The bounds hold at every input, and have the order of their derivations; the exact one is
// reached.
func TestBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		m := randomModel(rng)
		z := mat.Col(nil, 0, m.Inducing.Z)
		found := 0.0
		for _, v := range z {
			for d := -3.0; d <= 3; d += 0.01 {
				_, s := kernelVector(m, v+d*m.Lengthscale)
				found = max(found, s)
			}
		}
		value := map[Bound]float64{}
		for _, b := range []Bound{Eq4, Eq7Printed, Eq7, Eq8, Exact} {
			v, err := m.NormSquared(b, 0)
			if err != nil {
				t.Fatal(err)
			}
			if value[b] = v; v < found*(1-1e-15) {
				t.Errorf("%v = %.15g at %v, l = %g; an input has %.15g", b, v, z, m.Lengthscale, found)
			}
		}
		if value[Exact] > found*(1+1e-3) {
			t.Errorf("exact = %g at %v; the largest is %g", value[Exact], z, found)
		}
		for _, pair := range [][2]Bound{{Exact, Eq7}, {Eq7, Eq7Printed}, {Eq8, Eq4}} {
			if value[pair[0]] > value[pair[1]]*(1+2*exactTolerance) {
				t.Errorf("%v = %g is above %v = %g", pair[0], value[pair[0]], pair[1], value[pair[1]])
			}
		}
	}
}

// Substituting a row never moves the rescaled sums by more than Eq. (6), and can move them by most
// of it; less where the ratio is small, since the maximum of Eq. (28) is then beyond the range of
// ⟨k, k'⟩.
func TestJointSensitivityBoundsSubstitutions(t *testing.T) {
	m := modelAt(1, 1, -3, -2.25, -1.5, -0.75, 0, 0.75, 1.5, 2.25, 3)
	kk, err := m.NormSquared(Exact, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ ratio, share float64 }{{0.3, 0.6}, {1, 0.8}, {2.5, 0.8}} {
		t.Run(fmt.Sprintf("ratio %g", c.ratio), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			const r = 1.7
			bound, largest := JointSensitivity(c.ratio, r, kk), 0.0
			for range 50000 {
				k, _ := kernelVector(m, 8*rng.Float64()-4)
				l, _ := kernelVector(m, 8*rng.Float64()-4)
				y, w := r*math.Round(2*rng.Float64()-1), r*(2*rng.Float64()-1)
				s := 0.0
				for i := range k {
					s += (y*k[i] - w*l[i]) * (y*k[i] - w*l[i])
					for j := range k {
						d := c.ratio * (k[i]*k[j] - l[i]*l[j])
						s += d * d
					}
				}
				largest = max(largest, math.Sqrt(s))
			}
			if largest > bound || largest < c.share*bound {
				t.Errorf("a substitution moves the sums by %g; Eq. (6) gives %g", largest, bound)
			}
		})
	}
}

// A spacing that the inducing inputs do not have would make the noise too small.
func TestSpacingIsThatOfTheInducingInputs(t *testing.T) {
	m := modelAt(1, 1, 0, 0.5, 1.5)
	least, err := m.NormSquared(Eq7, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spacing float64
		ok      bool
	}{{0.3, true}, {0.5, true}, {0.5 * (1 + 1e-13), true}, {0.501, false}, {0.9, false}} {
		t.Run(fmt.Sprint(c.spacing), func(t *testing.T) {
			got, err := m.NormSquared(Eq7, c.spacing)
			if (err == nil) != c.ok || c.ok && (got < least || c.spacing == 0.5 && got != least) {
				t.Errorf("%g, %v; with the spacing that there is %g", got, err, least)
			}
		})
	}
}

// The bounds for one dimension refuse more; those for any hold there.
func TestBoundsInTwoDimensions(t *testing.T) {
	m := modelAt(1, 1, 0)
	m.Inducing.Z = mat.NewDense(3, 2, []float64{0, 0, 3, 4, 0, 1})
	for _, b := range []Bound{Eq7, Eq7Printed} {
		t.Run(b.String(), func(t *testing.T) {
			if _, err := m.NormSquared(b, 0); err == nil || !strings.Contains(err.Error(), "one dimension") {
				t.Errorf("%v", err)
			}
		})
	}
	got, err := m.NormSquared(Eq8, 0)
	if err != nil {
		t.Fatal(err)
	}
	trialtest.Near(t, "Eq. (8) in two dimensions", got, 1+2*math.Exp(-0.25), 1e-12)
}

// A check of settings does not search for the exact bound.
func TestCheapBound(t *testing.T) {
	for _, c := range []struct{ chosen, want Bound }{{Exact, Eq4}, {Eq7, Eq7}} {
		t.Run(c.chosen.String(), func(t *testing.T) {
			if got := (&RowBound{Bound: c.chosen}).CheapBound(); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
