package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"privkern/experiments/kahm/printed"
	"privkern/runner/experiment"
)

// observation is a finished trial of kahm/timing.
type observation = experiment.ObservationOf[TimingSettings, TimingMetrics]

// Figure17 follows the paper's Fig. 17, and Table 11: the time to compute a machine over
// the columns p, the subspace dimension n, the samples N and the size of its data.
func Figure17(ledger *printed.Ledger) experiment.Figure {
	return experiment.Figure{
		Name:  "kahm/figure17",
		Title: "Time to compute a kernel affine hull machine (Fig. 17, Table 11)",
		Caption: "Wall time (s) for Gaussian data, mean over the seeds: over the number N·p of entries, and over p, n or N " +
			"where at least three trials differ in it alone; dashed: what Table 11 prints for a laptop of 2.2 GHz with " +
			"MATLAB R2017b. Sizes of equal N·p but other N and p are points of their own.",
		Match: Timing().Matches(nil),
		Draw: Timing().Draws(func(trials []observation) []experiment.Panel {
			panel := experiment.Panel{Title: "One machine", XLabel: "N·p (entries)", YLabel: "time (s)", LogX: true, LogY: true}
			byDimension := experiment.GroupBy(trials, func(s TimingSettings) int { return s.N })
			for color, g := range byDimension {
				line := timeOver(g, (*TimingSettings).entries)
				if len(line.X) == 0 {
					continue
				}
				line.Name, line.Color = fmt.Sprintf("n = %d", g[0].Settings.N), color
				panel.Points = append(panel.Points, line)
			}
			if panel.Points == nil {
				return nil
			}
			published := printed.Over(ledger, "kahm/table11", Timing(),
				func(m *TimingMetrics) any { return &m.Time },
				func(s *TimingSettings) (float64, bool) { return float64(s.entries()), true })
			if len(published.X) > 0 {
				published.Name, published.Color = "published", len(panel.Points)
				panel.Lines = append(panel.Lines, published)
			}
			panels := []experiment.Panel{panel}
			for _, a := range axes {
				if p := a.panel(trials); len(p.Lines) > 0 {
					panels = append(panels, p)
				}
			}
			return panels
		}),
	}
}

// axis is the abscissa of a panel of Fig. 17, all else being equal.
type axis struct {
	label string
	of    func(*TimingSettings) *int
}

var axes = []axis{
	{"p, columns", func(s *TimingSettings) *int { return &s.Dim }},
	{"n, subspace dimension", func(s *TimingSettings) *int { return &s.N }},
	{"N, samples", func(s *TimingSettings) *int { return &s.Rows }},
}

// panel has a curve for each group of trials that differ in the axis alone, of at least
// three values.
func (a axis) panel(trials []observation) experiment.Panel {
	panel := experiment.Panel{Title: "Over " + a.label, XLabel: a.label, YLabel: "time (s)", LogX: true, LogY: true}
	groups := experiment.GroupBy(trials, func(s TimingSettings) TimingSettings {
		*a.of(&s), s.Repeats = 0, 0
		return s
	})
	for _, g := range groups {
		line := timeOver(g, func(s *TimingSettings) int { return *a.of(s) })
		if len(line.X) < 3 {
			continue
		}
		s := g[0].Settings
		for _, b := range axes {
			if b.label != a.label {
				line.Name += fmt.Sprintf("%s = %d ", b.label[:1], *b.of(s))
			}
		}
		line.Name, line.Color = strings.TrimSpace(line.Name), len(panel.Lines)
		panel.Lines, panel.Points = append(panel.Lines, line), append(panel.Points, line)
	}
	return panel
}

// timeOver returns the mean time of each size (N, p, n), in increasing order of at. Sizes at
// equal places are points of their own.
func timeOver(trials []observation, at func(*TimingSettings) int) experiment.Line {
	var line experiment.Line
	sizes := experiment.GroupBy(trials, func(s TimingSettings) [3]int { return [3]int{s.Rows, s.Dim, s.N} })
	slices.SortStableFunc(sizes, func(a, b []observation) int {
		return cmp.Compare(at(a[0].Settings), at(b[0].Settings))
	})
	for _, g := range sizes {
		sum, count := 0.0, 0
		for _, t := range g {
			if t.Metrics.Time > 0 {
				sum += t.Metrics.Time
				count++
			}
		}
		if count > 0 {
			line.X, line.Y = append(line.X, float64(at(g[0].Settings))), append(line.Y, sum/float64(count))
		}
	}
	return line
}
