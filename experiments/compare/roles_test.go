package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// A trivial rule and a method without privacy that are candidates take the places of the metrics of others, where they
// are better, and are not ranked.
func TestRoles(t *testing.T) {
	entry := func(name string, role Role, epsilons ...float64) *Entry {
		e := &Entry{Candidate: Candidate{Experiment: name, Role: role, Protects: experiment.UnitRow},
			Definition: &experiment.Experiment{}}
		for _, v := range epsilons {
			e.Params = append(e.Params, experiment.Params{"epsilon": v})
		}
		return e
	}
	c := &Contest{Request: Request{Epsilons: []float64{1, 3}, Unit: experiment.UnitRow}, Entries: []*Entry{
		entry("private", Private, 1, 3), entry("rule", Trivial, 1), entry("trees", NonPrivate, 1)}}
	scores := map[string]float64{"private": 4, "rule": 6, "trees": 1.5}
	for _, x := range []struct {
		name           string
		without        float64 // rmse_without_noise of the private method
		trivial, exact float64
	}{
		{"the method without privacy is better", 2, 6, 1.5},
		{"a method without its noise is better", 1, 6, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			var trials []Trial
			for _, e := range c.Entries {
				for _, p := range e.Params {
					for seed := range int64(3) {
						m := map[string]float64{"rmse": scores[e.Experiment] + .1*float64(seed-1)}
						if e.Role == Private {
							m["rmse_centre"], m["rmse_without_noise"] = 9, x.without
						}
						trials = append(trials, Trial{Experiment: e.Experiment, Params: p, Seed: seed, Metrics: m})
					}
				}
			}
			m, err := MeasureOf(c.Task, "rmse")
			if err != nil {
				t.Fatal(err)
			}
			r := c.Judge(trials, []int64{0, 1, 2}, m)
			for i := range c.Epsilons {
				trialtest.Near(t, "trivial", r.Trivial[i].Mean, x.trivial, 1e-12)
			}
			trialtest.Near(t, "without privacy", r.Exact.Mean, x.exact, 1e-12)
			if len(r.Blocks) != 1 || len(r.Blocks[0].Rows) != 1 || r.Blocks[0].Rows[0].Method != "private" {
				t.Errorf("%+v", r.Blocks)
			}
		})
	}
}

// The figure has a line for each private method; a reference without privacy, whose epsilon is infinite, is level, and
// a trivial rule is no method: its line has the scores of its trials, as the table has, and not the metric of others.
func TestFigureOfRoles(t *testing.T) {
	var trials []experiment.Observation
	add := func(name string, epsilon, accuracy float64, more map[string]float64) {
		m := map[string]float64{"accuracy": accuracy}
		maps.Copy(m, more)
		o := experiment.Observation{Metrics: m}
		o.Experiment, o.Params = name, experiment.Params{"epsilon": epsilon, "person": "id"}
		trials = append(trials, o)
	}
	of := map[string]float64{"accuracy_without_noise": .8, "accuracy_largest": .5}
	for _, epsilon := range []float64{1, 3} {
		add("baseline/forest", epsilon, .6, of)
		add("baseline/largest-class", epsilon, .55-epsilon/100, of)
	}
	add("baseline/exact-classification", math.Inf(1), .9, nil)
	panels := draw(trials)
	if len(panels) != 1 || !strings.HasSuffix(panels[0].Title, ", per person") {
		t.Fatalf("%+v", panels)
	}
	var got []string
	for _, l := range panels[0].Lines {
		got = append(got, fmt.Sprint(l.Name, l.X, l.Y))
	}
	want := []string{"baseline/forest[1 3] [0.6 0.6]", "always one class[1 3] [0.54 0.52]",
		"without privacy[1 3] [0.9 0.9]"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The axis ends where scores far beyond the trivial rule would squeeze the others, and not else.
func TestAxisEnds(t *testing.T) {
	smaller, larger := Measure{Name: "rmse"}, Measure{Name: "accuracy", Larger: true}
	for _, c := range []struct {
		name   string
		m      Measure
		scores []float64
		rule   float64
		want   [2]float64
	}{
		{"errors near the rule", smaller, []float64{1, 4, 6}, 5, [2]float64{}},
		{"an error far above", smaller, []float64{1, 4, 100}, 5, [2]float64{.5, 8}},
		{"accuracies near the rule", larger, []float64{.9, .5}, .6, [2]float64{}},
		{"an accuracy far below", larger, []float64{1, -2}, .6, [2]float64{.6 - .75*(1-.6), 1.5}},
		{"accuracies that take half of the axis", larger, []float64{1, .1}, .6, [2]float64{}},
		{"all worse than the rule", smaller, []float64{7, 30}, 5, [2]float64{.5, 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rule := experiment.Line{Y: []float64{c.rule}}
			p := &experiment.Panel{Lines: []experiment.Line{{Y: c.scores}, rule},
				Bands: []experiment.Band{{Low: []float64{.5}, High: []float64{1.5}}}}
			got := axisEnds(c.m, p, &rule)
			for i := range got {
				trialtest.Near(t, "end", got[i], c.want[i], 1e-12)
			}
		})
	}
}
