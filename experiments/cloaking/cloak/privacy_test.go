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
	for _, steps := range []int{1, 2, 5} {
		t.Run(fmt.Sprintf("%d steps", steps), func(t *testing.T) {
			want, err := mechanism.AnalyticGaussian(1/float64(steps), 0.01/float64(steps))
			if err != nil {
				t.Fatal(err)
			}
			got, err := budget(1, 0.01).ReleaseFactor(steps)
			if err != nil || got < want {
				t.Errorf("%.17g, %v; want at least %.17g", got, err, want)
			}
			trialtest.Near(t, "factor", got, want, 1e-9*want)
		})
	}
	_, err := budget(1, 1e-310).ReleaseFactor(3)
	if err == nil || !strings.HasPrefix(err.Error(), "each of 3 Newton steps: ") {
		t.Errorf("a budget that steps make too small: %v", err)
	}
}

func TestBudgetInWords(t *testing.T) {
	b := budget(0.5, 1e-6)
	hall := &GaussianBudget{b.Budget, mechanism.Hall}
	if b.Guarantee() != "(0.5, 1e-06)-DP" || !strings.Contains(b.Source(), "Balle and Wang") ||
		!strings.Contains(hall.Source(), "Hall, Rinaldo and Wasserman") {
		t.Errorf("%q, %q, %q", b.Guarantee(), b.Source(), hall.Source())
	}
	if got := b.Suspicions(1000); got != nil {
		t.Errorf("delta far below 1/n: %q", got)
	}
	if got := b.Suspicions(1e6); len(got) != 1 {
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
