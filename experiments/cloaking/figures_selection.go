package cloaking

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// figure6 follows the paper's Fig. 6: how likely each lengthscale is selected,
// over the privacy of the regression.
func figure6() experiment.Figure {
	return experiment.Figure{
		Name:    "cloaking/figure6",
		Title:   "Probability of selecting a lengthscale over the privacy of the regression (Fig. 6)",
		Caption: "Colour: probability of the exponential mechanism for each lengthscale (years), whatever the variances. Columns: ε of the regression, whose noise counts in the errors that are compared, from no privacy on the left to high privacy on the right. One panel for each setting with at least two values of ε: how the sensitivity is bounded, how the noise is calibrated, and what is left out; each with a scale of its own. All rows of the census.",
		Match: func(name string, p experiment.Params) bool {
			return name == "cloaking/selection" && p.Text("split") == splitAll
		},
		Draw: drawFigure6,
	}
}

func drawFigure6(trials []experiment.Finished) []experiment.Panel {
	var settings []string
	columns := map[string][]experiment.Finished{}
	for _, t := range trials {
		s := settingOf(t.Params, "epsilon")
		if columns[s] == nil {
			settings = append(settings, s)
		}
		// Seeds do not differ in their probabilities, but for random splits.
		if !slices.ContainsFunc(columns[s], func(o experiment.Finished) bool { return o.Params.Float("epsilon") == t.Params.Float("epsilon") }) {
			columns[s] = append(columns[s], t)
		}
	}
	var panels []experiment.Panel
	for _, s := range settings {
		group := columns[s]
		if len(group) < 2 {
			continue
		}
		slices.SortFunc(group, func(a, b experiment.Finished) int {
			return cmp.Compare(b.Params.Float("epsilon"), a.Params.Float("epsilon"))
		})
		lengthscales := slices.Sorted(slices.Values(group[0].Params.Numbers("lengthscales")))
		slices.Reverse(lengthscales) // row 0 is at the top
		h := &experiment.Heatmap{Label: "probability"}
		for _, t := range group {
			h.XTicks = append(h.XTicks, experiment.FormatNumber(t.Params.Float("epsilon")))
		}
		for _, l := range lengthscales {
			row := make([]float64, len(group))
			for i, t := range group {
				row[i] = t.Metrics["probability_lengthscale_"+nameOf(l)]
			}
			h.Values = append(h.Values, row)
			h.YTicks = append(h.YTicks, experiment.FormatNumber(l))
		}
		p := group[0].Params
		title := p.Text("sensitivity") + ", " + p.Text("calibration")
		for _, name := range []string{"threshold", "sse_cut"} {
			if p.Text(name) != "none" {
				title += fmt.Sprintf(", %s %s d²", strings.ReplaceAll(name, "_", " "), experiment.FormatNumber(p.Float(name)))
			}
		}
		panels = append(panels, experiment.Panel{Title: title, XLabel: "ε of the regression", YLabel: "lengthscale (years)", Heatmap: h})
	}
	return panels
}

// settingOf names the parameters but for one.
func settingOf(p experiment.Params, without string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if name != without {
			fmt.Fprintf(&b, "%s=%s ", name, experiment.FormatValue(p[name]))
		}
	}
	return b.String()
}
