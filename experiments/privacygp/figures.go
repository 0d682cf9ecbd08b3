package privacygp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"privkern/runner/experiment"
)

// Colours of the methods, the same in all panels of a figure.
const (
	colourOptimal = iota
	colourDiagonal
	colourUnsecured
	colourPrivate
	colourMarker = 6 // near black, for single points
)

func figure1() experiment.Figure {
	return experiment.Figure{
		Name:  "privacygp/figure1",
		Title: "One sensitive input (Example 1)",
		Caption: "Left: covariance of the optimal noise over the training inputs. Middle: noise variances of the optimal " +
			"and of the diagonal method for the same privacy. Right: predictive variance of both and of the unsecured " +
			"process; the marker is the tolerance at the sensitive input.",
		Match: example1().Matches(nil),
		Draw:  example1().Draws(drawFigure1),
	}
}

func drawFigure1(trials []experiment.ObservationOf[example1Settings, example1Metrics]) []experiment.Panel {
	t := first(trials, "covariance", "noise_variance", "predictive_variance")
	if t == nil {
		return nil
	}
	noise, variance := t.Series["noise_variance"], t.Series["predictive_variance"]
	return []experiment.Panel{
		{Title: "Optimal noise covariance", XLabel: "training input", YLabel: "training input",
			Heatmap: heatmap(t.Series["covariance"])},
		{Title: "Noise variances", XLabel: "training input", YLabel: "variance of the synthetic noise",
			Lines: []experiment.Line{line(noise, diagonal), line(noise, optimal)}},
		{Title: "Predictive variances", XLabel: "x", YLabel: "predictive variance",
			Lines: []experiment.Line{line(variance, diagonal), line(variance, optimal), line(variance, unsecured)},
			Points: []experiment.Line{{Name: "tolerance", X: []float64{t.Settings.S}, Y: []float64{t.Settings.Xi},
				Color: colourMarker}}},
	}
}

// line is a method's column of a series.
func line(s experiment.Series, m method) experiment.Line {
	colour := map[method]int{optimal: colourOptimal, diagonal: colourDiagonal, unsecured: colourUnsecured,
		strongly: colourOptimal, weakly: colourDiagonal}[m]
	return experiment.Line{Name: m.String(), X: s["x"], Y: s[m.String()], Color: colour}
}

// first returns the first trial that has all these series; nil where none has.
func first[S, M any](trials []experiment.ObservationOf[S, M], series ...string) *experiment.ObservationOf[S, M] {
	for i := range trials {
		if !slices.ContainsFunc(series, func(s string) bool { return trials[i].Series[s] == nil }) {
			return &trials[i]
		}
	}
	return nil
}

// heatmap turns a matrix kept as a series, a column of the matrix in a column,
// back.
func heatmap(s experiment.Series) *experiment.Heatmap {
	h := &experiment.Heatmap{Label: "covariance of the synthetic noise"}
	names := slices.Sorted(maps.Keys(s))
	for i, x := range s["x"] {
		label := fmt.Sprintf("%.3g", x)
		h.XTicks, h.YTicks = append(h.XTicks, label), append(h.YTicks, label)
		var row []float64
		for _, name := range names {
			if name != "x" {
				row = append(row, s[name][i])
			}
		}
		h.Values = append(h.Values, row)
	}
	return h
}

func figure2() experiment.Figure {
	return experiment.Figure{
		Name:  "privacygp/figure2",
		Title: "Two sensitive inputs (Example 2)",
		Caption: "Left and middle: trace of the strongly privacy-aware noise against the off-diagonal entry c of Xi, over " +
			"all admissible c and from 0.3 up; the weakly privacy-aware trace is dashed. Right: predictive variances.",
		Match: example2().Matches(nil),
		Draw:  example2().Draws(drawFigure2),
	}
}

func drawFigure2(trials []experiment.ObservationOf[example2Settings, example2Metrics]) []experiment.Panel {
	t := first(trials, "trace", "trace_zoom", "predictive_variance")
	if t == nil {
		return nil
	}
	traces := func(title, name string) experiment.Panel {
		level := line(t.Series[name], weakly)
		level.Dashed = true
		return experiment.Panel{Title: title, XLabel: "c", YLabel: "trace of the noise covariance",
			Lines: []experiment.Line{line(t.Series[name], strongly), level}}
	}
	variance := t.Series["predictive_variance"]
	strong := line(variance, strongly)
	strong.Name = fmt.Sprintf("strong, c = %v", t.Settings.C)
	return []experiment.Panel{
		traces("Trace, all admissible c", "trace"),
		traces("Trace, c from 0.3", "trace_zoom"),
		{Title: "Predictive variances", XLabel: "x", YLabel: "predictive variance",
			Lines: []experiment.Line{strong, line(variance, weakly)}},
	}
}

func figure3() experiment.Figure {
	return experiment.Figure{
		Name:  "privacygp/figure3",
		Title: "A satellite's trajectory with a private segment (Section 5)",
		Caption: "True trajectory (the private segment shaded and in its own colour), obfuscated data, and the mean and " +
			"two standard deviations of the prediction that the obfuscated data allow. One panel for each requirement " +
			"and quantity; seeded noise.",
		Match: satellite().Matches(nil),
		Draw:  satellite().Draws(drawFigure3),
	}
}

type satelliteTrial = experiment.ObservationOf[satelliteSettings, satelliteMetrics]

func drawFigure3(trials []satelliteTrial) []experiment.Panel {
	isCorrected := func(t satelliteTrial) bool { return t.Settings.Variant == corrected }
	if slices.ContainsFunc(trials, isCorrected) { // as-published differs in the labels alone
		trials = slices.DeleteFunc(trials, func(t satelliteTrial) bool { return !isCorrected(t) })
	}
	slices.SortStableFunc(trials, func(a, b satelliteTrial) int {
		return cmp.Or(cmp.Compare(a.Settings.Quantity, b.Settings.Quantity), cmp.Compare(a.Settings.Alpha, b.Settings.Alpha))
	})
	var panels []experiment.Panel
	shown := map[satelliteSettings]bool{} // for any seed
	for _, t := range trials {
		if t.Series["prediction"] == nil || t.Series["data"] == nil || shown[*t.Settings] {
			continue
		}
		shown[*t.Settings] = true
		panels = append(panels, satellitePanel(t.Settings, t.Series["prediction"], t.Series["data"]))
	}
	return panels
}

func satellitePanel(s *satelliteSettings, prediction, data experiment.Series) experiment.Panel {
	quantity := strings.ReplaceAll(s.Quantity.String(), "_", " ")
	title := fmt.Sprintf("%s, H = %vK", quantity, s.Alpha)
	if s.Variant == asPublished {
		title += " as the text has it"
	}
	x := prediction["x"]
	return experiment.Panel{
		Title: title, XLabel: "time (orbits)", YLabel: fmt.Sprintf("%s (%s)", quantity, s.Quantity.unit()),
		Bands: []experiment.Band{{Name: "±2σ", X: x, Low: prediction["low"], High: prediction["high"],
			Color: colourUnsecured}},
		Spans:  []experiment.Span{{Name: "private segment", Low: s.SegmentStart, High: s.SegmentEnd}},
		Points: []experiment.Line{{Name: "obfuscated data", X: data["x"], Y: data["obfuscated"], Color: colourDiagonal}},
		Lines: []experiment.Line{
			{Name: "truth", X: x, Y: prediction["truth"], Color: colourOptimal},
			{Name: "truth, private", X: x, Y: prediction["private_truth"], Color: colourPrivate},
			{Name: "prediction", X: x, Y: prediction["mean"], Color: colourUnsecured, Dashed: true},
		},
	}
}
