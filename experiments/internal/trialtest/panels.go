package trialtest

import (
	"math"
	"slices"
	"testing"

	"privkern/runner/experiment"
)

// Panels draws a figure. It fails the test where the figure does not take one of the
// trials, draws a panel of no trial, or draws a panel without a title, without labels,
// or with a NaN or an infinity.
func Panels(t *testing.T, f experiment.Figure, trials []experiment.Observation) []experiment.Panel {
	t.Helper()
	for _, trial := range trials {
		if !f.Match(trial.Experiment, trial.Params) {
			t.Errorf("%s does not take %s %v", f.Name, trial.Experiment, trial.Params)
		}
	}
	if f.Match("another/experiment", experiment.Params{}) {
		t.Errorf("%s takes a trial of another experiment", f.Name)
	}
	if got := f.Draw(nil); got != nil {
		t.Errorf("%s draws %d panels of no trial", f.Name, len(got))
	}
	panels := f.Draw(trials)
	for i := range panels {
		p := &panels[i]
		if p.Title == "" || p.Pictures == nil && (p.XLabel == "" || p.YLabel == "") {
			t.Errorf("%s: a panel without a title or labels: %q", f.Name, p.Title)
		}
		checkLines(t, f.Name, p)
		if p.Pictures != nil {
			checkPictures(t, f.Name, p.Pictures)
		}
	}
	return panels
}

// WithoutSeries returns the trials with their metrics alone.
func WithoutSeries(trials []experiment.Observation) []experiment.Observation {
	bare := slices.Clone(trials)
	for i := range bare {
		bare[i].Series = nil
	}
	return bare
}

func checkLines(t *testing.T, figure string, p *experiment.Panel) {
	t.Helper()
	for _, l := range slices.Concat(p.Lines, p.Points) {
		if len(l.X) == 0 || len(l.X) != len(l.Y) {
			t.Errorf("%s, %s: %q has %d and %d values", figure, p.Title, l.Name, len(l.X), len(l.Y))
			continue
		}
		for i := range l.X {
			bad := l.X[i] + l.Y[i]
			if math.IsNaN(bad) || math.IsInf(bad, 0) || p.LogX && l.X[i] <= 0 || p.LogY && l.Y[i] <= 0 {
				t.Errorf("%s, %s: %q has the point (%g, %g)", figure, p.Title, l.Name, l.X[i], l.Y[i])
			}
		}
	}
}

func checkPictures(t *testing.T, figure string, p *experiment.Pictures) {
	t.Helper()
	for i, row := range p.Grid {
		if len(row) != len(p.Grid[0]) {
			t.Errorf("%s: row %d has %d pictures, the first %d", figure, i, len(row), len(p.Grid[0]))
		}
	}
	if len(p.RowLabels) != len(p.Grid) {
		t.Errorf("%s: %d labels of %d rows", figure, len(p.RowLabels), len(p.Grid))
	}
}
