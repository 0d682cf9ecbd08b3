package kahm

import (
	"fmt"
	"slices"

	"privkern/runner/experiment"
)

// layersPerRow is how many outputs stand in a row of Fig. 6.
const layersPerRow = 10

// figure6 follows the paper's Fig. 6: a digit, what the layers make of it, and
// what the machine does.
func figure6() experiment.Figure {
	return experiment.Figure{
		Name:    "kahm/figure6",
		Title:   "The layers of a conditionally deep machine (Fig. 6)",
		Caption: "An input, the outputs of the layers (Eq. 51), and that of the machine (Eq. 50): the layer's that is nearest to the input. Then the distances of the outputs to the input (pixels from 0 to 1). The first seed of each setting.",
		Match:   func(name string, _ experiment.Params) bool { return name == "kahm/layers" },
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			var panels []experiment.Panel
			distances := experiment.Panel{Title: "Distance to the input", XLabel: "layer", YLabel: "distance"}
			trials = distinct(having(having(trials, "pictures"), "layers"))
			for color, t := range trials {
				name := fmt.Sprintf("digit %d, n = %d, sample %d", t.Params.Int("digit"), t.Params.Int("n"), t.Params.Int("sample"))
				panels = append(panels, experiment.Panel{Title: name, Pictures: layerPictures(t)})
				layers := t.Series["layers"]
				if len(trials) == 1 {
					name = ""
				}
				distances.Lines = append(distances.Lines, experiment.Line{Name: name, X: layers["x"], Y: layers["distance"], Color: color})
			}
			if panels == nil {
				return nil
			}
			return append(panels, distances)
		},
	}
}

func layerPictures(t experiment.Finished) *experiment.Pictures {
	s, count := t.Series["pictures"], len(t.Series["layers"]["x"])
	out := &experiment.Pictures{Rows: mnistSide, Columns: mnistSide, Grid: [][][]float64{{s["input"]}}, RowLabels: []string{"input"}}
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

// figure9 follows the paper's Fig. 9: digits, and fabricated digits in their
// places for several ε and n.
func figure9() experiment.Figure {
	return experiment.Figure{
		Name:    "kahm/figure9",
		Title:   "Fabricated digits (Fig. 9)",
		Caption: "The first row holds images as they are, each further row the fabricated images (Definition 14) in their places, for a privacy-loss bound ε and a subspace dimension n. What is below 0 is black, what is above 1 white. The first seed.",
		Match:   func(name string, _ experiment.Params) bool { return name == "kahm/fabrication" },
		Draw: func(trials []experiment.Finished) []experiment.Panel {
			var panels []experiment.Panel
			for _, g := range bySetting(having(having(trials, "original"), "fabricated"), "epsilon", "n") {
				p := g[0].Params
				title := fmt.Sprintf("Digit %d, %s", p.Int("digit"), p.Text("variant"))
				if p.Text("variant") == variantCorrected {
					title += fmt.Sprintf(", %d smoothing steps", p.Int("smoothing"))
				}
				panels = append(panels, experiment.Panel{Title: title, Pictures: fabricatedPictures(g)})
			}
			return panels
		},
	}
}

func fabricatedPictures(trials []experiment.Finished) *experiment.Pictures {
	// Other seeds have other images.
	seed := trials[0].Seed
	trials = slices.DeleteFunc(trials, func(t experiment.Finished) bool { return t.Seed != seed })
	shown := trials[0].Params.Int("shown")
	pictures := func(s experiment.Series) [][]float64 {
		row := make([][]float64, shown)
		for i := range row {
			row[i] = s[imageColumn(i)]
		}
		return row
	}
	out := &experiment.Pictures{Rows: mnistSide, Columns: mnistSide, Grid: [][][]float64{pictures(trials[0].Series["original"])}, RowLabels: []string{"original"}}
	for _, t := range distinct(trials) {
		out.Grid = append(out.Grid, pictures(t.Series["fabricated"]))
		out.RowLabels = append(out.RowLabels, fmt.Sprintf("ε %s, n %d", experiment.FormatNumber(t.Params.Float("epsilon")), t.Params.Int("n")))
	}
	return out
}
