package privacygp

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
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
		{"strong", map[string]any{"theta_h": 11}, "needs xi < 1 and theta_h in [2.5, 10]"},
		{"strong", map[string]any{"xi": 1, "requirement": "weak"}, "below the prior variance"},
		{"strong", map[string]any{"sensitive_low": .7}, "not below"},
		{"strong", map[string]any{"points": 501}, "outside [1, 500]"},
		{"nested", map[string]any{"low": 2}, "not below"},
		{"nested", map[string]any{"theta": 2.5}, "on the boundary"},
		{"nested", map[string]any{"levels": 10}, "outside [1, 9]"},
		{"scaling", map[string]any{"points": 61, "method": "general"}, "at most 60 points"},
		{"scaling", map[string]any{"points": 501, "method": "weak"}, "at most 500 points"},
		{"scaling", map[string]any{"points": 1}, "there must be 2"},
		{"scaling", map[string]any{"xi": 1}, "below the prior variance"},
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
		{"satellite", map[string]any{"eccentricity": 1.5, "orbit": "leo-j2"}, "outside [0, 0.95]"},
		{"satellite", map[string]any{"segment_start": 1.01, "segment_end": 1.02}, "no datum"},
		{"satellite", map[string]any{"orbit": "two-body"}, "constant"},
		{"satellite", map[string]any{"eccentricity": 1}, "outside [0, 0.95]"},
	}
	registry := experiment.NewRegistry(Paper().Experiments...)
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.experiment, tt.params), func(t *testing.T) {
			e, err := registry.Lookup("privacygp/" + tt.experiment)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Resolve(tt.params); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// TestRefusedTrials covers refusals that only the computation finds.
func TestRefusedTrials(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(*experiment.Trial) error
		want []string
	}{
		{"too large in scale", func(tr *experiment.Trial) error {
			_, err := example1().Compute(context.Background(), tr,
				example1().With(func(s *example1Settings) { s.NoiseVariance = 1e308 }))
			return err
		}, []string{"too large in scale"}},
		{"oscillates too fast", func(tr *experiment.Trial) error {
			_, err := uniform().Compute(context.Background(), tr,
				uniform().With(func(s *uniformSettings) { s.Theta, s.Theta0 = 5e13, 1e14 }))
			return err
		}, []string{"has not converged", "smaller theta0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.run(trialtest.New(t, options()))
			for _, w := range tt.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("error %v, want one with %q", err, w)
				}
			}
		})
	}
}

// TestSensitiveTrainingInput: with V = 0 the problem is well posed (it is the paper's own example),
// and the record lists the values that are released exactly.
func TestSensitiveTrainingInput(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*example1Settings)
		warns  bool
	}{
		{"a training input", nil, true},
		{"between training inputs", func(s *example1Settings) { s.S = .55 }, false},
		{"noisy data", func(s *example1Settings) { s.NoiseVariance = .1 }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			warnings := compute(t, example1(), tt.change).Warnings
			warns := strings.Contains(strings.Join(warnings, "\n"), "a training input is sensitive: 0.5")
			if warns != tt.warns {
				t.Errorf("warnings %q", warnings)
			}
		})
	}
}

func TestPrivacyBlock(t *testing.T) {
	for _, tt := range []struct {
		name    string
		privacy func(*testing.T) *experiment.Privacy
		// whether the record itself is private, and whether combinations of the data
		// are released without noise: the Σ of uniform has full rank
		private, exact bool
	}{
		{"example1", func(t *testing.T) *experiment.Privacy { return compute(t, example1(), nil).Privacy }, true, true},
		{"example2", func(t *testing.T) *experiment.Privacy { return compute(t, example2(), nil).Privacy }, true, true},
		{"weak", func(t *testing.T) *experiment.Privacy { return compute(t, weak(), nil).Privacy }, true, true},
		{"uniform", func(t *testing.T) *experiment.Privacy { return compute(t, uniform(), nil).Privacy }, true, false},
		{"satellite", func(t *testing.T) *experiment.Privacy { return compute(t, satellite(), nil).Privacy }, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.privacy(t)
			if p == nil {
				t.Fatal("no privacy block")
			}
			if !strings.HasPrefix(p.Statement(), "no guarantee: a bound on the predictive variance") || p.Guarantee != "" {
				t.Errorf("%q, %q", p.Guarantee, p.Statement())
			}
			notes := strings.Join(p.Notes, "\n")
			for note, want := range map[string]bool{
				"holds for a user with this prior: ":     true,
				"not differential privacy":               true,
				"under this Gaussian process prior only": true,
				"this record itself is not private":      !tt.private,
				"holds no outputs":                       tt.private,
				"released without any noise":             tt.exact,
			} {
				if strings.Contains(notes, note) != want {
					t.Errorf("notes %q; with %q: want %v", notes, note, want)
				}
			}
		})
	}
}

func TestFloat32SaysSo(t *testing.T) {
	o := options()
	o.DType = "float32"
	out := computeWith(t, o, example1(), nil)
	checkValues(t, []value{{"trace", out.Metrics.TraceOptimal, 3.545614, 1e-5}, {"rank", out.Metrics.RankOptimal, 1, 0}})
	if !strings.Contains(strings.Join(out.Warnings, "\n"), "float32") {
		t.Errorf("warnings %q do not mention float32", out.Warnings)
	}
}

// TestIllConditionedIsSuspect: a warning, and a certified result nevertheless.
func TestIllConditionedIsSuspect(t *testing.T) {
	out := compute(t, weak(), func(s *weakSettings) { s.Points = 40 })
	if !strings.Contains(strings.Join(out.Warnings, "\n"), "computed but suspect") {
		t.Errorf("warnings %q with condition number %g", out.Warnings, out.Metrics.Condition)
	}
	if out.Metrics.Gap > 1e-7 {
		t.Errorf("gap = %g", out.Metrics.Gap)
	}
}
