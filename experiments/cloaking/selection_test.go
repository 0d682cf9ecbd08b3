package cloaking

import (
	"math"
	"testing"

	"privkern/experiments/cloaking/choose"
	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/cloaking/regress"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Errors and noise equal those of a regression in its folds: with the noise scaled where a descent
// ended early, and with the effect of a smaller rank.
func TestSelectionIsTheRegression(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	rank := experiment.NumberOr[cloak.Full, int]
	for _, c := range []struct {
		name   string
		change func(*mechanism.Budget, *cloak.Solver)
	}{
		{"defaults", func(*mechanism.Budget, *cloak.Solver) {}},
		{"no noise", func(b *mechanism.Budget, _ *cloak.Solver) { b.Epsilon = math.Inf(1) }},
		{"rank", func(_ *mechanism.Budget, s *cloak.Solver) { s.Rank = rank(2) }},
		{"gradient", func(_ *mechanism.Budget, s *cloak.Solver) {
			s.Rank, s.Algorithm, s.Steps = rank(6), cloak.Gradient, 5
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := regress.Regression().Defaults()
			r.Folds.Folds, r.Normalisation, r.Draws = 7, cloak.Public, 1
			r.Lengthscale, r.NoiseVariance, r.KernelVariance = method.LengthscalesOf(9), 3, 2
			c.change(&r.Budget, &r.Solver)
			s := choose.Selection().Defaults()
			s.Folds.Folds, s.Normalisation, s.Split = 7, cloak.Public, choose.All
			s.Lengthscales, s.NoiseVariances, s.KernelVariances = []float64{9}, []float64{3}, []float64{2}
			c.change(&s.Budget, &s.Solver)
			regression, err := regress.Regression().Compute(t.Context(), trialtest.New(t, census), r)
			if err != nil {
				t.Fatal(err)
			}
			selection, err := choose.Selection().Compute(t.Context(), trialtest.New(t, census), s)
			if err != nil {
				t.Fatal(err)
			}
			sse := selection.Series["configurations"]["sse_over_d2"][0]
			noise := selection.Series["configurations"]["noise_over_d2"][0]
			variance := *regression.Metrics.NoiseSDHeights * *regression.Metrics.NoiseSDHeights
			trialtest.Near(t, "variance of the noise", noise*1e4/287, variance, 1e-6*variance)
			square := 0.0
			for i, mean := range regression.Series["predictions"]["mean_cm"] {
				miss := mean - regression.Series["predictions"]["height_cm"][i]
				square += miss * miss
			}
			trialtest.Near(t, "sum of squared errors", sse-noise, square/1e4, 1e-9)
		})
	}
}
