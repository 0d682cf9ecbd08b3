package summary_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show/summary"
)

var scored = experiment.Of(experiment.Declaration[*scoredSettings, scoredMetrics]{
	Name: "demo/scored", Version: 1,
	Run: func(context.Context, *experiment.Trial, *scoredSettings) (*experiment.Outcome[scoredMetrics], error) {
		return nil, errors.New("the tests of this package run no trial")
	},
})()

type scoredSettings struct {
	Method  string  `name:"method" default:"standard" doc:"any text"`
	Epsilon float64 `name:"epsilon" default:"1" infinite:"yes" doc:"privacy loss"`
}

type scoredMetrics struct {
	Accuracy  float64            `name:"accuracy" doc:"share of right ones" best:"high" result:"yes"`
	RMSE      float64            `name:"rmse" doc:"an error" best:"low" result:"yes"`
	Coverage  float64            `name:"coverage_95_of_all_rows" doc:"without a direction"`
	Confusion map[string]float64 `name:"confusion_*" doc:"confusion_A_as_B: rows"`
	Absent    *float64           `name:"auc" doc:"never reported" best:"high"`
}

// metricsOf are those of a trial, in the order of the declaration.
type metricsOf struct{ accuracy, rmse float64 }

// scoredTable has a row for each epsilon, in this order, of the given trials.
func scoredTable(t *testing.T, rows map[string][]metricsOf, order ...string) *summary.MetricTable {
	t.Helper()
	b := summary.NewTabulator(experiment.NewRegistry(scored.Experiment))
	for _, epsilon := range order {
		p, err := scored.Resolve(map[string]any{"epsilon": epsilon})
		if err != nil {
			t.Fatal(err)
		}
		add := func(seed int, r *record.Record) {
			if err := b.Add(plan.Trial{Key: fmt.Sprintf("%s/%d", epsilon, seed), Identity: experiment.Identity{
				Experiment: scored.Name, Params: p, Seed: int64(seed)}}, r); err != nil {
				t.Fatal(err)
			}
		}
		for seed, m := range rows[epsilon] {
			add(seed, &record.Record{Status: record.OK, Metrics: map[string]float64{"accuracy": m.accuracy, "rmse": m.rmse,
				"coverage_95_of_all_rows": .9, "confusion_0_as_1": 3, "confusion_1_as_0": 4}})
		}
		if rows[epsilon] == nil {
			add(0, &record.Record{Status: record.Failed})
		}
	}
	return b.Tables()[0]
}

// someRows has a tie for the best accuracy, and a setting whose trial failed.
func someRows(t *testing.T) *summary.MetricTable {
	return scoredTable(t, map[string][]metricsOf{
		"0.5": {{.5, 3}, {.7, 3.5}}, "2": {{.75, 1}, {.75, 2}}, "inf": {{.75, 2}, {.75, 2.5}}}, "0.5", "inf", "10", "2")
}

func text(t *testing.T, v summary.View, width int, all ...*summary.MetricTable) string {
	t.Helper()
	var b strings.Builder
	if err := summary.Text(&b, v.Of(all), width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTheAnswerFirst(t *testing.T) {
	const want = `demo/scored
  epsilon  trials       accuracy     rmse
  0.5      2            0.60 ± 0.10  3.25 ± 0.25
  inf      2            0.75 best    2.25 ± 0.25
  10       0, 1 failed
  2        2            0.75 best    1.50 ± 0.50 best
  3 other metrics: --all-metrics

`
	if got := text(t, summary.View{}, 80, someRows(t)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMetricsOfAView(t *testing.T) {
	for _, c := range []struct {
		name string
		view summary.View
		want []string // the metrics
		note string
	}{
		{"results", summary.View{}, []string{"accuracy", "rmse"}, "3 other metrics: --all-metrics"},
		{"all", summary.View{All: true}, []string{"accuracy", "rmse", "coverage_95_of_all_rows", "confusion_0_as_1",
			"confusion_1_as_0"}, ""},
		{"named, in their order", summary.View{Metrics: []string{"rmse", "accuracy"}},
			[]string{"rmse", "accuracy"}, "3 other"},
		{"a family", summary.View{Metrics: []string{"confusion_*"}},
			[]string{"confusion_0_as_1", "confusion_1_as_0"}, "3 other"},
		{"a member and its family", summary.View{Metrics: []string{"confusion_1_as_0", "confusion_*"}},
			[]string{"confusion_1_as_0", "confusion_0_as_1"}, "3 other"},
		{"all, where some are named", summary.View{Metrics: []string{"rmse"}, All: true},
			[]string{"accuracy", "rmse", "coverage_95_of_all_rows", "confusion_0_as_1", "confusion_1_as_0"}, ""},
		{"one that no trial has", summary.View{Metrics: []string{"auc", "rmse"}}, []string{"rmse"}, "no trial reports auc"},
		{"only one that no trial has", summary.View{Metrics: []string{"auc"}}, nil, "no trial reports auc"},
		{"those of another experiment", summary.View{Metrics: []string{"trace"}}, []string{"accuracy", "rmse"}, "3 other"},
		{"with the one that sorts", summary.View{Metrics: []string{"rmse"}, Sort: "-confusion_0_as_1"},
			[]string{"rmse", "confusion_0_as_1"}, "3 other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := []*summary.MetricTable{someRows(t)}
			shown := c.view.Of(all)[0]
			if !slices.Equal(shown.Metrics, c.want) {
				t.Errorf("%q, want %q", shown.Metrics, c.want)
			}
			got := text(t, c.view, 200, all...)
			if c.note == "" && strings.Contains(got, "other metric") || !strings.Contains(got, c.note) {
				t.Errorf("want the note %q:\n%s", c.note, got)
			}
			if len(all[0].Metrics) != 5 {
				t.Error("the table itself was changed")
			}
		})
	}
}

// A table whose trials report none of the results has all that they report.
func TestNoneOfTheResults(t *testing.T) {
	b := summary.NewTabulator(experiment.NewRegistry(scored.Experiment))
	p, err := scored.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Add(plan.Trial{Identity: experiment.Identity{Experiment: scored.Name, Params: p}},
		&record.Record{Status: record.OK, Metrics: map[string]float64{"auc": .5}}); err != nil {
		t.Fatal(err)
	}
	if got := (summary.View{}).Of(b.Tables())[0].Metrics; !slices.Equal(got, []string{"auc"}) {
		t.Errorf("%q", got)
	}
}

func TestOrderOfRows(t *testing.T) {
	for _, c := range []struct{ by, want string }{
		{"", "0.5 inf 10 2"},
		{"epsilon", "0.5 2 10 inf"},
		{"-epsilon", "inf 10 2 0.5"},
		{"rmse", "2 inf 0.5 10"}, // best first, and last the setting without a result
		{"-rmse", "0.5 inf 2 10"},
		{"accuracy", "inf 2 0.5 10"}, // ties in the order of the plan
		{"-accuracy", "0.5 inf 2 10"},
		{"coverage_95_of_all_rows", "0.5 inf 2 10"},
		{"method", "0.5 inf 10 2"},
	} {
		t.Run(c.by, func(t *testing.T) {
			var got []string
			for _, r := range (summary.View{Sort: c.by}).Of([]*summary.MetricTable{someRows(t)})[0].Rows {
				got = append(got, experiment.FormatValue(scored.Settings(r.Params).Epsilon))
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
		})
	}
}

func TestOrderIsChecked(t *testing.T) {
	for _, c := range []struct{ by, want string }{
		{"", ""}, {"rmse", ""}, {"-epsilon", ""}, {"confusion_0_as_1", ""},
		{"rsme", `unknown metric or setting "rsme"; did you mean "rmse"?`},
		{"-epsilom", `did you mean "epsilon"?`},
		{"confusion_*", `unknown metric or setting "confusion_*"`},
		{"-", `unknown metric or setting ""`},
	} {
		err := summary.View{Sort: c.by}.Check([]*experiment.Experiment{scored.Experiment})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.by, err, c.want)
		}
	}
}

// Only a finite mean is best, and only where another one is not.
func TestBest(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	for _, c := range []struct {
		name string
		rmse []float64 // of epsilon 1, 2, ...
		want string    // 1 where the row is best
	}{
		{"lowest", []float64{3, 1, 2}, "010"},
		{"NaN is never best", []float64{nan, 3, 2}, "001"},
		{"nor is an infinite one", []float64{inf, 3, 2}, "001"},
		{"all equal", []float64{2, 2}, "00"},
		{"a single row", []float64{2}, "0"},
		{"a tie", []float64{2, 2, 3}, "110"},
		{"one finite", []float64{nan, 2}, "00"},
		{"negative ones", []float64{-1, -2, 0}, "010"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, order := map[string][]metricsOf{}, []string(nil)
			for i, rmse := range c.rmse {
				name := fmt.Sprint(i + 1)
				rows[name], order = []metricsOf{{.5, rmse}}, append(order, name)
			}
			got := ""
			table := text(t, summary.View{Metrics: []string{"rmse"}}, 80, scoredTable(t, rows, order...))
			for _, line := range strings.Split(table, "\n")[2 : 2+len(c.rmse)] {
				got += map[bool]string{true: "1", false: "0"}[strings.HasSuffix(line, " best")]
			}
			if got != c.want {
				t.Errorf("%s, want %s:\n%s", got, c.want, table)
			}
		})
	}
}

// No line is wider than the terminal, and no value is cut, at any width.
func TestTablesFitTheTerminal(t *testing.T) {
	for _, width := range []int{20, 24, 33, 40, 60, 80, 120, 300} {
		for _, all := range []bool{false, true} {
			got := text(t, summary.View{All: all}, width, someRows(t))
			for line := range strings.Lines(got) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("width %d: a line of %d characters: %s", width, n, line)
				}
			}
			for _, want := range []string{"0.60 ± 0.10", "3.25 ± 0.25", "inf", "failed", "best", "accuracy"} {
				if !strings.Contains(got, want) {
					t.Errorf("width %d: %q is cut:\n%s", width, want, got)
				}
			}
		}
	}
}

// A width that nothing fits into breaks words, and loses none of their letters.
func TestATerminalOfNoWidth(t *testing.T) {
	for _, width := range []int{-1, 0, 1, 9} {
		got := strings.Join(strings.Fields(text(t, summary.View{}, width, someRows(t))), "")
		if !strings.Contains(got, "rmse3.25±0.25") {
			t.Errorf("width %d: %s", width, got)
		}
	}
}

func TestBestInOtherFormats(t *testing.T) {
	shown := summary.View{}.Of([]*summary.MetricTable{someRows(t)})
	var b strings.Builder
	negative := scoredTable(t, map[string][]metricsOf{"1": {{-.5, 1}}}, "1")
	if err := summary.LaTeX(&b, []*summary.MetricTable{negative}); err != nil ||
		!strings.Contains(b.String(), " & $-$0.5 & ") {
		t.Errorf("%v:\n%s", err, b.String())
	}
	b.Reset()
	if err := summary.LaTeX(&b, shown); err != nil || !strings.Contains(b.String(), `\textbf{1.50 $\pm$ 0.50}`) ||
		strings.Count(b.String(), `\textbf`) != 3 || strings.Contains(b.String(), "--all-metrics") {
		t.Errorf("%v:\n%s", err, b.String())
	}
	b.Reset()
	if err := summary.Markdown(&b, shown); err != nil || !strings.Contains(b.String(), "| **1.50 ± 0.50** |") {
		t.Errorf("%v:\n%s", err, b.String())
	}
}

// A long table goes over pages, with its header on each.
func TestLongTablesInLaTeX(t *testing.T) {
	rows, order := map[string][]metricsOf{}, []string(nil)
	for i := range 41 {
		name := fmt.Sprint(i + 1)
		rows[name], order = []metricsOf{{.5, float64(i)}}, append(order, name)
	}
	for n, want := range map[int]string{40: "\\begin{tabular}{llll}", 41: "\\begin{longtable}{llll}"} {
		var b strings.Builder
		shown := summary.View{}.Of([]*summary.MetricTable{scoredTable(t, rows, order[:n]...)})
		if err := summary.LaTeX(&b, shown); err != nil ||
			!strings.Contains(b.String(), want) || strings.Contains(b.String(), "\\endhead") != (n > 40) {
			t.Errorf("%d rows, %v: no %s in\n%s", n, err, want, b.String())
		}
	}
}
