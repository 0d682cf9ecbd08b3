package classify

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"privkern/experiments/cloaking/cloak"
	"privkern/runner/experiment"
)

// Colours of the classes, as in the paper blue for +1, and orange for −1, which is red there.
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

// Figure3 follows the paper's Fig. 3: loans, predicted probabilities of default,
// and the latent function under them.
func Figure3() experiment.Figure {
	return experiment.Figure{
		Name:  "cloaking/figure3",
		Title: "Default by delinquent credit lines, with privacy noise (Fig. 3)",
		Caption: "Over the number of delinquent credit lines: how many of the loans drawn defaulted and were repaid; " +
			"violins: the probability of default in the draws of the noise; lines: the latent function in each draw; " +
			"crosses and the thick line: the same without noise. Where the noise is secure, there are the draws alone. The " +
			"first trial of the table.",
		Match: HMEQ().Matches(nil),
		Draw:  HMEQ().Draws(drawFigure3),
	}
}

func drawFigure3(trials []experiment.ObservationOf[hmeqSettings, hmeqMetrics]) []experiment.Panel {
	i := slices.IndexFunc(trials, func(t experiment.ObservationOf[hmeqSettings, hmeqMetrics]) bool {
		return !t.Settings.Noiseless() && t.Series["probability"] != nil && t.Series["latent"] != nil
	})
	if i < 0 {
		return nil
	}
	const lines = "delinquent credit lines (DELINQ)"
	t := trials[i]
	name := "ε = " + experiment.FormatNumber(t.Settings.Epsilon)
	var panels []experiment.Panel
	if s := t.Series["loans"]; s != nil {
		panels = append(panels, experiment.Panel{Title: "Loans", XLabel: lines, YLabel: "loans", Bars: []experiment.Bars{
			sideBars("repaid", s["x"], s["repaid"], -0.4, negativeColor),
			sideBars("defaulted", s["x"], s["defaulted"], 0, positiveColor),
		}})
	}
	probability := experiment.Panel{
		Title: "Probability of default, " + name, XLabel: lines, YLabel: "probability of default",
		Violins: violins(t.Series["probability"]),
	}
	latent := experiment.Panel{
		Title: "Latent mean, " + name, XLabel: lines, YLabel: "latent mean", Lines: latentLines(t.Series["latent"]),
	}
	if s := t.Series["without_noise"]; s != nil {
		probability.Points = []experiment.Line{
			{Name: "without noise", X: s["x"], Y: s["probability"], Color: nearBlack, Marker: experiment.Cross},
		}
		latent.Lines = append(latent.Lines,
			experiment.Line{Name: "without noise", X: s["x"], Y: s["latent"], Color: nearBlack})
	}
	return append(panels, probability, latent)
}

// violins have the draws of a probability at each x.
func violins(s experiment.Series) []experiment.Violin {
	draws := drawsOf(s)
	var out []experiment.Violin
	for k, at := range s["x"] {
		v := experiment.Violin{Name: "draws", At: at, Range: [2]float64{0, 1}, Color: positiveColor}
		for _, d := range draws {
			v.Values = append(v.Values, d[k])
		}
		out = append(out, v)
	}
	return out
}

// latentLines are the draws of the latent function.
func latentLines(s experiment.Series) []experiment.Line {
	var out []experiment.Line
	for _, d := range drawsOf(s) {
		out = append(out, experiment.Line{Name: "a draw", X: s["x"], Y: d, Color: positiveColor, Thin: true})
	}
	return out
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

// Figure4 follows the paper's Fig. 4, a grouped Hinton plot.
func Figure4() experiment.Figure {
	return experiment.Figure{
		Name:  "cloaking/figure4",
		Title: "Stripes of two classes, with privacy noise (Fig. 4)",
		Caption: "At every test input, a block of circles: one for each draw of the noise, the same draw at the same " +
			"place of every block. Open: a probability of the positive class above ½, filled: below; the radius grows with " +
			"the distance from ½. Crosses: training points, blue of the positive and orange of the negative class. One panel " +
			"for each number of Newton steps; the first trial of the table.",
		Match: Stripes().Matches(func(s *stripesSettings) bool { return !s.Noiseless() }),
		Draw:  Stripes().Draws(drawFigure4),
	}
}

func drawFigure4(trials []experiment.ObservationOf[stripesSettings, stripesMetrics]) []experiment.Panel {
	var panels []experiment.Panel
	drawn := map[int]bool{}
	for _, t := range trials {
		steps := t.Settings.newtonSteps().Number
		if t.Series["grid"] == nil || drawn[steps] {
			continue
		}
		drawn[steps] = true
		title := "1 Newton step"
		if steps > 1 {
			title = fmt.Sprintf("%d Newton steps", steps)
		}
		title += ", ε = " + experiment.FormatNumber(t.Settings.Epsilon)
		panels = append(panels, hintonPanel(title, t.Series["grid"], t.Series["training"]))
	}
	return panels
}

// hintonPanel shows the draws on the grid of test inputs, which are a unit apart, and
// the training points.
func hintonPanel(title string, grid, training experiment.Series) experiment.Panel {
	// One span is a light grey; several make the white circles stand out.
	ground := experiment.Span{Low: math.Inf(-1), High: math.Inf(1)}
	panel := experiment.Panel{
		Title: title, XLabel: "first input", YLabel: "second input", EqualAspect: true,
		Discs: circles(grid), Spans: []experiment.Span{ground, ground, ground},
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

// circles are the draws at each point of the grid, in a block of their own, white and
// black.
func circles(grid experiment.Series) []experiment.Discs {
	const block = 0.86 // side of a block
	draws := drawsOf(grid)
	side := int(math.Ceil(math.Sqrt(float64(len(draws)))))
	pitch := block / float64(side)
	white := experiment.Discs{Name: "p > ½", Color: nearBlack, Open: true}
	black := experiment.Discs{Name: "p < ½", Color: nearBlack}
	for i, x := range grid["x"] {
		for j, d := range draws {
			discs := &white
			if d[i] < 0.5 {
				discs = &black
			}
			discs.X = append(discs.X, x-block/2+pitch*(float64(j%side)+0.5))
			discs.Y = append(discs.Y, grid["y"][i]+block/2-pitch*(float64(j/side)+0.5))
			discs.Radius = append(discs.Radius, pitch*math.Abs(d[i]-0.5))
		}
	}
	return []experiment.Discs{white, black}
}

// printedChance is the accuracy of guessing that the paper's Fig. 5 shows.
const printedChance = 0.52

// darkToLight are colours of the palette by lightness, for ordered curves.
var darkToLight = []int{6, 0, 1, 2, 3, 5}

// Figure5 follows the paper's Fig. 5: accuracies by the number of inducing
// inputs and the lengthscale.
func Figure5() experiment.Figure {
	return experiment.Figure{
		Name:  "cloaking/figure5",
		Title: "Digits, low against high, by inducing inputs (Fig. 5)",
		Caption: "Accuracy of the sparse classifier over the number of inducing inputs, averaged over the trials there " +
			"are: without noise (solid) and with it (dashed). The fainter the colour, the longer the lengthscale (grey " +
			"levels). Horizontal line: 52 %, the printed accuracy of guessing.",
		Match: Digits().Matches(func(s *digitsSettings) bool { return s.Method == cloak.Sparse }),
		Draw:  Digits().Draws(drawFigure5),
	}
}

// sparseDigits holds the common settings of the trials of one place of Fig. 5.
type sparseDigits struct {
	epsilon, lengthscale float64
	inducing             int
}

func drawFigure5(trials []experiment.ObservationOf[digitsSettings, digitsMetrics]) []experiment.Panel {
	if len(trials) == 0 {
		return nil
	}
	accuracy := map[sparseDigits][]float64{}
	var epsilons, lengthscales []float64
	var inducing []int
	for _, t := range trials {
		s := t.Settings
		at := sparseDigits{s.Epsilon, s.Lengthscale.Numbers[0], s.Inducing}
		accuracy[at] = append(accuracy[at], t.Metrics.Accuracy)
		epsilons, lengthscales = append(epsilons, at.epsilon), append(lengthscales, at.lengthscale)
		inducing = append(inducing, at.inducing)
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
				if values := accuracy[sparseDigits{epsilon, l, m}]; values != nil {
					line.X, line.Y = append(line.X, float64(m)), append(line.Y, cloak.Mean(values))
				}
			}
			if line.X != nil {
				panel.Lines = append(panel.Lines, line)
			}
		}
	}
	ends := []float64{float64(inducing[0]), float64(inducing[len(inducing)-1])}
	panel.Lines = append(panel.Lines, experiment.Line{
		Name: "chance", X: ends, Y: []float64{printedChance, printedChance}, Color: nearBlack, Thin: true,
	})
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
func distinct[T cmp.Ordered](values []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}
