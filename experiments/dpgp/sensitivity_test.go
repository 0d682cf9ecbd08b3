package dpgp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/kernel"
	"privkern/graphs/sparsegp"
)

func modelAt(lengthscale, variance float64, z ...float64) *model {
	return &model{lengthscale: lengthscale, variance: variance, noise: 0.01,
		inducing: sparsegp.Inducing{Kernel: kernel.EQ(lengthscale, variance), Z: mat.NewDense(len(z), 1, z)}}
}

// Values of an independent implementation, for 9 points on [−3, 3], l = 1,
// R_y = 1.
func TestSensitivityCheckValues(t *testing.T) {
	r := runTrial(t, setup{}, sensitivities(), nil)
	for name, want := range map[string][2]float64{
		"r_k_sq_eq4": {9, 0}, "sensitivity_eq4": {13.4350, 5e-5},
		"r_k_sq_eq7_printed": {3.36327, 5e-6}, "sensitivity_eq7_printed": {5.46349, 5e-6},
		"r_k_sq_eq7": {3.36315, 5e-6}, "sensitivity_eq7": {5.46331, 5e-6},
		"r_k_sq_eq8": {7.95052, 5e-6}, "sensitivity_eq8": {11.9508, 5e-5},
		"r_k_sq_exact": {2.36327, 5e-6}, "sensitivity_exact": {4.04928, 5e-6},
	} {
		near(t, name, r.Metrics[name], want[0], want[1])
	}
}

func TestGaussianMechanismCheckValues(t *testing.T) {
	for epsilon, want := range map[float64]float64{0.1: 24.5081056, 1: 3.18570299, 3: 1.22315726, 10: 0.455265131} {
		r := runTrial(t, setup{}, gaussianMechanism(), map[string]any{"epsilon": epsilon})
		near(t, "sigma/Delta", r.Metrics["sigma_over_sensitivity"]/want, 1, 3e-9)
		near(t, "classical", r.Metrics["sigma_classical"], math.Sqrt(2*math.Log(12500))/epsilon, 1e-12)
		if warned := len(r.Warnings) > 0; warned != (epsilon >= 1) {
			t.Errorf("epsilon %g: warnings %q", epsilon, r.Warnings)
		}
	}
}

// With four points one apart and l = 1, by hand: two pairs at distances 0 and 1
// (corrected), one more at 2 (printed); with three, one pair and a term.
func TestEq7ByHand(t *testing.T) {
	e := func(r float64) float64 { return math.Exp(-r * r) }
	for _, c := range []struct {
		z                         []float64
		printed, corrected, eight float64
	}{
		{[]float64{0, 1, 2, 3}, 2 + 2*e(1) + 2*e(2), 2 + 2*e(1), 1 + 3*e(0.5)},
		{[]float64{0, 1, 2}, 2 + 2*e(1) + e(2), 2 + e(1), 1 + 2*e(0.5)},
		{[]float64{5}, 2, 1, 1},
	} {
		m := modelAt(1, 3, c.z...)
		for bound, want := range map[string]float64{boundEq7Printed: c.printed, boundEq7: c.corrected, boundEq8: c.eight, boundEq4: float64(len(c.z))} {
			got, err := m.normSquared(bound, 0)
			if err != nil {
				t.Fatal(err)
			}
			near(t, bound, got, 9*want, 1e-12) // σ_f² = 3
		}
	}
}

// randomModel has inducing inputs at random, irregular places.
func randomModel(rng *rand.Rand) *model {
	z := make([]float64, 1+rng.IntN(12))
	at := rng.NormFloat64()
	for i := range z {
		z[i] = at
		at += 0.05 + rng.ExpFloat64()
	}
	rng.Shuffle(len(z), func(i, j int) { z[i], z[j] = z[j], z[i] })
	return modelAt(0.3+2*rng.Float64(), 0.5+rng.Float64(), z...)
}

func kernelVector(m *model, x float64) (k []float64, normSquared float64) {
	for _, z := range mat.Col(nil, 0, m.inducing.Z) {
		v := m.variance * math.Exp(-(x-z)*(x-z)/(2*m.lengthscale*m.lengthscale))
		k, normSquared = append(k, v), normSquared+v*v
	}
	return k, normSquared
}

// The bounds hold at every input, and are ordered as their derivations say; the
// exact one is reached.
func TestBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		m := randomModel(rng)
		z := mat.Col(nil, 0, m.inducing.Z)
		found := 0.0
		for _, v := range z {
			for d := -3.0; d <= 3; d += 0.01 {
				_, s := kernelVector(m, v+d*m.lengthscale)
				found = max(found, s)
			}
		}
		value := map[string]float64{}
		for _, b := range bounds {
			v, err := m.normSquared(b, 0)
			if err != nil {
				t.Fatal(err)
			}
			if value[b] = v; v < found*(1-1e-15) {
				t.Errorf("%s = %.15g at %v, l = %g; an input has %.15g", b, v, z, m.lengthscale, found)
			}
		}
		if value[boundExact] > found*(1+1e-3) {
			t.Errorf("exact = %g at %v; the largest is %g", value[boundExact], z, found)
		}
		for _, pair := range [][2]string{{boundExact, boundEq7}, {boundEq7, boundEq7Printed}, {boundEq8, boundEq4}} {
			if value[pair[0]] > value[pair[1]]*(1+2*exactTolerance) {
				t.Errorf("%s = %g is above %s = %g", pair[0], value[pair[0]], pair[1], value[pair[1]])
			}
		}
	}
}

// Two maxima of one height, and a maximum between inducing inputs far apart or
// very near each other.
func TestExactMaximum(t *testing.T) {
	for _, c := range []struct {
		z    []float64
		want float64
	}{
		{[]float64{-50, 50}, 1},
		{[]float64{0, 1e-3}, 2 * math.Exp(-0.25e-6)},
		{[]float64{-1e3, 0, 1, 1e3}, 2 * math.Exp(-0.25)},
	} {
		got := modelAt(1, 1, c.z...).largest()
		near(t, "the largest sum", got/c.want, 1, 2e-12)
		if got < c.want*(1-1e-15) {
			t.Errorf("%v: %.17g is below the maximum %.17g", c.z, got, c.want)
		}
	}
}

// On dense grids, where the sum is flat, the bound is above the largest value, by
// coarseTolerance at most; where the search is short it is what it was to the
// last digit.
func TestExactOnDenseGrids(t *testing.T) {
	for _, c := range []struct {
		points      int
		lengthscale float64
		want        float64 // to the last digit; 0: near the limit
	}{
		{9, 1, 2.3632703490510831}, {20, 0.3, 1.684287121247575}, {50, 0.1, 1.451511869838271},
		{50, 3, 36.957256508625747}, {100, 0.02, 1.0002055976879067}, {500, 1, 147.40594418667385},
		{50, 0.2, 0}, {100, 0.3, 0}, {500, 0.02, 0}, {500, 0.1, 0},
	} {
		t.Run(fmt.Sprintf("%d points, l = %g", c.points, c.lengthscale), func(t *testing.T) {
			z := make([]float64, c.points)
			for i := range z {
				z[i] = -3 + 6*float64(i)/float64(c.points-1)
			}
			m := modelAt(c.lengthscale, 1, z...)
			got := m.largest()
			if c.want != 0 {
				if got != c.want {
					t.Errorf("%.17g, want %.17g", got, c.want)
				}
				return
			}
			// Far from the ends the sum is periodic, and largest at a point.
			_, found := kernelVector(m, z[c.points/2])
			// What is left uncut has a bound, which counts.
			if !(got > found*(1+100*exactTolerance)) || got > found*(1+coarseTolerance) {
				t.Errorf("%.17g; the largest is %.17g", got, found)
			}
		})
	}
}

func TestTermCurvature(t *testing.T) {
	most := 0.0
	for i := range 60001 {
		r := float64(i) / 10000
		most = max(most, (4*r*r-2)*math.Exp(-r*r))
	}
	if most > termCurvature || most < 0.999*termCurvature {
		t.Errorf("the largest second derivative is %g, not %g", most, termCurvature)
	}
}

// Substituting a row never moves the rescaled sums by more than Eq. (6), and can
// move them by most of it; less where the ratio is small, since the maximum of
// Eq. (28) is then beyond what ⟨k, k'⟩ can be.
func TestJointSensitivityBoundsSubstitutions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for ratio, share := range map[float64]float64{0.3: 0.6, 1: 0.8, 2.5: 0.8} {
		m := modelAt(1, 1, -3, -2.25, -1.5, -0.75, 0, 0.75, 1.5, 2.25, 3)
		kk, err := m.normSquared(boundExact, 0)
		if err != nil {
			t.Fatal(err)
		}
		const r = 1.7
		bound, largest := jointSensitivity(ratio, r, kk), 0.0
		for range 50000 {
			k, _ := kernelVector(m, 8*rng.Float64()-4)
			l, _ := kernelVector(m, 8*rng.Float64()-4)
			y, w := r*math.Round(2*rng.Float64()-1), r*(2*rng.Float64()-1)
			s := 0.0
			for i := range k {
				s += (y*k[i] - w*l[i]) * (y*k[i] - w*l[i])
				for j := range k {
					d := ratio * (k[i]*k[j] - l[i]*l[j])
					s += d * d
				}
			}
			largest = max(largest, math.Sqrt(s))
		}
		if largest > bound || largest < share*bound {
			t.Errorf("ratio %g: a substitution moves the sums by %g; Eq. (6) gives %g", ratio, largest, bound)
		}
	}
}

// The bounds for one dimension refuse more; those for any hold there.
func TestBoundsInTwoDimensions(t *testing.T) {
	m := modelAt(1, 1, 0)
	m.inducing.Z = mat.NewDense(3, 2, []float64{0, 0, 3, 4, 0, 1})
	for _, b := range []string{boundEq7, boundEq7Printed, boundExact} {
		if _, err := m.normSquared(b, 0); err == nil || !strings.Contains(err.Error(), "one dimension") {
			t.Errorf("%s in two dimensions: %v", b, err)
		}
	}
	got, err := m.normSquared(boundEq8, 0)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Eq. (8) in two dimensions", got, 1+2*math.Exp(-0.25), 1e-12)
}

// A lengthscale whose square is no number is refused; the search would not end.
func TestExactBoundRefusesExtremeLengthscales(t *testing.T) {
	for _, lengthscale := range []float64{1e-200, 1e-160, 1e160} {
		t.Run(fmt.Sprint(lengthscale), func(t *testing.T) {
			m := &model{lengthscale: lengthscale, variance: 1}
			m.inducing.Z = mat.NewDense(3, 1, []float64{-1, 0, 2})
			if _, err := m.normSquared(boundExact, 0); err == nil || !strings.Contains(err.Error(), "beyond double precision") {
				t.Errorf("%v", err)
			}
		})
	}
	m := &model{lengthscale: 1e-150, variance: 1}
	m.inducing.Z = mat.NewDense(3, 1, []float64{-1, 0, 2})
	if v, err := m.normSquared(boundExact, 0); err != nil || !(v >= 1 && v < 1.1) {
		t.Errorf("%g, %v", v, err)
	}
}
