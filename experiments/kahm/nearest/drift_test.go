package nearest

import (
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Smoothing moves rows to the low ends of ranges that are far wider than the values: with a fitting range, without
// smoothing and where noise is wider still there is no warning.
func TestDriftOfFabricatedRows(t *testing.T) {
	o := ownFile(t, ownRows())
	for _, c := range []struct {
		name      string
		low, high float64
		data      wide.Data
		smoothing int
		epsilon   float64
		want      bool
	}{
		{"fitting", 0, 10, wide.Fabricated, 2, 1e5, false},
		{"wide", -200, 200, wide.Fabricated, 2, 1e5, true},
		{"no steps", -200, 200, wide.Fabricated, 0, 1e5, false},
		{"noisy", -200, 200, wide.Noisy, 2, 1e5, false},
		{"strong noise", -200, 200, wide.Fabricated, 2, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := trialtest.Compute(t, o, Classifier(), onOwn, func(s *ClassifierSettings) {
				s.Low, s.High = experiment.SeveralOf[method.None](c.low), experiment.SeveralOf[method.None](c.high)
				s.Data, s.Smoothing, s.Epsilon = c.data, c.smoothing, c.epsilon
			})
			if all := strings.Join(out.Warnings, "\n"); strings.Count(all, "have drifted towards the low ends") != 1 && c.want ||
				!c.want && strings.Contains(all, "drifted") {
				t.Error(all)
			}
		})
	}
}
