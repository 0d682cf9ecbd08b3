package dpgp

import (
	"fmt"
	"math"
	"testing"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// Trials of the figure have the same settings but for ε and the form of the algorithm.
func TestFigure3(t *testing.T) {
	finished := func(rule mechanism.SelectionRule, epsilon, gamma, tenth float64) experiment.Observation {
		s := hyperparameters().With(func(s *searchSettings) {
			s.Rule, s.Epsilon, s.Gamma, s.Repeats = rule, epsilon, gamma, 10
		})
		out := &experiment.Outcome[hyperparameterMetrics]{Metrics: hyperparameterMetrics{
			Sigmas: map[string]float64{sparse.MemberOf(0.1): tenth}, Lengthscales: map[string]float64{sparse.MemberOf(1): 1},
		}}
		return trialtest.Observe(hyperparameters(), s, 0, out)
	}
	uncut := func(rule mechanism.SelectionRule, epsilon, tenth float64) experiment.Observation {
		o := finished(rule, epsilon, 0.01, tenth)
		s := hyperparameters().Settings(o.Params)
		s.CoinPress = mechanism.IntervalsPublished
		out := &experiment.Outcome[hyperparameterMetrics]{Metrics: hyperparameterMetrics{
			Sigmas: map[string]float64{sparse.MemberOf(0.1): tenth}, Lengthscales: map[string]float64{sparse.MemberOf(1): 0.5},
		}}
		return trialtest.Observe(hyperparameters(), s, 0, out)
	}
	corrected, published := mechanism.SelectionCorrected, mechanism.SelectionAsPublished
	trials := []experiment.Observation{
		finished(corrected, 10, 0.01, 0.6), finished(corrected, 1, 0.01, 0.2), finished(corrected, 10, 0.01, 0.8),
		finished(published, 10, 0.01, 0.1), uncut(published, 10, 0.3),
		finished(corrected, math.Inf(1), 0.01, 1), finished(corrected, 3, 0.1, 0.5), // neither is drawn
	}
	for _, o := range trials {
		if !figure3().Match(o.Experiment, o.Params) {
			t.Errorf("a trial of %s has no part in the figure", o.Experiment)
		}
	}
	panels := figure3().Draw(trials)
	if len(panels) != 6 {
		t.Fatalf("%d panels", len(panels))
	}
	if line := panels[4].Lines[1]; fmt.Sprint(line.X, line.Y) != "[10] [0.3]" ||
		panels[4].Title != "noise level, rule as-published, CoinPress as-published, covariance corrected" {
		t.Errorf("%q: %v", panels[4].Title, line)
	}
	line := panels[0].Lines[1]
	if line.Name != "σ = 0.1" || fmt.Sprint(line.X, line.Y) != "[1 10] [0.2 0.7]" {
		t.Errorf("%v", line)
	}
	// Two standard errors of 14 in 20.
	trialtest.Near(t, "the band's upper end", panels[0].Bands[1].High[1], 0.7+2*math.Sqrt(0.7*0.3/20), 1e-12)
	if line := panels[3].Lines[1]; line.Name != "l = 1" || fmt.Sprint(line.Y) != "[1]" {
		t.Errorf("%v", line)
	}
	if figure3().Draw(nil) != nil {
		t.Error("a figure of nothing")
	}
}
