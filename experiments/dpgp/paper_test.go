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
