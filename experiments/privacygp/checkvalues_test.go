package privacygp

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestCheckValues compares with values of an independent implementation in
// Python (closed forms with 50 digits, SDPs with CSDP and by reduction).
func TestCheckValues(t *testing.T) {
	const (
		closed = 1e-9 // relative, closed forms
		sdp    = 1e-7 // absolute, SDP traces
	)
	type want struct {
		metric   string
		value    float64
		absolute float64 // 0: closed, relative
	}
	tests := []struct {
		experiment string
		params     map[string]any
		want       []want
	}{
		{"example1", nil, []want{
			{"trace_optimal", 3.54561408598846448, 0},
			{"rank_optimal", 1, 0},
			{"trace_diagonal", 20.07291979115428, sdp},
			{"gap_diagonal", 0, sdp},
			{"variance_at_s_unsecured", 0, 1e-9},
			{"variance_at_s_optimal", .5, 0},
			{"variance_at_s_diagonal", .5, sdp},
			{"variance_at_0_unsecured", .0032919, 5e-8},
			{"variance_at_0_optimal", .0040167, 5e-8},
			{"variance_at_0_diagonal", .1510167, 5e-8},
		}},
		{"example2", nil, []want{
			{"trace_weak", 5.32992032064701812, sdp},
			{"gap_weak", 0, sdp},
			{"c_best", .391499411161944569, 1e-9},
			{"trace_strong", 5.5883, 5e-5},
			{"variance_at_s1_weak", .5, sdp},
			{"variance_at_s2_weak", .5, sdp},
			{"variance_at_s1_strong", .5, 0},
			{"variance_at_s2_strong", .5, 0},
		}},
		{"example2", map[string]any{"c": .3}, []want{{"trace_strong", 6.411, 5e-4}}},
		{"example2", map[string]any{"c": .5}, []want{{"trace_strong", 6.1367, 5e-5}}},
		{"weak", nil, []want{{"trace_weak", 5.32992032064701812, sdp}, {"gap_weak", 0, sdp}}},
		{"uniform", nil, []want{{"g0", 2.2922618573733504, 0}, {"trace_uniform", 11.630356716360147, 0}}},
		{"satellite", map[string]any{"alpha": .1}, []want{
			{"mean", 1.05256804, 1e-8}, {"variance", 7.88582e-8, 5e-13}, {"condition", 68.6, .05},
			{"trace_over_variance", 2.3548747638, 0}, {"sensitive_points", 21, 0},
		}},
		{"satellite", map[string]any{"alpha": .5}, []want{{"trace_over_variance", 21.6170754186, 0}}},
		{"satellite", map[string]any{"alpha": .9}, []want{{"trace_over_variance", 197.6252292, 0}}},
		// Erratum 1: the text's 0.1 is 0.9.
		{"satellite", map[string]any{"alpha": .1, "variant": asPublished}, []want{{"trace_over_variance", 197.6252292, 0}}},
		// The trace over the variance needs no orbit.
		{"satellite", map[string]any{"alpha": .9, "quantity": "angle"}, []want{{"trace_over_variance", 197.6252292, 0}}},
		{"satellite", map[string]any{"alpha": .1, "orbit": twoBody, "eccentricity": .2}, []want{{"trace_over_variance", 2.3548747638, 0}}},
	}
	for _, tt := range tests {
		r := run(t, tt.experiment, tt.params)
		for _, w := range tt.want {
			tolerance := w.absolute
			if tolerance == 0 {
				tolerance = closed * math.Abs(w.value)
			}
			got, ok := r.Metrics[w.metric]
			if !ok || math.Abs(got-w.value) > tolerance {
				t.Errorf("%s %v: %s = %.15g, want %.15g ± %.0e", tt.experiment, tt.params, w.metric, got, w.value, tolerance)
			}
		}
	}
}

// TestWeakCertificates has the sizes of the weak problem that are hard: more
// sensitive inputs than data, and kernel matrices singular in floating point.
func TestWeakCertificates(t *testing.T) {
	for _, params := range []map[string]any{
		{"points": 9, "sensitive_low": .2, "sensitive_high": .8, "sensitive_count": 10},
		{"points": 61, "sensitive_low": .2, "sensitive_high": .8, "sensitive_count": 10},
		{"points": 20, "sensitive_low": -.5, "sensitive_high": 1.5, "sensitive_count": 7, "xi": .9, "noise_variance": .3},
		{"points": 1, "sensitive_low": .5, "sensitive_high": .5, "sensitive_count": 1},
	} {
		r := run(t, "weak", params)
		m := r.Metrics
		if m["gap_weak"] > 1e-7 || m["lower_bound"] > m["trace_weak"]+1e-9 {
			t.Errorf("%v: trace %.12f, lower bound %.12f, gap %g", params, m["trace_weak"], m["lower_bound"], m["gap_weak"])
		}
		if m["max_violation"] > 1e-12 {
			t.Errorf("%v: a constraint is violated by %g", params, m["max_violation"])
		}
	}
}

// TestToleranceIsMet: whatever the settings, the released process keeps the
// predictive variance at the sensitive input at the tolerance or above.
func TestToleranceIsMet(t *testing.T) {
	for _, s := range []float64{-.2, 0, .31, .5, .9} {
		for _, xi := range []float64{0, .05, .5, .95} {
			for _, v := range []float64{0, .2} {
				m := run(t, "example1", map[string]any{"s": s, "xi": xi, "noise_variance": v, "points": 6}).Metrics
				for _, method := range []string{"optimal", "diagonal"} {
					if got := m["variance_at_s_"+method]; got < xi-1e-9 {
						t.Errorf("s = %g, ξ = %g, V = %g: predictive variance %g with %s noise", s, xi, v, got, method)
					}
				}
				if m["trace_optimal"] > m["trace_diagonal"]+m["gap_diagonal"]+1e-9 {
					t.Errorf("s = %g, ξ = %g, V = %g: optimal trace %g above the diagonal one %g", s, xi, v, m["trace_optimal"], m["trace_diagonal"])
				}
			}
		}
	}
}

// TestTheorem2 has part 1 over the admissible c, and the counterexample to
// part 2.
func TestTheorem2(t *testing.T) {
	r := run(t, "example2", nil)
	trace := r.Series["trace"]
	if len(trace["x"]) < 100 {
		t.Fatalf("%d values of c", len(trace["x"]))
	}
	for i, strong := range trace["strong"] {
		if weak := r.Metrics["trace_weak"]; strong < weak-1e-9 {
			t.Errorf("c = %g: Tr Σ_strong = %g < Tr Σ_weak = %g", trace["x"][i], strong, weak)
		}
	}

	r = run(t, "example2", map[string]any{"s1": .5, "s2": .52, "xi1": .5, "xi2": .2, "c": noStrong})
	if got := r.Metrics["trace_weak"]; math.Abs(got-3.5456) > 5e-5 {
		t.Errorf("counterexample: trace_weak = %g, want 3.5456", got)
	}
	if r.Metrics["c_low"] <= r.Metrics["c_high"] {
		t.Errorf("counterexample: c may lie in (%g, %g]", r.Metrics["c_low"], r.Metrics["c_high"])
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "no admissible Xi") }) {
		t.Errorf("counterexample: warnings %q do not say that no Xi is admissible", r.Warnings)
	}
}
