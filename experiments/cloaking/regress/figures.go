package regress

import (
	"fmt"
	"slices"

	"privkern/experiments/cloaking/cloak"
	"privkern/runner/experiment"
)

// methods in the order, and with the colours, of all figures.
var methods = []cloak.Method{cloak.Standard, cloak.Nonstationary, cloak.Sparse}

// firstOf returns the first trial with such settings that has all these series; nil
// where none is.
func firstOf[S, M any](trials []experiment.ObservationOf[S, M], such func(*S) bool,
	series ...string) *experiment.ObservationOf[S, M] {
	for i := range trials {
		lacks := func(name string) bool { return trials[i].Series[name] == nil }
		if such(trials[i].Settings) && !slices.ContainsFunc(series, lacks) {
			return &trials[i]
		}
	}
	return nil
}

// Figure1 follows the paper's Fig. 1: heights over age with the noise of the
// three methods, and the lengthscale of the nonstationary one.
func Figure1() experiment.Figure {
	return experiment.Figure{
		Name:  "cloaking/figure1",
		Title: "Height over age with privacy noise (Fig. 1)",
		Caption: "Line: posterior mean of the height (cm), or the released prediction where the noise is secure; band: " +
			"one posterior standard deviation, without noise; thin lines: ten draws with privacy noise; dashed lines: " +
			"one standard deviation of that noise, and a quarter of it; dots: heights of the !Kung females, clipped to " +
			"the interval. " +
			"Then the standard deviation of the noise of the three methods, and the lengthscale of the nonstationary kernel.",
		Match: Curve().Matches(func(s *curveSettings) bool { return s.Inputs == cloak.Age }),
		Draw:  Curve().Draws(drawFigure1),
	}
}

func drawFigure1(trials []experiment.ObservationOf[curveSettings, curveMetrics]) []experiment.Panel {
	var panels []experiment.Panel
	noise := experiment.Panel{Title: "Noise over age", XLabel: "age (years)",
		YLabel: "standard deviation of the noise (cm)"}
	var lengthscale *experiment.Panel
	for color, m := range methods {
		t := firstOf(trials, func(s *curveSettings) bool { return s.Method == m && !s.Noiseless() }, "curve")
		if t == nil {
			continue
		}
		s := t.Series["curve"]
		x, mean, sd := s["x"], s["mean_cm"], s["noise_sd_cm"]
		panel := experiment.Panel{
			Title:  fmt.Sprintf("%s, ε = %s", m, experiment.FormatNumber(t.Settings.Epsilon)),
			XLabel: "age (years)", YLabel: "height (cm)",
		}
		name := "mean"
		if mean == nil {
			mean, name = t.Series["released"]["noisy_cm"], "released"
		}
		addCurves(&panel, t.Series["samples"], x, mean, s["posterior_sd_cm"], sd, color)
		panel.Lines = append(panel.Lines, experiment.Line{Name: name, X: x, Y: mean, Color: color})
		if d := t.Series["data"]; d != nil {
			panel.Points = []experiment.Line{{X: d["x"], Y: d["height_cm"], Color: dark, Marker: experiment.Dot}}
		}
		panels = append(panels, panel)
		noise.Lines = append(noise.Lines, experiment.Line{Name: m.String(), X: x, Y: sd, Color: color})
		if l := s["lengthscale_years"]; l != nil {
			lengthscale = &experiment.Panel{
				Title: "Lengthscale of the nonstationary kernel", XLabel: "age (years)", YLabel: "lengthscale (years)",
				Lines: []experiment.Line{{X: x, Y: l, Color: color}},
			}
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

// dark is near black, as an index into the palette.
const dark = 6

// addCurves adds the curves that Fig. 1 draws around the mean: the posterior, draws with noise, and
// the noise's standard deviation and its quarter.
func addCurves(p *experiment.Panel, samples experiment.Series, x, mean, posterior, noise []float64, color int) {
	p.Bands = []experiment.Band{{Name: "± posterior sd", X: x, Low: added(mean, posterior, -1),
		High: added(mean, posterior, 1), Color: color}}
	for j := range sampledCurves {
		if y := samples[fmt.Sprintf("draw_%d", j)]; y != nil {
			p.Lines = append(p.Lines, experiment.Line{X: x, Y: y, Thin: true, Color: dark})
		}
	}
	for _, part := range []struct {
		name  string
		share float64
		thin  bool
	}{{"± noise sd", 1, false}, {"± ¼ noise sd", 0.25, true}} {
		upper := experiment.Line{Name: part.name, X: x, Y: added(mean, noise, part.share), Dashed: true, Thin: part.thin,
			Color: dark}
		lower := upper
		lower.Name, lower.Y = "", added(mean, noise, -part.share)
		p.Lines = append(p.Lines, upper, lower)
	}
}

// added returns a + share·b.
func added(a, b []float64, share float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] + share*b[i]
	}
	return out
}

// NoiseFigure shows the noise of the cross-validated predictions.
func NoiseFigure() experiment.Figure {
	return experiment.Figure{
		Name:  "cloaking/noise",
		Title: "Cloaking noise over age",
		Caption: "Standard deviation of the privacy noise (cm) at each of the 287 rows when its fold is tested, over age, " +
			"for the three methods: on the left from age, on the right from age and weight. The first variant of the table, " +
			"first seed.",
		Match: Regression().Matches(func(s *regressionSettings) bool { return !s.own().IsFile() }),
		Draw:  Regression().Draws(drawNoise),
	}
}

func drawNoise(trials []experiment.ObservationOf[regressionSettings, regressionMetrics]) []experiment.Panel {
	var panels []experiment.Panel
	for _, inputs := range []cloak.Inputs{cloak.Age, cloak.AgeAndWeight} {
		name := experiment.NameOf(inputs)
		panel := experiment.Panel{Title: "Heights from " + name, XLabel: "age (years)",
			YLabel: "standard deviation of the noise (cm)", LogY: true}
		for color, m := range methods {
			such := func(s *regressionSettings) bool { return s.Method == m && !s.Noiseless() && s.Inputs == name }
			if t := firstOf(trials, such, "predictions"); t != nil {
				s := t.Series["predictions"]
				panel.Points = append(panel.Points, experiment.Line{Name: m.String(), X: s["x"], Y: s["noise_sd_cm"],
					Color: color})
			}
		}
		if panel.Points != nil {
			panels = append(panels, panel)
		}
	}
	return panels
}

// DesignFigure shows designs, which need no private data.
func DesignFigure() experiment.Figure {
	return experiment.Figure{
		Name:  "cloaking/design",
		Title: "Cloaking noise and design weights over age",
		Caption: "Left: standard deviation of the noise at the test points, per unit of sensitivity times the " +
			"calibration's factor, for the first design of each method. Right: the weights λ of the training inputs; few " +
			"inputs carry them all.",
		Match: Design().Matches(nil),
		Draw:  Design().Draws(drawDesign),
	}
}

func drawDesign(trials []experiment.ObservationOf[designSettings, designMetrics]) []experiment.Panel {
	noise := experiment.Panel{Title: "Noise", XLabel: "age (years)", YLabel: "standard deviation of the noise (per unit)"}
	weights := experiment.Panel{Title: "Weights", XLabel: "age of the training input (years)", YLabel: "weight λ"}
	for color, m := range methods {
		t := firstOf(trials, func(s *designSettings) bool { return s.Method == m }, "noise_over_age", "weights_over_age")
		if t == nil {
			continue
		}
		n, w := t.Series["noise_over_age"], t.Series["weights_over_age"]
		noise.Lines = append(noise.Lines, experiment.Line{Name: m.String(), X: n["x"], Y: n["noise_sd"], Color: color})
		weights.Points = append(weights.Points, experiment.Line{Name: m.String(), X: w["x"], Y: w["lambda"], Color: color})
	}
	if noise.Lines == nil {
		return nil
	}
	return []experiment.Panel{noise, weights}
}
