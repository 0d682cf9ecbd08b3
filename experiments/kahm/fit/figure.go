package fit

import (
	"cmp"
	"fmt"
	"slices"

	"privkern/experiments/kahm/printed"
	"privkern/runner/experiment"
)

// observation is a finished trial of kahm/timing.
type observation = experiment.ObservationOf[TimingSettings, TimingMetrics]

// Figure17 follows the last panel of the paper's Fig. 17, and Table 11: the time to
// compute a machine over the size of its data.
func Figure17(ledger *printed.Ledger) experiment.Figure {
	return experiment.Figure{
		Name:  "kahm/figure17",
		Title: "Time to compute a kernel affine hull machine (Fig. 17, Table 11)",
		Caption: "Wall time (s) over the number N·p of entries of Gaussian data, mean over the seeds; dashed: what Table " +
			"11 prints for a laptop of 2.2 GHz with MATLAB R2017b. Sizes of equal N·p but other N and p are points of " +
			"their own.",
		Match: Timing().Matches(nil),
		Draw: Timing().Draws(func(trials []observation) []experiment.Panel {
			panel := experiment.Panel{Title: "One machine", XLabel: "N·p (entries)", YLabel: "time (s)", LogX: true, LogY: true}
			byDimension := experiment.GroupBy(trials, func(s TimingSettings) int { return s.N })
			for color, g := range byDimension {
				line := timeOverSize(g)
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
			return []experiment.Panel{panel}
		}),
	}
}

// timeOverSize returns the mean time of each size, in increasing order of N·p.
func timeOverSize(trials []observation) experiment.Line {
	var line experiment.Line
	sizes := experiment.GroupBy(trials, func(s TimingSettings) [2]int { return [2]int{s.Rows, s.Dim} })
	slices.SortStableFunc(sizes, func(a, b []observation) int {
		return cmp.Compare(a[0].Settings.entries(), b[0].Settings.entries())
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
			line.X, line.Y = append(line.X, float64(g[0].Settings.entries())), append(line.Y, sum/float64(count))
		}
	}
	return line
}
