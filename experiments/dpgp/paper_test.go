package dpgp

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// Every experiment resolves its defaults and reports all that it documents, and its
// series have columns of one length.
func TestPaperIsConsistent(t *testing.T) {
	paper := Paper()
	experiment.NewRegistry(paper.Experiments...)
	// Searches of two draws on the average, not of 100.
	fewDraws := map[string]map[string]any{"dpgp/search-time": {"gamma": 0.5}, "dpgp/hyperparameters": {"gamma": 0.5}}
	for _, e := range paper.Experiments {
		t.Run(e.Name, func(t *testing.T) {
			p, err := e.Resolve(fewDraws[e.Name])
			if err != nil {
				t.Fatal(err)
			}
			trial := trialtest.New(t, trialtest.Options{})
			trial.Params = p
			r, err := e.Run(t.Context(), trial, trial.Params)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range e.Metrics {
				if strings.Contains(m.Doc, "(own data only)") {
					continue // the defaults are simulated
				}
				if !slices.ContainsFunc(slices.Collect(maps.Keys(r.Metrics)), m.Covers) {
					t.Errorf("the documented metric %s is not reported", m.Name)
				}
			}
			for name, s := range r.Series {
				for column, v := range s {
					if len(v) != len(s["x"]) || len(v) == 0 {
						t.Errorf("series %s, column %s has %d values for %d", name, column, len(v), len(s["x"]))
					}
				}
			}
		})
	}
}

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
		{"equal candidates", hyperparameters().Experiment, map[string]any{"sigmas": "0.1, 0.10001"},
			"two values are 0.1 in three digits"},
		{"equal lengthscales", hyperparameters().Experiment, map[string]any{"lengthscales": "1, 1.0001"},
			"lengthscales: two values are 1 in three digits"},
		{"a negative candidate", hyperparameters().Experiment, map[string]any{"lengthscales": "1, -1"}, "lengthscales"},
		{"no budget left", hyperparameters().Experiment, map[string]any{"epsilon": 1e-9}, "nothing is left"},
		{"never to stop", hyperparameters().Experiment, map[string]any{"gamma": 0}, "gamma"},
		{"a misspelt rule", hyperparameters().Experiment, map[string]any{"rule": "corected"}, "did you mean"},
		{"many candidates", hyperparameters().Experiment,
			map[string]any{"sigmas": "0.001..0.03 step 0.001", "lengthscales": "1..20 step 1"}, "at most 400"},
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
		{"equal inducing inputs", hyperparameters().Experiment, map[string]any{"inducing": "0, 0"}, "given twice"},
		{"no guarantee", classification().Experiment, map[string]any{"composition": "as-published", "delta": 0.5},
			"guarantees nothing"},
		{"one class", classification().Experiment, map[string]any{"classes": 1}, "classes"},
		{"alpha of one", classification().Experiment, map[string]any{"alpha": 1}, "alpha"},
		{"a blank behind a word", classification().Experiment, map[string]any{"centre": "balanced "}, "did you mean"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.e.Resolve(c.given)
			trialtest.Refuses(t, err, c.want)
		})
	}
}
