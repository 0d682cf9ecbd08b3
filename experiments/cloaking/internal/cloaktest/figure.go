package cloaktest

import (
	"testing"

	"privkern/runner/experiment"
)

// Draw returns the panels of a figure that takes all the trials.
func Draw(t *testing.T, f experiment.Figure, trials ...experiment.Observation) []experiment.Panel {
	t.Helper()
	if f.Draw(nil) != nil {
		t.Errorf("%s: draws without trials", f.Name)
	}
	for _, trial := range trials {
		if !f.Match(trial.Experiment, trial.Params) {
			t.Fatalf("%s: %s %v does not belong to it", f.Name, trial.Experiment, trial.Params)
		}
	}
	return f.Draw(trials)
}
