package kahm

import (
	"fmt"
	"math"
	"slices"

	"privkern/runner/experiment"
)

// flat returns the points of a series as they are drawn: those of space in a
// fixed oblique projection, the second axis going back and up at 30 degrees and
// half its length. Points that do not exist are left out.
func flat(s experiment.Series, prefix string) (x, y []float64) {
	z := s[prefix+"z"]
	sin, cos := math.Sincos(math.Pi / 6)
	for i, a := range s[prefix+"x"] {
		b := s[prefix+"y"][i]
		if z != nil {
			a, b = a+0.5*cos*b, z[i]+0.5*sin*b
		}
		if !math.IsNaN(a) && !math.IsNaN(b) {
			x, y = append(x, a), append(y, b)
		}
	}
	return x, y
}

// marked returns the points of a series as markers.
func marked(name string, s experiment.Series, prefix string, color int) experiment.Line {
	x, y := flat(s, prefix)
	return experiment.Line{Name: name, X: x, Y: y, Color: color}
}

// thinned keeps every so many points of a series.
func thinned(s experiment.Series, every int) experiment.Series {
	out := experiment.Series{}
	for name, column := range s {
		for i := 0; i < len(column); i += every {
			out[name] = append(out[name], column[i])
		}
	}
	return out
}

// meshLines is about how many lines of a lattice are drawn along each axis.
const meshLines = 16

// mesh returns the images of lines of a lattice of per×per points of the plane.
// Where points have no image, lines end. The first one has the name.
func mesh(name string, s experiment.Series, per, color int) []experiment.Line {
	x, y := s["image_x"], s["image_y"]
	var lines []experiment.Line
	add := func(first, step int) {
		var line experiment.Line
		end := func() {
			if len(line.X) > 1 {
				line.Color = color
				if lines == nil {
					line.Name = name
				}
				lines = append(lines, line)
			}
			line = experiment.Line{}
		}
		for k := range per {
			i := first + k*step
			if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
				end()
				continue
			}
			line.X, line.Y = append(line.X, x[i]), append(line.Y, y[i])
		}
		end()
	}
	every := max(1, (per-1)/meshLines)
	for k := 0; k < per; k += every {
		add(k*per, 1)
		add(k, per)
	}
	return lines
}

// Colours of the toys' figures, beside those of parts, which count from 0.
const (
	imageColor  = 5
	sampleColor = 1
	inkColor    = 6
)

func parts(t experiment.Finished) int { return shapeOf(t.Params.Text("shape")).parts }

// toyTitle says what the machines of a trial model, and which these are where
// they are not the usual ones.
func toyTitle(t experiment.Finished, what string) string {
	p := t.Params
	if p.Text("data") != dataOriginal && !noiseless(p) {
		what += ", ε = " + experiment.FormatNumber(p.Float("epsilon"))
	}
	if p.Text("n") != allPoints {
		what += fmt.Sprintf(", n = %d", p.Int("n"))
	}
	if l := p.Int("layers"); l > 1 {
		what += fmt.Sprintf(", %d layers", l)
	}
	return what
}

// modelledSeries is what the machines of a trial model.
func modelledSeries(t experiment.Finished) experiment.Series {
	switch t.Params.Text("data") {
	case dataNoisy:
		return t.Series["noisy"]
	case dataFabricated:
		return t.Series["fabricated"]
	}
	return t.Series["samples"]
}

// toyTrials returns the first trial of each setting that has a grid, of shapes
// in one part or in several.
func toyTrials(trials []experiment.Finished, several bool) []experiment.Finished {
	return slices.DeleteFunc(distinct(having(trials, "grid")), func(t experiment.Finished) bool { return (parts(t) > 1) != several })
}

// toyFigure follows the paper's Figs. 2 and 4.
func toyFigure() experiment.Figure {
	return experiment.Figure{
		Name:    "kahm/toy",
		Title:   "Points in the plane and in space, and the images of their machines (Figs. 2 and 4)",
		Caption: "Samples, and the images under their machine (Eq. 50) of a lattice of points about them: in the plane of its lines, in space of every fourth point, in oblique projection. The sets of points are this project's; the paper does not give its own. The first seed of each setting.",
		Match: func(name string, p experiment.Params) bool {
			return name == "kahm/toy" && shapeOf(p.Text("shape")).parts == 1 && p.Text("data") == dataOriginal
		},
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			var panels []experiment.Panel
			for _, t := range toyTrials(trials, false) {
				panel := experiment.Panel{Title: toyTitle(t, t.Params.Text("shape")), XLabel: "x", YLabel: vertical(t)}
				if grid := t.Series["grid"]; grid["z"] == nil {
					panel.Lines = mesh("image", grid, t.Params.Int("grid"), imageColor)
				} else {
					panel.Points = append(panel.Points, marked("image", thinned(grid, 4), "image_", imageColor))
				}
				panel.Points = append(panel.Points, marked("samples", t.Series["samples"], "", sampleColor))
				panels = append(panels, panel)
			}
			return panels
		},
	}
}

// vertical names what goes up.
func vertical(t experiment.Finished) string {
	if t.Series["grid"]["z"] != nil {
		return "z"
	}
	return "y"
}

// figure1 follows the paper's Fig. 1.
func figure1() experiment.Figure {
	return experiment.Figure{
		Name:    "kahm/figure1",
		Title:   "Samples, noisy samples and fabricated samples (Fig. 1)",
		Caption: "Original samples, the same with noise (Algorithm 1), and the samples fabricated from the noisy ones (Definition 14), with their modelling errors (Eqs. 79, 87 and 88). The sets of points are this project's; the first seed of each setting.",
		Match: func(name string, p experiment.Params) bool {
			return name == "kahm/toy" && shapeOf(p.Text("shape")).parts == 1 && p.Text("data") == dataFabricated && !noiseless(p)
		},
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			var panels []experiment.Panel
			trials = toyTrials(trials, false)
			several := slices.ContainsFunc(trials, func(t experiment.Finished) bool { return t.Params.Text("shape") != trials[0].Params.Text("shape") })
			for _, t := range trials {
				shape := ""
				if several {
					shape = t.Params.Text("shape") + ", "
				}
				original := marked("original", t.Series["samples"], "", sampleColor)
				noisy := marked("noisy", t.Series["noisy"], "", inkColor)
				for _, p := range []struct {
					what   string
					points []experiment.Line
				}{
					{dataOriginal, []experiment.Line{original}},
					{dataNoisy, []experiment.Line{noisy, original}},
					{dataFabricated, []experiment.Line{original, marked("fabricated", t.Series["fabricated"], "", 0)}},
				} {
					what := p.what
					if what != dataOriginal {
						what += ", ε = " + experiment.FormatNumber(t.Params.Float("epsilon"))
					}
					panels = append(panels, experiment.Panel{Title: fmt.Sprintf("%s%s: error %.3g", shape, what, t.Metrics["error_"+p.what]),
						XLabel: "x", YLabel: vertical(t), Points: p.points})
				}
			}
			return panels
		},
	}
}

// regionsFigure follows the paper's Figs. 3 and 8.
func regionsFigure() experiment.Figure {
	return experiment.Figure{
		Name:    "kahm/regions",
		Title:   "Classes of points in the plane: decision regions and distances (Figs. 3 and 8)",
		Caption: "Left: to which class the nearest machine (Eq. 62) belongs, and the samples that the machines model. Right: the distance to that machine (Eq. 60). The classes are this project's; the first seed of each setting.",
		Match: func(name string, p experiment.Params) bool {
			return name == "kahm/toy" && p.Text("shape") == "three-classes"
		},
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			var panels []experiment.Panel
			for _, t := range toyTrials(trials, true) {
				names := partNames(t, "class")
				regions := plane(t, "group")
				regions.Categories = names
				distances := plane(t, "distance")
				distances.Label = "distance"
				points := byPart(modelledSeries(t), names, "")
				panels = append(panels,
					experiment.Panel{Title: fmt.Sprintf("%s: accuracy %.3g", toyTitle(t, t.Params.Text("data")), t.Metrics["accuracy"]), XLabel: "x", YLabel: "y", Heatmap: regions, Points: points},
					experiment.Panel{Title: toyTitle(t, t.Params.Text("data")) + ": distance", XLabel: "x", YLabel: "y", Heatmap: distances})
			}
			return panels
		},
	}
}

// figure10 follows the paper's Fig. 10.
func figure10() experiment.Figure {
	return experiment.Figure{
		Name:    "kahm/figure10",
		Title:   "Machines of several parties, and the global machine (Fig. 10)",
		Caption: "Left: images of the lines of a lattice under the machine of each party. Right: images of every third point of it under the global machine, which for each point is the nearest of the parties' (Eq. 101). The sets of points are this project's; the first seed of each setting.",
		Match: func(name string, p experiment.Params) bool {
			return name == "kahm/toy" && p.Text("shape") == "three-parties"
		},
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			var panels []experiment.Panel
			for _, t := range toyTrials(trials, true) {
				names := partNames(t, "party")
				local := experiment.Panel{Title: toyTitle(t, t.Params.Text("data")) + ": machine of each party", XLabel: "x", YLabel: "y"}
				for k, name := range names {
					local.Lines = append(local.Lines, mesh(name, t.Series[machineSeries(k)], t.Params.Int("grid"), k)...)
				}
				global := experiment.Panel{Title: toyTitle(t, t.Params.Text("data")) + ": global machine", XLabel: "x", YLabel: "y", Points: byPart(thinned(t.Series["grid"], 3), names, "image_")}
				panels = append(panels, local, global)
			}
			return panels
		},
	}
}

func partNames(t experiment.Finished, what string) []string {
	names := make([]string, parts(t))
	for k := range names {
		names[k] = fmt.Sprintf("%s %d", what, k+1)
	}
	return names
}

// byPart returns the points of a series as markers in the colours of the parts
// that they belong to. A part without points has none.
func byPart(s experiment.Series, names []string, prefix string) []experiment.Line {
	var out []experiment.Line
	for k, name := range names {
		own := experiment.Series{}
		for i, g := range s["group"] {
			if g == float64(k) {
				for _, axis := range axes {
					if c := s[prefix+axis]; c != nil {
						own[axis] = append(own[axis], c[i])
					}
				}
			}
		}
		if line := marked(name, own, "", k); len(line.X) > 0 {
			out = append(out, line)
		}
	}
	return out
}

// plane returns a column of the grid as a heat map.
func plane(t experiment.Finished, column string) *experiment.Heatmap {
	grid := t.Series["grid"]
	per := t.Params.Int("grid")
	h := &experiment.Heatmap{Values: make([][]float64, per)}
	for i := range h.Values {
		// The first row of the grid is the lowest.
		h.Values[per-1-i] = slices.Clone(grid[column][i*per : (i+1)*per])
	}
	cells := func(first, last float64) [2]float64 {
		half := (last - first) / float64(per-1) / 2
		return [2]float64{first - half, last + half}
	}
	h.XRange, h.YRange = cells(grid["x"][0], grid["x"][per*per-1]), cells(grid["y"][0], grid["y"][per*per-1])
	return h
}
