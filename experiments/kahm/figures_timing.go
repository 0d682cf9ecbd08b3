package kahm

import (
	"fmt"
	"slices"

	"privkern/runner/experiment"
)

// figure17 follows the last panel of the paper's Fig. 17, and Table 11: the
// time to compute a machine over the size of its data.
func figure17() experiment.Figure {
	return experiment.Figure{
		Name:    "kahm/figure17",
		Title:   "Time to compute a kernel affine hull machine (Fig. 17, Table 11)",
		Caption: "Wall time (s) over the number N·p of entries of Gaussian data, mean over the seeds; dashed: what Table 11 prints for a laptop of 2.2 GHz with MATLAB R2017b. Sizes of equal N·p but other N and p are points of their own.",
		Match:   func(name string, _ experiment.Params) bool { return name == "kahm/timing" },
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			panel := experiment.Panel{Title: "One machine", XLabel: "N·p (entries)", YLabel: "time (s)", LogX: true, LogY: true}
			for color, g := range bySetting(trials, "rows", "dim", "repeats") {
				line := timeOverSize(g)
				if len(line.X) == 0 {
					continue
				}
				line.Name, line.Color = fmt.Sprintf("n = %d", g[0].Params.Int("n")), color
				panel.Points = append(panel.Points, line)
			}
			if panel.Points == nil {
				return nil
			}
			printed := printedOver("kahm/table11", func(c *printedCell) float64 { return c.param("rows") * c.param("dim") }, func(*printedCell) bool { return true })
			if len(printed.X) > 0 {
				printed.Name, printed.Color = "published", len(panel.Points)
				panel.Lines = append(panel.Lines, printed)
			}
			return []experiment.Panel{panel}
		},
	}
}

// timeOverSize returns the mean time of each size, in increasing order of N·p.
func timeOverSize(trials []experiment.Finished) experiment.Line {
	var line experiment.Line
	sizes := bySetting(trials, "repeats")
	size := func(t experiment.Finished) int { return t.Params.Int("rows") * t.Params.Int("dim") }
	slices.SortStableFunc(sizes, func(a, b []experiment.Finished) int { return size(a[0]) - size(b[0]) })
	for _, g := range sizes {
		sum, count := 0.0, 0
		for _, t := range g {
			if v, ok := t.Metrics["time_s"]; ok && v > 0 {
				sum += v
				count++
			}
		}
		if count > 0 {
			line.X, line.Y = append(line.X, float64(size(g[0]))), append(line.Y, sum/float64(count))
		}
	}
	return line
}
