package privacygp

import (
	"math"
	"testing"

	"privkern/runner/experiment"
)

func finished(t *testing.T, name string, params map[string]any) experiment.Finished {
	t.Helper()
	_, tr := trial(t, name, params)
	r := run(t, name, params)
	return experiment.Finished{Experiment: "privacygp/" + name, Params: tr.Params, Metrics: r.Metrics, Series: r.Series}
}

func TestFigures(t *testing.T) {
	satellites := []experiment.Finished{
		finished(t, "satellite", map[string]any{"alpha": .1}),
		finished(t, "satellite", map[string]any{"alpha": .5}),
		finished(t, "satellite", map[string]any{"alpha": .9}),
	}
	tests := []struct {
		figure experiment.Figure
		trials []experiment.Finished
		panels int
	}{
		{figure1(), []experiment.Finished{finished(t, "example1", nil)}, 3},
		{figure2(), []experiment.Finished{finished(t, "example2", map[string]any{"c": noStrong}), finished(t, "example2", nil)}, 3},
		{figure3(), append(satellites, satellites[0]), 3}, // a repetition is drawn once
	}
	for _, tt := range tests {
		for _, f := range tt.trials {
			if !tt.figure.Match(f.Experiment, f.Params) {
				t.Errorf("%s does not take %s", tt.figure.Name, f.Experiment)
			}
		}
		panels := tt.figure.Draw(tt.trials)
		if len(panels) != tt.panels {
			t.Fatalf("%s has %d panels, want %d", tt.figure.Name, len(panels), tt.panels)
		}
		for _, p := range panels {
			if p.Title == "" || p.XLabel == "" || p.YLabel == "" {
				t.Errorf("%s: a panel without a title or labels: %+v", tt.figure.Name, p)
			}
			for _, l := range append(p.Lines, p.Points...) {
				checkLine(t, tt.figure.Name+", "+p.Title, l)
			}
			for _, b := range p.Bands {
				for i := range b.X {
					if !(b.Low[i] <= b.High[i]) {
						t.Fatalf("%s: band from %g to %g", tt.figure.Name, b.Low[i], b.High[i])
					}
				}
			}
		}
		if panels := tt.figure.Draw(nil); panels != nil {
			t.Errorf("%s draws %d panels of no trial", tt.figure.Name, len(panels))
		}
	}
	h := figure1().Draw([]experiment.Finished{tests[0].trials[0]})[0].Heatmap
	if len(h.Values) != 9 || len(h.Values[0]) != 9 || h.Values[4][4] <= h.Values[0][0] {
		t.Errorf("heat map %v", h.Values)
	}
}

func checkLine(t *testing.T, where string, l experiment.Line) {
	t.Helper()
	if len(l.X) == 0 || len(l.X) != len(l.Y) {
		t.Fatalf("%s: line %q has %d and %d values", where, l.Name, len(l.X), len(l.Y))
	}
	shown := 0
	for _, y := range l.Y {
		if !math.IsNaN(y) {
			shown++
		}
	}
	if shown == 0 {
		t.Errorf("%s: line %q is empty", where, l.Name)
	}
}
