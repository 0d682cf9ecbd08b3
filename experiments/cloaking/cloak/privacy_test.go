package cloak

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// budget is one of noise that is calibrated exactly.
func budget(epsilon, delta float64) *GaussianBudget {
	return &GaussianBudget{mechanism.Budget{Epsilon: epsilon, Delta: delta}, mechanism.Analytic}
}

// The ratio of a trial's noise to the sensitivity is that of its calibration; the one
// of a release is a little larger, and steps share the budget.
func TestBudgetFactors(t *testing.T) {
	if factor, err := budget(math.Inf(1), 0.01).Factor(); factor != 0 || err != nil {
		t.Errorf("without noise %g, %v", factor, err)
	}
	if _, err := (&GaussianBudget{mechanism.Budget{Epsilon: 2, Delta: 0.01}, mechanism.Hall}).Factor(); err == nil ||
		!strings.Contains(err.Error(), "calibration=analytic") {
		t.Errorf("Hall's calibration at epsilon 2: %v", err)
	}
	for _, steps := range []Steps{{1, Basic}, {2, Basic}, {5, Basic}, {1, Gaussian}, {2, Gaussian}, {5, Gaussian}} {
		t.Run(fmt.Sprint(steps), func(t *testing.T) {
			n, each := float64(steps.Number), 1.0
			if steps.Composition == Gaussian {
				n, each = 1, math.Sqrt(n)
			}
			want, err := mechanism.AnalyticGaussian(1/n, 0.01/n)
			if err != nil {
				t.Fatal(err)
			}
			want *= each
			for name, of := range map[string]func(Steps) (float64, error){
				"release": budget(1, 0.01).ReleaseFactor, "trial": budget(1, 0.01).StepFactor,
			} {
				got, err := of(steps)
				if err != nil || got < want {
					t.Errorf("%s: %.17g, %v; want at least %.17g", name, got, err, want)
				}
				trialtest.Near(t, name, got, want, 1e-9*want)
			}
		})
	}
	_, err := budget(1, 1e-310).ReleaseFactor(Steps{3, Basic})
	if err == nil || !strings.HasPrefix(err.Error(), "each of 3 Newton steps: ") {
		t.Errorf("a budget that steps make too small: %v", err)
	}
}

// Steps that compose exactly have the guarantee of one query: the sum of the squares of their μ is
// that of the budget, and is not exceeded. Basic composition needs more noise, by the factors of the table at
// (1, 1e-6).
func TestStepsCompose(t *testing.T) {
	b := budget(1, 1e-6)
	mu, err := mechanism.GDPFor(b.Epsilon, b.Delta)
	if err != nil {
		t.Fatal(err)
	}
	for steps, less := range map[int]float64{2: 1.397, 5: 2.193, 10: 3.094} {
		factor, err := b.ReleaseFactor(Steps{steps, Gaussian})
		if err != nil {
			t.Fatal(err)
		}
		total := math.Sqrt(float64(steps)) / factor
		if total > float64(mu) || total < (1-1e-9)*float64(mu) {
			t.Errorf("%d steps have μ = %.17g, and the budget %.17g", steps, total, float64(mu))
		}
		basic, err := b.ReleaseFactor(Steps{steps, Basic})
		if err != nil {
			t.Fatal(err)
		}
		trialtest.Near(t, fmt.Sprintf("less noise in %d steps", steps), basic/factor, less, 0.0005)
	}
}

func TestSourceAndSuspicions(t *testing.T) {
	b := budget(0.5, 1e-6)
	hall := &GaussianBudget{b.Budget, mechanism.Hall}
	if !strings.Contains(b.Source(), "Balle and Wang") ||
		!strings.Contains(hall.Source(), "Hall, Rinaldo and Wasserman") {
		t.Errorf("%q, %q", b.Source(), hall.Source())
	}
	if got := b.Suspicions(1000, "rows"); got != nil {
		t.Errorf("delta far below 1/n: %q", got)
	}
	if got := b.Suspicions(1e6, "rows"); len(got) != 1 {
		t.Errorf("delta of 1/n: %q", got)
	}
}

func TestSolverRank(t *testing.T) {
	full, three := Solver{Rank: trialtest.WordOr[int](FullRank)}, Solver{Rank: experiment.NumberOr[Full](3)}
	if full.Directions() >= 1 || three.Directions() != 3 {
		t.Errorf("directions %d and %d", full.Directions(), three.Directions())
	}
	for _, c := range []struct {
		name    string
		b       *GaussianBudget
		s       *Solver
		refused bool
	}{
		{"all directions", budget(1, 0.01), &full, false},
		{"three", budget(1, 0.01), &three, false},
		{"all without noise", budget(math.Inf(1), 0.01), &full, false},
		{"three without noise", budget(math.Inf(1), 0.01), &three, true},
		{"delta of none", budget(1, 0), &full, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := CheckNoise(c.b, c.s); (err != nil) != c.refused {
				t.Error(err)
			}
		})
	}
}
