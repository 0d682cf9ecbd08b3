package summary

import (
	"strings"
	"testing"

	"privkern/runner/experiment"
)

// Experiments that report a metric in common stand in one table, by it alone.
func TestCommon(t *testing.T) {
	table := func(name string, varying []string, rows ...*Row) *MetricTable {
		out := &MetricTable{Experiment: name, Varying: varying, Rows: rows}
		for _, m := range rows[0].Metrics {
			out.Metrics = append(out.Metrics, m.metric)
		}
		return out
	}
	row := func(params experiment.Params, metrics ...any) *Row {
		out := &Row{Params: params, Trials: 1, Classes: noClasses}
		for i := 0; i < len(metrics); i += 2 {
			out.Metrics.Add(metrics[i].(string), SeedMean{Mean: metrics[i+1].(float64)})
		}
		return out
	}
	ours := table("demo/ours", nil, row(experiment.Params{"epsilon": 1.0}, "r2", 0.5, "rmse", 2.0))
	theirs := table("command/fit.py", []string{"alpha", "mode"},
		row(experiment.Params{"alpha": 0.1, "mode": "a"}, "loss", 7.0, "rmse", 1.0),
		row(experiment.Params{"alpha": 0.5}, "loss", 8.0, "rmse", 3.0))
	other := table("demo/other", nil, row(experiment.Params{}, "accuracy", 0.9))
	var b strings.Builder
	if err := Text(&b, []*MetricTable{Common([]*MetricTable{ours, theirs, other})}, Width); err != nil {
		t.Fatal(err)
	}
	const want = `all together
  experiment      settings          trials  rmse
  demo/ours                         1       2
  command/fit.py  alpha=0.1 mode=a  1       1
  command/fit.py  alpha=0.5         1       3

`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	for _, none := range [][]*MetricTable{nil, {ours}, {ours, other}} {
		if got := Common(none); got != nil {
			t.Errorf("%d tables have %+v in common", len(none), got)
		}
	}
}
