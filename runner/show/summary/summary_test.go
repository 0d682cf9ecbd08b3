package summary_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show/summary"
)

var demo = experiment.Of(experiment.Declaration[*demoSettings, demoMetrics]{
	Name: "demo/a", Version: 1,
	Run: func(context.Context, *experiment.Trial, *demoSettings) (*experiment.Outcome[demoMetrics], error) {
		return nil, errors.New("the tests of this package run no trial")
	},
})()

type demoSettings struct {
	Method  string  `name:"method" default:"standard" doc:"any text"`
	Epsilon float64 `name:"epsilon" default:"1" infinite:"yes" doc:"privacy loss"`
}

type demoMetrics struct {
	RMSE float64            `name:"rmse_cm" doc:"an error"`
	At   map[string]float64 `name:"at_*" doc:"at_1: the value at 1"`
}

// rmse is the name of the metric in tables.
var rmse = demo.MetricName(func(m *demoMetrics) any { return &m.RMSE })

func tables(t *testing.T) []*summary.MetricTable {
	t.Helper()
	b := summary.NewTabulator(experiment.NewRegistry(demo.Experiment))
	add := func(epsilon any, seed int64, r *record.Record) {
		p, err := demo.Resolve(map[string]any{"epsilon": epsilon})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(plan.Trial{
			Key:      fmt.Sprintf("%v/%d", epsilon, seed),
			Identity: experiment.Identity{Experiment: demo.Name, Params: p, Seed: seed},
		}, r); err != nil {
			t.Fatal(err)
		}
	}
	// The larger of the seeds was run on another machine.
	ok := func(rmse float64) *record.Record {
		p := record.Provenance{Go: "go1.26 linux/amd64", BLAS: "gonum (pure Go)"}
		if rmse == 12 {
			p.BLAS = "OpenBLAS 0.3.21 (ZEN, libopenblas.so.0)"
		}
		return &record.Record{Status: record.OK, Metrics: map[string]float64{"rmse_cm": rmse, "at_2": 2, "at_1": 1},
			Provenance: p}
	}
	add(1.0, 0, ok(10))
	add("inf", 0, ok(5))
	add(1.0, 1, ok(12))
	add(1.0, 2, &record.Record{Status: record.Failed})
	add("inf", 1, nil)
	return b.Tables()
}

func TestMeansOverSeeds(t *testing.T) {
	got := tables(t)
	if len(got) != 1 || len(got[0].Rows) != 2 {
		t.Fatalf("%+v", got)
	}
	private, open := got[0].Rows[0], got[0].Rows[1]
	if e, _ := private.Metrics.Of(rmse); e.Mean != 11 || math.Abs(*e.StandardError-1) > 1e-15 || private.Trials != 2 ||
		private.Failed != 1 {
		t.Errorf("epsilon 1: %+v %+v", e, private)
	}
	if e, _ := open.Metrics.Of(rmse); e.Mean != 5 || e.StandardError != nil || open.NotRun != 1 {
		t.Errorf("epsilon inf: %+v %+v", e, open)
	}
	if v := strings.Join(got[0].Varying, " "); v != "epsilon" {
		t.Errorf("varying: %s", v)
	}
	if m := strings.Join(got[0].Metrics, " "); m != "rmse_cm at_1 at_2" {
		t.Errorf("the metrics are not in the order of their documentation: %s", m)
	}
}

// Every planned trial is counted once, for each status.
func TestCounts(t *testing.T) {
	b := summary.NewTabulator(experiment.NewRegistry(demo.Experiment))
	params, err := demo.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for seed, rec := range []*record.Record{
		{Status: record.OK}, {Status: record.OK}, {Status: record.OK},
		{Status: record.OK, Provenance: record.Provenance{BLAS: "MKL 2024.2"}},
		{Status: record.Failed}, {Status: record.Failed}, {Status: record.Failed},
		{Status: record.Skipped}, {Status: record.Skipped},
		nil,
	} {
		if err := b.Add(plan.Trial{
			Identity: experiment.Identity{Experiment: demo.Name, Params: params, Seed: int64(seed)},
		}, rec); err != nil {
			t.Fatal(err)
		}
	}
	table := b.Tables()[0]
	if s := table.Rows[0].Classes.String(); s != "unknown (3 trials), mkl-2024.2 (1 trial)" {
		t.Errorf("%q", s)
	}
	if r := table.Rows[0]; r.Trials != 4 || r.Failed != 3 || r.Skipped != 2 || r.NotRun != 1 {
		t.Errorf("%+v", r)
	}
}

func TestText(t *testing.T) {
	var b strings.Builder
	if err := summary.Text(&b, tables(t), summary.Width); err != nil {
		t.Fatal(err)
	}
	const want = `demo/a
  epsilon  trials        rmse_cm     at_1  at_2
  1        2, 1 failed   11.0 ± 1.0  1     2
  inf      1, 1 not run  5           1     2
  BLAS: gonum-amd64 (2 trials), openblas-0.3.21-zen (1 trial); results of different BLAS classes may
  differ in the last digits, by a relative 1e-10, or 1e-7 where a problem is ill-conditioned or a
  solver stops at a tolerance.

`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestFormatsCanBeRead(t *testing.T) {
	var b strings.Builder
	if err := summary.CSV(&b, tables(t)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(rows) != 1+2*3 || rows[1][1] != `{"epsilon":1,"method":"standard"}` || rows[1][3] != "11" {
		t.Errorf("%v, %v", rows, err)
	}
	b.Reset()
	if err := summary.JSON(&b, tables(t)); err != nil || !json.Valid([]byte(b.String())) {
		t.Errorf("%v", err)
	}
	b.Reset()
	if err := summary.LaTeX(&b, tables(t)); err != nil || !strings.Contains(b.String(), `rmse\_cm`) ||
		!strings.Contains(b.String(), `11.0 $\pm$ 1.0`) {
		t.Errorf("%s, %v", b.String(), err)
	}
	b.Reset()
	if err := summary.Markdown(&b, tables(t)); err != nil ||
		!strings.Contains(b.String(), "| 1 | 2, 1 failed | 11.0 ± 1.0 |") {
		t.Errorf("%s, %v", b.String(), err)
	}
}

// Formats for readers name the BLAS classes of a table where there are several; formats
// for programs always do.
func TestClasses(t *testing.T) {
	const two = "BLAS: gonum-amd64 (2 trials), openblas-0.3.21-zen (1 trial)"
	for _, c := range []struct {
		name  string
		write func(io.Writer, []*summary.MetricTable) error
		// of the tables, and of the row that one machine computed
		two, one string
	}{
		{"text", func(w io.Writer, all []*summary.MetricTable) error {
			return summary.Text(w, all, summary.Width)
		}, two, ""},
		{"Markdown", summary.Markdown, "\n" + two, ""},
		{"LaTeX", summary.LaTeX, "\\par{\\footnotesize " + two, ""},
		{"CSV", summary.CSV, ",\"gonum-amd64 (1 trial), openblas-0.3.21-zen (1 trial)\"\n", ",1,0,0,1,gonum-amd64\n"},
		{"JSON", summary.JSON, "\"openblas-0.3.21-zen\": 1", "\"gonum-amd64\": 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := tables(t)
			some := summary.Without(all, map[string]bool{"1/0": true})
			for _, r := range []struct {
				of           []*summary.MetricTable
				want, absent string
			}{{all, c.two, "unknown"}, {some, c.one, "openblas"}, {some, c.one, "BLAS"}} {
				var b strings.Builder
				if err := c.write(&b, r.of); err != nil {
					t.Fatal(err)
				}
				if text := b.String(); !strings.Contains(text, r.want) || strings.Contains(text, r.absent) {
					t.Errorf("want %q, and no %q, in\n%s", r.want, r.absent, text)
				}
			}
		})
	}
}

// A text with special characters stays within its field.
func TestFormatsEscape(t *testing.T) {
	b := summary.NewTabulator(experiment.NewRegistry(demo.Experiment))
	for i, method := range []string{"[1, 2]", "*a|b<c_d", "ε"} {
		p, err := demo.Resolve(map[string]any{"method": method})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(plan.Trial{
			Key: method, Identity: experiment.Identity{Experiment: demo.Name, Params: p, Seed: int64(i)},
		}, nil); err != nil {
			t.Fatal(err)
		}
	}
	all := b.Tables()
	for name, c := range map[string]struct {
		write func(io.Writer, []*summary.MetricTable) error
		wants []string
	}{
		"LaTeX":    {summary.LaTeX, []string{"\n{}[1, 2] & ", "\n{}*a$|$b$<$c\\_d & ", "\n$\\varepsilon$ & "}},
		"Markdown": {summary.Markdown, []string{`| \[1, 2\] |`, `| \*a\|b&lt;c\_d |`, "| ε |"}},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			if err := c.write(&text, all); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.wants {
				if !strings.Contains(text.String(), want) {
					t.Errorf("the %s lacks %q:\n%s", name, want, text.String())
				}
			}
		})
	}
}

func TestWhatBelongsToNoTable(t *testing.T) {
	all := tables(t)
	left := summary.Without(all, map[string]bool{"1/1": true})
	if len(left) != 1 || len(left[0].Rows) != 1 || demo.Settings(left[0].Rows[0].Params).Epsilon == 1 ||
		len(all[0].Rows) != 2 || strings.Join(left[0].Varying, " ") != "epsilon" { // which distinguishes the remaining row
		t.Errorf("%+v", left)
	}
	if left := summary.Without(all, map[string]bool{"1/0": true, "inf/0": true}); len(left) != 0 {
		t.Errorf("%+v", left)
	}
}

// A table too wide for a terminal is transposed or split into blocks.
func TestWideTables(t *testing.T) {
	all := tables(t)
	for i := range 12 {
		name := "at_" + strings.Repeat("x", 20) + string(rune('a'+i))
		all[0].Metrics = append(all[0].Metrics, name)
		for _, r := range all[0].Rows {
			r.Metrics.Add(name, summary.SeedMean{Mean: 1.5})
		}
	}
	for range 10 {
		all[0].Rows = append(all[0].Rows, all[0].Rows[0])
	}
	var b strings.Builder
	if err := summary.Text(&b, all, summary.Width); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(line)); n > 102 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	for _, m := range all[0].Metrics {
		if !strings.Contains(b.String(), strings.TrimPrefix(m, "at_")) { // a header breaks at an underscore
			t.Errorf("no %s", m)
		}
	}
}

// Rounding makes a standard error of equal values, which is not shown.
func TestRoundingIsNoStandardError(t *testing.T) {
	for _, c := range []struct {
		name     string
		mean, se float64
		want     string
	}{
		{"rounding", 0.1, 7e-18, "0.1"},
		{"just below a share of 1e-13 of the mean", 250, 2.4e-11, "250"},
		{"just above", 250, 2.6e-11, "250 ± 2.6e-11"},
		{"of a negative mean", -3, 1e-16, "-3"},
		{"of a small mean", 1e-20, 1e-36, "1e-20"},
		{"scatter around zero", 0, 1e-17, "0 ± 1e-17"},
		{"none", 2, 0, "2"},
		{"scatter", 2, 0.125, "2.00 ± 0.12"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (summary.SeedMean{Mean: c.mean, StandardError: &c.se}).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
