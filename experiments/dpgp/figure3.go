package dpgp

import (
	"fmt"
	"math"
	"slices"

	"privkern/runner/experiment"
)

// figure3 follows the paper's Fig. 3.
func figure3() experiment.Figure {
	return experiment.Figure{
		Name:    "dpgp/figure3",
		Title:   "Hyperparameters chosen privately (Fig. 3)",
		Caption: "Share of the searches that find a noise level (left) and a lengthscale (right), over ε. Bands: two standard errors over all searches of all seeds. A row for each rule by which scores are taken.",
		Match:   func(name string, _ experiment.Params) bool { return name == "dpgp/hyperparameters" },
		Draw:    drawFigure3,
	}
}

// sameSearch says whether two trials differ in ε, rule, repeats and seed alone.
func sameSearch(a, b experiment.Params) bool {
	for name := range a {
		if name != "epsilon" && name != "rule" && name != "repeats" && experiment.FormatValue(a[name]) != experiment.FormatValue(b[name]) {
			return false
		}
	}
	return true
}

func drawFigure3(trials []experiment.Finished) []experiment.Panel {
	type setting struct {
		rule    string
		epsilon float64
	}
	type counted struct {
		searches float64
		found    map[string]float64 // by metric
	}
	at := map[setting]*counted{}
	var rules []string
	var epsilons []float64
	var first experiment.Params
	for _, t := range trials {
		if privacyless(t.Params) || t.Metrics == nil || first != nil && !sameSearch(first, t.Params) {
			continue
		}
		if first == nil {
			first = t.Params
		}
		s := setting{t.Params.Text("rule"), t.Params.Float("epsilon")}
		if !slices.Contains(rules, s.rule) {
			rules = append(rules, s.rule)
		}
		if !slices.Contains(epsilons, s.epsilon) {
			epsilons = append(epsilons, s.epsilon)
		}
		if at[s] == nil {
			at[s] = &counted{found: map[string]float64{}}
		}
		repeats := t.Params.Float("repeats")
		at[s].searches += repeats
		for name, share := range t.Metrics {
			at[s].found[name] += share * repeats
		}
	}
	slices.Sort(epsilons)
	var panels []experiment.Panel
	for _, rule := range rules {
		for _, kind := range []struct{ title, symbol, values, family string }{
			{"noise level", "σ", "sigmas", "p_sigma_"}, {"lengthscale", "l", "lengthscales", "p_lengthscale_"},
		} {
			panel := experiment.Panel{Title: fmt.Sprintf("%s, rule %s", kind.title, rule), XLabel: "ε", YLabel: "probability", LogX: true}
			for color, v := range first.Numbers(kind.values) {
				var x, share, se []float64
				for _, epsilon := range epsilons {
					if c := at[setting{rule, epsilon}]; c != nil {
						p := min(1, c.found[metricName(kind.family, v)]/c.searches)
						x, share, se = append(x, epsilon), append(share, p), append(se, math.Sqrt(p*(1-p)/c.searches))
					}
				}
				panel.Lines = append(panel.Lines, experiment.Line{Name: fmt.Sprintf("%s = %.3g", kind.symbol, v), X: x, Y: share, Color: color})
				panel.Bands = append(panel.Bands, experiment.Band{X: x, Low: added(share, se, -2), High: added(share, se, 2), Color: color})
			}
			panels = append(panels, panel)
		}
	}
	return panels
}
