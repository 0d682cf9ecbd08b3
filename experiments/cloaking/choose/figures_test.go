package choose

import (
	"slices"
	"testing"

	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// Fig. 6 takes one column for each ε, from none to high, and a panel for each
// setting; the longest lengthscale is at the top.
func TestFigure6(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	three := func(s *selectionSettings) {
		lengthscales(5, 125, 25)(s)
		s.Split = All
	}
	epsilon := func(v float64) change { return func(s *selectionSettings) { s.Epsilon = v } }
	below := func(s *selectionSettings) { s.Threshold = atMost(3) }
	var trials []experiment.Observation
	var outcomes []*experiment.Outcome[selectionMetrics]
	for _, c := range []change{
		epsilon(1), noiseless, below, all(below, epsilon(0.1)), epsilon(1),
		func(s *selectionSettings) { s.Epsilon, s.Folds.Folds = 0.3, 4 },
		func(s *selectionSettings) { s.Epsilon, s.Lengthscales = 0.2, []float64{5, 125} },
	} {
		out := compute(t, census, three, c)
		outcomes = append(outcomes, out)
		trials = append(trials, trialtest.Observe(Selection(), Selection().With(three, c), 0, out))
	}
	f := Figure6()
	halves := trialtest.Observe(Selection(), Selection().Defaults(), 0, outcomes[0])
	if !f.Match(trials[0].Experiment, trials[0].Params) || f.Match(halves.Experiment, halves.Params) {
		t.Error("the figure is of trials on all rows")
	}
	panels := f.Draw(trials)
	if len(panels) != 2 {
		t.Fatalf("%d panels, want 2: the settings of 4 folds and of two lengthscales have one column only", len(panels))
	}
	h := panels[0].Heatmap
	if !slices.Equal(h.XTicks, []string{"inf", "1"}) || !slices.Equal(h.YTicks, []string{"125", "25", "5"}) {
		t.Errorf("columns %v, rows %v", h.XTicks, h.YTicks)
	}
	if want := outcomes[0].Metrics.LengthscaleProbability[nameOf(125)]; h.Values[0][1] != want || want <= 0 {
		t.Errorf("lengthscale 125 at epsilon 1 is %g, want %g", h.Values[0][1], want)
	}
	if panels[0].Title != "exact, hall" {
		t.Errorf("title %q", panels[0].Title)
	}
	columns := panels[1].Heatmap.XTicks
	if panels[1].Title != "exact, hall, threshold 3 d²" || !slices.Equal(columns, []string{"1", "0.1"}) {
		t.Errorf("second panel: %q, columns %v", panels[1].Title, columns)
	}
	if f.Draw(nil) != nil {
		t.Error("draws without trials")
	}
}
