package kahm

import (
	"fmt"
	"math"
	"slices"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// Names and colours of what the machines of a classifier model, in all figures.
var modelled = []struct{ data, name string }{
	{dataFabricated, "fabricated (Def. 15)"},
	{dataNoisy, "noisy (Def. 12)"},
}

const (
	// shownN and shownEpsilon are the settings at which Table 5 varies ε and n.
	shownN       = 20
	shownEpsilon = 32.0
	// misNoise is about the estimation noise of a membership-inference score,
	// misFloor where smaller scores are drawn on a logarithmic axis.
	misNoise = 5e-4
	misFloor = 1e-4
)

// figure12 follows the paper's Fig. 12: accuracy and membership-inference score
// of both private classifiers, over ε and over n.
func figure12() experiment.Figure {
	return experiment.Figure{
		Name:    "kahm/figure12",
		Title:   "MNIST: accuracy and membership-inference score with noisy and with fabricated data (Fig. 12)",
		Caption: "Means over the seeds of the classifiers of Definitions 12 and 15, over the privacy-loss bound ε at n = 20, and over the subspace dimension n at ε = 32; dashed, beside trials on all images: the values that Table 5 prints. Scores (mis, Eq. 69, in 1/distance) below about 5e-4 are noise of the estimate; those below 1e-4 are drawn at 1e-4.",
		Match: func(name string, p experiment.Params) bool {
			return name == "kahm/classifier" && p.Text("data") != dataOriginal && !noiseless(p) && (p.Int("n") == shownN || p.Float("epsilon") == shownEpsilon)
		},
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			var panels []experiment.Panel
			drawn := map[string]bool{}
			for _, g := range bySetting(trials, "epsilon", "n", "data", "score", "score_points") {
				// One group a variant: others differ in a setting that the
				// paper's figure does not vary.
				variant := g[0].Params.Text("variant")
				if drawn[variant] {
					continue
				}
				drawn[variant] = true
				for _, axis := range []struct {
					param, label string
					log          bool
					at           func(n, epsilon float64) bool
				}{
					{"epsilon", "ε", true, func(n, _ float64) bool { return n == shownN }},
					{"n", "n", false, func(_, epsilon float64) bool { return epsilon == shownEpsilon }},
				} {
					at := slices.DeleteFunc(slices.Clone(g), func(t experiment.Finished) bool {
						return !axis.at(t.Params.Float("n"), t.Params.Float("epsilon"))
					})
					for _, metric := range []string{"accuracy", "mis"} {
						panel := experiment.Panel{Title: variant + ": " + metric + " over " + axis.label, XLabel: axis.label, YLabel: metric, LogX: axis.log, LogY: metric == "mis"}
						longest, ends := 0, []float64(nil)
						for color, m := range modelled {
							own := slices.DeleteFunc(slices.Clone(at), func(t experiment.Finished) bool { return t.Params.Text("data") != m.data })
							x, y := meanOver(own, axis.param, metric)
							if len(x) == 0 {
								continue
							}
							if len(x) > longest {
								longest, ends = len(x), []float64{x[0], x[len(x)-1]}
							}
							panel.Lines = append(panel.Lines, experiment.Line{Name: m.name, X: x, Y: floored(metric, y), Color: color})
							panel.Points = append(panel.Points, experiment.Line{X: x, Y: floored(metric, y), Color: color})
							printed := printedOver("kahm/table5", func(c *printedCell) float64 { return c.param(axis.param) }, func(c *printedCell) bool {
								return c.Metric == metric && c.Params["data"] == m.data && axis.at(c.param("n"), c.param("epsilon"))
							})
							// The paper's values are of all images.
							if len(printed.X) > 0 && g[0].Params.Int("train") == dataset.MNISTTrain && g[0].Params.Int("test") == dataset.MNISTTest {
								printed.Name, printed.Y, printed.Color = m.name+", published", floored(metric, printed.Y), color
								panel.Lines = append(panel.Lines, printed)
							}
						}
						if longest > 1 { // one value is no curve
							if metric == "mis" {
								panel.Lines = append(panel.Lines, experiment.Line{Name: "noise of the estimate", X: ends, Y: []float64{misNoise, misNoise}, Dashed: true, Color: inkColor})
							}
							panels = append(panels, panel)
						}
					}
				}
			}
			return panels
		},
	}
}

// floored is y as it is drawn.
func floored(metric string, y []float64) []float64 {
	if metric != "mis" {
		return y
	}
	y = slices.Clone(y)
	for i := range y {
		y[i] = max(y[i], misFloor)
	}
	return y
}

// figure13 follows the paper's Fig. 13: how far training and test points are
// from the machines.
func figure13() experiment.Figure {
	return experiment.Figure{
		Name:    "kahm/figure13",
		Title:   "MNIST: distances of training and of test points (Fig. 13)",
		Caption: "Densities of the distances of training points and of test points to the nearest machine (Eq. 60, pixels from 0 to 1). Left: machines of the training samples without noise. Right: machines of fabricated samples, at ε = 16 where there is such a trial. Where the two differ, distances tell who was in the training set. First seed; n = 20.",
		Match: func(name string, p experiment.Params) bool {
			return name == "kahm/classifier" && p.Int("n") == shownN && (p.Text("data") == dataOriginal || p.Text("data") == dataFabricated && !noiseless(p))
		},
		Draw: drawFigure13,
	}
}

// figure13Epsilon is the privacy-loss bound that the ledger takes the figure's
// trial at; the paper does not state it.
const figure13Epsilon = 16.0

func drawFigure13(trials []experiment.Finished) []experiment.Panel {
	trials = having(trials, "distances")
	var before, after *experiment.Finished
	// As published before corrected, then the nearest ε.
	rank := func(t *experiment.Finished) float64 {
		r := math.Abs(math.Log(t.Params.Float("epsilon") / figure13Epsilon))
		if t.Params.Text("variant") != variantPublished {
			r += 1e6
		}
		return r
	}
	for i := range trials {
		if t := &trials[i]; t.Params.Text("data") == dataFabricated && (after == nil || rank(t) < rank(after)) {
			after = t
		}
	}
	// Without fabricated data, variant and noise say nothing.
	alike := func(t *experiment.Finished) string {
		return setting(t.Params, "data", "epsilon", "delta", "d", "variant", "clusters", "smoothing", "score_points")
	}
	for i := range trials {
		if t := &trials[i]; t.Params.Text("data") == dataOriginal && before == nil && (after == nil || alike(t) == alike(after)) {
			before = t
		}
	}
	var panels []experiment.Panel
	if before != nil {
		panels = append(panels, distancePanel("training samples", before))
	}
	if after != nil {
		p := after.Params
		panels = append(panels, distancePanel(fmt.Sprintf("fabricated, ε = %s, %s", experiment.FormatNumber(p.Float("epsilon")), p.Text("variant")), after))
	}
	return panels
}

func distancePanel(title string, t *experiment.Finished) experiment.Panel {
	s := t.Series["distances"]
	edges := binEdges(s["x"])
	return experiment.Panel{
		Title:  fmt.Sprintf("%s: mis %.3g", title, t.Metrics["mis"]),
		XLabel: "distance to the nearest machine", YLabel: "density",
		Bars: []experiment.Bars{
			{Name: "training points", Edges: edges, Heights: s["train"], Color: 0},
			{Name: "test points", Edges: edges, Heights: s["test"], Color: 1},
		},
	}
}

// binEdges returns the edges of bins of equal width with the given middles.
func binEdges(middles []float64) []float64 {
	width := 1.0
	if n := len(middles); n > 1 {
		width = (middles[n-1] - middles[0]) / float64(n-1)
	}
	edges := []float64{middles[0] - width/2}
	for _, m := range middles {
		edges = append(edges, m+width/2)
	}
	return edges
}
