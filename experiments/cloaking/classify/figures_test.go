package classify

import (
	"math"
	"slices"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// observed makes a finished trial with changes of the defaults.
func observed[S, M any](
	x *experiment.Definition[S, M], out *experiment.Outcome[M], changes ...func(*S),
) experiment.Observation {
	return trialtest.Observe(x, x.With(changes...), 0, out)
}

// Figure 3 has loans, violins and lines; a record with secure noise has nothing
// that is computed from the outcomes without noise.
func TestFigure3(t *testing.T) {
	draws := experiment.Series{"x": {0, 1, 2}, "draw_0": {0.1, 0.2, 0.3}, "draw_1": {0.4, 0.5, 0.6}}
	alone := &experiment.Outcome[hmeqMetrics]{Series: map[string]experiment.Series{"probability": draws, "latent": draws}}
	quiet := observed(HMEQ(), alone, func(s *hmeqSettings) { noiseless(&s.ClassifierSettings) })
	secure := observed(HMEQ(), alone)
	seeded := observed(HMEQ(), &experiment.Outcome[hmeqMetrics]{Series: map[string]experiment.Series{
		"probability": draws, "latent": draws,
		"without_noise": {"x": {0, 1, 2}, "probability": {0.2, 0.3, 0.4}, "latent": {-1, 0, 1}},
		"loans":         {"x": {0, 1, 2, 3}, "defaulted": {1, 2, 0, 4}, "repaid": {5, 0, 7, 8}},
	}})

	panels := cloaktest.Draw(t, Figure3(), quiet, seeded)
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
	if len(violins) != 3 || violins[2].At != 2 || !slices.Equal(violins[2].Values, []float64{0.3, 0.6}) ||
		violins[2].Range != [2]float64{0, 1} {
		t.Errorf("violins %v", violins)
	}
	if p := panels[1].Points; len(p) != 1 || !slices.Equal(p[0].Y, []float64{0.2, 0.3, 0.4}) ||
		p[0].Marker != experiment.Cross {
		t.Errorf("probabilities without noise %v", p)
	}
	if l := panels[2].Lines; len(l) != 3 || !slices.Equal(l[1].Y, []float64{0.4, 0.5, 0.6}) ||
		!slices.Equal(l[2].Y, []float64{-1, 0, 1}) {
		t.Errorf("latent means %v", l)
	}

	panels = cloaktest.Draw(t, Figure3(), secure)
	if len(panels) != 2 || len(panels[0].Violins) != 3 || panels[0].Points != nil || len(panels[1].Lines) != 2 {
		t.Errorf("secure: %d panels %v", len(panels), panels)
	}
	if got := Figure3().Draw([]experiment.Observation{quiet}); got != nil {
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
	out := &experiment.Outcome[stripesMetrics]{Series: series}
	one := observed(Stripes(), out)
	two := observed(Stripes(), out, func(s *stripesSettings) { s.Iterations = steps(2) })
	panels := cloaktest.Draw(t, Figure4(), one, one, two)
	if len(panels) != 2 || panels[0].Title != "1 Newton step, ε = 1" || panels[1].Title != "2 Newton steps, ε = 1" {
		t.Fatalf("%d panels", len(panels))
	}
	p := panels[0]
	const radius, offset = 0.86 / 4, 0.86 / 4 // of the largest in a block of 2×2, and of its centre
	type circle struct{ x, y, r float64 }
	white := []circle{
		{-offset, offset, radius}, {offset, -offset, 0}, {1 - offset, 3 + offset, radius / 2},
		{1 + offset, 3 + offset, 0}, {1 - offset, 3 - offset, 0}, {1 + offset, 3 - offset, radius},
	}
	black := []circle{{offset, offset, radius}, {-offset, -offset, radius / 2}}
	for i, want := range [][]circle{white, black} {
		d := p.Discs[i]
		t.Run(d.Name, func(t *testing.T) {
			if len(d.X) != len(want) || len(d.Y) != len(want) || len(d.Radius) != len(want) || d.Open != (i == 0) {
				t.Fatalf("%d circles, want %d", len(d.X), len(want))
			}
			for j, c := range want {
				trialtest.Near(t, "x", d.X[j], c.x, 1e-12)
				trialtest.Near(t, "y", d.Y[j], c.y, 1e-12)
				trialtest.Near(t, "radius", d.Radius[j], c.r, 1e-12)
			}
		})
	}
	if len(p.Points) != 2 || !slices.Equal(p.Points[0].X, []float64{0.1, 0.3}) ||
		!slices.Equal(p.Points[1].Y, []float64{2}) {
		t.Errorf("training points %v", p.Points)
	}
	quiet := observed(Stripes(), out, onStripes(noiseless))
	if Figure4().Match(quiet.Experiment, quiet.Params) {
		t.Error("a trial without noise has one draw only and belongs to the figure")
	}
}

// Figure 5 averages over the seeds, curve by curve: solid without noise, dashed
// with it, and one colour for each lengthscale.
func TestFigure5(t *testing.T) {
	var trials []experiment.Observation
	add := func(epsilon, lengthscale float64, inducing int, accuracies ...float64) {
		for _, a := range accuracies {
			out := &experiment.Outcome[digitsMetrics]{Metrics: digitsMetrics{accuracyMetrics: accuracyMetrics{Accuracy: a}}}
			trials = append(trials, observed(Digits(), out, func(s *digitsSettings) {
				s.Epsilon, s.Lengthscale, s.Inducing = epsilon, method.LengthscalesOf(lengthscale), inducing
			}))
		}
	}
	add(1, 672, 15, 0.7, 0.8)
	add(1, 672, 4, 0.6)
	add(1, 168, 4, 0.5)
	add(math.Inf(1), 672, 4, 0.9)
	panels := cloaktest.Draw(t, Figure5(), trials...)
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
		t.Run(w.name, func(t *testing.T) {
			l := panels[0].Lines[i]
			if l.Name != w.name || l.Dashed != w.dashed || l.Color != w.color || !slices.Equal(l.X, w.x) ||
				!slices.Equal(l.Y, w.y) {
				t.Errorf("%+v, want %+v", l, w)
			}
		})
	}
	standard := observed(Digits(), new(experiment.Outcome[digitsMetrics]), func(s *digitsSettings) {
		s.Method = cloak.Standard
	})
	if Figure5().Match(standard.Experiment, standard.Params) {
		t.Error("the standard method has no inducing inputs and belongs to the figure")
	}
}
