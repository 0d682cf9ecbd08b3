package show

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
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
	Y     float64            `name:"y" unit:"m" doc:"y"`
	Z     map[string]float64 `name:"z_*" doc:"z"`
}

// demo is an experiment of this name.
func demo(name string) *experiment.Experiment {
	return experiment.Of(experiment.Declaration[*settings, metrics]{Name: name, Version: 1,
		Run: func(context.Context, *experiment.Trial, *settings) (*experiment.Outcome[metrics], error) {
			return nil, nil
		},
	})().Experiment
}

// The first two metrics that measure no time are drawn, with their units. Charts are bounded, which the report states.
func TestHeadlines(t *testing.T) {
	var paper experiment.Paper
	r := &Results{charts: map[string]*chart.Chart{}}
	for i := range 14 {
		e := demo(fmt.Sprintf("demo/e%d", i))
		paper.Name, paper.Experiments = "demo", append(paper.Experiments, e)
		table := &summary.MetricTable{Experiment: e.Name, Varying: []string{"x"},
			Metrics: []string{"time_s", "y", "z_1", "z_2"}}
		for x := range 3 {
			row := &summary.Row{Params: experiment.Params{"x": float64(x)}, Trials: 1}
			for _, m := range table.Metrics {
				row.Metrics.Add(m, summary.SeedMean{Mean: float64(x)})
			}
			table.Rows = append(table.Rows, row)
		}
		r.Summary = append(r.Summary, table)
	}
	r.book = ledger.Open([]experiment.Paper{paper})
	r.addCharts()
	if len(r.plots) != maxCharts+1 || !strings.HasPrefix(r.plots[maxCharts].Error, "4 more; at most 24") {
		t.Fatalf("%d plots, the last %+v", len(r.plots), r.plots[len(r.plots)-1])
	}
	for i, want := range []string{"demo/e0/y", "demo/e0/z_1", "demo/e1/y"} {
		if got := r.plots[i].Name; got != want {
			t.Errorf("plot %d is %s, want %s", i, got, want)
		}
	}
	if p := r.charts["demo/e0/y"].Panels[0]; p.XLabel != "x (cm)" || p.YLabel != "y (m)" {
		t.Errorf("labels %q and %q", p.XLabel, p.YLabel)
	}
}
