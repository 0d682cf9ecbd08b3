package privacygp

import (
	"context"
	"testing"

	"privkern/experiments/internal/inert"
	"privkern/runner/experiment"
)

// Every parameter does something: none is declared to do nothing.
func TestEveryParameterDoesSomething(t *testing.T) {
	others := map[string][]any{
		"points": {6}, "theta": {8.0}, "noise_variance": {0.01}, "s": {0.3}, "xi": {0.4}, "s1": {0.35}, "s2": {0.7},
		"xi1": {0.45}, "xi2": {0.45}, "c": {0.4, 0.3}, "theta0": {9}, "d": {2}, "variant": {"as-published"},
		"alpha": {0.4}, "quantity": {"angle"}, "orbit": {"two-body"}, "eccentricity": {0.1},
		"segment_start": {0.9}, "segment_end": {1.8}, "sensitive_low": {0.35}, "sensitive_high": {0.7},
		"sensitive_count": {3},
	}
	for name, base := range map[string]map[string]any{
		"example1": {}, "example2": {"c": 0.39}, "uniform": {}, "weak": {},
		"satellite": {"points": 31, "eccentricity": 0.05, "alpha": 0.3},
		// On the boundary of the region, where the variants differ.
		"kernel-condition": {"theta": 2.5},
	} {
		t.Run(name, func(t *testing.T) {
			e, tr := trial(t, name, base)
			inert.Trials{Experiment: e, Bases: []map[string]any{base}, Others: others,
				Run: func(p experiment.Params) (*experiment.Result, error) {
					tr.Params = p
					return e.Run(context.Background(), tr)
				}}.Check(t)
		})
	}
}
