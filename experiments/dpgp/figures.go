package dpgp

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"privkern/runner/experiment"
)

// added returns a + factor·b.
func added(a, b []float64, factor float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] + factor*b[i]
	}
	return out
}

// figure1 follows the paper's Fig. 1.
func figure1() experiment.Figure {
	return experiment.Figure{
		Name:    "dpgp/figure1",
		Title:   "A noisy function, inferred with privacy (Fig. 1)",
		Caption: "Dashed: the true function sin(2x)/(2x); line and band: posterior mean and two posterior standard deviations of the released model; crosses: posterior means at the inducing inputs; dots: the first 150 of the data. The first data set of the first trial of each ε.",
		Match:   func(name string, _ experiment.Params) bool { return name == "dpgp/inference" },
		Draw:    drawFigure1,
	}
}

// shownData is how many of the data are drawn: more would hide the curves.
const shownData = 150

func drawFigure1(trials []experiment.Finished) []experiment.Panel {
	var panels []experiment.Panel
	var drawn []float64
	for _, t := range trials {
		s, epsilon := t.Series["posterior"], t.Params.Float("epsilon")
		if s == nil || slices.Contains(drawn, epsilon) {
			continue
		}
		drawn = append(drawn, epsilon)
		name := "no privacy"
		if !privacyless(t.Params) {
			name = fmt.Sprintf("ε = %s, δ = %s", experiment.FormatNumber(epsilon), experiment.FormatNumber(t.Params.Float("delta")))
		}
		panel := experiment.Panel{
			Title: name, XLabel: "x", YLabel: "f(x)",
			Lines: []experiment.Line{
				{Name: "posterior mean", X: s["x"], Y: s["mean"], Color: 0},
				{Name: "true function", X: s["x"], Y: s["truth"], Color: 6, Dashed: true},
			},
			Bands: []experiment.Band{{Name: "± 2 sd", X: s["x"], Low: added(s["mean"], s["sd"], -2), High: added(s["mean"], s["sd"], 2), Color: 0}},
		}
		if d := t.Series["data"]; d != nil {
			shown := min(shownData, len(d["x"]))
			panel.Points = append(panel.Points, experiment.Line{X: d["x"][:shown], Y: d["y"][:shown], Color: 4, Marker: experiment.Dot})
		}
		if z := t.Series["inducing"]; z != nil {
			panel.Points = append(panel.Points, experiment.Line{Name: "means at inducing inputs", X: z["x"], Y: z["mean"], Color: 2, Marker: experiment.Cross})
		}
		panels = append(panels, panel)
	}
	return panels
}

// figure2 follows the paper's Fig. 2.
func figure2() experiment.Figure {
	return experiment.Figure{
		Name:    "dpgp/figure2",
		Title:   "Calibration of the posterior (Fig. 2)",
		Caption: "Share of the test points inside the central region of so many percent (dashed), over ε, with the covariance that accounts for the noise (DP-GP) and without (naive). Bands: two standard errors of the mean over all repeats of all seeds. The first variant of the table.",
		Match:   func(name string, _ experiment.Params) bool { return name == "dpgp/calibration" },
		Draw:    drawFigure2,
	}
}

// alike says whether two trials differ in σ, ε and seed alone.
func alike(a, b experiment.Params) bool {
	for name := range a {
		if name != "sigma" && name != "epsilon" && name != "repeats" && experiment.FormatValue(a[name]) != experiment.FormatValue(b[name]) {
			return false
		}
	}
	return true
}

func drawFigure2(trials []experiment.Finished) []experiment.Panel {
	type setting struct{ sigma, epsilon float64 }
	values := map[setting]map[string][]float64{}
	var sigmas, epsilons []float64
	var first experiment.Params
	for _, t := range trials {
		s := t.Series["repeats"]
		if s == nil || privacyless(t.Params) || first != nil && !alike(first, t.Params) {
			continue
		}
		first = t.Params
		at := setting{t.Params.Float("sigma"), t.Params.Float("epsilon")}
		if values[at] == nil {
			values[at] = map[string][]float64{}
			sigmas, epsilons = append(sigmas, at.sigma), append(epsilons, at.epsilon)
		}
		for name, v := range s {
			values[at][name] = append(values[at][name], v...)
		}
	}
	slices.Sort(sigmas)
	slices.Sort(epsilons)
	sigmas, epsilons = slices.Compact(sigmas), slices.Compact(epsilons)
	var panels []experiment.Panel
	for _, level := range levels {
		for _, sigma := range sigmas {
			wanted := float64(level) / 100
			panel := experiment.Panel{Title: fmt.Sprintf("%d %%, σ = %s", level, experiment.FormatNumber(sigma)), XLabel: "ε", YLabel: "share inside", LogX: true}
			for color, kind := range kinds {
				var x, mean, se []float64
				for _, epsilon := range epsilons {
					v := values[setting{sigma, epsilon}][coverageMetric(level, kind)]
					if len(v) == 0 {
						continue
					}
					m, sd := stat.MeanStdDev(v, nil)
					if len(v) == 1 {
						sd = 0
					}
					x, mean, se = append(x, epsilon), append(mean, m), append(se, sd/math.Sqrt(float64(len(v))))
				}
				name := "DP-GP"
				if kind == kindNaive {
					name = "naive"
				}
				panel.Lines = append(panel.Lines, experiment.Line{Name: name, X: x, Y: mean, Color: color})
				panel.Bands = append(panel.Bands, experiment.Band{X: x, Low: added(mean, se, -2), High: added(mean, se, 2), Color: color})
			}
			panel.Lines = append(panel.Lines, experiment.Line{Name: "reference", X: []float64{slices.Min(epsilons), slices.Max(epsilons)}, Y: []float64{wanted, wanted}, Color: 6, Dashed: true})
			panels = append(panels, panel)
		}
	}
	return panels
}
