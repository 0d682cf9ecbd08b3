package experiments

import (
	"testing"

	"privkern/runner/experiment"
)

// A sweep's table is small where its experiment has few results, and empty where it has none.
func TestEveryExperimentHasFewResults(t *testing.T) {
	for _, paper := range Papers() {
		for _, e := range paper.Experiments {
			n := 0
			for _, m := range e.Metrics {
				if m.Result {
					n++
				}
			}
			if n < 1 || n > 3 {
				t.Errorf("%s has %d results; mark from 1 to 3 of its metrics by the tag result", e.Name, n)
			}
		}
	}
}

// A metric of one name has one direction in all experiments, or a table of two is misread.
func TestDirectionsAreTheSameEverywhere(t *testing.T) {
	type direction struct{ experiment, best string }
	seen := map[string]direction{}
	directed := 0
	for _, paper := range Papers() {
		for _, e := range paper.Experiments {
			for _, m := range e.Metrics {
				if m.Best != "" {
					directed++
				}
				first, known := seen[m.Name]
				if !known {
					seen[m.Name] = direction{e.Name, m.Best}
				} else if opposite(first.best, m.Best) {
					t.Errorf("%s: best is %q in %s and %q in %s", m.Name, first.best, first.experiment, m.Best, e.Name)
				}
			}
		}
	}
	if directed == 0 {
		t.Error("no metric has a direction")
	}
}

func opposite(a, b string) bool {
	return a == experiment.HighIsBest && b == experiment.LowIsBest ||
		a == experiment.LowIsBest && b == experiment.HighIsBest
}
