package privacygp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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
		Name:    "privacygp/figure1",
		Title:   "One sensitive input (Example 1)",
		Caption: "Left: covariance of the optimal noise over the training inputs. Middle: noise variances of the optimal and of the diagonal method for the same privacy. Right: predictive variance of both and of the unsecured process; the marker is the tolerance at the sensitive input.",
		Match:   func(name string, _ experiment.Params) bool { return name == "privacygp/example1" },
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			t, ok := first(trials, "covariance", "noise_variance", "predictive_variance")
			if !ok {
				return nil
			}
			noise, variance := t.Series["noise_variance"], t.Series["predictive_variance"]
			xi, s := t.Params.Float("xi"), t.Params.Float("s")
			return []experiment.Panel{
				{Title: "Optimal noise covariance", XLabel: "training input", YLabel: "training input", Heatmap: heatmap(t.Series["covariance"])},
				{Title: "Noise variances", XLabel: "training input", YLabel: "variance of the synthetic noise", Lines: []experiment.Line{
					{Name: "diagonal", X: noise["x"], Y: noise["diagonal"], Color: colourDiagonal},
					{Name: "optimal", X: noise["x"], Y: noise["optimal"], Color: colourOptimal},
				}},
				{Title: "Predictive variances", XLabel: "x", YLabel: "predictive variance", Lines: []experiment.Line{
					{Name: "diagonal", X: variance["x"], Y: variance["diagonal"], Color: colourDiagonal},
					{Name: "optimal", X: variance["x"], Y: variance["optimal"], Color: colourOptimal},
					{Name: "unsecured", X: variance["x"], Y: variance["unsecured"], Color: colourUnsecured},
				}, Points: []experiment.Line{{Name: "tolerance", X: []float64{s}, Y: []float64{xi}, Color: colourMarker}}},
			}
		},
	}
}

// first returns the first trial that has all these series.
func first(trials []experiment.Finished, series ...string) (experiment.Finished, bool) {
	for _, t := range trials {
		if !slices.ContainsFunc(series, func(s string) bool { return t.Series[s] == nil }) {
			return t, true
		}
	}
	return experiment.Finished{}, false
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
		Name:    "privacygp/figure2",
		Title:   "Two sensitive inputs (Example 2)",
		Caption: "Left and middle: trace of the strongly privacy-aware noise against the off-diagonal entry c of Xi, over all admissible c and from 0.3 up; the weakly privacy-aware trace is dashed. Right: predictive variances.",
		Match:   func(name string, _ experiment.Params) bool { return name == "privacygp/example2" },
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			t, ok := first(trials, "trace", "trace_zoom", "predictive_variance")
			if !ok {
				return nil
			}
			traces := func(title, name string) experiment.Panel {
				s := t.Series[name]
				return experiment.Panel{Title: title, XLabel: "c", YLabel: "trace of the noise covariance", Lines: []experiment.Line{
					{Name: "strong", X: s["x"], Y: s["strong"], Color: colourOptimal},
					{Name: "weak", X: s["x"], Y: s["weak"], Color: colourDiagonal, Dashed: true},
				}}
			}
			v := t.Series["predictive_variance"]
			return []experiment.Panel{
				traces("Trace, all admissible c", "trace"),
				traces("Trace, c from 0.3", "trace_zoom"),
				{Title: "Predictive variances", XLabel: "x", YLabel: "predictive variance", Lines: []experiment.Line{
					{Name: fmt.Sprintf("strong, c = %v", t.Params["c"]), X: v["x"], Y: v["strong"], Color: colourOptimal},
					{Name: "weak", X: v["x"], Y: v["weak"], Color: colourDiagonal},
				}},
			}
		},
	}
}

func figure3() experiment.Figure {
	return experiment.Figure{
		Name:    "privacygp/figure3",
		Title:   "A satellite's trajectory with a private segment (Section 5)",
		Caption: "True trajectory (the private segment shaded and in its own colour), obfuscated data, and the mean and two standard deviations of the prediction that the obfuscated data allow. One panel for each requirement and quantity; seeded noise.",
		Match:   func(name string, _ experiment.Params) bool { return name == "privacygp/satellite" },
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			var panels []experiment.Panel
			drawn := map[string]bool{} // settings, whatever the seed
			isCorrected := func(t experiment.Finished) bool { return t.Params.Text("variant") == corrected }
			both := slices.ContainsFunc(trials, isCorrected)
			trials = slices.Clone(trials)
			slices.SortStableFunc(trials, func(a, b experiment.Finished) int {
				names := quantityNames()
				return cmp.Or(
					cmp.Compare(slices.Index(names, a.Params.Text("quantity")), slices.Index(names, b.Params.Text("quantity"))),
					cmp.Compare(a.Params.Float("alpha"), b.Params.Float("alpha")))
			})
			for _, t := range trials {
				p, d := t.Series["prediction"], t.Series["data"]
				if p == nil || d == nil || both && !isCorrected(t) {
					continue // as-published differs in the labels alone
				}
				quantity := t.Params.Text("quantity")
				title := fmt.Sprintf("%s, H = %vK", quantity, t.Params.Float("alpha"))
				if t.Params.Text("variant") == asPublished {
					title = fmt.Sprintf("%s, H = %vK as the text has it", quantity, t.Params.Float("alpha"))
				}
				key := fmt.Sprint(title, t.Params["orbit"], t.Params["eccentricity"], t.Params["points"], t.Params["segment_start"], t.Params["segment_end"])
				if drawn[key] {
					continue
				}
				drawn[key] = true
				panels = append(panels, experiment.Panel{
					Title: title, XLabel: "time (orbits)", YLabel: fmt.Sprintf("%s (%s)", quantity, quantityUnit(quantity)),
					Bands:  []experiment.Band{{Name: "±2σ", X: p["x"], Low: p["low"], High: p["high"], Color: colourUnsecured}},
					Spans:  []experiment.Span{{Name: "private segment", Low: t.Params.Float("segment_start"), High: t.Params.Float("segment_end")}},
					Points: []experiment.Line{{Name: "obfuscated data", X: d["x"], Y: d["obfuscated"], Color: colourDiagonal}},
					Lines: []experiment.Line{
						{Name: "truth", X: p["x"], Y: p["truth"], Color: colourOptimal},
						{Name: "truth, private", X: p["x"], Y: p["private_truth"], Color: colourPrivate},
						{Name: "prediction", X: p["x"], Y: p["mean"], Color: colourUnsecured, Dashed: true},
					},
				})
			}
			return panels
		},
	}
}
