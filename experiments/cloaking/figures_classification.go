package cloaking

import (
	"fmt"
	"math"
	"slices"

	"privkern/runner/experiment"
)

// Colours of the classes, as in the paper: blue for +1, red for −1.
const (
	positiveColor = 0
	negativeColor = 1
	nearBlack     = 6
)

// drawsOf returns the columns of a series that hold draws, in their order.
func drawsOf(s experiment.Series) [][]float64 {
	var out [][]float64
	for {
		draw, ok := s[drawColumn(len(out))]
		if !ok {
			return out
		}
		out = append(out, draw)
	}
}

// figure3 follows the paper's Fig. 3: loans, predicted probabilities of default,
// and the latent function under them.
func figure3() experiment.Figure {
	return experiment.Figure{
		Name:    "cloaking/figure3",
		Title:   "Default by delinquent credit lines, with privacy noise (Fig. 3)",
		Caption: "Over the number of delinquent credit lines: how many of the loans drawn defaulted and were repaid; violins: the probability of default in the draws of the noise; lines: the latent function in each draw; crosses and the dark line: the same without noise. Where the noise is secure, there are the draws alone. The first trial of the table.",
		Match:   func(name string, _ experiment.Params) bool { return name == "cloaking/hmeq" },
		Draw:    drawFigure3,
	}
}

func drawFigure3(trials []experiment.Finished) []experiment.Panel {
	i := slices.IndexFunc(trials, func(t experiment.Finished) bool {
		return !privacyless(t.Params) && t.Series["probability"] != nil && t.Series["latent"] != nil
	})
	if i < 0 {
		return nil
	}
	const lines = "delinquent credit lines (DELINQ)"
	t := trials[i]
	name := "ε = " + experiment.FormatNumber(t.Params.Float("epsilon"))
	var panels []experiment.Panel
	if s := t.Series["loans"]; s != nil {
		panels = append(panels, experiment.Panel{Title: "Loans", XLabel: lines, YLabel: "loans", Bars: []experiment.Bars{
			sideBars("repaid", s["x"], s["repaid"], -0.4, negativeColor),
			sideBars("defaulted", s["x"], s["defaulted"], 0, positiveColor),
		}})
	}
	probability := experiment.Panel{Title: "Probability of default, " + name, XLabel: lines, YLabel: "probability of default"}
	s := t.Series["probability"]
	draws := drawsOf(s)
	for k, at := range s["x"] {
		v := experiment.Violin{Name: "draws", At: at, Range: [2]float64{0, 1}, Color: positiveColor}
		for _, d := range draws {
			v.Values = append(v.Values, d[k])
		}
		probability.Violins = append(probability.Violins, v)
	}
	s = t.Series["latent"]
	latent := experiment.Panel{Title: "Latent mean, " + name, XLabel: lines, YLabel: "latent mean"}
	for _, d := range drawsOf(s) {
		latent.Lines = append(latent.Lines, experiment.Line{Name: "a draw", X: s["x"], Y: d, Color: positiveColor, Thin: true})
	}
	if s := t.Series["without_noise"]; s != nil {
		probability.Points = []experiment.Line{{Name: "without noise", X: s["x"], Y: s["probability"], Color: nearBlack, Marker: experiment.Cross}}
		latent.Lines = append(latent.Lines, experiment.Line{Name: "without noise", X: s["x"], Y: s["latent"], Color: nearBlack})
	}
	return append(panels, probability, latent)
}

// sideBars are bars at whole numbers that take the part of a unit from the given
// offset on, so that two sets of them stand side by side.
func sideBars(name string, at, heights []float64, offset float64, color int) experiment.Bars {
	const width = 0.4
	b := experiment.Bars{Name: name, Color: color}
	for i, x := range at {
		if i > 0 {
			b.Heights = append(b.Heights, 0) // the gap between neighbours
		}
		b.Edges = append(b.Edges, x+offset, x+offset+width)
		b.Heights = append(b.Heights, heights[i])
	}
	return b
}

// figure4 follows the paper's Fig. 4, a grouped Hinton plot.
func figure4() experiment.Figure {
	return experiment.Figure{
		Name:    "cloaking/figure4",
		Title:   "Stripes of two classes, with privacy noise (Fig. 4)",
		Caption: "At every test input, a block of circles: one for each draw of the noise, the same draw at the same place of every block. White: a probability of the positive class above ½, black: below; the radius grows with the distance from ½. Crosses: training points, blue of the positive and red of the negative class. One panel for each number of Newton steps; the first trial of the table.",
		Match:   func(name string, p experiment.Params) bool { return name == "cloaking/stripes" && !privacyless(p) },
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			var panels []experiment.Panel
			drawn := map[int]bool{}
			for _, t := range trials {
				steps := newtonSteps(t.Params)
				if t.Series["grid"] == nil || drawn[steps] {
					continue
				}
				drawn[steps] = true
				panels = append(panels, hintonPanel(t, steps))
			}
			return panels
		},
	}
}

// hintonPanel shows the draws of a trial on the grid of test inputs, which are a
// unit apart.
func hintonPanel(t experiment.Finished, steps int) experiment.Panel {
	const block = 0.86 // side of a block
	// One span is a light grey; several make the white circles stand out.
	ground := experiment.Span{Low: math.Inf(-1), High: math.Inf(1)}
	s, training := t.Series["grid"], t.Series["training"]
	draws := drawsOf(s)
	side := int(math.Ceil(math.Sqrt(float64(len(draws)))))
	pitch := block / float64(side)
	white := experiment.Discs{Name: "p > ½", Color: nearBlack, Open: true}
	black := experiment.Discs{Name: "p < ½", Color: nearBlack}
	for i, x := range s["x"] {
		for j, d := range draws {
			circles := &white
			if d[i] < 0.5 {
				circles = &black
			}
			circles.X = append(circles.X, x-block/2+pitch*(float64(j%side)+0.5))
			circles.Y = append(circles.Y, s["y"][i]+block/2-pitch*(float64(j/side)+0.5))
			circles.Radius = append(circles.Radius, pitch*math.Abs(d[i]-0.5))
		}
	}
	title := "1 Newton step"
	if steps > 1 {
		title = fmt.Sprintf("%d Newton steps", steps)
	}
	panel := experiment.Panel{
		Title:  fmt.Sprintf("%s, ε = %s", title, experiment.FormatNumber(t.Params.Float("epsilon"))),
		XLabel: "first input", YLabel: "second input", EqualAspect: true,
		Discs: []experiment.Discs{white, black},
		Spans: []experiment.Span{ground, ground, ground},
	}
	for _, class := range []struct {
		name  string
		label float64
		color int
	}{{"training, +1", 1, positiveColor}, {"training, −1", -1, negativeColor}} {
		crosses := experiment.Line{Name: class.name, Color: class.color, Marker: experiment.Cross}
		for i, label := range training["label"] {
			if label == class.label {
				crosses.X, crosses.Y = append(crosses.X, training["x"][i]), append(crosses.Y, training["y"][i])
			}
		}
		panel.Points = append(panel.Points, crosses)
	}
	return panel
}

// printedChance is the accuracy of guessing that the paper's Fig. 5 shows.
const printedChance = 0.52

// darkToLight are colours of the palette by lightness, for ordered curves.
var darkToLight = []int{6, 0, 1, 2, 3, 5}

// figure5 follows the paper's Fig. 5: accuracies by the number of inducing
// inputs and the lengthscale.
func figure5() experiment.Figure {
	return experiment.Figure{
		Name:    "cloaking/figure5",
		Title:   "Digits, low against high, by inducing inputs (Fig. 5)",
		Caption: "Accuracy of the sparse classifier over the number of inducing inputs, averaged over the trials there are: without noise (solid) and with it (dashed). The lighter the colour, the longer the lengthscale (grey levels). Horizontal line: 52 %, the printed accuracy of guessing.",
		Match: func(name string, p experiment.Params) bool {
			return name == "cloaking/mnist" && p.Text("method") == methodSparse
		},
		Draw: drawFigure5,
	}
}

func drawFigure5(trials []experiment.Finished) []experiment.Panel {
	type curve struct{ epsilon, lengthscale float64 }
	accuracy := map[curve]map[int][]float64{}
	var epsilons, lengthscales, inducing []float64
	for _, t := range trials {
		v, ok := t.Metrics[accuracyMetric.Name]
		if !ok {
			continue
		}
		c, m := curve{t.Params.Float("epsilon"), t.Params.Float("lengthscale")}, t.Params.Int("inducing")
		if accuracy[c] == nil {
			accuracy[c] = map[int][]float64{}
		}
		accuracy[c][m] = append(accuracy[c][m], v)
		epsilons, lengthscales, inducing = append(epsilons, c.epsilon), append(lengthscales, c.lengthscale), append(inducing, float64(m))
	}
	if len(inducing) == 0 {
		return nil
	}
	epsilons, lengthscales, inducing = distinct(epsilons), distinct(lengthscales), distinct(inducing)
	panel := experiment.Panel{Title: "Digits 0–4 against 5–9", XLabel: "inducing inputs", YLabel: "accuracy", LogX: true}
	for _, epsilon := range slices.Backward(epsilons) { // no noise first
		for i, l := range lengthscales {
			line := experiment.Line{Color: shadeColor(i, len(lengthscales)), Dashed: !math.IsInf(epsilon, 1)}
			line.Name = fmt.Sprintf("ℓ = %g", l)
			if line.Dashed {
				line.Name += ", ε = " + experiment.FormatNumber(epsilon)
			}
			for _, m := range inducing {
				if values := accuracy[curve{epsilon, l}][int(m)]; values != nil {
					line.X, line.Y = append(line.X, m), append(line.Y, mean(values))
				}
			}
			if line.X != nil {
				panel.Lines = append(panel.Lines, line)
			}
		}
	}
	panel.Lines = append(panel.Lines, experiment.Line{Name: "chance", X: []float64{inducing[0], inducing[len(inducing)-1]}, Y: []float64{printedChance, printedChance}, Color: nearBlack, Thin: true})
	return []experiment.Panel{panel}
}

// shadeColor is the colour of the i-th of n ordered curves, spread over the
// shades there are.
func shadeColor(i, n int) int {
	if n == 1 {
		return darkToLight[0]
	}
	return darkToLight[i*(len(darkToLight)-1)/(n-1)]
}

// distinct returns the different values in increasing order.
func distinct(values []float64) []float64 {
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.Compact(out)
}
