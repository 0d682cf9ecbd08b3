package dpgp

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// figure3 follows the paper's Fig. 3.
func figure3() experiment.Figure {
	return experiment.Figure{
		Name:  "dpgp/figure3",
		Title: "Hyperparameters chosen privately (Fig. 3)",
		Caption: "Share of the searches that find a noise level (left) and a lengthscale (right), over ε. Bands: two " +
			"standard errors over all searches of all seeds. A row for each rule by which scores are taken.",
		Match: hyperparameters().Matches(nil),
		Draw:  hyperparameters().Draws(drawFigure3),
	}
}

// variant is what trials of one figure share: all settings but ε, rule and repeats.
func (s hyperparameterSettings) variant() hyperparameterSettings {
	s.Epsilon, s.Rule, s.Repeats = 0, 0, 0
	return s
}

// searchSetting is a curve's rule with one of its points.
type searchSetting struct {
	rule    mechanism.SelectionRule
	epsilon float64
}

// findings are the searches of one setting, over all seeds.
type findings struct {
	searches             float64
	sigmas, lengthscales map[string]float64 // how many found each candidate, by its name
}

func (f *findings) add(m *hyperparameterMetrics, repeats int) {
	f.searches += float64(repeats)
	for member, share := range m.Sigmas {
		f.sigmas[member] += share * float64(repeats)
	}
	for member, share := range m.Lengthscales {
		f.lengthscales[member] += share * float64(repeats)
	}
}

func drawFigure3(trials []experiment.ObservationOf[hyperparameterSettings, hyperparameterMetrics]) []experiment.Panel {
	at := map[searchSetting]*findings{}
	var rules []mechanism.SelectionRule
	var epsilons []float64
	var first *hyperparameterSettings
	for _, t := range trials {
		s := t.Settings
		if s.Noiseless() || t.Metrics.Sigmas == nil || first != nil && !reflect.DeepEqual(first.variant(), s.variant()) {
			continue
		}
		if first == nil {
			first = s
		}
		key := searchSetting{s.Rule, s.Epsilon}
		if !slices.Contains(rules, s.Rule) {
			rules = append(rules, s.Rule)
		}
		if !slices.Contains(epsilons, s.Epsilon) {
			epsilons = append(epsilons, s.Epsilon)
		}
		if at[key] == nil {
			at[key] = &findings{sigmas: map[string]float64{}, lengthscales: map[string]float64{}}
		}
		at[key].add(t.Metrics, s.Repeats)
	}
	slices.Sort(epsilons)
	var panels []experiment.Panel
	for _, rule := range rules {
		// curve is the share of the searches that find a candidate.
		curve := func(found func(*findings) float64) (x, share, se []float64) {
			for _, epsilon := range epsilons {
				if f := at[searchSetting{rule, epsilon}]; f != nil {
					p := min(1, found(f)/f.searches)
					x, share, se = append(x, epsilon), append(share, p), append(se, math.Sqrt(p*(1-p)/f.searches))
				}
			}
			return x, share, se
		}
		sigmas := experiment.Panel{Title: fmt.Sprintf("noise level, rule %v", rule)}
		for color, v := range first.Sigmas {
			x, share, se := curve(func(f *findings) float64 { return f.sigmas[memberOf(v)] })
			addShare(&sigmas, fmt.Sprintf("σ = %.3g", v), color, x, share, se)
		}
		lengthscales := experiment.Panel{Title: fmt.Sprintf("lengthscale, rule %v", rule)}
		for color, v := range first.Lengthscales {
			x, share, se := curve(func(f *findings) float64 { return f.lengthscales[memberOf(v)] })
			addShare(&lengthscales, fmt.Sprintf("l = %.3g", v), color, x, share, se)
		}
		panels = append(panels, sigmas, lengthscales)
	}
	for i := range panels {
		panels[i].XLabel, panels[i].YLabel, panels[i].LogX = "ε", "probability", true
	}
	return panels
}

// addShare adds the curve of a share with its standard errors to a panel.
func addShare(p *experiment.Panel, name string, color int, x, share, se []float64) {
	p.Lines = append(p.Lines, experiment.Line{Name: name, X: x, Y: share, Color: color})
	p.Bands = append(p.Bands, experiment.Band{X: x, Low: added(share, se, -2), High: added(share, se, 2), Color: color})
}
