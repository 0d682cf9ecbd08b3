package picture

import (
	"fmt"
	"math"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// toyOf returns a small trial of kahm/toy as an observation.
func toyOf(t *testing.T, change func(*ToySettings)) experiment.Observation {
	t.Helper()
	s, out := runOfToy(t, 1, func(s *ToySettings) { s.Samples, s.Grid = 40, 12; change(s) })
	return trialtest.Observe(Toy(), s, 1, out)
}

// panelsOf also checks that trials without series give no panel.
func panelsOf(t *testing.T, f experiment.Figure, trials []experiment.Observation) []experiment.Panel {
	t.Helper()
	if got := f.Draw(trialtest.WithoutSeries(trials)); got != nil {
		t.Errorf("%s draws %d panels of trials without series", f.Name, len(got))
	}
	return trialtest.Panels(t, f, trials)
}

func TestToyFigures(t *testing.T) {
	fabricated := func(s *ToySettings) { s.Data, s.Epsilon = wide.Fabricated, 8 }
	for _, c := range []struct {
		figure experiment.Figure
		trials []func(*ToySettings)
		panels int
	}{
		{ToyFigure(), []func(*ToySettings){
			func(*ToySettings) {}, func(s *ToySettings) { s.Shape = Helix }, func(*ToySettings) {},
		}, 2}, // a repetition is drawn once
		{Figure1(), []func(*ToySettings){fabricated}, 3},
		{RegionsFigure(), []func(*ToySettings){
			func(s *ToySettings) { s.Shape = ThreeClasses },
			func(s *ToySettings) { s.Shape = ThreeClasses; fabricated(s) },
		}, 4},
		{Figure10(), []func(*ToySettings){func(s *ToySettings) { s.Shape = ThreeParties }}, 2},
	} {
		t.Run(c.figure.Name, func(t *testing.T) {
			var trials []experiment.Observation
			for _, change := range c.trials {
				trials = append(trials, toyOf(t, change))
			}
			got := panelsOf(t, c.figure, trials)
			if len(got) != c.panels {
				t.Errorf("%d panels, want %d", len(got), c.panels)
			}
			for _, p := range got {
				if !p.EqualAspect {
					t.Errorf("%s: a circle of the plane is none in the picture", p.Title)
				}
			}
		})
	}
}

// Titles name the modelled samples, and the errors of those that a panel shows.
func TestTitlesOfToyFigures(t *testing.T) {
	trial := toyOf(t, func(s *ToySettings) {
		s.Shape, s.Data, s.Epsilon, s.N, s.Layers = SwissRoll, wide.Fabricated, 8, experiment.NumberOr[wide.Whole](2), 2
	})
	m := Toy().Values(trial.Metrics)
	for i, want := range []string{
		fmt.Sprintf("original: error %.3g", m.ErrorOriginal),
		fmt.Sprintf("noisy, ε = 8: error %.3g", *m.ErrorNoisy),
		fmt.Sprintf("fabricated, ε = 8: error %.3g", *m.ErrorFabricated),
	} {
		t.Run(want, func(t *testing.T) {
			if got := Figure1().Draw([]experiment.Observation{trial})[i].Title; got != want {
				t.Errorf("got %q", got)
			}
		})
	}
	if got := toyTitle(Toy().Settings(trial.Params), "swiss-roll"); got != "swiss-roll, ε = 8, n = 2, 2 layers" {
		t.Errorf("title %q", got)
	}
}

// The top right cell of the regions is the last point of the grid, and cells
// are centred at points.
func TestRegionsAreTheGrid(t *testing.T) {
	trials := Toy().Among([]experiment.Observation{toyOf(t, func(s *ToySettings) { s.Shape = ThreeClasses })})
	g, h := trials[0].Series["grid"], plane(trials[0], "group")
	last := len(g["x"]) - 1
	if h.Values[0][11] != g["group"][last] || h.Values[11][0] != g["group"][0] || h.Values[0][0] != g["group"][last-11] {
		t.Errorf("corners %v", h.Values)
	}
	width := (g["x"][11] - g["x"][0]) / 11
	if math.Abs(h.XRange[0]-(g["x"][0]-width/2)) > 1e-9 || math.Abs(h.XRange[1]-h.XRange[0]-12*width) > 1e-9 {
		t.Errorf("range %v", h.XRange)
	}
}

func TestMeshEndsAtGaps(t *testing.T) {
	// The 3×3 lattice without its middle: of the lines through it nothing is
	// left but single points.
	nan := math.NaN()
	s := experiment.Series{"image_x": {0, 1, 2, 0, nan, 2, 0, 1, 2}, "image_y": {0, 0, 0, 1, nan, 1, 2, 2, 2}}
	lines := mesh("image", s, 3, 5)
	if len(lines) != 4 || lines[0].Name != "image" || lines[1].Name != "" {
		t.Errorf("%+v", lines)
	}
}

func TestObliqueProjection(t *testing.T) {
	x, y := flat(experiment.Series{"x": {1, 0, 0}, "y": {0, 1, 0}, "z": {0, 0, 1}}, "")
	for i, want := range [][2]float64{{1, 0}, {math.Sqrt(3) / 4, 0.25}, {0, 1}} {
		t.Run(axes[i], func(t *testing.T) {
			if math.Hypot(x[i]-want[0], y[i]-want[1]) > 1e-12 {
				t.Errorf("drawn to (%g, %g), want %v", x[i], y[i], want)
			}
		})
	}
}

func TestFigure6(t *testing.T) {
	s, out := passThrough(t, func(s *LayersSettings) { s.N, s.Layers = 12, 12 })
	panels := panelsOf(t, Figure6(), []experiment.Observation{trialtest.Observe(Layers(), s, 1, out)})
	if len(panels) != 2 {
		t.Fatalf("%d panels", len(panels))
	}
	if got, want := fmt.Sprint(panels[0].Pictures.RowLabels), "[input layers 1–10 layers 11–12 output]"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
}

func TestFigure9(t *testing.T) {
	var trials []experiment.Observation
	for seed, change := range []func(*FabricationSettings){
		func(*FabricationSettings) {},
		func(s *FabricationSettings) { s.Epsilon = 1 },
		func(s *FabricationSettings) { s.N = 3 },
		func(s *FabricationSettings) { s.Variant = wide.AsPublished },
		func(s *FabricationSettings) { s.N = 4 }, // of another seed
	} {
		s, out := fabricate(t, 1, change)
		trials = append(trials, trialtest.Observe(Fabrication(), s, int64(seed/4), out))
	}
	panels := panelsOf(t, Figure9(), trials)
	if len(panels) != 2 {
		t.Fatalf("%d panels", len(panels))
	}
	if got, want := fmt.Sprint(panels[0].Pictures.RowLabels), "[original ε 16, n 5 ε 1, n 5 ε 16, n 3]"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	if got, want := panels[0].Title, "Digit 8, corrected, 2 smoothing steps"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
}
