package simulated

import (
	"fmt"
	"math"
	"reflect"
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
		Name:  "dpgp/figure1",
		Title: "A noisy function, inferred with privacy (Fig. 1)",
		Caption: "Dashed: the true function sin(2x)/(2x); line and band: posterior mean and two posterior standard " +
			"deviations of the released model; crosses: posterior means at the inducing inputs; dots: the first 150 of the " +
			"data. The first data set of the first trial of each ε.",
		Match: inference().Matches(nil),
		Draw:  inference().Draws(drawFigure1),
	}
}

// shownData is the number of data that are drawn: more would hide the curves.
const shownData = 150

func drawFigure1(trials []experiment.ObservationOf[inferenceSettings, inferenceMetrics]) []experiment.Panel {
	var panels []experiment.Panel
	var drawn []float64
	for _, t := range trials {
		s, epsilon := t.Series["posterior"], t.Settings.Epsilon
		if s == nil || slices.Contains(drawn, epsilon) {
			continue
		}
		drawn = append(drawn, epsilon)
		name := "no privacy"
		if !t.Settings.Noiseless() {
			name = fmt.Sprintf("ε = %s, δ = %s", experiment.FormatNumber(epsilon), experiment.FormatNumber(t.Settings.Delta))
		}
		panel := experiment.Panel{
			Title: name, XLabel: "x", YLabel: "f(x)",
			Lines: []experiment.Line{
				{Name: "posterior mean", X: s["x"], Y: s["mean"], Color: 0},
				{Name: "true function", X: s["x"], Y: s["truth"], Color: 6, Dashed: true},
			},
			Bands: []experiment.Band{{Name: "± 2 sd", X: s["x"], Color: 0,
				Low: added(s["mean"], s["sd"], -2), High: added(s["mean"], s["sd"], 2)}},
		}
		if d := t.Series["data"]; d != nil {
			shown := min(shownData, len(d["x"]))
			panel.Points = append(panel.Points,
				experiment.Line{X: d["x"][:shown], Y: d["y"][:shown], Color: 4, Marker: experiment.Dot})
		}
		if z := t.Series["inducing"]; z != nil {
			panel.Points = append(panel.Points,
				experiment.Line{Name: "means at inducing inputs", X: z["x"], Y: z["mean"], Color: 2, Marker: experiment.Cross})
		}
		panels = append(panels, panel)
	}
	return panels
}

// figure2 follows the paper's Fig. 2.
func figure2() experiment.Figure {
	return experiment.Figure{
		Name:  "dpgp/figure2",
		Title: "Calibration of the posterior (Fig. 2)",
		Caption: "Share of the test points inside the central region of a given percentage (dashed), over ε, with the " +
			"covariance that accounts for the noise (DP-GP) and without (naive). Bands: two standard errors of the mean over " +
			"all repeats of all seeds. The first variant of the table.",
		Match: calibration().Matches(nil),
		Draw:  calibration().Draws(drawFigure2),
	}
}

// variant holds the settings that trials of one figure share: all but σ, ε and repeats.
func (s calibrationSettings) variant() calibrationSettings {
	s.Sigma, s.Epsilon, s.Repeats = 0, 0, 0
	return s
}

// scenario is one point of Fig. 2.
type scenario struct{ sigma, epsilon float64 }

// coverages are the series of repeats of the trials of one variant, over all seeds.
type coverages struct {
	columns          map[scenario]map[string][]float64
	sigmas, epsilons []float64
}

// coveragesOf are those of the variant with most scenarios, the first of several: another table in
// the same folder may have a trial of another variant.
func coveragesOf(trials []experiment.ObservationOf[calibrationSettings, calibrationMetrics]) coverages {
	var variants []calibrationSettings
	var of []coverages
	for _, t := range trials {
		s := t.Series["repeats"]
		if s == nil || t.Settings.Noiseless() {
			continue
		}
		v := t.Settings.variant()
		i := slices.IndexFunc(variants, func(w calibrationSettings) bool { return reflect.DeepEqual(v, w) })
		if i < 0 {
			i = len(variants)
			variants, of = append(variants, v), append(of, coverages{columns: map[scenario]map[string][]float64{}})
		}
		of[i].add(scenario{t.Settings.Sigma, t.Settings.Epsilon}, s)
	}
	var out coverages
	for _, c := range of {
		if len(c.columns) > len(out.columns) {
			out = c
		}
	}
	slices.Sort(out.sigmas)
	slices.Sort(out.epsilons)
	out.sigmas, out.epsilons = slices.Compact(out.sigmas), slices.Compact(out.epsilons)
	return out
}

func (c *coverages) add(at scenario, repeats experiment.Series) {
	if c.columns[at] == nil {
		c.columns[at] = map[string][]float64{}
		c.sigmas, c.epsilons = append(c.sigmas, at.sigma), append(c.epsilons, at.epsilon)
	}
	for name, v := range repeats {
		c.columns[at][name] = append(c.columns[at][name], v...)
	}
}

// over returns mean and standard error of a coverage, over ε.
func (c coverages) over(sigma float64, column string) (epsilons, mean, se []float64) {
	for _, epsilon := range c.epsilons {
		v := c.columns[scenario{sigma, epsilon}][column]
		if len(v) == 0 {
			continue
		}
		m, sd := stat.MeanStdDev(v, nil)
		if len(v) == 1 {
			sd = 0
		}
		epsilons, mean, se = append(epsilons, epsilon), append(mean, m), append(se, sd/math.Sqrt(float64(len(v))))
	}
	return epsilons, mean, se
}

func drawFigure2(trials []experiment.ObservationOf[calibrationSettings, calibrationMetrics]) []experiment.Panel {
	c := coveragesOf(trials)
	var panels []experiment.Panel
	for _, level := range levels {
		for _, sigma := range c.sigmas {
			panel := experiment.Panel{
				Title:  fmt.Sprintf("%d %%, σ = %s", level, experiment.FormatNumber(sigma)),
				XLabel: "ε", YLabel: "share inside", LogX: true,
			}
			for k, name := range []string{full: "DP-GP", naive: "naive"} {
				x, mean, se := c.over(sigma, coverageColumn(level, kind(k)))
				panel.Lines = append(panel.Lines, experiment.Line{Name: name, X: x, Y: mean, Color: k})
				panel.Bands = append(panel.Bands,
					experiment.Band{X: x, Low: added(mean, se, -2), High: added(mean, se, 2), Color: k})
			}
			wanted := float64(level) / 100
			panel.Lines = append(panel.Lines, experiment.Line{
				Name: "reference", X: []float64{slices.Min(c.epsilons), slices.Max(c.epsilons)}, Y: []float64{wanted, wanted},
				Color: 6, Dashed: true,
			})
			panels = append(panels, panel)
		}
	}
	return panels
}
