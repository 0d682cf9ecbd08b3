package cloaking

import (
	"math"
	"slices"
	"testing"

	"privkern/runner/experiment"
)

// finished makes a finished trial of an experiment.
func finished(t *testing.T, e *experiment.Experiment, given map[string]any, metrics map[string]float64, series map[string]experiment.Series) experiment.Finished {
	t.Helper()
	p, err := e.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	return experiment.Finished{Experiment: e.Name, Params: p, Metrics: metrics, Series: series}
}

// drawn returns the panels of a figure that takes all the trials.
func drawn(t *testing.T, f experiment.Figure, trials ...experiment.Finished) []experiment.Panel {
	t.Helper()
	if f.Draw(nil) != nil {
		t.Errorf("%s: draws without trials", f.Name)
	}
	for _, trial := range trials {
		if !f.Match(trial.Experiment, trial.Params) {
			t.Fatalf("%s: %s %v does not belong to it", f.Name, trial.Experiment, trial.Params)
		}
	}
	return f.Draw(trials)
}

// Figure 3 has loans, violins and lines; a record with secure noise has nothing
// that is computed from the outcomes without noise.
func TestFigure3(t *testing.T) {
	draws := experiment.Series{"x": {0, 1, 2}, "draw_0": {0.1, 0.2, 0.3}, "draw_1": {0.4, 0.5, 0.6}}
	quiet := finished(t, hmeq(), map[string]any{"epsilon": math.Inf(1)}, nil, map[string]experiment.Series{"probability": draws, "latent": draws})
	secure := finished(t, hmeq(), nil, nil, map[string]experiment.Series{"probability": draws, "latent": draws})
	seeded := finished(t, hmeq(), nil, nil, map[string]experiment.Series{"probability": draws, "latent": draws,
		"without_noise": {"x": {0, 1, 2}, "probability": {0.2, 0.3, 0.4}, "latent": {-1, 0, 1}},
		"loans":         {"x": {0, 1, 2, 3}, "defaulted": {1, 2, 0, 4}, "repaid": {5, 0, 7, 8}}})

	panels := drawn(t, figure3(), quiet, seeded)
	if len(panels) != 3 {
		t.Fatalf("%d panels, want 3", len(panels))
	}
	bars := panels[0].Bars
	if len(bars) != 2 || bars[0].Name != "repaid" || bars[1].Name != "defaulted" {
		t.Fatalf("bars %v", bars)
	}
	for i, want := range [][]float64{{5, 0, 0, 0, 7, 0, 8}, {1, 0, 2, 0, 0, 0, 4}} {
		if b := bars[i]; !slices.Equal(b.Heights, want) || len(b.Edges) != len(want)+1 || !slices.IsSorted(b.Edges) {
			t.Errorf("bars %s: heights %v between %v, want %v", b.Name, b.Heights, b.Edges, want)
		}
	}
	violins := panels[1].Violins
	if len(violins) != 3 || violins[2].At != 2 || !slices.Equal(violins[2].Values, []float64{0.3, 0.6}) || violins[2].Range != [2]float64{0, 1} {
		t.Errorf("violins %v", violins)
	}
	if p := panels[1].Points; len(p) != 1 || !slices.Equal(p[0].Y, []float64{0.2, 0.3, 0.4}) || p[0].Marker != experiment.Cross {
		t.Errorf("probabilities without noise %v", p)
	}
	if l := panels[2].Lines; len(l) != 3 || !slices.Equal(l[1].Y, []float64{0.4, 0.5, 0.6}) || !slices.Equal(l[2].Y, []float64{-1, 0, 1}) {
		t.Errorf("latent means %v", l)
	}

	panels = drawn(t, figure3(), secure)
	if len(panels) != 2 || len(panels[0].Violins) != 3 || panels[0].Points != nil || len(panels[1].Lines) != 2 {
		t.Errorf("secure: %d panels %v", len(panels), panels)
	}
	if got := figure3().Draw([]experiment.Finished{quiet}); got != nil {
		t.Errorf("draws without noise: %v", got)
	}
}

// Figure 4 has a block of circles at every test input, the same draw at the same
// place of each, white for the positive class, and larger the surer.
func TestFigure4(t *testing.T) {
	series := map[string]experiment.Series{
		"grid": {"x": {0, 1}, "y": {0, 3}, "label": {1, -1},
			"draw_0": {1, 0.75}, "draw_1": {0, 0.5}, "draw_2": {0.25, 0.5}, "draw_3": {0.5, 1}},
		"training": {"x": {0.1, 0.2, 0.3}, "y": {1, 2, 3}, "label": {1, -1, 1}},
	}
	one := finished(t, stripes(), nil, nil, series)
	two := finished(t, stripes(), map[string]any{"iterations": 2}, nil, series)
	panels := drawn(t, figure4(), one, one, two)
	if len(panels) != 2 || panels[0].Title != "1 Newton step, ε = 1" || panels[1].Title != "2 Newton steps, ε = 1" {
		t.Fatalf("%d panels", len(panels))
	}
	p := panels[0]
	const radius, offset = 0.86 / 4, 0.86 / 4 // of the largest in a block of 2×2, and of its centre
	type circle struct{ x, y, r float64 }
	white := []circle{{-offset, offset, radius}, {offset, -offset, 0}, {1 - offset, 3 + offset, radius / 2}, {1 + offset, 3 + offset, 0}, {1 - offset, 3 - offset, 0}, {1 + offset, 3 - offset, radius}}
	black := []circle{{offset, offset, radius}, {-offset, -offset, radius / 2}}
	for i, want := range [][]circle{white, black} {
		d := p.Discs[i]
		if len(d.X) != len(want) || len(d.Y) != len(want) || len(d.Radius) != len(want) || d.Open != (i == 0) {
			t.Fatalf("%s: %d circles, want %d", d.Name, len(d.X), len(want))
		}
		for j, c := range want {
			near(t, d.Name+" x", d.X[j], c.x, 1e-12)
			near(t, d.Name+" y", d.Y[j], c.y, 1e-12)
			near(t, d.Name+" radius", d.Radius[j], c.r, 1e-12)
		}
	}
	if len(p.Points) != 2 || !slices.Equal(p.Points[0].X, []float64{0.1, 0.3}) || !slices.Equal(p.Points[1].Y, []float64{2}) {
		t.Errorf("training points %v", p.Points)
	}
	quiet := finished(t, stripes(), map[string]any{"epsilon": math.Inf(1)}, nil, series)
	if figure4().Match(quiet.Experiment, quiet.Params) {
		t.Error("a trial without noise has one draw only and belongs to the figure")
	}
}

// Figure 5 averages over the seeds, curve by curve: solid without noise, dashed
// with it, and one colour for each lengthscale.
func TestFigure5(t *testing.T) {
	var trials []experiment.Finished
	add := func(epsilon, lengthscale float64, inducing int, accuracies ...float64) {
		for _, a := range accuracies {
			trials = append(trials, finished(t, digits(), map[string]any{"epsilon": epsilon, "lengthscale": lengthscale, "inducing": inducing}, map[string]float64{"accuracy": a}, nil))
		}
	}
	add(1, 672, 15, 0.7, 0.8)
	add(1, 672, 4, 0.6)
	add(1, 168, 4, 0.5)
	add(math.Inf(1), 672, 4, 0.9)
	panels := drawn(t, figure5(), trials...)
	if len(panels) != 1 || !panels[0].LogX {
		t.Fatalf("panels %v", panels)
	}
	type curve struct {
		name   string
		dashed bool
		color  int
		x, y   []float64
	}
	want := []curve{
		{"ℓ = 672", false, 5, []float64{4}, []float64{0.9}},
		{"ℓ = 168, ε = 1", true, 6, []float64{4}, []float64{0.5}},
		{"ℓ = 672, ε = 1", true, 5, []float64{4, 15}, []float64{0.6, 0.75}},
		{"chance", false, 6, []float64{4, 15}, []float64{0.52, 0.52}},
	}
	if len(panels[0].Lines) != len(want) {
		t.Fatalf("%d curves, want %d", len(panels[0].Lines), len(want))
	}
	for i, w := range want {
		l := panels[0].Lines[i]
		if l.Name != w.name || l.Dashed != w.dashed || l.Color != w.color || !slices.Equal(l.X, w.x) || !slices.Equal(l.Y, w.y) {
			t.Errorf("curve %d is %+v, want %+v", i, l, w)
		}
	}
	standard := finished(t, digits(), map[string]any{"method": methodStandard}, nil, nil)
	if figure5().Match(standard.Experiment, standard.Params) {
		t.Error("the standard method has no inducing inputs and belongs to the figure")
	}
}
