package dpgp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// Eq. (21) at α_ε = 0.01.
func TestDirichlet(t *testing.T) {
	d := newDirichlet(0.01, noCentre, nil)
	for i, want := range []struct {
		name string
		y, w float64
	}{
		{"is not of the class", math.Log(0.01) - math.Log(101)/2, 1 / math.Log(101)},
		{"is of the class", math.Log(1.01) - math.Log(1/1.01+1)/2, 1 / math.Log(1/1.01+1)},
	} {
		t.Run(want.name, func(t *testing.T) {
			trialtest.Near(t, "output", d.y[i], want.y, 1e-12)
			trialtest.Near(t, "weight", d.w[i], want.w, 1e-12)
		})
	}
	b := newDirichlet(0.01, balancedCentre, nil)
	if math.Abs((b.y[1]-b.y[0])-(d.y[1]-d.y[0])) > 1e-12 || b.w != d.w {
		t.Errorf("balanced: %v of %v", b, d)
	}
	if l, r := -b.y[0]*math.Sqrt(b.w[0]), b.y[1]*math.Sqrt(b.w[1]); math.Abs(l-r) > 1e-12 || l <= 0 {
		t.Errorf("not balanced: %g and %g", l, r)
	}
}

// The sensitivity of centre=least is that of no other centre, for each
// composition; balanced is more sensitive than nothing for joint and split.
func TestLeastCentre(t *testing.T) {
	published := newDirichlet(0.01, noCentre, nil)
	balanced := newDirichlet(0.01, balancedCentre, nil)
	for _, ratio := range []float64{0.3, 1, 3} {
		for _, kk := range []float64{1.1, 2.37, 3.36} {
			for shared, c := range map[composition]struct {
				sensitivity func(dirichlet) float64
				costs       bool // balanced, more than nothing
			}{
				jointly:      {func(d dirichlet) float64 { return d.jointSensitivity(3, ratio, kk) }, true},
				equalShares:  {func(d dirichlet) float64 { return d.classSensitivity(ratio, kk) }, true},
				wholeBudgets: {func(d dirichlet) float64 { return d.publishedSensitivity(ratio, kk) }, false},
			} {
				t.Run(fmt.Sprintf("%s, ratio %g, %g", experiment.NameOf(shared), ratio, kk), func(t *testing.T) {
					least := newDirichlet(0.01, leastCentre, c.sensitivity)
					value := c.sensitivity(least)
					for i := range 2001 {
						other := published.less(-10 + 0.01*float64(i))
						if s := c.sensitivity(other); s < value*(1-1e-12) {
							t.Fatalf("%g at the centre %g, %g at %g", value, least.centre, s, other.centre)
						}
					}
					if again := c.sensitivity(published.less(least.centre)); again != value {
						t.Errorf("%g at the centre of which %g is said", again, value)
					}
					if b, p := c.sensitivity(balanced), c.sensitivity(published); (b > p) != c.costs || b < value || p < value {
						t.Errorf("balanced %g, as published %g, least %g", b, p, value)
					}
				})
			}
		}
	}
}

func TestMinimise(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    func(float64) float64
		want float64
	}{
		{"smooth", func(x float64) float64 { return math.Cosh(x - 0.3) }, 0.3},
		{"a kink", func(x float64) float64 { return math.Abs(x + 1) }, -1},
		{"at the lower end", func(x float64) float64 { return x }, -2},
		{"at the upper end", func(x float64) float64 { return -x }, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := minimise(tt.f, -2, 3); math.Abs(got-tt.want) > 1e-7 {
				t.Errorf("%g, want %g", got, tt.want)
			}
		})
	}
}

// substitutions returns the largest moves of the sums of all classes, and of one class,
// that random substitutions of a row make, of any two classes.
func substitutions(rng *rand.Rand, d dirichlet, classes int, ratio, kk float64) (joint, single float64) {
	for range 20000 {
		// ‖k‖² ≤ kk; often at the bound; kernels are positive.
		a, b, angle := math.Sqrt(kk), math.Sqrt(kk), math.Pi/2*rng.Float64()
		if rng.IntN(4) == 0 {
			a, b = a*rng.Float64(), b*rng.Float64()
		}
		k, other := []float64{a, 0}, []float64{b * math.Cos(angle), b * math.Sin(angle)}
		from, to := rng.IntN(classes), rng.IntN(classes)
		square := 0.0
		for c := range classes {
			part := classMove(d, indicator(from == c), indicator(to == c), ratio, k, other)
			square += part
			single = max(single, math.Sqrt(part))
		}
		joint = max(joint, math.Sqrt(square))
	}
	return joint, single
}

// classMove is the square of the move of one class's sums, for labels i before and j
// after the substitution.
func classMove(d dirichlet, i, j int, ratio float64, k, other []float64) float64 {
	square := 0.0
	for r := range 2 {
		v := d.w[i]*d.y[i]*k[r] - d.w[j]*d.y[j]*other[r]
		square += v * v
		for q := range r + 1 {
			v := ratio * (d.w[i]*k[r]*k[q] - d.w[j]*other[r]*other[q])
			if q < r {
				v *= math.Sqrt2
			}
			square += v * v
		}
	}
	return square
}

func indicator(b bool) int {
	if b {
		return 1
	}
	return 0
}

// No substitution moves the sums by more than the sensitivity, and some come
// near.
func TestClassSensitivityBoundsSubstitutions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const kk = 2.0
	for _, classes := range []int{2, 3, 6} {
		for _, from := range []centre{noCentre, balancedCentre} {
			for _, ratio := range []float64{0.3, 1, 4} {
				t.Run(fmt.Sprintf("%d classes, centre %s, ratio %g", classes, experiment.NameOf(from), ratio), func(t *testing.T) {
					d := newDirichlet(0.01, from, nil)
					joint, single := substitutions(rng, d, classes, ratio, kk)
					if bound := d.jointSensitivity(classes, ratio, kk); joint > bound*(1+1e-12) || joint < 0.99*bound {
						t.Errorf("joint: found %g, bound %g", joint, bound)
					}
					bound := d.classSensitivity(ratio, kk)
					if single > bound*(1+1e-12) || single < 0.99*bound {
						t.Errorf("single: found %g, bound %g", single, bound)
					}
					if paper := d.publishedSensitivity(ratio, kk); bound > paper {
						t.Errorf("%g, above %g of Appendix D", bound, paper)
					}
				})
			}
		}
	}
}

// classify computes a trial of four repeats.
func classify(t *testing.T, change func(*ClassificationSettings)) *experiment.Outcome[classificationMetrics] {
	t.Helper()
	return trialtest.Compute(t, trialtest.Options{Seed: 1, Workers: 2}, classification(), func(s *ClassificationSettings) {
		s.Repeats = 4
		change(s)
	})
}

func TestClassification(t *testing.T) {
	exact := classify(t, func(s *ClassificationSettings) { s.Epsilon = math.Inf(1) })
	if exact.Privacy != nil || exact.Metrics.Accuracy != *exact.Metrics.AccuracyWithoutNoise {
		t.Errorf("without noise: %+v, %v", exact.Metrics, exact.Privacy)
	}
	if m := exact.Metrics; math.Abs(m.Accuracy-*m.AccuracyBest) > 0.02 || *m.AccuracyBest < 0.85 ||
		m.AccuracyChance > 0.4 {
		t.Errorf("without noise: %+v", m)
	}
	// Joint sums cost less than equal shares.
	joint := classify(t, func(s *ClassificationSettings) { s.Epsilon = 0.3 }).Metrics
	split := classify(t, func(s *ClassificationSettings) { s.Epsilon, s.Composition = 0.3, equalShares }).Metrics
	if !(split.Accuracy+0.03 < joint.Accuracy && joint.Accuracy < exact.Metrics.Accuracy) {
		t.Errorf("joint %g, split %g, without noise %g", joint.Accuracy, split.Accuracy, exact.Metrics.Accuracy)
	}
	if a, b := *joint.AccuracyWithoutNoise, exact.Metrics.Accuracy; a != b {
		t.Errorf("without noise: %g, %g", a, b)
	}
}

func TestCompositions(t *testing.T) {
	for _, c := range []struct {
		composition composition
		want        string
	}{
		{jointly, "(1, 0.0001)-DP"}, {equalShares, "(1, 0.0001)-DP"}, {wholeBudgets, "(3, 0.0003)-DP"},
	} {
		t.Run(experiment.NameOf(c.composition), func(t *testing.T) {
			balanced := classify(t, func(s *ClassificationSettings) { s.Composition = c.composition })
			least := classify(t, func(s *ClassificationSettings) { s.Composition, s.Centre = c.composition, leastCentre })
			if s := least.Metrics.Sensitivity; !(s < balanced.Metrics.Sensitivity) {
				t.Errorf("sensitivity %g with centre=least, %g without", s, balanced.Metrics.Sensitivity)
			}
			notes := strings.Join(least.Privacy.Notes, "\n")
			if !strings.Contains(notes, "is taken off the transformed labels") {
				t.Errorf("no centre in %q", notes)
			}
			if least.Privacy.Guarantee != c.want {
				t.Errorf("%s, want %s", least.Privacy.Guarantee, c.want)
			}
		})
	}
}

// Whether a fit without noise succeeds is private: a protected record has neither its accuracy nor
// a reason for the missing one.
func TestFitsWithoutNoiseThatFail(t *testing.T) {
	// 25 inducing inputs: the update without noise, and so without λ, is indefinite.
	failing := func(s *ClassificationSettings) { s.Inducing.Count, s.Repeats, s.Alpha = 25, 3, 0.001 }
	t.Run("secure", func(t *testing.T) {
		out := trialtest.Compute(t, trialtest.Options{Secure: true}, classification(), failing)
		if out.Metrics.AccuracyWithoutNoise != nil {
			t.Error("the record has the accuracy without noise")
		}
		if warnings := strings.Join(out.Warnings, "\n"); strings.Contains(warnings, "without_noise") ||
			strings.Contains(warnings, "pivot") {
			t.Errorf("warnings %q", out.Warnings)
		}
	})
	t.Run("seeded", func(t *testing.T) {
		out := trialtest.Compute(t, trialtest.Options{}, classification(), failing)
		if out.Metrics.AccuracyWithoutNoise != nil ||
			!strings.Contains(strings.Join(out.Warnings, "\n"), "accuracy_without_noise is left out") {
			t.Errorf("%+v, warnings %q", out.Metrics, out.Warnings)
		}
	})
}

func TestClassificationWorkers(t *testing.T) {
	text := func(workers int) string {
		o := trialtest.Options{Seed: 2, Workers: workers}
		out := trialtest.Compute(t, o, classification(), func(s *ClassificationSettings) {
			s.N, s.Repeats, s.Classes, s.Rho = 200, 3, 4, 1e-9 // no noise is refused
		})
		return fmt.Sprint(experiment.MetricValues(out.Metrics), out.Series)
	}
	if one, four := text(1), text(4); one != four {
		t.Errorf("1 worker: %s\n4 workers: %s", one, four)
	}
}
