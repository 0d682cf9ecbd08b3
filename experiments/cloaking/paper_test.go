package cloaking

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/cloaking/regress"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// Every experiment resolves its defaults, and reports exactly the documented metrics, with the
// defaults or for a user's file.
func TestPaperIsConsistent(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t), File: cloaktest.OwnCensus(t)}
	cloaktest.Loans(t, census.Folder)
	cloaktest.Digits(t, census.Folder)
	paper := Paper()
	experiment.NewRegistry(paper.Experiments...)
	for _, e := range paper.Experiments {
		t.Run(e.Name, func(t *testing.T) {
			results := []*experiment.Result{cloaktest.Run(t, census, e, nil)}
			if e == regress.Regression().Experiment {
				results = append(results, cloaktest.Run(t, census, e, cloaktest.OwnColumns()))
			}
			if e == regress.Curve().Experiment {
				for _, method := range []string{"nonstationary", "weighted-sum"} {
					results = append(results, cloaktest.Run(t, census, e, map[string]any{"method": method}))
				}
			}
			reported := map[string]float64{}
			for _, r := range results {
				maps.Copy(reported, r.Metrics)
				checkSeries(t, r.Series)
			}
			names := slices.Sorted(maps.Keys(reported))
			for _, m := range e.Metrics {
				if !slices.ContainsFunc(names, m.Covers) {
					t.Errorf("the documented metric %s is not reported", m.Name)
				}
			}
			for _, name := range names {
				if !slices.ContainsFunc(e.Metrics, func(m experiment.Metric) bool { return m.Covers(name) }) {
					t.Errorf("the metric %s is not documented", name)
				}
			}
		})
	}
}

// checkSeries fails where columns of a series differ in length.
func checkSeries(t *testing.T, series map[string]experiment.Series) {
	t.Helper()
	for name, s := range series {
		for column, v := range s {
			if len(v) != len(s["x"]) {
				t.Errorf("series %s, column %s has %d values for %d", name, column, len(v), len(s["x"]))
			}
		}
	}
}

// Figures draw the trials of all experiments, with noise that repeats and with noise
// that protects.
func TestFiguresDraw(t *testing.T) {
	folder := cloaktest.Census(t)
	cloaktest.Loans(t, folder)
	cloaktest.Digits(t, folder)
	for _, secure := range []bool{false, true} {
		trials := trialsOfMethods(t, trialtest.Options{Folder: folder, Secure: secure})
		panels := map[string]int{
			"cloaking/figure1": 5, "cloaking/figure2": 3, "cloaking/figure3": 3, "cloaking/figure4": 1,
			"cloaking/figure5": 1, "cloaking/noise": 1, "cloaking/design": 2,
		}
		if secure {
			panels["cloaking/figure3"] = 2 // without the frequencies
		}
		for _, f := range Paper().Figures {
			want, drawn := panels[f.Name]
			if !drawn {
				continue // it takes trials of its own
			}
			t.Run(fmt.Sprintf("%s, secure %v", f.Name, secure), func(t *testing.T) { checkFigure(t, f, trials, want) })
			delete(panels, f.Name)
		}
		if len(panels) > 0 {
			t.Errorf("there are no figures %v", panels)
		}
	}
}

// trialsOfMethods runs each experiment with each method that it has.
func trialsOfMethods(t *testing.T, s trialtest.Options) (trials []experiment.Observation) {
	t.Helper()
	for _, e := range Paper().Experiments {
		for _, method := range cloak.Standard.Choices() {
			given := map[string]any{"method": method}
			p, err := e.Resolve(given)
			if err != nil {
				continue // it has no such method
			}
			r := cloaktest.Run(t, s, e, given)
			trials = append(trials, experiment.Observation{
				Identity: experiment.Identity{Experiment: e.Name, Params: p}, Metrics: r.Metrics, Series: r.Series,
			})
		}
	}
	return trials
}

// checkFigure draws those of the trials that a figure takes.
func checkFigure(t *testing.T, f experiment.Figure, trials []experiment.Observation, panels int) {
	t.Helper()
	matching := slices.DeleteFunc(slices.Clone(trials), func(o experiment.Observation) bool {
		return !f.Match(o.Experiment, o.Params)
	})
	got := f.Draw(matching)
	if len(got) != panels {
		t.Errorf("%d panels, want %d", len(got), panels)
	}
	for _, panel := range got {
		for _, line := range panel.Lines {
			if len(line.Y) == 0 || len(line.X) != len(line.Y) {
				t.Errorf("the line %s has %d values over %d", line.Name, len(line.Y), len(line.X))
			}
		}
		for _, d := range panel.Discs {
			if f.Name != "cloaking/figure2" {
				continue
			}
			if len(d.X) != 228 || len(d.Y) != 228 || len(d.Radius) != 228 || len(d.Opacity) != 228 ||
				slices.Max(d.Opacity) > 1 || slices.Min(d.Opacity) < 0 {
				t.Errorf("%d discs of %d and %d sizes and opacities from %v to %v", len(d.X), len(d.Radius),
					len(d.Opacity), slices.Min(d.Opacity), slices.Max(d.Opacity))
			}
		}
	}
	if f.Draw(nil) != nil {
		t.Error("it draws without trials")
	}
}
