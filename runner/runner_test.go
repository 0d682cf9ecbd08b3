package runner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"privkern/runner"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/show"
)

// double is an experiment of which the results are known: y = 2x + seed.
var double = experiment.Of(experiment.Declaration[*doubleSettings, doubleMetrics]{
	Name: "demo/double", Version: 1,
	Run: func(_ context.Context, t *experiment.Trial, s *doubleSettings) (*experiment.Outcome[doubleMetrics], error) {
		return s.double(t), nil
	},
})()

var other = experiment.Of(experiment.Declaration[*otherSettings, doubleMetrics]{
	Name: "demo/other", Version: 1,
	Run: func(_ context.Context, t *experiment.Trial, s *otherSettings) (*experiment.Outcome[doubleMetrics], error) {
		return s.double(t), nil
	},
})()

type number struct {
	X float64 `name:"x" default:"1" doc:"what is doubled"`
}

func (n number) double(t *experiment.Trial) *experiment.Outcome[doubleMetrics] {
	return &experiment.Outcome[doubleMetrics]{Metrics: doubleMetrics{Y: 2*n.X + float64(t.Seed)}}
}

type doubleSettings struct {
	number
	Size int `name:"size" default:"3" doc:"does nothing"`
}

type otherSettings struct {
	number
	Width float64 `name:"width" default:"1" doc:"does nothing"`
}

type doubleMetrics struct {
	Y float64 `name:"y" doc:"2x + seed"`
}

const ledger = `paper: demo
title: "A demonstration"
citation: "A. Author (2020)"
tables:
  - name: demo/table1
    title: "Table 1"
    kind: table
    experiment: demo/double
    metric: y
    deterministic: true
    cells:
      - {row: one, published: "2", params: {x: 1}, reference: [{value: 2, tolerance: 0}]}
      - {row: two, published: "5", params: {x: 2}, reference: [{value: 5, tolerance: 0.5}]}
  - name: demo/table2
    title: "Table 2"
    kind: table
    experiment: demo/double
    metric: y
    seeds: 0..1
    cells:
      - {row: three, published: "6", params: {x: 3}}
`

func catalogue(t *testing.T) *runner.Catalogue {
	t.Helper()
	return runner.NewCatalogue([]experiment.Paper{{Name: "demo",
		Experiments: []*experiment.Experiment{double.Experiment, other.Experiment}, Ledger: []byte(ledger)}})
}

// write writes sweep files a.yaml, b.yaml, ... and returns their paths.
func write(t *testing.T, texts ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, text := range texts {
		path := filepath.Join(dir, string(rune('a'+i))+".yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// inProcess runs trials in this process.
type inProcess struct{}

func (inProcess) Run(ctx context.Context, job trial.Job, _ time.Duration,
	progress trial.ProgressFunc) (*record.Record, error) {
	return trial.Execute(ctx, map[string]*experiment.Experiment{double.Name: double.Experiment,
		other.Name: other.Experiment}[job.Experiment], job, nil, progress)
}

func (inProcess) Close() {}

// noData is asked for no data set: the experiments read none.
type noData struct{}

func (noData) Find(name string) (string, string, error) {
	return "", "", fmt.Errorf("the data set %q was looked for", name)
}

// sweep runs a part of the trials of sweep files.
func sweep(t *testing.T, c *runner.Catalogue, dir string, shard plan.Shard, seeds []int64,
	files ...string) schedule.Summary {
	t.Helper()
	w, err := plan.ReadSweeps(c.Book, write(t, files...), nil, seeds, "")
	if err != nil {
		t.Fatal(err)
	}
	data := plan.NewDatasets(noData{})
	p, err := plan.New(w.Settings, data, plan.Options{Title: w.Title, Tables: w.Tables, Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.Run(context.Background(), runner.SweepRun{Dir: dir, Plan: p, Executor: local(c, data, shard)})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// local runs a part of a plan in the test's process.
func local(c *runner.Catalogue, data *plan.Datasets, shard plan.Shard) runner.Executor {
	return &schedule.Local{
		Shard: shard, Experiments: c.Experiments, Data: data,
		Options: schedule.Options{NewRunner: func() schedule.Runner { return inProcess{} }},
	}
}

// verdicts lists the evaluated cells of an output folder.
func verdicts(t *testing.T, r *show.Results) []string {
	t.Helper()
	var out []string
	for _, e := range r.Evaluated {
		for _, c := range e.Cells {
			line := fmt.Sprintf("%s %s: %s", e.Table, c.Row, c.Verdict)
			if c.Ours != nil {
				line += fmt.Sprintf(" %v of %d/%d", c.Ours.Mean, c.Ours.Trials, c.Ours.Wanted)
			}
			out = append(out, line)
		}
	}
	return out
}

const twoTables = "tables: [demo/table1, demo/table2, demo/table1]\nexperiment: demo/double\nsweep: {x: [1, 2, 3, " +
	"4]}\nseeds: 0..1\n"

// From a sweep file, in two parts, to tables and report.
func TestSweepInPartsToResults(t *testing.T) {
	c, dir := catalogue(t), t.TempDir()
	results := func() *show.Results {
		r, err := c.Results(dir)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}

	// Of each setting's two seeds, the first part has seed 0.
	if sum := sweep(t, c, dir, plan.Shard{Index: 0, Count: 2}, nil, twoTables); sum.Total != 4 || sum.OK != 4 {
		t.Fatalf("the first part: %+v", sum)
	}
	half := results()
	want := []string{"demo/table1 one: match 2 of 1/2", "demo/table1 two: differs 4 of 1/2",
		"demo/table2 three: unjudged 6 of 1/2"}
	if got := verdicts(t, half); !slices.Equal(got, want) {
		t.Errorf("after the first part\ngot  %q\nwant %q", got, want)
	}
	if got := fmt.Sprint(half.Violations()); got != "[demo/table1: one: only 1 of 2 trials have run demo/table1: two: "+
		"only 1 of 2 trials have run]" {
		t.Errorf("violations after the first part: %s", got)
	}

	if sum := sweep(t, c, dir, plan.Shard{Index: 1, Count: 2}, nil, twoTables); sum.Total != 4 ||
		sum.OK != 4 || sum.Cached != 0 {
		t.Fatalf("the second part: %+v", sum)
	}
	all := results()
	// The seeds of the sweep, not the ledger's; each table once. The seeds differ,
	// where none does by the ledger.
	want = []string{"demo/table1 one: unjudged 2.5 of 2/2", "demo/table1 two: unjudged 4.5 of 2/2",
		"demo/table2 three: unjudged 6.5 of 2/2"}
	if got := verdicts(t, all); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := fmt.Sprint(all.Violations()); got != "[demo/table1: one: y is 2.5, outside 2 ± 0]" {
		t.Errorf("violations %s", got)
	}
	for table, want := range map[string]bool{"demo/table1": true, "demo/table2": false} {
		if got, err := c.HasReferences([]string{table}); err != nil || got != want {
			t.Errorf("%s has references: %t, %v", table, got, err)
		}
	}
	if left := all.Unpublished(); len(left) != 1 || len(left[0].Rows) != 1 ||
		double.Settings(left[0].Rows[0].Params).X != 4 {
		t.Errorf("x=4 belongs to no table, but %+v does not", left)
	}

	if err := all.WriteTables(); err != nil {
		t.Fatal(err)
	}
	report, err := all.WriteReport("test")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{report, "tables/demo-table1.md", "tables/demo-table1.csv", "tables/demo-table1.tex",
		"tables/demo-table1.json", "tables/demo-table2.md", "tables/summary.csv", "tables/summary.md"} {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

// Violations are those of all tables. A table whose planned trials were all skipped is
// named; another trial of the plan does not help it, nor does one that was not planned.
func TestSkippedTables(t *testing.T) {
	for _, c := range []struct {
		name    string
		skip    map[float64]bool // by x
		skipped int
		want    []string
	}{
		{"none", nil, 0, nil},
		{"all of one table", map[float64]bool{3: true}, 1, []string{"demo/table2"}},
		{"a part of one", map[float64]bool{1: true}, 1, nil},
		{"all of both", map[float64]bool{1: true, 2: true, 3: true}, 3, []string{"demo/table1", "demo/table2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			catalogue := catalogue(t)
			w, err := plan.ReadSweeps(catalogue.Book, write(t, "tables: [demo/table1, demo/table2, demo/table1]\n"+
				"experiment: demo/double\nsweep: {x: [1, 2, 3, 4]}\n"), nil, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			options := plan.Options{Tables: w.Tables, Backend: "cpu", DType: "float64"}
			p, err := plan.New(w.Settings, plan.NewDatasets(noData{}), options)
			if err != nil {
				t.Fatal(err)
			}
			r, err := show.Evaluate(catalogue.Book, nil, p, func(key string) (*record.Record, bool, error) {
				x := p.Trials[slices.IndexFunc(p.Trials, func(t plan.Trial) bool { return t.Key == key })]
				rec, err := trial.NewRecord(trial.Job{Key: key, Identity: x.Identity})
				if err != nil {
					return nil, false, err
				}
				rec.Status, rec.Metrics = record.OK, map[string]float64{"y": 1}
				if c.skip[double.Settings(x.Params).X] {
					rec.Skip("no data")
				}
				return rec, true, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Skipped != c.skipped || !slices.Equal(r.SkippedTables, c.want) {
				t.Errorf("%d skipped, all of %q; want %d, %q", r.Skipped, r.SkippedTables, c.skipped, c.want)
			}
		})
	}
}

func TestViolationsOfAllTables(t *testing.T) {
	c, dir := catalogue(t), t.TempDir()
	sweep(t, c, dir, plan.Shard{}, []int64{5}, "tables: [demo/table1, demo/table2]\n")
	r, err := c.Results(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Violations()); n != 2 {
		t.Errorf("%d violations; both references of the first table are missed, and the second has none", n)
	}
}

// Another sweep does not overwrite a folder, unless --replan is given.
func TestAnotherPlanIsRefused(t *testing.T) {
	c, dir := catalogue(t), t.TempDir()
	sweep(t, c, dir, plan.Shard{}, nil, "experiment: demo/double\n")
	w, err := plan.ReadSweeps(c.Book, write(t, "experiment: demo/other\n"), nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	data := plan.NewDatasets(noData{})
	p, err := plan.New(w.Settings, data, plan.Options{Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	for _, replan := range []bool{false, true} {
		_, err := c.Run(context.Background(),
			runner.SweepRun{Dir: dir, Plan: p, Replan: replan, Executor: local(c, data, plan.Shard{})})
		if (err == nil) != replan {
			t.Errorf("replan %v: %v", replan, err)
		}
	}
}

func TestElapsed(t *testing.T) {
	for d, want := range map[time.Duration]string{1234 * time.Millisecond: "1.2s", 61_700 * time.Millisecond: "1m2s"} {
		t.Run(d.String(), func(t *testing.T) {
			if got := runner.Elapsed(d); got != want {
				t.Errorf("%v: got %s, want %s", d, got, want)
			}
		})
	}
}

// A ledger that names a missing experiment or metric is a defect, found when its tables
// are asked for.
func TestCatalogueChecksLedgers(t *testing.T) {
	wrong := strings.Replace(ledger, "metric: y", "metric: z", 1)
	c := runner.NewCatalogue([]experiment.Paper{{Name: "demo",
		Experiments: []*experiment.Experiment{double.Experiment}, Ledger: []byte(wrong)}})
	for range 2 { // it stays one
		_, err := c.Ledgers()
		if err == nil || !strings.Contains(err.Error(), `unknown metric "z"`) {
			t.Errorf("%v", err)
		}
	}
	if _, err := plan.ReadTables(c.Book, []string{"demo/table1"}, nil, ""); err == nil ||
		!strings.Contains(err.Error(), "a defect in a ledger") {
		t.Errorf("its table: %v", err)
	}
}
