package regress

import (
	"fmt"
	"math"
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

// Figure2 follows the paper's Fig. 2: predictions over weight and age that fade
// with their noise.
func Figure2() experiment.Figure {
	return experiment.Figure{
		Name:  "cloaking/figure2",
		Title: "Height over weight and age with privacy noise (Fig. 2)",
		Caption: "Discs: predictions of the three methods, their radius proportional to the predicted height, the more " +
			"transparent the larger the standard deviation of their noise; at 40 cm they vanish. Lines: where the " +
			"prediction without noise is 80, 100, 120 and 140 cm. Dots: weight and age of the !Kung females; crosses: " +
			"inducing inputs. Far from all data, predictions fall back to the prior mean and need little noise. Where the " +
			"noise is secure, discs show the noisy predictions and there are no lines. The first variant of the table.",
		Match: Surface().Matches(nil),
		Draw:  Surface().Draws(drawFigure2),
	}
}

func drawFigure2(trials []experiment.ObservationOf[surfaceSettings, surfaceMetrics]) []experiment.Panel {
	var panels []experiment.Panel
	for _, m := range []cloak.Method{cloak.Standard, cloak.Sparse, cloak.Nonstationary} { // (A), (B), (C)
		t := firstOf(trials, func(s *surfaceSettings) bool { return s.Method == m && !s.Noiseless() }, "surface")
		if t == nil {
			continue
		}
		s, data := t.Series["surface"], t.Series["data"]
		height := s["mean_cm"]
		panel := experiment.Panel{
			Title:  fmt.Sprintf("%s, ε = %s", m, experiment.FormatNumber(t.Settings.Epsilon)),
			XLabel: "weight (kg)", YLabel: "age (years)",
		}
		if height == nil {
			height = t.Series["released"]["noisy_cm"]
		} else {
			panel.Lines = heightContours(t.Settings.Weights, t.Settings.Ages, height)
		}
		panel.Discs = []experiment.Discs{t.Settings.discs(s, height)}
		panel.Points = []experiment.Line{{Name: "data", X: data["x"], Y: data["age"], Color: 6, Marker: experiment.Dot}}
		if z := t.Series["inducing"]; z != nil {
			panel.Points = append(panel.Points, experiment.Line{Name: "inducing inputs", X: z["x"], Y: z["age"], Color: 1,
				Marker: experiment.Cross})
		}
		panels = append(panels, panel)
	}
	return panels
}

// discs are the predictions as discs. The largest fill the distance
// between two points of the grid, in a panel a little wider than high.
func (s *surfaceSettings) discs(surface experiment.Series, height []float64) experiment.Discs {
	const widerBy, tallestCM = 1.15, 160
	largest := min(spacing(s.Weights), spacing(s.Ages)/extentOf(s.Ages)*extentOf(s.Weights)/widerBy) / 2
	d := experiment.Discs{Name: "prediction", X: surface["x"], Y: surface["age"], Color: 0}
	for i, h := range height {
		d.Radius = append(d.Radius, largest*min(max(h/tallestCM, 0), 1))
		d.Opacity = append(d.Opacity, min(max(1-surface["noise_sd_cm"][i]/transparentCM, 0), 1))
	}
	return d
}

// spacing is the smallest distance between neighbours of an increasing list, and
// extentOf that of its ends; both are 1 for a single value.
func spacing(values []float64) float64 {
	smallest := math.Inf(1)
	for i, v := range values[1:] {
		smallest = min(smallest, v-values[i])
	}
	if math.IsInf(smallest, 1) {
		return 1
	}
	return smallest
}

func extentOf(values []float64) float64 {
	if len(values) == 1 {
		return 1
	}
	return values[len(values)-1] - values[0]
}

// heightContours are where a surface of heights, given row by row over a grid of
// weights and ages, has the heights of the levels.
func heightContours(weights, ages, height []float64) []experiment.Line {
	var out []experiment.Line
	for i, level := range []float64{80, 100, 120, 140} {
		x, y := contour(weights, ages, height, level)
		if x == nil {
			continue
		}
		// Sky blue, orange, reddish purple, bluish green.
		out = append(out, experiment.Line{Name: fmt.Sprintf("%g cm", level), X: x, Y: y, Color: []int{5, 4, 3, 2}[i]})
	}
	return out
}

// contour returns the line along which a surface has the level, as segments
// that NaN in y separates. The surface z is linear in each of the two triangles
// that a cell of the grid is cut into, which leaves no ambiguity; z[j·len(x)+i]
// is its value at x[i] and y[j].
func contour(xs, ys, z []float64, level float64) (x, y []float64) {
	type corner struct{ x, y, z float64 }
	triangle := func(corners ...corner) {
		var cut []corner
		for k, a := range corners {
			b := corners[(k+1)%3]
			if (a.z < level) != (b.z < level) {
				share := (level - a.z) / (b.z - a.z)
				cut = append(cut, corner{x: a.x + share*(b.x-a.x), y: a.y + share*(b.y-a.y)})
			}
		}
		if len(cut) == 2 {
			x, y = append(x, cut[0].x, cut[1].x, cut[1].x), append(y, cut[0].y, cut[1].y, math.NaN())
		}
	}
	at := func(i, j int) corner { return corner{xs[i], ys[j], z[j*len(xs)+i]} }
	for j := range len(ys) - 1 {
		for i := range len(xs) - 1 {
			triangle(at(i, j), at(i+1, j), at(i+1, j+1))
			triangle(at(i, j), at(i+1, j+1), at(i, j+1))
		}
	}
	return x, y
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
