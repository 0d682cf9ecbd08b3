package nearest

import (
	"slices"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

func TestFigure14(t *testing.T) {
	finished := func(data wide.Data, epsilon float64, n int, accuracy, mis float64) experiment.Observation {
		s := Stress().With(func(s *StressSettings) {
			s.Data, s.Epsilon, s.N, s.Variant, s.Layers = data, epsilon, n, wide.AsPublished, 1
		})
		m := StressMetrics{ClassifierMetrics: ClassifierMetrics{Accuracy: accuracy, MIS: &mis}}
		return trialtest.Observe(Stress(), s, 1, &experiment.Outcome[StressMetrics]{Metrics: m})
	}
	figure := Figure14b(paperLedger(t))
	panels := trialtest.Panels(t, figure, []experiment.Observation{
		finished(wide.Noisy, 32, 5, .8, .2), finished(wide.Fabricated, 32, 5, .6, .05),
		finished(wide.Noisy, 8, 5, .5, .1), finished(wide.Fabricated, 8, 5, .5, .08),
		finished(wide.Noisy, 32, 3, .5, .1), // without fabricated data
	})
	if len(panels) != 1 || panels[0].Title != "Reduction over ε" || len(panels[0].Points) != 2 {
		t.Fatalf("%+v", panels)
	}
	for i, want := range [][]float64{{0, 25}, {20, 75}} {
		l := panels[0].Points[i]
		if !slices.Equal(l.X, []float64{8, 32}) || !slices.EqualFunc(l.Y, want, near) {
			t.Errorf("%s: %v over %v, want %v", l.Name, l.Y, l.X, want)
		}
	}
	// Table 7 at n = 5: 8, 16, 24, and 32, for which the second of two rows counts.
	printed := panels[0].Lines[3]
	if !slices.Equal(printed.X, []float64{8, 16, 24, 32}) || !near(printed.Y[3], 100*(1-.07603/.22235)) {
		t.Errorf("published: %v over %v", printed.Y, printed.X)
	}
	if panels := figure.Draw(nil); panels != nil {
		t.Errorf("%d panels of no trials", len(panels))
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

func TestFigure16(t *testing.T) {
	finished := func(scenario, parties int, epsilon, accuracy float64) experiment.Observation {
		s := Federated().With(func(s *FederatedSettings) {
			s.Scenario, s.Parties, s.Epsilon, s.Variant = scenario, parties, epsilon, wide.AsPublished
		})
		return trialtest.Observe(Federated(), s, 1,
			&experiment.Outcome[FederatedMetrics]{Metrics: FederatedMetrics{Accuracy: accuracy}})
	}
	panels := trialtest.Panels(t, Figure16(paperLedger(t)), []experiment.Observation{
		finished(classByParty, 10, 4, .9), finished(classByParty, 10, 1, .8), finished(classByParty, 10, 4, .8),
		finished(halvedClass, 20, 4, .9), // one value is no curve
		finished(randomShares, 5, 16, .7), finished(randomShares, 2, 16, .8),
	})
	if len(panels) != 2 || panels[0].Title != "Scenario 1" || panels[1].Title != "Scenario 3" {
		t.Fatalf("%+v", panels)
	}
	if l := panels[0].Points[0]; !slices.Equal(l.X, []float64{1, 4}) || !slices.EqualFunc(l.Y, []float64{.8, .85}, near) {
		t.Errorf("%+v", l)
	}
	// The eight rows of Table 8 and the six of Table 10, without the centralised values.
	for i, rows := range []int{8, 6} {
		if l := panels[i].Lines[1]; l.Name != "published" || len(l.X) != rows {
			t.Errorf("panel %d: %+v", i, l)
		}
	}
	if l := panels[0].Lines[1]; l.Y[0] != .9460 {
		t.Errorf("%v", l.Y)
	}
}
