package regress

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
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
	t.Run("posterior and draws", func(t *testing.T) {
		r := compute(t, func(*curveSettings) {})
		curve, samples := r.Series["curve"], r.Series["samples"]
		if len(samples) != sampledCurves+1 || r.Metrics.PosteriorSD != curve["posterior_sd_cm"][3] {
			t.Fatalf("%d draws, %+v", len(samples)-1, r.Metrics)
		}
		// Far from all data the posterior is the prior, with the heights' standard deviation.
		far := compute(t, func(s *curveSettings) {
			s.Ages, s.AtAge, s.Lengthscale = []float64{0, 1e4}, 1e4, method.LengthscalesOf(1)
		})
		heights := far.Series["data"]["height_cm"]
		trialtest.Near(t, "prior", far.Metrics.PosteriorSD, stat.PopStdDev(heights, nil), 1e-9)
		for i, mean := range curve["mean_cm"] {
			if off := math.Abs(samples["draw_0"][i] - mean); off == 0 || off > 6*curve["noise_sd_cm"][i] {
				t.Errorf("a draw that is off by %g with noise of %g", off, curve["noise_sd_cm"][i])
			}
		}
	})
	t.Run("smallest density", func(t *testing.T) {
		at := func(window float64) float64 {
			r := compute(t, func(s *curveSettings) { s.Method, s.Window = cloak.Nonstationary, window })
			return *r.Metrics.Lengthscale
		}
		if none, wide := at(0), at(20); wide <= none {
			t.Errorf("a lengthscale of %g within 20 years, %g without a window", wide, none)
		}
	})
	t.Run("weighted sum", func(t *testing.T) {
		at := func(rows float64) float64 {
			r := compute(t, func(s *curveSettings) { s.Method, s.Rows = cloak.WeightedSum, rows })
			for _, w := range r.Series["curve"]["weight_short"] {
				if w < 0 || w > 1 {
					t.Errorf("a weight of %g", w)
				}
			}
			return *r.Metrics.DenseShare
		}
		// All rows are of the dense regime, or none.
		trialtest.Near(t, "share of the dense regime", at(1e-9), 1, 0)
		trialtest.Near(t, "share of the dense regime", at(1e9), 0, 0)
		if share := at(350); share <= 0 || share >= 1 {
			t.Errorf("share of the dense regime: %g", share)
		}
		// With all rows in the dense regime it is the standard method.
		standard := compute(t, func(*curveSettings) {}).Series["curve"]
		dense := compute(t, func(s *curveSettings) { s.Method, s.Rows = cloak.WeightedSum, 1e-12 }).Series["curve"]
		for i, want := range standard["mean_cm"] {
			trialtest.Near(t, "mean", dense["mean_cm"][i], want, 1e-6)
			trialtest.Near(t, "posterior", dense["posterior_sd_cm"][i], standard["posterior_sd_cm"][i], 1e-6)
		}
		if dense["lengthscale_years"] != nil || standard["weight_short"] != nil {
			t.Error("series of another method")
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
