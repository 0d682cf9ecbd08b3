package dpgp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// Eq. (21) at α_ε = 0.01.
func TestDirichlet(t *testing.T) {
	d := newDirichlet(0.01, centrePublished, nil)
	for i, want := range []struct{ y, w float64 }{
		{math.Log(0.01) - math.Log(101)/2, 1 / math.Log(101)},
		{math.Log(1.01) - math.Log(1/1.01+1)/2, 1 / math.Log(1/1.01+1)},
	} {
		if math.Abs(d.y[i]-want.y) > 1e-12 || math.Abs(d.w[i]-want.w) > 1e-12 {
			t.Errorf("label %d: %g, %g, want %g, %g", i, d.y[i], d.w[i], want.y, want.w)
		}
	}
	b := newDirichlet(0.01, centreBalanced, nil)
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
	published := newDirichlet(0.01, centrePublished, nil)
	balanced := newDirichlet(0.01, centreBalanced, nil)
	for _, ratio := range []float64{0.3, 1, 3} {
		for _, kk := range []float64{1.1, 2.37, 3.36} {
			for name, c := range map[string]struct {
				sensitivity func(dirichlet) float64
				costs       bool // balanced, more than nothing
			}{
				compositionJoint:     {func(d dirichlet) float64 { return d.jointSensitivity(3, ratio, kk) }, true},
				compositionSplit:     {func(d dirichlet) float64 { return d.classSensitivity(ratio, kk) }, true},
				compositionPublished: {func(d dirichlet) float64 { return d.publishedSensitivity(ratio, kk) }, false},
			} {
				t.Run(fmt.Sprintf("%s, ratio %g, %g", name, ratio, kk), func(t *testing.T) {
					least := newDirichlet(0.01, centreLeast, c.sensitivity)
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

// No substitution moves the sums by more than the sensitivity, and some come
// near: rows at will, of any two classes.
func TestClassSensitivityBoundsSubstitutions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, classes := range []int{2, 3, 6} {
		for _, centre := range []string{centrePublished, centreBalanced} {
			for _, ratio := range []float64{0.3, 1, 4} {
				d := newDirichlet(0.01, centre, nil)
				kk, joint, single := 2.0, 0.0, 0.0
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
						part := 0.0
						is := func(l int) int {
							if l == c {
								return 1
							}
							return 0
						}
						i, j := is(from), is(to)
						for r := range 2 {
							v := d.w[i]*d.y[i]*k[r] - d.w[j]*d.y[j]*other[r]
							part += v * v
							for q := range r + 1 {
								v := ratio * (d.w[i]*k[r]*k[q] - d.w[j]*other[r]*other[q])
								if q < r {
									v *= math.Sqrt2
								}
								part += v * v
							}
						}
						square += part
						single = max(single, math.Sqrt(part))
					}
					joint = max(joint, math.Sqrt(square))
				}
				for _, c := range []struct {
					name         string
					found, bound float64
				}{{"joint", joint, d.jointSensitivity(classes, ratio, kk)}, {"single", single, d.classSensitivity(ratio, kk)}} {
					if c.found > c.bound*(1+1e-12) || c.found < 0.99*c.bound {
						t.Errorf("%d classes, centre %s, ratio %g, %s: found %g, bound %g", classes, centre, ratio, c.name, c.found, c.bound)
					}
				}
				if paper := d.publishedSensitivity(ratio, kk); d.classSensitivity(ratio, kk) > paper {
					t.Errorf("centre %s, ratio %g: %g, above %g of Appendix D", centre, ratio, d.classSensitivity(ratio, kk), paper)
				}
			}
		}
	}
}

func TestClassification(t *testing.T) {
	e := classification()
	run := func(given map[string]any) *experiment.Result {
		given["repeats"] = 4
		return runPrepared(t, e, mustPrepare(t, e, 1, given))
	}
	exact := run(map[string]any{"epsilon": "inf"})
	if exact.Privacy != nil || exact.Metrics["accuracy"] != exact.Metrics["accuracy_without_noise"] {
		t.Errorf("without noise: %v, %v", exact.Metrics, exact.Privacy)
	}
	if got, best := exact.Metrics["accuracy"], exact.Metrics["accuracy_best"]; math.Abs(got-best) > 0.02 || best < 0.85 || exact.Metrics["accuracy_chance"] > 0.4 {
		t.Errorf("without noise %g, at best %g", got, best)
	}
	// Joint sums cost less than equal shares.
	joint, split := run(map[string]any{"epsilon": 0.3}), run(map[string]any{"epsilon": 0.3, "composition": compositionSplit})
	if j, s := joint.Metrics["accuracy"], split.Metrics["accuracy"]; !(s+0.03 < j && j < exact.Metrics["accuracy"]) {
		t.Errorf("joint %g, split %g, without noise %g", j, s, exact.Metrics["accuracy"])
	}
	if a, b := joint.Metrics["accuracy_without_noise"], exact.Metrics["accuracy"]; a != b {
		t.Errorf("without noise: %g, %g", a, b)
	}
	for _, c := range []struct{ composition, want string }{
		{compositionJoint, "(1, 0.0001)-DP"}, {compositionSplit, "(1, 0.0001)-DP"}, {compositionPublished, "(3, 0.0003)-DP"},
	} {
		r := run(map[string]any{"composition": c.composition, "centre": centreLeast})
		if s := r.Metrics["sensitivity"]; !(s < run(map[string]any{"composition": c.composition}).Metrics["sensitivity"]) {
			t.Errorf("%s: sensitivity %g with centre=least", c.composition, s)
		}
		if notes := strings.Join(r.Privacy.Notes, "\n"); !strings.Contains(notes, "is taken off the transformed labels") {
			t.Errorf("%s: no centre in %q", c.composition, notes)
		}
		if r.Privacy.Guarantee != c.want {
			t.Errorf("%s: %s, want %s", c.composition, r.Privacy.Guarantee, c.want)
		}
	}
}

func TestClassificationWorkers(t *testing.T) {
	e := classification()
	results := map[int]string{}
	for _, workers := range []int{1, 4} {
		trial := mustPrepare(t, e, 2, map[string]any{"n": 200, "repeats": 3, "classes": 4})
		trial.Workers = workers
		r := runPrepared(t, e, trial)
		results[workers] = fmt.Sprint(r.Metrics, r.Series)
	}
	if results[1] != results[4] {
		t.Errorf("1 worker: %s\n4 workers: %s", results[1], results[4])
	}
}

func TestClassificationRefuses(t *testing.T) {
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{map[string]any{"composition": compositionPublished, "delta": 0.5}, "guarantees nothing"},
		{map[string]any{"classes": 1}, "classes"},
		{map[string]any{"alpha": 1}, "alpha"},
		{map[string]any{"centre": "balanced "}, "did you mean"},
	} {
		if _, err := prepared(classification(), 0, c.given); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.given, err, c.want)
		}
	}
}
