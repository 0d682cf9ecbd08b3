package dpgp

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/floats"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// figure3 follows the paper's Fig. 3.
func figure3() experiment.Figure {
	return experiment.Figure{
		Name:  "dpgp/figure3",
		Title: "Hyperparameters chosen privately (Fig. 3)",
		Caption: "Share of the searches that find a noise level (left) and a lengthscale (right), over ε. Bands: two " +
			"standard errors over all searches of all seeds. A row for each form of the algorithm.",
		Match: hyperparameters().Matches(nil),
		Draw:  hyperparameters().Draws(drawFigure3),
	}
}

// variant holds the settings that trials of one figure share: all but ε, the form of the algorithm
// and repeats.
func (s hyperparameterSettings) variant() hyperparameterSettings {
	s.Epsilon, s.Rule, s.CoinPress, s.Covariance, s.Repeats = 0, 0, 0, 0, 0
	return s
}

// searchForm is the form of the algorithm: the printed parts and the corrected ones.
type searchForm struct {
	rule       mechanism.SelectionRule
	intervals  mechanism.Intervals
	covariance sparse.Covariance
}

func (f searchForm) String() string {
	return fmt.Sprintf("rule %v, CoinPress %s, covariance %s", f.rule, experiment.NameOf(f.intervals),
		experiment.NameOf(f.covariance))
}

// searchSetting is a form with one of its points.
type searchSetting struct {
	form    searchForm
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

func drawFigure3(trials []experiment.ObservationOf[searchSettings, hyperparameterMetrics]) []experiment.Panel {
	at := map[searchSetting]*findings{}
	var forms []searchForm
	var epsilons []float64
	var first *hyperparameterSettings
	for _, t := range trials {
		s := t.Settings
		if s.isOwn() || s.Noiseless() || t.Metrics.Sigmas == nil ||
			first != nil && !reflect.DeepEqual(first.variant(), s.variant()) {
			continue
		}
		if first == nil {
			first = &s.hyperparameterSettings
		}
		key := searchSetting{searchForm{s.Rule, s.CoinPress, s.Covariance}, s.Epsilon}
		if !slices.Contains(forms, key.form) {
			forms = append(forms, key.form)
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
	for _, form := range forms {
		// curve is the share of the searches that find a candidate.
		curve := func(found func(*findings) float64) (x, share, se []float64) {
			for _, epsilon := range epsilons {
				if f := at[searchSetting{form, epsilon}]; f != nil {
					p := min(1, found(f)/f.searches)
					x, share, se = append(x, epsilon), append(share, p), append(se, math.Sqrt(p*(1-p)/f.searches))
				}
			}
			return x, share, se
		}
		sigmas := experiment.Panel{Title: fmt.Sprintf("noise level, %v", form)}
		for color, v := range first.Sigmas {
			x, share, se := curve(func(f *findings) float64 { return f.sigmas[sparse.MemberOf(v)] })
			addShare(&sigmas, fmt.Sprintf("σ = %.3g", v), color, x, share, se)
		}
		lengthscales := experiment.Panel{Title: fmt.Sprintf("lengthscale, %v", form)}
		for color, v := range first.Lengthscales {
			x, share, se := curve(func(f *findings) float64 { return f.lengthscales[sparse.MemberOf(v)] })
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
	away := func(errors float64) []float64 {
		return floats.AddScaledTo(make([]float64, len(share)), share, errors, se)
	}
	p.Lines = append(p.Lines, experiment.Line{Name: name, X: x, Y: share, Color: color})
	p.Bands = append(p.Bands, experiment.Band{X: x, Low: away(-2), High: away(2), Color: color})
}
