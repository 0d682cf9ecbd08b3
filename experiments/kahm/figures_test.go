package kahm

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"privkern/runner/experiment"
)

// finished is a result as a figure sees it.
func finished(t *testing.T, e *experiment.Experiment, given map[string]any, r *experiment.Result) experiment.Finished {
	t.Helper()
	p, err := e.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	return experiment.Finished{Experiment: e.Name, Params: p, Metrics: r.Metrics, Series: r.Series}
}

func finishedToy(t *testing.T, given map[string]any) experiment.Finished {
	t.Helper()
	given["samples"], given["grid"] = 40, 12
	return finished(t, toy(), given, runOfToy(t, 1, given))
}

// finishedClassifier has metrics as if they had been computed.
func finishedClassifier(t *testing.T, data string, epsilon any, n int, variant string, metrics map[string]float64) experiment.Finished {
	t.Helper()
	return finished(t, classifier(), map[string]any{"data": data, "epsilon": epsilon, "n": n, "variant": variant}, &experiment.Result{
		Metrics: metrics,
		Series:  map[string]experiment.Series{"distances": {"x": {1, 2, 3}, "train": {0.5, 0.5, 0}, "test": {0, 0.5, 0.5}}},
	})
}

// drawn checks the panels of a figure: every trial belongs to it, no trial
// gives no panel, and panels are labelled and hold numbers.
func drawn(t *testing.T, f experiment.Figure, trials []experiment.Finished) []experiment.Panel {
	t.Helper()
	for _, trial := range trials {
		if !f.Match(trial.Experiment, trial.Params) {
			t.Errorf("%s does not take %s %v", f.Name, trial.Experiment, trial.Params)
		}
	}
	if f.Match("kahm/reference", experiment.Params{}) {
		t.Errorf("%s takes a trial of kahm/reference", f.Name)
	}
	if got := f.Draw(nil); got != nil {
		t.Errorf("%s draws %d panels of no trial", f.Name, len(got))
	}
	bare := slices.Clone(trials)
	for i := range bare {
		bare[i].Series, bare[i].Metrics = nil, nil
	}
	if got := f.Draw(bare); got != nil {
		t.Errorf("%s draws %d panels of trials without results", f.Name, len(got))
	}
	panels := f.Draw(trials)
	for _, p := range panels {
		if p.Title == "" || p.Pictures == nil && (p.XLabel == "" || p.YLabel == "") {
			t.Errorf("%s: a panel without a title or labels: %q", f.Name, p.Title)
		}
		for _, l := range append(slices.Clone(p.Lines), p.Points...) {
			if len(l.X) == 0 || len(l.X) != len(l.Y) {
				t.Errorf("%s, %s: %q has %d and %d values", f.Name, p.Title, l.Name, len(l.X), len(l.Y))
			}
			for i := range l.X {
				if bad := l.X[i] + l.Y[i]; math.IsNaN(bad) || math.IsInf(bad, 0) || p.LogX && l.X[i] <= 0 || p.LogY && l.Y[i] <= 0 {
					t.Fatalf("%s, %s: %q has the point (%g, %g)", f.Name, p.Title, l.Name, l.X[i], l.Y[i])
				}
			}
		}
		if p.Pictures != nil {
			for i, row := range p.Pictures.Grid {
				if len(row) != len(p.Pictures.Grid[0]) {
					t.Errorf("%s: row %d has %d pictures, the first %d", f.Name, i, len(row), len(p.Pictures.Grid[0]))
				}
			}
			if len(p.Pictures.RowLabels) != len(p.Pictures.Grid) {
				t.Errorf("%s: %d labels of %d rows", f.Name, len(p.Pictures.RowLabels), len(p.Pictures.Grid))
			}
		}
	}
	return panels
}

func TestToyFigures(t *testing.T) {
	for _, tt := range []struct {
		figure experiment.Figure
		trials []experiment.Finished
		panels int
	}{
		{toyFigure(), []experiment.Finished{finishedToy(t, map[string]any{}), finishedToy(t, map[string]any{"shape": "helix"}), finishedToy(t, map[string]any{})}, 2}, // a repetition is drawn once
		{figure1(), []experiment.Finished{finishedToy(t, map[string]any{"data": dataFabricated, "epsilon": 8})}, 3},
		{regionsFigure(), []experiment.Finished{finishedToy(t, map[string]any{"shape": "three-classes"}), finishedToy(t, map[string]any{"shape": "three-classes", "data": dataFabricated, "epsilon": 8})}, 4},
		{figure10(), []experiment.Finished{finishedToy(t, map[string]any{"shape": "three-parties"})}, 2},
	} {
		if got := drawn(t, tt.figure, tt.trials); len(got) != tt.panels {
			t.Errorf("%s: %d panels, want %d", tt.figure.Name, len(got), tt.panels)
		}
	}
}

// The top right cell of the regions is the last point of the grid, and cells
// are centred at points.
func TestRegionsAreTheGrid(t *testing.T) {
	trial := finishedToy(t, map[string]any{"shape": "three-classes"})
	g, h := trial.Series["grid"], plane(trial, "group")
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
		if math.Hypot(x[i]-want[0], y[i]-want[1]) > 1e-12 {
			t.Errorf("axis %d is drawn to (%g, %g), want %v", i, x[i], y[i], want)
		}
	}
}

func TestPictureFigures(t *testing.T) {
	run := func(e *experiment.Experiment, given map[string]any) experiment.Finished {
		r := onFormula(t, e, 1, given)
		given["images"] = 60
		return finished(t, e, given, r)
	}
	panels := drawn(t, figure6(), []experiment.Finished{run(layers(), map[string]any{"n": 12, "layers": 12})})
	if len(panels) != 2 {
		t.Fatalf("kahm/figure6: %d panels", len(panels))
	}
	if got, want := fmt.Sprint(panels[0].Pictures.RowLabels), "[input layers 1–10 layers 11–12 output]"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	panels = drawn(t, figure9(), []experiment.Finished{
		run(fabrication(), map[string]any{"n": 5}),
		run(fabrication(), map[string]any{"n": 5, "epsilon": 1}),
		run(fabrication(), map[string]any{"n": 3}),
		run(fabrication(), map[string]any{"n": 5, "variant": variantPublished}),
	})
	if len(panels) != 2 {
		t.Fatalf("kahm/figure9: %d panels", len(panels))
	}
	if got, want := fmt.Sprint(panels[0].Pictures.RowLabels), "[original ε 16, n 5 ε 1, n 5 ε 16, n 3]"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
}

func TestFigure12(t *testing.T) {
	var trials []experiment.Finished
	for _, data := range []string{dataNoisy, dataFabricated} {
		for _, epsilon := range []float64{4, 1, 32} {
			trials = append(trials, finishedClassifier(t, data, epsilon, 20, variantPublished, map[string]float64{"accuracy": 0.9, "mis": epsilon*1e-4 - 2e-4}))
		}
		trials = append(trials, finishedClassifier(t, data, 32, 10, variantPublished, map[string]float64{"accuracy": 0.8, "mis": 0.1}))
	}
	trials = append(trials, finishedClassifier(t, dataNoisy, 4, 20, variantPublished, map[string]float64{"accuracy": 0.8, "mis": 6e-4})) // another seed
	trials = append(trials, finishedClassifier(t, dataNoisy, 4, 20, variantCorrected, map[string]float64{"accuracy": 0.7, "mis": 0.1}))  // one value is no curve
	panels := drawn(t, figure12(), trials)
	if len(panels) != 4 {
		t.Fatalf("%d panels", len(panels))
	}
	for _, l := range panels[0].Lines {
		if l.Name == "noisy (Def. 12)" && fmt.Sprint(l.X, l.Y) != "[1 4 32] [0.9 0.8500000000000001 0.9]" {
			t.Errorf("accuracy %v over %v", l.Y, l.X)
		}
		if l.Name == "fabricated (Def. 15), published" && (l.X[0] != 1 || l.Y[0] != 0.9491) {
			t.Errorf("published: %v over %v", l.Y, l.X)
		}
	}
	if n := len(panels[0].Lines); n != 4 {
		t.Errorf("%d lines of accuracy, want 2 and 2 published ones", n)
	}
	if y := panels[1].Points[0].Y[0]; y != misFloor {
		t.Errorf("a negative score is drawn at %g", y)
	}
	if x := panels[2].Lines[0].X; fmt.Sprint(x) != "[10 20]" {
		t.Errorf("over n: %v", x)
	}
	few := finished(t, classifier(), map[string]any{"data": dataNoisy, "epsilon": 1, "train": 2000}, &experiment.Result{Metrics: map[string]float64{"accuracy": 0.5}})
	more := finished(t, classifier(), map[string]any{"data": dataNoisy, "epsilon": 2, "train": 2000}, &experiment.Result{Metrics: map[string]float64{"accuracy": 0.6}})
	if panels := figure12().Draw([]experiment.Finished{few, more}); len(panels) != 1 || len(panels[0].Lines) != 1 {
		t.Error("published values of all images beside those of a few")
	}
}

func TestFigure13(t *testing.T) {
	before := finishedClassifier(t, dataOriginal, "inf", 20, variantCorrected, map[string]float64{"mis": 0.36})
	trials := []experiment.Finished{
		finishedClassifier(t, dataFabricated, 1, 20, variantPublished, map[string]float64{"mis": 0.01}),
		before,
		finishedClassifier(t, dataFabricated, 16, 20, variantCorrected, map[string]float64{"mis": 0.06}),
		finishedClassifier(t, dataFabricated, 16, 20, variantPublished, map[string]float64{"mis": 0.05}),
		finishedClassifier(t, dataFabricated, 32, 20, variantPublished, map[string]float64{"mis": 0.07}),
	}
	panels := drawn(t, figure13(), trials)
	if len(panels) != 2 || panels[0].Title != "training samples: mis 0.36" || panels[1].Title != "fabricated, ε = 16, as-published: mis 0.05" {
		t.Fatalf("%+v", panels)
	}
	if got := panels[0].Bars[0].Edges; fmt.Sprint(got) != "[0.5 1.5 2.5 3.5]" {
		t.Errorf("edges %v of the bins 1, 2, 3", got)
	}
	if panels := figure13().Draw([]experiment.Finished{before}); len(panels) != 1 {
		t.Errorf("%d panels of the original samples alone", len(panels))
	}
}

func TestFigure17(t *testing.T) {
	time := func(rows, dim, n int, seconds float64) experiment.Finished {
		return finished(t, timing(), map[string]any{"rows": rows, "dim": dim, "n": n}, &experiment.Result{Metrics: map[string]float64{"time_s": seconds}})
	}
	panels := drawn(t, figure17(), []experiment.Finished{time(1000, 1000, 20, 1), time(100, 100, 20, 0.1), time(100, 100, 20, 0.3), time(100, 100, 5, 0.05)})
	if len(panels) != 1 || len(panels[0].Points) != 2 {
		t.Fatalf("%+v", panels)
	}
	if got := panels[0].Points[0]; got.Name != "n = 20" || !slices.Equal(got.X, []float64{1e4, 1e6}) || !slices.Equal(got.Y, []float64{0.2, 1}) {
		t.Errorf("points %+v", got)
	}
	// The 13 rows of Table 11, and the value in the text.
	if l := panels[0].Lines[0]; len(l.X) != 14 || l.X[0] != 1e4 || l.Y[0] != 0.0193 || l.X[13] != 2e7 || l.Y[13] != 1600 {
		t.Errorf("published: %v over %v", l.Y, l.X)
	}
}
