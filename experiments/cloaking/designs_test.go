package cloaking

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Certified designs for the census' ages. The first two rows are values of an
// independent implementation; log|M| of the third was computed with 40 digits
// (mpmath), where double precision loses six of them.
func TestDesignOfTheCensus(t *testing.T) {
	census := setup{folder: realCensus(t)}
	for _, c := range []struct {
		lengthscale, noise       float64
		logdet, trace, frobenius float64
		tolerance                float64
	}{
		{5, 1, -71.1883863156, .189931814, .923471575, 1e-8},
		{15, 2, -150.4284717, .080303372, .576402759, 1e-6},
		{25, 0.3, -222.14738048814, .1445412, .6311895848, 2e-5},
	} {
		m := runTrial(t, census, designs(), map[string]any{"lengthscale": c.lengthscale, "noise_variance": c.noise}).Metrics
		near(t, "logdet_m", m["logdet_m"], c.logdet, c.tolerance)
		near(t, "trace_m", m["trace_m"], c.trace, 1e-6)
		near(t, "frobenius_c", m["frobenius_c"], c.frobenius, 1e-9)
		near(t, "sum_lambda", m["sum_lambda"], 13, 1e-9)
		near(t, "max_mahalanobis", m["max_mahalanobis"], 1, 1e-8)
		if m["rank"] != 13 || m["gap"] > 1e-8 || m["iterations"] > 17 {
			t.Errorf("rank %g, gap %g, %g steps", m["rank"], m["gap"], m["iterations"])
		}
	}
}

// The synthetic design needs no data, and adds less noise in total than
// spherical noise of the needed size.
func TestDesignSynthetic(t *testing.T) {
	if sets := designs().Datasets(map[string]any{"inputs": "synthetic"}); sets != nil {
		t.Errorf("it asks for %v", sets)
	}
	r := runTrial(t, setup{}, designs(), map[string]any{"inputs": "synthetic"})
	m := r.Metrics
	if m["gap"] > 1e-8 || m["rank"] != 13 {
		t.Errorf("gap %g, rank %g", m["gap"], m["rank"])
	}
	if !(m["trace_m"] < 13*m["max_column_norm_sq"]) {
		t.Errorf("trace %g against %g for spherical noise", m["trace_m"], 13*m["max_column_norm_sq"])
	}
	// The diagonal of M in the series adds up to its trace.
	sum := 0.0
	for _, sd := range r.Series["noise_over_age"]["noise_sd"] {
		sum += sd * sd
	}
	near(t, "sum of the noise variances", sum, m["trace_m"], 1e-9)
	weights := r.Series["weights_over_age"]["lambda"]
	total := 0.0
	for _, w := range weights {
		total += w
	}
	near(t, "sum of the weights", total, 13, 1e-9)
}

// Inducing inputs bound the rank, and what is left out is said.
func TestDesignSparse(t *testing.T) {
	given := map[string]any{"inputs": "synthetic", "method": "sparse"}
	for _, points := range []any{5, "5,20,35,50,65"} {
		r := runTrial(t, setup{}, designs(), with(given, "inducing_points", points))
		if r.Metrics["rank"] != 5 || !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "rank 5 of 13") }) {
			t.Errorf("%v: rank %g, warnings %q", points, r.Metrics["rank"], r.Warnings)
		}
	}
}

func TestDesignRank(t *testing.T) {
	given := map[string]any{"inputs": "synthetic"}
	last := math.Inf(1)
	for _, rank := range []any{"full", 9, 5, 1} {
		m := runTrial(t, setup{}, designs(), with(given, "rank", rank)).Metrics
		if !(m["trace_m"] < last) {
			t.Errorf("rank %v: trace %g, not below %g", rank, m["trace_m"], last)
		}
		last = m["trace_m"]
	}
}

// The paper's descent gets near the same design; its covariance satisfies the
// bound after scaling.
func TestDesignByGradientDescent(t *testing.T) {
	given := map[string]any{"inputs": "synthetic", "lengthscale": 5}
	best := runTrial(t, setup{}, designs(), given).Metrics
	for _, start := range []any{"uniform", 0.7} {
		r := runTrial(t, setup{}, designs(), with(given, "solver", "gradient", "iterations", 3000, "start", start))
		m := r.Metrics
		feasible := m["logdet_m"] + 2*13*math.Log(m["max_mahalanobis"])
		if excess := feasible - best["logdet_m"]; excess > m["gap"]+1e-9 || excess < -1e-8 || m["gap"] > 0.05 {
			t.Errorf("start %v: %g above the optimum with a gap of %g", start, excess, m["gap"])
		}
		if len(r.Warnings) == 0 {
			t.Error("a gap above 1e-6 goes without a warning")
		}
	}
	if _, err := tryTrial(setup{}, designs(), with(given, "solver", "gradient", "learning_rate", 1e6)); err == nil || !strings.Contains(err.Error(), "learning_rate") {
		t.Errorf("a hopeless learning rate: %v", err)
	}
}

func TestDesignRefusals(t *testing.T) {
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{map[string]any{"rank": 14}, "only 13 test_points"},
		{map[string]any{"rank": 0}, "rank"},
		{map[string]any{"inputs": "synthetic", "method": "sparse", "inducing_points": 121}, "only 120 training rows"},
		{map[string]any{"method": "sparse", "inducing_points": 288}, "only 287 training rows"},
		{map[string]any{"test_points": "0,inf"}, "test_points"},
		{map[string]any{"test_points": ""}, "test_points"},
		{map[string]any{"test_points": "0..84 step 0.01"}, "at most 2000"},
		{map[string]any{"method": "sparse", "inducing_points": "5,20,5"}, "5 is given twice"},
		{map[string]any{"rank": 1e15}, "rank"},
		{map[string]any{"kernel_variance": -1}, "kernel_variance"},
	} {
		if _, err := designs().Resolve(c.given); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v; want %q", c.given, err, c.want)
		}
	}
	// Equal test points leave fewer directions than points.
	if _, err := tryTrial(setup{}, designs(), map[string]any{"inputs": "synthetic", "test_points": "5,5,9", "rank": 3}); err == nil || !strings.Contains(err.Error(), "numerical rank 2") {
		t.Errorf("rank 3 of two different points: %v", err)
	}
}

// Between the certificate that is aimed at and one that is useless.
func TestDesignWarnings(t *testing.T) {
	for _, c := range []struct {
		gap, norm float64
		want      int
	}{{1e-8, 1, 0}, {1e-7, 1, 1}, {0, 0.9, 1}, {2.2, 1.5, 2}} {
		fine := quality{norm: 1}
		if got := designWarnings([]quality{fine, {gap: c.gap, norm: c.norm}, fine}); len(got) != c.want {
			t.Errorf("gap %g, norm %g: %q, want %d warnings", c.gap, c.norm, got, c.want)
		}
	}
}

func TestCurve(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	given := map[string]any{"ages": "0..60 step 10", "at_age": 30}
	r := runTrial(t, census, curve(), given)
	s := r.Series["curve"]
	if r.Metrics["noise_sd_cm"] != s["noise_sd_cm"][3] || r.Metrics["mean_cm"] != s["mean_cm"][3] || r.Metrics["noise_sd_max_cm"] != slices.Max(s["noise_sd_cm"]) {
		t.Errorf("metrics %v do not agree with the series %v", r.Metrics, s)
	}
	if clean := runTrial(t, census, curve(), with(given, "epsilon", "inf")); slices.Max(clean.Series["curve"]["noise_sd_cm"]) != 0 {
		t.Error("noise without privacy")
	}
	if ns := runTrial(t, census, curve(), with(given, "method", "nonstationary", "inputs", "age+weight")); len(ns.Series["curve"]["lengthscale_years"]) != 7 {
		t.Error("the nonstationary curve has no lengthscales")
	}
	if _, err := curve().Resolve(with(given, "at_age", 31)); err == nil || !strings.Contains(err.Error(), "not one of the ages") {
		t.Errorf("at_age outside the ages: %v", err)
	}
	if _, err := curve().Resolve(map[string]any{"ages": "0..110 step 0.01"}); err == nil || !strings.Contains(err.Error(), "at most 2000") {
		t.Errorf("11001 ages: %v", err)
	}
}
