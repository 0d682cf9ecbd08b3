package picture

import (
	"fmt"
	"slices"

	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// toyObservation is a finished trial of kahm/toy.
type toyObservation = experiment.ObservationOf[ToySettings, ToyMetrics]

// Colours of the figures of points. Those of parts count from 0.
const (
	imageColor  = 5
	sampleColor = 1
	inkColor    = 6
)

// toyTitle returns a title: the name of the samples, and the settings of their noise and machines
// that are not the usual ones.
func toyTitle(s *ToySettings, title string) string {
	if s.Data != wide.Original && !s.Noiseless() {
		title += ", ε = " + experiment.FormatNumber(s.Epsilon)
	}
	if !s.N.Is(wide.All) {
		title += fmt.Sprintf(", n = %d", s.N.Number)
	}
	if s.Layers > 1 {
		title += fmt.Sprintf(", %d layers", s.Layers)
	}
	return title
}

// samplesOf returns the samples that the machines of a trial model.
func samplesOf(t toyObservation) experiment.Series {
	switch t.Settings.Data {
	case wide.Noisy:
		return t.Series["noisy"]
	case wide.Fabricated:
		return t.Series["fabricated"]
	}
	return t.Series["samples"]
}

// toyFigure returns a figure of the settings that want takes, drawn from the first trial
// of each that has a grid.
func toyFigure(f experiment.Figure, want func(*ToySettings) bool,
	draw func([]toyObservation) []experiment.Panel) experiment.Figure {
	f.Match = Toy().Matches(want)
	f.Draw = Toy().Draws(func(trials []toyObservation) []experiment.Panel {
		return draw(experiment.FirstOfEach(experiment.WithSeries(trials, "grid")))
	})
	return f
}

// ToyFigure follows the paper's Figs. 2 and 4.
func ToyFigure() experiment.Figure {
	return toyFigure(experiment.Figure{
		Name:  "kahm/toy",
		Title: "Points in the plane and in space, and the images of their machines (Figs. 2 and 4)",
		Caption: "Samples, and the images under their machine (Eq. 50) of a lattice of points about them: in the plane " +
			"of its lines, in space of every fourth point, in oblique projection. The sets of points are this " +
			"project's; the paper does not give its own. The first seed of each setting.",
	}, func(s *ToySettings) bool { return s.Shape.points().parts == 1 && s.Data == wide.Original },
		func(trials []toyObservation) []experiment.Panel {
			var panels []experiment.Panel
			for _, t := range trials {
				panel := experiment.Panel{Title: toyTitle(t.Settings, experiment.NameOf(t.Settings.Shape)),
					XLabel: "x", YLabel: vertical(t), EqualAspect: true}
				if grid := t.Series["grid"]; grid["z"] == nil {
					panel.Lines = mesh("image", grid, t.Settings.Grid, imageColor)
				} else {
					panel.Points = append(panel.Points, marked("image", thinned(grid, 4), "image_", imageColor))
				}
				panel.Points = append(panel.Points, marked("samples", t.Series["samples"], "", sampleColor))
				panels = append(panels, panel)
			}
			return panels
		})
}

// vertical returns the name of the vertical axis.
func vertical(t toyObservation) string {
	if t.Series["grid"]["z"] != nil {
		return "z"
	}
	return "y"
}

// Figure1 follows the paper's Fig. 1.
func Figure1() experiment.Figure {
	return toyFigure(experiment.Figure{
		Name:  "kahm/figure1",
		Title: "Samples, noisy samples and fabricated samples (Fig. 1)",
		Caption: "Original samples, the same with noise (Algorithm 1), and the samples fabricated from the noisy ones " +
			"(Definition 14), with their modelling errors (Eqs. 79, 87 and 88). The sets of points are this project's; " +
			"the first seed of each setting.",
	}, func(s *ToySettings) bool {
		return s.Shape.points().parts == 1 && s.Data == wide.Fabricated && !s.Noiseless()
	}, func(trials []toyObservation) []experiment.Panel {
		var panels []experiment.Panel
		several := slices.ContainsFunc(trials, func(t toyObservation) bool {
			return t.Settings.Shape != trials[0].Settings.Shape
		})
		for _, t := range trials {
			shape := ""
			if several {
				shape = experiment.NameOf(t.Settings.Shape) + ", "
			}
			panels = append(panels, fabricationPanels(t, shape)...)
		}
		return panels
	})
}

// fabricationPanels shows samples, noisy samples and fabricated samples of a trial.
func fabricationPanels(t toyObservation, shape string) (panels []experiment.Panel) {
	original := marked("original", t.Series["samples"], "", sampleColor)
	noisy := marked("noisy", t.Series["noisy"], "", inkColor)
	fabricated := marked("fabricated", t.Series["fabricated"], "", 0)
	for _, p := range []struct {
		data   wide.Data
		error  *float64
		points []experiment.Line
	}{
		{wide.Original, &t.Metrics.ErrorOriginal, []experiment.Line{original}},
		{wide.Noisy, t.Metrics.ErrorNoisy, []experiment.Line{noisy, original}},
		{wide.Fabricated, t.Metrics.ErrorFabricated, []experiment.Line{original, fabricated}},
	} {
		title := shape + experiment.NameOf(p.data)
		if p.data != wide.Original {
			title += ", ε = " + experiment.FormatNumber(t.Settings.Epsilon)
		}
		if p.error != nil {
			title += fmt.Sprintf(": error %.3g", *p.error)
		}
		panels = append(panels, experiment.Panel{Title: title, XLabel: "x", YLabel: vertical(t), EqualAspect: true,
			Points: p.points})
	}
	return panels
}

// RegionsFigure follows the paper's Figs. 3 and 8.
func RegionsFigure() experiment.Figure {
	return toyFigure(experiment.Figure{
		Name:  "kahm/regions",
		Title: "Classes of points in the plane: decision regions and distances (Figs. 3 and 8)",
		Caption: "Left: to which class the nearest machine (Eq. 62) belongs, and the samples that the machines model. " +
			"Right: the distance to that machine (Eq. 60). The classes are this project's; the first seed of each " +
			"setting.",
	}, func(s *ToySettings) bool { return s.Shape == ThreeClasses },
		func(trials []toyObservation) []experiment.Panel {
			var panels []experiment.Panel
			for _, t := range trials {
				names := partNames(t.Settings, "class")
				regions := plane(t, "group")
				regions.Categories = names
				distances := plane(t, "distance")
				distances.Label = "distance"
				title := toyTitle(t.Settings, experiment.NameOf(t.Settings.Data))
				panels = append(panels,
					experiment.Panel{Title: fmt.Sprintf("%s: accuracy %.3g", title, t.Metrics.Accuracy),
						XLabel: "x", YLabel: "y", EqualAspect: true, Heatmap: regions, Points: byPart(samplesOf(t), names, "")},
					experiment.Panel{Title: title + ": distance", XLabel: "x", YLabel: "y", EqualAspect: true, Heatmap: distances})
			}
			return panels
		})
}

// Figure10 follows the paper's Fig. 10.
func Figure10() experiment.Figure {
	return toyFigure(experiment.Figure{
		Name:  "kahm/figure10",
		Title: "Machines of several parties, and the global machine (Fig. 10)",
		Caption: "Left: images of the lines of a lattice under the machine of each party. Right: images of every third " +
			"point of it under the global machine, which for each point is the nearest of the parties' (Eq. 101). The " +
			"sets of points are this project's; the first seed of each setting.",
	}, func(s *ToySettings) bool { return s.Shape == ThreeParties },
		func(trials []toyObservation) []experiment.Panel {
			var panels []experiment.Panel
			for _, t := range trials {
				names := partNames(t.Settings, "party")
				title := toyTitle(t.Settings, experiment.NameOf(t.Settings.Data))
				local := experiment.Panel{Title: title + ": machine of each party", XLabel: "x", YLabel: "y", EqualAspect: true}
				for k, name := range names {
					local.Lines = append(local.Lines, mesh(name, t.Series[machineSeries(k)], t.Settings.Grid, k)...)
				}
				panels = append(panels, local, experiment.Panel{Title: title + ": global machine", XLabel: "x", YLabel: "y",
					EqualAspect: true, Points: byPart(thinned(t.Series["grid"], 3), names, "image_")})
			}
			return panels
		})
}

// partNames returns names of the parts of a shape: a noun, such as "class", and a number from 1.
func partNames(s *ToySettings, noun string) []string {
	names := make([]string, s.Shape.points().parts)
	for k := range names {
		names[k] = fmt.Sprintf("%s %d", noun, k+1)
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
func plane(t toyObservation, column string) *experiment.Heatmap {
	grid, per := t.Series["grid"], t.Settings.Grid
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
