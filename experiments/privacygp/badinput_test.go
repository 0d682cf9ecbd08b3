package privacygp

import (
	"context"
	"math"
	"strings"
	"testing"
)

func TestRefusedParameters(t *testing.T) {
	tests := []struct {
		experiment string
		params     map[string]any
		want       string
	}{
		{"example1", map[string]any{"xi": 1}, "below the prior variance"},
		{"example1", map[string]any{"xi": 1.5}, "below the prior variance"},
		{"example1", map[string]any{"xi": -.1}, "outside [0, inf)"},
		{"example1", map[string]any{"xi": math.NaN()}, "NaN"},
		{"example1", map[string]any{"s": "inf"}, "not finite"},
		{"example1", map[string]any{"theta": 0}, "outside (0, inf)"},
		{"example1", map[string]any{"points": 0}, "outside [1, 1000]"},
		{"example1", map[string]any{"point": 9}, `did you mean "points"`},
		{"example2", map[string]any{"xi2": 1}, "xi2"},
		{"example2", map[string]any{"s2": .4}, "same input"},
		{"example2", map[string]any{"c": .17}, "need c in (0.17032, 0.5]"},
		{"example2", map[string]any{"c": .51}, "need c in (0.17032, 0.5]"},
		{"example2", map[string]any{"c": -.4, "xi1": .3, "xi2": .3}, "inadmissible"},
		{"example2", map[string]any{"s1": .5, "s2": .52, "xi2": .2}, "no Xi with the diagonal (0.5, 0.2) is admissible"},
		{"example1", map[string]any{"points": 1e12}, "outside [1, 1000]"},
		{"example1", map[string]any{"points": 2.5}, "not a whole number"},
		{"example1", map[string]any{"noise_variance": -1}, "outside [0, inf)"},
		{"example2", map[string]any{"s1": math.NaN()}, "NaN"},
		{"weak", map[string]any{"points": 501}, "outside [1, 500]"},
		{"weak", map[string]any{"sensitive_count": 61}, "outside [1, 60]"},
		{"weak", map[string]any{"xi": 1}, "below the prior variance"},
		{"weak", map[string]any{"sensitive_low": .5, "sensitive_high": .5}, "not below"},
		{"weak", map[string]any{"sensitive_low": .5, "sensitive_high": .5 + 1e-12}, "coincide"},
		{"weak", map[string]any{"sensitive_low": -1e308, "sensitive_high": 1e308}, "too far apart"},
		{"kernel-condition", map[string]any{"d": 0}, "outside [1, 7]"},
		{"uniform", map[string]any{"theta": 2.5}, "on the boundary"},
		{"uniform", map[string]any{"theta": 2.5 + 1e-12}, "on the boundary"}, // to rounding
		{"uniform", map[string]any{"theta": 2.4}, "inadmissible"},
		{"uniform", map[string]any{"theta": 11}, "inadmissible"},
		{"uniform", map[string]any{"c": 1, "theta": 10}, "inadmissible"},
		{"satellite", map[string]any{"alpha": 0}, "outside (0, 1)"},
		{"satellite", map[string]any{"alpha": 1}, "outside (0, 1)"},
		{"satellite", map[string]any{"quantity": "radios"}, `did you mean "radius"`},
		{"satellite", map[string]any{"segment_start": 2, "segment_end": 1}, "not before segment_end = 1"},
		{"satellite", map[string]any{"segment_start": 1, "segment_end": 1}, "not before segment_end = 1"},
		{"satellite", map[string]any{"segment_start": -.5}, "outside [0, 3]"},
		{"satellite", map[string]any{"segment_end": 3.5}, "outside [0, 3]"},
		{"satellite", map[string]any{"segment_end": math.Inf(1)}, "not finite"},
		{"satellite", map[string]any{"alpha": -.5}, "outside (0, 1)"},
		{"satellite", map[string]any{"alpha": "nan"}, "NaN"},
		{"satellite", map[string]any{"points": 1}, "outside [2, 1000]"},
		{"satellite", map[string]any{"points": 1e12}, "outside [2, 1000]"},
		{"satellite", map[string]any{"eccentricity": -.1}, "outside [0, 0.95]"},
		{"satellite", map[string]any{"eccentricity": 1.5, "orbit": leoJ2}, "outside [0, 0.95]"},
		{"satellite", map[string]any{"segment_start": 1.01, "segment_end": 1.02}, "no datum"},
		{"satellite", map[string]any{"orbit": twoBody}, "constant"},
		{"satellite", map[string]any{"eccentricity": 1}, "outside [0, 0.95]"},
	}
	for _, tt := range tests {
		e, err := registry.Lookup("privacygp/" + tt.experiment)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Resolve(tt.params); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %v: error %v, want one with %q", tt.experiment, tt.params, err, tt.want)
		}
	}
}

// TestRefusedTrials has what only the computation finds.
func TestRefusedTrials(t *testing.T) {
	tests := []struct {
		name       string
		experiment string
		params     map[string]any
		want       []string
	}{
		{"too large in scale", "example1", map[string]any{"noise_variance": 1e308}, []string{"not finite"}},
		{"oscillates too fast", "uniform", map[string]any{"theta": 5e13, "theta0": 1e14}, []string{"has not converged", "smaller theta0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, trial := trial(t, tt.experiment, tt.params)
			_, err := e.Run(context.Background(), trial)
			for _, w := range tt.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("error %v, want one with %q", err, w)
				}
			}
		})
	}
	e, trial := trial(t, "example1", nil)
	trial.Backend = "abacus"
	if _, err := e.Run(context.Background(), trial); err == nil {
		t.Error("ran on an unknown backend")
	}
}

// TestSensitiveTrainingInput: with V = 0 the problem is well posed (it is the
// paper's own example), and the record says what is released exactly.
func TestSensitiveTrainingInput(t *testing.T) {
	for _, tt := range []struct {
		params map[string]any
		warns  bool
	}{
		{nil, true},
		{map[string]any{"s": .55}, false},
		{map[string]any{"noise_variance": .1}, false},
	} {
		r := run(t, "example1", tt.params)
		warns := strings.Contains(strings.Join(r.Warnings, "\n"), "a training input is sensitive: 0.5")
		if warns != tt.warns {
			t.Errorf("%v: warnings %q", tt.params, r.Warnings)
		}
	}
}

func TestPrivacyBlock(t *testing.T) {
	for name, params := range map[string]map[string]any{
		"example1": nil, "example2": nil, "weak": nil, "uniform": nil, "satellite": nil,
	} {
		p := run(t, name, params).Privacy
		if p == nil {
			t.Errorf("%s: no privacy block", name)
			continue
		}
		if !strings.HasPrefix(p.Statement(), "no guarantee: a bound on the predictive variance") || p.Guarantee != "" {
			t.Errorf("%s: %q, %q", name, p.Guarantee, p.Statement())
		}
		notes := strings.Join(p.Notes, "\n")
		for _, want := range []string{"holds for a user with this prior: ", "not differential privacy",
			"under this Gaussian process prior only"} {
			if !strings.Contains(notes, want) {
				t.Errorf("%s: notes %q lack %q", name, notes, want)
			}
		}
		for note, want := range map[string]bool{"this record itself is not private": name == "satellite", "holds no outputs": name != "satellite"} {
			if strings.Contains(notes, note) != want {
				t.Errorf("%s: notes %q; with %q: want %v", name, notes, note, want)
			}
		}
		if exact := strings.Contains(notes, "released without any noise"); exact != (name != "uniform") { // its Σ has full rank
			t.Errorf("%s: notes %q", name, notes)
		}
	}
}

func TestFloat32SaysSo(t *testing.T) {
	e, trial := trial(t, "example1", nil)
	trial.DType = "float32"
	r, err := e.Run(context.Background(), trial)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Metrics["trace_optimal"]; math.Abs(got-3.545614) > 1e-5 {
		t.Errorf("trace_optimal = %g in float32", got)
	}
	if r.Metrics["rank_optimal"] != 1 {
		t.Errorf("rank_optimal = %g in float32", r.Metrics["rank_optimal"])
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "float32") {
		t.Errorf("warnings %q do not mention float32", r.Warnings)
	}
}

// TestIllConditionedIsSuspect: a warning, and a certified result nevertheless.
func TestIllConditionedIsSuspect(t *testing.T) {
	r := run(t, "weak", map[string]any{"points": 40})
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "computed but suspect") {
		t.Errorf("warnings %q with condition number %g", r.Warnings, r.Metrics["condition"])
	}
	if r.Metrics["gap_weak"] > 1e-7 {
		t.Errorf("gap = %g", r.Metrics["gap_weak"])
	}
}
