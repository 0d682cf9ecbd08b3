package multikernel

import (
	"context"
	"testing"

	"privkern/experiments/internal/inert"
	"privkern/runner/experiment"
)

// A parameter does nothing exactly where its declaration says so.
func TestWhereParametersApply(t *testing.T) {
	others := map[string][]any{
		"experiment": {2}, "method": {"uniform", "single:rbf:0.001"}, "rho_snr": {0.5}, "rho": {1}, "rho_prime": {0.5},
		"components": {3, 1}, "split": {"random"}, "c": {1e6, 0.01}, "standardise": {true}, "rows": {30}, "features": {4},
		"kernels": {"linear"},
	}
	all, d := movements(4), division{test: 3}
	for _, c := range []struct {
		e     *experiment.Experiment
		run   func(tr *experiment.Trial) (*experiment.Result, error)
		bases []map[string]any
		held  map[string]string
	}{
		{har(), func(tr *experiment.Trial) (*experiment.Result, error) {
			return recognise(context.Background(), tr, all, d, harKernels)
		}, []map[string]any{{}, {"method": "upr"}, {"method": "uniform"}, {"method": "alignment"},
			{"method": "utility-privacy"}},
			map[string]string{"dataset": "there is one for the test"}},
		{reference(), func(tr *experiment.Trial) (*experiment.Result, error) {
			return reference().Run(context.Background(), tr)
		}, []map[string]any{{}}, nil},
	} {
		t.Run(c.e.Name, func(t *testing.T) {
			inert.Trials{Experiment: c.e, Bases: c.bases, Others: others, Held: c.held,
				Run: func(p experiment.Params) (*experiment.Result, error) {
					var told []string
					tr := recogniseTrial(t, c.e, 2, &told, nil)
					tr.Params = p
					return c.run(tr)
				}}.Check(t)
		})
	}
}
