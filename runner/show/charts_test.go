package show

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show/chart"
	"privkern/runner/show/report"
	"privkern/runner/show/summary"
)

// Names of plots are names of files, and no two are equal in upper or lower case.
func TestPlotNames(t *testing.T) {
	r := &Results{}
	for _, c := range [][2]string{{"demo/e/y", "demo/e/y"}, {"demo/e/Y", "demo/e/Y-2"}, {"demo-e/y", "demo-e/y-3"},
		{"demo/e/a*b", "demo/e/a_b"}, {"demo/e/a?b", "demo/e/a_b-2"}, {`..\ü`, "..__"},
		{strings.Repeat("n", 300), strings.Repeat("n", 100)}} {
		got := r.plotName(c[0])
		if got != c[1] {
			t.Errorf("%q becomes %q, want %q", c[0], got, c[1])
		}
		r.plots = append(r.plots, report.Plot{Name: got})
	}
}

type settings struct {
	X float64 `name:"x" unit:"cm" default:"1" doc:"x"`
}

type metrics struct {
	TimeS float64            `name:"time_s" unit:"s" timing:"yes" doc:"time"`
	Y     float64            `name:"y" unit:"m" result:"yes" doc:"y"`
	Z     map[string]float64 `name:"z_*" result:"yes" doc:"z"`
}

// demo is an experiment of this name.
func demo(name string) *experiment.Experiment {
	return experiment.Of(experiment.Declaration[*settings, metrics]{Name: name, Version: 1,
		Run: func(context.Context, *experiment.Trial, *settings) (*experiment.Outcome[metrics], error) {
			return nil, nil
		},
	})().Experiment
}

// The results of experiments are drawn, or the metrics that a sweep names, with their units. Charts are bounded, which
// the report states.
func TestHeadlines(t *testing.T) {
	for _, c := range []struct {
		name    string
		metrics []string
		want    []string
	}{
		{"results", nil, []string{"demo/e0/y", "demo/e0/z_1", "demo/e0/z_2"}},
		{"named", []string{"time_s", "y", "z_1"}, []string{"demo/e0/time_s", "demo/e0/y", "demo/e0/z_1"}},
	} {
		t.Run(c.name, func(t *testing.T) { checkHeadlines(t, c.metrics, c.want) })
	}
}

// Charts are the answer of a sweep, and come before the figures of papers; published tables have figures of their own.
func TestChartsComeFirst(t *testing.T) {
	for _, c := range []struct {
		tables []string
		want   string
	}{{nil, "demo/e0/y"}, {[]string{"demo/table1"}, "demo/figure1"}} {
		r := sweepOf(t, 1, nil)
		r.Plan.Sources, r.Plan.Tables = make([]plan.SweepFile, 1), c.tables
		r.figures = []figureTrials{{count: 1, figure: &experiment.Figure{Name: "demo/figure1", Title: "A figure",
			Draw: func([]experiment.Observation) []experiment.Panel {
				return []experiment.Panel{{Lines: []experiment.Line{{X: []float64{0, 1}, Y: []float64{0, 1}}}}}
			}}}}
		if got := r.Figures(); len(got) != 4 || got[0].Name != c.want {
			t.Errorf("with tables %v, %d plots, the first %q; want 4 and %s", c.tables, len(got), got[0].Name, c.want)
		}
	}
}

// sweepOf returns the results of a sweep over a setting, of several experiments with three trials each.
func sweepOf(t *testing.T, experiments int, metrics []string) *Results {
	t.Helper()
	var paper experiment.Paper
	for i := range experiments {
		paper.Name, paper.Experiments = "demo", append(paper.Experiments, demo(fmt.Sprintf("demo/e%d", i)))
	}
	tab := summary.NewTabulator(experiment.NewRegistry(paper.Experiments...))
	for _, e := range paper.Experiments {
		for x := range 3 {
			v := float64(x)
			trial := plan.Trial{Key: fmt.Sprint(e.Name, x)}
			trial.Experiment, trial.Params = e.Name, experiment.Params{"x": v}
			if err := tab.Add(trial, &record.Record{Status: record.OK,
				Metrics: map[string]float64{"time_s": v, "y": v, "z_1": v, "z_2": v}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := &Results{charts: map[string]*chart.Chart{}, Summary: tab.Tables(),
		Plan: &plan.Plan{Options: plan.Options{Metrics: metrics}}}
	r.book = ledger.Open([]experiment.Paper{paper})
	return r
}

func checkHeadlines(t *testing.T, named, want []string) {
	t.Helper()
	r := sweepOf(t, 9, named)
	r.Plan.Overrides = []string{"epsilon=1"}
	if r.addCharts(); r.plots != nil {
		t.Errorf("%d charts of a comparison", len(r.plots))
	}
	r.Plan.Sources = make([]plan.SweepFile, 1)
	r.addCharts()
	if len(r.plots) != maxCharts+1 || !strings.HasPrefix(r.plots[maxCharts].Error, "3 more; at most 24") {
		t.Fatalf("%d plots, the last %+v", len(r.plots), r.plots[len(r.plots)-1])
	}
	for i, name := range want {
		if got := r.plots[i].Name; got != name {
			t.Errorf("plot %d is %s, want %s", i, got, name)
		}
	}
	if p := r.charts["demo/e0/y"].Panels[0]; p.XLabel != "x (cm)" || p.YLabel != "y (m)" {
		t.Errorf("labels %q and %q", p.XLabel, p.YLabel)
	}
}
