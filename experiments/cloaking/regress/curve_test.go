package regress

import (
	"math"
	"slices"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

func TestCurve(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	compute := func(t *testing.T, change func(*curveSettings)) *experiment.Outcome[curveMetrics] {
		return trialtest.Compute(t, census, Curve(), func(s *curveSettings) {
			s.Ages, s.AtAge = sevenAges, 30
		}, change)
	}
	t.Run("metrics are of the series", func(t *testing.T) {
		r := compute(t, func(*curveSettings) {})
		s, m := r.Series["curve"], r.Metrics
		if m.NoiseSD != s["noise_sd_cm"][3] || m.Mean != s["mean_cm"][3] || m.NoiseSDMax != slices.Max(s["noise_sd_cm"]) {
			t.Errorf("metrics %+v do not agree with the series %v", m, s)
		}
	})
	t.Run("without noise", func(t *testing.T) {
		clean := compute(t, func(s *curveSettings) { s.Epsilon = math.Inf(1) })
		if slices.Max(clean.Series["curve"]["noise_sd_cm"]) != 0 {
			t.Error("noise without privacy")
		}
	})
	t.Run("nonstationary", func(t *testing.T) {
		r := compute(t, func(s *curveSettings) { s.Method, s.Inputs = cloak.Nonstationary, cloak.AgeAndWeight })
		if len(r.Series["curve"]["lengthscale_years"]) != 7 {
			t.Error("the nonstationary curve has no lengthscales")
		}
	})
}

func TestWhatCurveRefuses(t *testing.T) {
	refusals{
		{map[string]any{"ages": "0..60 step 10", "at_age": 31}, "not one of the ages"},
		{map[string]any{"ages": "0..110 step 0.01"}, "at most 2000"},
	}.check(t, Curve().Experiment)
}
