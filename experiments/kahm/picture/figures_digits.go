package picture

import (
	"fmt"
	"slices"

	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// layersPerRow is the number of outputs in a row of Fig. 6.
const layersPerRow = 10

// Finished trials of kahm/layers and kahm/fabrication.
type (
	layersObservation      = experiment.ObservationOf[LayersSettings, LayersMetrics]
	fabricationObservation = experiment.ObservationOf[FabricationSettings, FabricationMetrics]
)

// Figure6 follows the paper's Fig. 6: a digit, and the outputs of the layers and of the
// machine for it.
func Figure6() experiment.Figure {
	return experiment.Figure{
		Name:  "kahm/figure6",
		Title: "The layers of a conditionally deep machine (Fig. 6)",
		Caption: "An input, the outputs of the layers (Eq. 51), and that of the machine (Eq. 50): the layer's that is " +
			"nearest to the input. Then the distances of the outputs to the input (pixels from 0 to 1). The first seed " +
			"of each setting.",
		Match: Layers().Matches(nil),
		Draw: Layers().Draws(func(trials []layersObservation) []experiment.Panel {
			trials = experiment.FirstOfEach(experiment.WithSeries(experiment.WithSeries(trials, "pictures"), "layers"))
			if trials == nil {
				return nil
			}
			var panels []experiment.Panel
			distances := experiment.Panel{Title: "Distance to the input", XLabel: "layer", YLabel: "distance"}
			for color, t := range trials {
				name := fmt.Sprintf("digit %d, n = %d, sample %d", t.Settings.Digit, t.Settings.N, t.Settings.Sample)
				panels = append(panels, experiment.Panel{Title: name, Pictures: layerPictures(t)})
				if len(trials) == 1 {
					name = ""
				}
				layers := t.Series["layers"]
				distances.Lines = append(distances.Lines,
					experiment.Line{Name: name, X: layers["x"], Y: layers["distance"], Color: color})
			}
			return append(panels, distances)
		}),
	}
}

// layerPictures returns a grid of the input, the outputs of the layers, and the output.
func layerPictures(t layersObservation) *experiment.Pictures {
	s, count := t.Series["pictures"], len(t.Series["layers"]["x"])
	out := &experiment.Pictures{Rows: digitSide, Columns: digitSide, Grid: [][][]float64{{s["input"]}},
		RowLabels: []string{"input"}}
	for first := 1; first <= count; first += layersPerRow {
		last := min(first+layersPerRow-1, count)
		var row [][]float64
		for l := first; l <= last; l++ {
			row = append(row, s[layerColumn(l)])
		}
		out.Grid = append(out.Grid, row)
		label := fmt.Sprintf("layers %d–%d", first, last)
		if first == last {
			label = fmt.Sprintf("layer %d", first)
		}
		out.RowLabels = append(out.RowLabels, label)
	}
	out.Grid = append(out.Grid, [][]float64{s["output"]})
	out.RowLabels = append(out.RowLabels, "output")
	for i, row := range out.Grid { // a grid has rows of one length
		for len(row) < min(count, layersPerRow) {
			row = append(row, nil)
		}
		out.Grid[i] = row
	}
	return out
}

// Figure9 follows the paper's Fig. 9: digits, and fabricated digits in their
// places for several ε and n.
func Figure9() experiment.Figure {
	return experiment.Figure{
		Name:  "kahm/figure9",
		Title: "Fabricated digits (Fig. 9)",
		Caption: "The first row holds images as they are, each further row the fabricated images (Definition 14) in " +
			"their places, for a privacy-loss bound ε and a subspace dimension n. What is below 0 is black, what is " +
			"above 1 white. The first seed.",
		Match: Fabrication().Matches(nil),
		Draw: Fabrication().Draws(func(trials []fabricationObservation) []experiment.Panel {
			var panels []experiment.Panel
			trials = experiment.WithSeries(experiment.WithSeries(trials, "original"), "fabricated")
			for _, g := range experiment.GroupBy(trials, butForRows) {
				s := g[0].Settings
				title := fmt.Sprintf("Digit %d, %s", s.Digit, experiment.NameOf(s.Variant))
				if s.Variant == wide.Corrected {
					title += fmt.Sprintf(", %d smoothing steps", s.Steps)
				}
				panels = append(panels, experiment.Panel{Title: title, Pictures: fabricatedPictures(g)})
			}
			return panels
		}),
	}
}

// butForRows leaves out the settings that the rows of figure 9 vary.
func butForRows(s FabricationSettings) FabricationSettings {
	s.Epsilon, s.N = 0, 0
	return s
}

// fabricatedPictures returns a grid of original images, and of the fabricated images of each
// trial below them.
func fabricatedPictures(trials []fabricationObservation) *experiment.Pictures {
	// Other seeds have other images.
	first := trials[0]
	trials = slices.DeleteFunc(trials, func(t fabricationObservation) bool { return t.Seed != first.Seed })
	pictures := func(s experiment.Series) [][]float64 {
		row := make([][]float64, first.Settings.Shown)
		for i := range row {
			row[i] = s[imageColumn(i)]
		}
		return row
	}
	out := &experiment.Pictures{Rows: digitSide, Columns: digitSide,
		Grid: [][][]float64{pictures(first.Series["original"])}, RowLabels: []string{"original"}}
	for _, t := range experiment.FirstOfEach(trials) {
		out.Grid = append(out.Grid, pictures(t.Series["fabricated"]))
		out.RowLabels = append(out.RowLabels,
			fmt.Sprintf("ε %s, n %d", experiment.FormatNumber(t.Settings.Epsilon), t.Settings.N))
	}
	return out
}
