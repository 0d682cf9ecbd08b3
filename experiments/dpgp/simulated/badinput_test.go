package simulated

import (
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		name  string
		e     *experiment.Experiment
		given map[string]any
		want  string
	}{
		{"no range", sensitivities().Experiment, map[string]any{"low": 1, "high": 1}, "low must be below high"},
		{"equal inputs", sensitivities().Experiment, map[string]any{"inducing": "1,2,1"}, "1 is given twice"},
		{"many inputs", sensitivities().Experiment, map[string]any{"inducing": 501}, "at most 500"},
		{"a spacing that is not there", sensitivities().Experiment, map[string]any{"spacing": 0.8}, "only 0.75 apart"},
		{"no ratio", sensitivities().Experiment, map[string]any{"ratio": 0}, "ratio"},
		{"a spacing, in inference", inference().Experiment, map[string]any{"spacing": 0.8}, "use spacing=auto"},
		{"no bound", inference().Experiment, map[string]any{"bound": "eq9"}, "eq4"},
		{"no covariance", inference().Experiment, map[string]any{"covariance": "printed"}, "as-published"},
		{"rho of one", inference().Experiment, map[string]any{"rho": 1}, "rho"},
		{"no delta", inference().Experiment, map[string]any{"delta": 0}, "delta"},
		{"a large kernel matrix", inference().Experiment, map[string]any{"n": 100000, "inducing": 300},
			"use fewer of either"},
		{"huge outputs", inference().Experiment, map[string]any{"r_y": 1e200}, "bring them nearer to one"},
		{"a tiny ratio", inference().Experiment, map[string]any{"ratio": 1e-200}, "bring them nearer to one"},
		{"a huge kernel", inference().Experiment, map[string]any{"kernel_variance": 1e200},
			"bring them nearer to one"},
		{"a short lengthscale", calibration().Experiment, map[string]any{"lengthscale": 0.1}, "lengthscales from 0.15 up"},
		{"a covariance of another experiment", calibration().Experiment, map[string]any{"covariance": "naive"}, "naive"},
		{"one observation", calibration().Experiment, map[string]any{"n": 1}, "outside [2, 1e+06]"},
		{"no noise to compute", gaussianMechanism().Experiment, map[string]any{"epsilon": "inf"}, "epsilon"},
		{"variances in the wrong order", heteroscedastic().Experiment, map[string]any{"variance_low": 2},
			"above variance_high"},
		{"a spacing, with weights", heteroscedastic().Experiment, map[string]any{"spacing": 0.8}, "only 0.75 apart"},
		{"many inputs, for lambda", regularisation().Experiment, map[string]any{"inducing": 501}, "at most 500"},
		{"one epsilon", scenarios().Experiment, map[string]any{"epsilons": "3"}, "two values or more"},
		{"equal noise levels", scenarios().Experiment, map[string]any{"sigmas": "0.1, 0.10001"}, "sigmas: two values"},
		{"many scenarios", scenarios().Experiment,
			map[string]any{"sigmas": "0.01..0.3 step 0.01", "epsilons": "1..20 step 1"}, "at most 400"},
		{"a short lengthscale, of scenarios", scenarios().Experiment, map[string]any{"lengthscale": 0.1},
			"lengthscales from 0.15 up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.e.Resolve(c.given)
			trialtest.Refuses(t, err, c.want)
		})
	}
}
