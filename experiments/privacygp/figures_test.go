package privacygp

import (
	"math"
	"slices"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// observed returns a trial as a figure sees it.
func observed[S, M any](t *testing.T, x *experiment.Definition[S, M], change func(*S)) experiment.Observation {
	t.Helper()
	if change == nil {
		change = func(*S) {}
	}
	return trialtest.Observe(x, x.With(change), 1, compute(t, x, change))
}

func TestFigures(t *testing.T) {
	hides := func(alpha float64) experiment.Observation {
		return observed(t, satellite(), func(s *satelliteSettings) { s.Alpha = alpha })
	}
	little := hides(.1)
	for _, tt := range []struct {
		name   string
		figure experiment.Figure
		trials []experiment.Observation
		panels int
	}{
		{"figure 1", figure1(), []experiment.Observation{observed(t, example1(), nil)}, 3},
		{"figure 2", figure2(), []experiment.Observation{
			observed(t, example2(), func(s *example2Settings) { s.C = trialtest.WordOr[float64](none) }),
			observed(t, example2(), nil)}, 3},
		{"figure 3, a repetition is drawn once", figure3(),
			[]experiment.Observation{hides(.9), little, hides(.5), little}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, f := range tt.trials {
				if !tt.figure.Match(f.Experiment, f.Params) {
					t.Errorf("it does not take %s", f.Experiment)
				}
			}
			panels := tt.figure.Draw(tt.trials)
			if len(panels) != tt.panels {
				t.Fatalf("%d panels, want %d", len(panels), tt.panels)
			}
			for _, p := range panels {
				checkPanel(t, p)
			}
			if panels := tt.figure.Draw(nil); panels != nil {
				t.Errorf("%d panels of no trial", len(panels))
			}
		})
	}
}

func checkPanel(t *testing.T, p experiment.Panel) {
	t.Helper()
	if p.Title == "" || p.XLabel == "" || p.YLabel == "" {
		t.Errorf("a panel without a title or labels: %+v", p)
	}
	for _, l := range append(p.Lines, p.Points...) {
		checkLine(t, p.Title, l)
	}
	for _, b := range p.Bands {
		for i := range b.X {
			if !(b.Low[i] <= b.High[i]) {
				t.Fatalf("%s: band from %g to %g", p.Title, b.Low[i], b.High[i])
			}
		}
	}
}

func TestHeatmap(t *testing.T) {
	h := figure1().Draw([]experiment.Observation{observed(t, example1(), nil)})[0].Heatmap
	if len(h.Values) != 9 || len(h.Values[0]) != 9 || h.Values[4][4] <= h.Values[0][0] {
		t.Errorf("heat map %v", h.Values)
	}
}

// TestFigureOfSatellites: panels are ordered by quantity and by hidden segment, and the published
// variant stands in for the corrected one.
func TestFigureOfSatellites(t *testing.T) {
	trial := func(q quantity, alpha float64, v variant) experiment.Observation {
		return observed(t, satellite(), func(s *satelliteSettings) { s.Quantity, s.Alpha, s.Variant = q, alpha, v })
	}
	published := trial(radius, .5, asPublished)
	for _, tt := range []struct {
		name   string
		trials []experiment.Observation
		want   []string
	}{
		{"sorted", []experiment.Observation{trial(angle, .1, corrected), trial(radius, .9, corrected),
			published, trial(radius, .1, corrected)},
			[]string{"radius, H = 0.1K", "radius, H = 0.9K", "angle, H = 0.1K"}},
		{"as published alone", []experiment.Observation{published}, []string{"radius, H = 0.5K as the text has it"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var titles []string
			for _, p := range figure3().Draw(tt.trials) {
				titles = append(titles, p.Title)
			}
			if !slices.Equal(titles, tt.want) {
				t.Errorf("panels %q, want %q", titles, tt.want)
			}
		})
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
