package cloaking

import (
	"fmt"
	"slices"

	"privkern/runner/experiment"
)

// methods in the order, and with the colours, of all figures.
var methods = []string{methodStandard, methodNonstationary, methodSparse}

// trialOf returns the first trial of a method that satisfies the condition.
func trialOf(trials []experiment.Finished, method string, condition func(experiment.Finished) bool) (experiment.Finished, bool) {
	i := slices.IndexFunc(trials, func(t experiment.Finished) bool {
		return t.Params.Text("method") == method && !privacyless(t.Params) && condition(t)
	})
	if i < 0 {
		return experiment.Finished{}, false
	}
	return trials[i], true
}

// figure1 follows the paper's Fig. 1: heights over age with the noise of the
// three methods, and the lengthscale of the nonstationary one.
func figure1() experiment.Figure {
	return experiment.Figure{
		Name:    "cloaking/figure1",
		Title:   "Height over age with privacy noise (Fig. 1)",
		Caption: "Line: posterior mean of the height (cm), or the released prediction where the noise is secure; band: one standard deviation of the privacy noise; dots: heights of the !Kung females, clipped to the interval. Then the standard deviation of the noise of the three methods, and the lengthscale of the nonstationary kernel.",
		Match: func(name string, p experiment.Params) bool {
			return name == "cloaking/curve" && p.Text("inputs") == inputsAge
		},
		Draw: drawFigure1,
	}
}

func drawFigure1(trials []experiment.Finished) []experiment.Panel {
	var panels []experiment.Panel
	noise := experiment.Panel{Title: "Noise over age", XLabel: "age (years)", YLabel: "standard deviation of the noise (cm)"}
	var lengthscale *experiment.Panel
	for color, method := range methods {
		t, ok := trialOf(trials, method, func(t experiment.Finished) bool { return t.Series["curve"] != nil })
		if !ok {
			continue
		}
		s := t.Series["curve"]
		x, mean, sd := s["x"], s["mean_cm"], s["noise_sd_cm"]
		name := "mean"
		if mean == nil {
			mean, name = t.Series["released"]["noisy_cm"], "released"
		}
		panel := experiment.Panel{
			Title:  fmt.Sprintf("%s, ε = %s", method, experiment.FormatNumber(t.Params.Float("epsilon"))),
			XLabel: "age (years)", YLabel: "height (cm)",
			Lines: []experiment.Line{{Name: name, X: x, Y: mean, Color: color}},
			Bands: []experiment.Band{{Name: "± noise sd", X: x, Low: added(mean, sd, -1), High: added(mean, sd, 1), Color: color}},
		}
		if d := t.Series["data"]; d != nil {
			panel.Points = []experiment.Line{{X: d["x"], Y: d["height_cm"], Color: 6, Marker: experiment.Dot}}
		}
		panels = append(panels, panel)
		noise.Lines = append(noise.Lines, experiment.Line{Name: method, X: x, Y: sd, Color: color})
		if l := s["lengthscale_years"]; l != nil {
			lengthscale = &experiment.Panel{Title: "Lengthscale of the nonstationary kernel", XLabel: "age (years)", YLabel: "lengthscale (years)",
				Lines: []experiment.Line{{X: x, Y: l, Color: color}}}
		}
	}
	if panels == nil {
		return nil
	}
	panels = append(panels, noise)
	if lengthscale != nil {
		panels = append(panels, *lengthscale)
	}
	return panels
}

// added returns a + sign·b.
func added(a, b []float64, sign float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] + sign*b[i]
	}
	return out
}

// noiseFigure shows the noise of the cross-validated predictions.
func noiseFigure() experiment.Figure {
	return experiment.Figure{
		Name:    "cloaking/noise",
		Title:   "Cloaking noise over age",
		Caption: "Standard deviation of the privacy noise (cm) at each of the 287 rows when its fold is tested, over age, for the three methods: on the left from age, on the right from age and weight. The first variant of the table, first seed.",
		Match:   func(name string, p experiment.Params) bool { return name == "cloaking/regression" && !ownFile(p) },
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			var panels []experiment.Panel
			for _, inputs := range []string{inputsAge, inputsAgeWeight} {
				panel := experiment.Panel{Title: "Heights from " + inputs, XLabel: "age (years)", YLabel: "standard deviation of the noise (cm)", LogY: true}
				for color, method := range methods {
					t, ok := trialOf(trials, method, func(t experiment.Finished) bool {
						return t.Params.Text("inputs") == inputs && t.Series["predictions"] != nil
					})
					if ok {
						s := t.Series["predictions"]
						panel.Points = append(panel.Points, experiment.Line{Name: method, X: s["x"], Y: s["noise_sd_cm"], Color: color})
					}
				}
				if panel.Points != nil {
					panels = append(panels, panel)
				}
			}
			return panels
		},
	}
}

// designFigure shows designs, which need no private data.
func designFigure() experiment.Figure {
	return experiment.Figure{
		Name:    "cloaking/design",
		Title:   "Cloaking noise and design weights over age",
		Caption: "Left: standard deviation of the noise at the test points, per unit of sensitivity times the calibration's factor, for the first design of each method. Right: the weights λ of the training inputs; few inputs carry them all.",
		Match:   func(name string, _ experiment.Params) bool { return name == "cloaking/design" },
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			noise := experiment.Panel{Title: "Noise", XLabel: "age (years)", YLabel: "standard deviation of the noise (per unit)"}
			weights := experiment.Panel{Title: "Weights", XLabel: "age of the training input (years)", YLabel: "weight λ"}
			for color, method := range methods {
				i := slices.IndexFunc(trials, func(t experiment.Finished) bool {
					return t.Params.Text("method") == method && t.Series["noise_over_age"] != nil && t.Series["weights_over_age"] != nil
				})
				if i < 0 {
					continue
				}
				n, w := trials[i].Series["noise_over_age"], trials[i].Series["weights_over_age"]
				noise.Lines = append(noise.Lines, experiment.Line{Name: method, X: n["x"], Y: n["noise_sd"], Color: color})
				weights.Points = append(weights.Points, experiment.Line{Name: method, X: w["x"], Y: w["lambda"], Color: color})
			}
			if noise.Lines == nil {
				return nil
			}
			return []experiment.Panel{noise, weights}
		},
	}
}
