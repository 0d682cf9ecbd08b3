package fit

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/printed"
	"privkern/runner/experiment"
)

func TestReference(t *testing.T) {
	s := Reference().With(func(s *ReferenceSettings) { s.Rows, s.Dim, s.N, s.Layers = 20, 6, 4, 2 })
	out, err := Reference().Compute(t.Context(), trialtest.New(t, trialtest.Options{}), s)
	if err != nil {
		t.Fatal(err)
	}
	m := out.Metrics
	if got, want := slices.Sorted(maps.Keys(m.Lambda)), "[c0_l1 c0_l2 c1_l1 c1_l2 c2_l1 c2_l2]"; fmt.Sprint(got) != want {
		t.Errorf("λ of %v, want %s", got, want)
	}
	if len(m.Iterations) != 6 || len(m.Gamma) != 15 || len(m.Class) != 5 {
		t.Errorf("%d iterations, %d distances, %d classes", len(m.Iterations), len(m.Gamma), len(m.Class))
	}
	for q := range m.Class {
		nearest := 0
		for c := range FormulaClasses {
			if m.Gamma[fmt.Sprintf("%s_c%d", q, c)] < m.Gamma[fmt.Sprintf("%s_c%d", q, nearest)] {
				nearest = c
			}
		}
		if m.Class[q] != float64(nearest) {
			t.Errorf("%s has the class %g, and is nearest to %d", q, m.Class[q], nearest)
		}
	}
}

// Every setting changes the outcome.
func TestWhereSettingsApply(t *testing.T) {
	inert.Conditions[ReferenceSettings, ReferenceMetrics]{
		Of:    Reference(),
		Bases: map[string]func(*ReferenceSettings){"defaults": func(*ReferenceSettings) {}},
		Others: func(s *ReferenceSettings) []inert.Setting {
			return []inert.Setting{inert.Values(&s.Rows, 20), inert.Values(&s.Dim, 15), inert.Values(&s.N, 3),
				inert.Values(&s.Layers, 1)}
		},
		Run: func(s *ReferenceSettings) (*experiment.Outcome[ReferenceMetrics], error) {
			return runReference(t.Context(), trialtest.New(t, trialtest.Options{Workers: 2}), s)
		},
	}.Check(t)
}

func TestTiming(t *testing.T) {
	s := Timing().With(func(s *TimingSettings) { s.Rows, s.Dim, s.N, s.Repeats = 30, 50, 5, 2 })
	var done []string
	trial := trialtest.New(t, trialtest.Options{Progress: func(n, of int, what string) {
		done = append(done, fmt.Sprint(n, of, what))
	}})
	out, err := Timing().Compute(t.Context(), trial, s)
	if err != nil {
		t.Fatal(err)
	}
	if m := out.Metrics; !(m.Time > 0 && m.Rate > 0 && m.FixedPointEvaluations > 0) {
		t.Errorf("%+v", m)
	}
	if got := fmt.Sprint(done); got != "[1 2machines 2 2machines]" {
		t.Errorf("progress %s", got)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		x     *experiment.Experiment
		given map[string]any
		want  string
	}{
		{Reference().Experiment, map[string]any{"n": 13}, "only 12 columns"},
		{Reference().Experiment, map[string]any{"layers": 6}, "at most n = 5 layers"},
		{Bounds().Experiment, map[string]any{"n": 13}, "only 12 columns"},
		{Bounds().Experiment, map[string]any{"rows": 17}, "3 branches of n = 5 directions need at least 18"},
		{Bounds().Experiment, map[string]any{"layers": 6}, "at most n = 5 layers"},
		{Timing().Experiment, map[string]any{"dim": 10}, "n must not exceed dim"},
		{Timing().Experiment, map[string]any{"rows": 10000}, "rows × dim = 100000000: at most 50000000 entries"},
	} {
		t.Run(fmt.Sprint(c.x.Name, c.given), func(t *testing.T) {
			if _, err := c.x.Resolve(c.given); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestFigure17(t *testing.T) {
	text, err := os.ReadFile("../ledger.yaml")
	if err != nil {
		t.Fatal(err)
	}
	timed := func(rows, dim, n int, seconds float64) experiment.Observation {
		s := Timing().With(func(s *TimingSettings) { s.Rows, s.Dim, s.N = rows, dim, n })
		return trialtest.Observe(Timing(), s, 1, &experiment.Outcome[TimingMetrics]{Metrics: TimingMetrics{Time: seconds}})
	}
	figure := Figure17(printed.Read(text))
	panels := trialtest.Panels(t, figure, []experiment.Observation{
		timed(1000, 1000, 20, 1), timed(100, 100, 20, 0.1), timed(100, 100, 20, 0.3), timed(100, 100, 5, 0.05),
	})
	if len(panels) != 1 || len(panels[0].Points) != 2 {
		t.Fatalf("%+v", panels)
	}
	if got := panels[0].Points[0]; got.Name != "n = 20" || !slices.Equal(got.X, []float64{1e4, 1e6}) ||
		!slices.Equal(got.Y, []float64{0.2, 1}) {
		t.Errorf("points %+v", got)
	}
	// The 13 rows of Table 11, and the value in the text.
	if l := panels[0].Lines[0]; len(l.X) != 14 || l.X[0] != 1e4 || l.Y[0] != 0.0193 || l.X[13] != 2e7 || l.Y[13] != 1600 {
		t.Errorf("published: %v over %v", l.Y, l.X)
	}
	// Three sizes that differ in one setting are a curve over it.
	panels = trialtest.Panels(t, figure, []experiment.Observation{
		timed(100, 300, 5, 3), timed(100, 100, 5, 1), timed(100, 200, 5, 2), timed(100, 100, 10, 4), timed(200, 100, 5, 5),
	})
	if len(panels) != 2 || panels[1].Title != "Over p, columns" || len(panels[1].Lines) != 1 {
		t.Fatalf("%+v", panels)
	}
	if l := panels[1].Lines[0]; l.Name != "n = 5 N = 100" || !slices.Equal(l.X, []float64{100, 200, 300}) ||
		!slices.Equal(l.Y, []float64{1, 2, 3}) {
		t.Errorf("%+v", l)
	}
	if panels := figure.Draw([]experiment.Observation{timed(10, 10, 5, 0)}); panels != nil {
		t.Errorf("%d panels of a trial without a time", len(panels))
	}
}
