package choose

import (
	"cmp"
	"fmt"
	"slices"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Figure6 follows the paper's Fig. 6: how likely each lengthscale is selected,
// over the privacy of the regression.
func Figure6() experiment.Figure {
	return experiment.Figure{
		Name:  "cloaking/figure6",
		Title: "Probability of selecting a lengthscale over the privacy of the regression (Fig. 6)",
		Caption: "Colour: probability of the exponential mechanism for each lengthscale (years), whatever the variances. " +
			"Columns: ε of the regression, whose noise counts in the errors that are compared, from no privacy on the left " +
			"to high privacy on the right. One panel for each setting with at least two values of ε: how the sensitivity " +
			"is bounded, how the noise is calibrated, and what is left out; each with a scale of its own. All rows of the " +
			"census.",
		Match: Selection().Matches(func(s *selectionSettings) bool { return s.Split == All }),
		Draw:  Selection().Draws(drawFigure6),
	}
}

type observation = experiment.ObservationOf[selectionSettings, selectionMetrics]

// panelKey holds the settings that the trials of a panel share: all but ε.
type panelKey struct {
	inputs     cloak.Inputs
	candidates string // lists are not comparable
	algorithm
}

func panelKeyOf(s selectionSettings) panelKey {
	k := panelKey{s.Inputs, fmt.Sprint(s.candidates), s.algorithm}
	k.Epsilon = 0
	return k
}

func drawFigure6(trials []observation) []experiment.Panel {
	var panels []experiment.Panel
	for _, group := range experiment.GroupBy(trials, panelKeyOf) {
		columns := firstOfEachEpsilon(group)
		if len(columns) < 2 {
			continue
		}
		s := columns[0].Settings
		panels = append(panels, experiment.Panel{
			Title: s.title(), XLabel: "ε of the regression", YLabel: "lengthscale (years)",
			Heatmap: heatmapOf(columns),
		})
	}
	return panels
}

// firstOfEachEpsilon returns a trial for each ε, the largest first: seeds do not differ
// in their probabilities, but for random splits.
func firstOfEachEpsilon(group []observation) []observation {
	var columns []observation
	for _, same := range experiment.GroupBy(group, func(s selectionSettings) float64 { return s.Epsilon }) {
		columns = append(columns, same[0])
	}
	slices.SortFunc(columns, func(a, b observation) int { return cmp.Compare(b.Settings.Epsilon, a.Settings.Epsilon) })
	return columns
}

// heatmapOf has a column for each trial, and a row for each lengthscale, the largest at
// the top.
func heatmapOf(columns []observation) *experiment.Heatmap {
	lengthscales := slices.Sorted(slices.Values(columns[0].Settings.Lengthscales))
	slices.Reverse(lengthscales)
	h := &experiment.Heatmap{Label: "probability"}
	for _, t := range columns {
		h.XTicks = append(h.XTicks, experiment.FormatNumber(t.Settings.Epsilon))
	}
	for _, l := range lengthscales {
		row := make([]float64, len(columns))
		for i, t := range columns {
			row[i] = t.Metrics.LengthscaleProbability[nameOf(l)]
		}
		h.Values = append(h.Values, row)
		h.YTicks = append(h.YTicks, experiment.FormatNumber(l))
	}
	return h
}

// title names the choice of a configuration and the excluded ones.
func (a *algorithm) title() string {
	out := experiment.NameOf(a.Bound) + ", " + experiment.NameOf(a.Calibration)
	for _, cut := range []struct {
		name  string
		bound method.End
	}{{"threshold", a.Threshold}, {"sse cut", a.Cut}} {
		if !cut.bound.Is(method.Absent) {
			out += fmt.Sprintf(", %s %s d²", cut.name, cut.bound)
		}
	}
	return out
}
