package runs_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/show/runs"
	"privkern/runner/show/summary"
	"privkern/runner/show/tables"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

type fitSettings struct {
	Epsilon float64 `name:"epsilon" default:"1" doc:"privacy budget"`
	Size    int     `name:"size" default:"7" doc:"rows"`
	Method  string  `name:"method" default:"plain" doc:"how it is fitted"`
}

type fitMetrics struct {
	Rank  float64 `name:"rank" doc:"directions"`
	Error float64 `name:"rmse" unit:"cm" best:"low" result:"yes" doc:"error"`
	Time  float64 `name:"fit_s" unit:"s" timing:"yes" doc:"time"`
}

type otherSettings struct {
	Size float64 `name:"size" default:"0.5" doc:"radius"`
}

var registry = experiment.NewRegistry(
	experiment.Of(experiment.Declaration[*fitSettings, fitMetrics]{Name: "demo/fit", Version: 3,
		Run: func(context.Context, *experiment.Trial, *fitSettings) (*experiment.Outcome[fitMetrics], error) {
			return nil, errNotRun
		}})().Experiment,
	experiment.Of(experiment.Declaration[*otherSettings, fitMetrics]{Name: "demo/other", Version: 1,
		Run: func(context.Context, *experiment.Trial, *otherSettings) (*experiment.Outcome[fitMetrics], error) {
			return nil, errNotRun
		}})().Experiment,
)

var errNotRun = errors.New("the tests of this package run no trial")

// none has no run whose experiments answer one question.
func none(*plan.Head) func(experiment, params string) bool { return nil }

// planOf reads the texts of sweep files, which a line separates.
func planOf(t *testing.T, text string) *plan.Plan {
	t.Helper()
	var settings []sweep.Assignment
	title := ""
	for one := range strings.SplitSeq(text, "---\n") {
		s, err := sweep.Read("demo.yaml", []byte(one), sweep.Names{Experiments: registry})
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.Expand()
		if err != nil {
			t.Fatal(err)
		}
		title, settings = cmp.Or(title, s.Title), append(settings, x.Settings...)
	}
	p, err := plan.New(settings, nil, plan.Options{Title: title, Backend: "cpu", DType: "float64",
		Sources: []plan.SweepFile{{Path: "demo.yaml", SHA256: strings.Repeat("ab", 32)}}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run makes an output folder. complete fills in the records; one that is nil afterwards is not there.
func run(t *testing.T, dir, text string, complete func(x plan.Trial, r *record.Record) *record.Record) *plan.Plan {
	t.Helper()
	p := planOf(t, text)
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.FreezePlan(p, registry, false); err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Trials {
		params, err := record.PlainParams(x.Params)
		if err != nil {
			t.Fatal(err)
		}
		r := complete(x, &record.Record{
			Schema: record.Schema, Key: x.Key, Experiment: x.Experiment, Params: params, Seed: x.Seed,
			Backend: "cpu", DType: "float64", Status: record.OK, ResultVersion: p.Versions[x.Experiment],
			Series: map[string]map[string]record.SeriesColumn{}, Warnings: []string{},
			Provenance: record.Provenance{Version: "1.2.3", Datasets: map[string]string{}},
		})
		if r == nil {
			continue
		}
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// linear gives a trial an error that depends on its settings and seed, and shift, which grows with the seed.
func linear(shift float64) func(plan.Trial, *record.Record) *record.Record {
	return func(x plan.Trial, r *record.Record) *record.Record {
		return measured(x, r, shift*(1+float64(x.Seed)), 1+shift)
	}
}

// measured gives a trial an error that depends on its settings and seed, plus more, and a time.
func measured(x plan.Trial, r *record.Record, more, took float64) *record.Record {
	epsilon := 0.0
	if x.Experiment == "demo/fit" {
		epsilon = experiment.SettingsIn[fitSettings](x.Params).Epsilon
	}
	r.Metrics = record.Metrics{"rank": 2, "rmse": epsilon + float64(x.Seed) + more, "fit_s": took}
	return r
}

const demo = "title: A demonstration\nexperiment: demo/fit\nsweep: {epsilon: [1, 2]}\nseeds: 0..2\n"

// A list counts records and names problems; its means are those of the records.
func TestList(t *testing.T) {
	dir := t.TempDir()
	run(t, filepath.Join(dir, "whole"), demo, linear(0))
	run(t, filepath.Join(dir, "part"), demo, func(x plan.Trial, r *record.Record) *record.Record {
		switch x.Seed {
		case 1:
			return nil
		case 2:
			return r.Fail("it broke")
		}
		return linear(0)(x, r)
	})
	torn := filepath.Join(dir, "torn")
	run(t, torn, demo, linear(0))
	p := run(t, filepath.Join(dir, "damaged"), demo, linear(0))
	p.Trials[0].Experiment = "demo/gone"
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "unknown"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(torn, "plan.json"): "{", filepath.Join(dir, "file"): "",
		filepath.Join(dir, "damaged", "trials", p.Trials[1].Key+".json"): "{",
		filepath.Join(dir, "unknown", "plan.json"):                       string(raw)} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "foreign"), 0o755); err != nil {
		t.Fatal(err)
	}
	all, err := runs.List(disk.System, dir, registry, none, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]runs.Run{}
	for _, r := range all {
		got[filepath.Base(r.Folder)] = r
	}
	if len(all) != 6 {
		t.Fatalf("%d runs: %+v", len(all), all)
	}
	for path, want := range map[string]string{filepath.Join(dir, "file"): "is a file, not a folder of runs",
		filepath.Join(dir, "nowhere"): "there is no folder"} {
		if _, err := runs.List(disk.System, path, registry, none, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if r := got["whole"]; r.State != runs.Complete || r.Recorded != 6 || r.Planned != 6 || *r.Failed != 0 ||
		r.Best == nil || *r.Best != (runs.Best{Experiment: "demo/fit", Metric: "rmse", Mean: 2}) ||
		r.Title != "A demonstration" {
		t.Errorf("whole: %+v, best %+v", r, r.Best)
	}
	if r := got["part"]; r.State != runs.Stopped || r.Recorded != 4 || *r.Failed != 2 || r.Best.Mean != 1 {
		t.Errorf("part: %+v", r)
	}
	if r := got["damaged"]; r.State != runs.Stopped || r.Recorded != 5 || r.Planned != 6 {
		t.Errorf("damaged: %+v", r)
	}
	if r := got["unknown"]; r.State != runs.Unreadable || !strings.Contains(r.Problem, "demo/gone") {
		t.Errorf("unknown: %+v", r)
	}
	if r := got["torn"]; r.State != runs.Unreadable || !strings.Contains(r.Problem, "plan.json") {
		t.Errorf("torn: %+v", r)
	}
	if r := got["foreign"]; r.State != runs.Foreign || r.Problem == "" {
		t.Errorf("foreign: %+v", r)
	}
}

// The best is that of the first experiment, or of all settings that answer one question and have results for all seeds.
func TestBestOfRivals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "both")
	run(t, dir, demo+"---\nexperiment: demo/other\n", func(x plan.Trial, r *record.Record) *record.Record {
		if x.Seed == 2 && experiment.SettingsIn[fitSettings](x.Params).Epsilon == 1 {
			return r.Fail("it broke")
		}
		return linear(0)(x, r)
	})
	for _, c := range []struct {
		name  string
		among func(experiment, params string) bool
		want  runs.Best
	}{
		{"no rivals", nil, runs.Best{Experiment: "demo/fit", Metric: "rmse", Mean: 1.5}},
		{"all", func(string, string) bool { return true }, runs.Best{Experiment: "demo/other", Metric: "rmse", Mean: 0}},
		{"of one", func(_, params string) bool { return strings.Contains(params, "epsilon") },
			runs.Best{Experiment: "demo/fit", Metric: "rmse", Mean: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rivals := func(*plan.Head) func(experiment, params string) bool { return c.among }
			o, err := runs.Look(disk.System, dir, registry, rivals)
			if err != nil || o.Best == nil || *o.Best != c.want {
				t.Errorf("%+v, want %+v: %v", o.Best, c.want, err)
			}
		})
	}
}

// The latest run is first, and the list fits a terminal of 80 columns.
func TestListOrder(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"first", "second-with-a-long-name-and-a-hash-8577ca", "third"} {
		run(t, filepath.Join(dir, name), demo, linear(0))
		at := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(filepath.Join(dir, name, "trials"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	all, err := runs.List(disk.System, dir, registry, none, nil)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, r := range all {
		order = append(order, filepath.Base(r.Folder))
	}
	if got := strings.Join(order, " "); got != "third second-with-a-long-name-and-a-hash-8577ca first" {
		t.Errorf("the order is %s", got)
	}
	var b strings.Builder
	if err := runs.Grid(all).WriteText(&b, tables.TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// The means are taken from the table of all metrics where it is no older than plan and records.
func TestListFromTable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "whole")
	run(t, dir, demo, linear(0))
	path := filepath.Join(dir, "tables", "summary.csv")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	row := &summary.Row{Params: experiment.Params{"epsilon": 1.0}, Trials: 5, Failed: 1}
	row.Metrics.Add("rmse", summary.SeedMean{Mean: 42})
	row.Metrics.Add("rank", summary.SeedMean{Mean: 2})
	table := &summary.MetricTable{Experiment: "demo/fit", Metrics: []string{"rank", "rmse"}, Rows: []*summary.Row{row}}
	if err := errors.Join(summary.CSV(f, []*summary.MetricTable{table}), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name         string
		later        time.Duration // of the table than of the records
		best, failed float64
	}{{"current", time.Hour, 42, 1}, {"old", -time.Hour, 2, 0}} {
		t.Run(c.name, func(t *testing.T) {
			at := time.Now().Add(c.later)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
			all, err := runs.List(disk.System, dir, registry, none, nil)
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			if r := all[0]; r.Best.Mean != c.best || float64(*r.Failed) != c.failed {
				t.Errorf("best %v, failed %v", r.Best.Mean, *r.Failed)
			}
		})
	}
}

// Tags are added to a folder, change nothing of its plan, and select runs.
func TestTags(t *testing.T) {
	dir := t.TempDir()
	run(t, filepath.Join(dir, "a"), demo, linear(0))
	run(t, filepath.Join(dir, "b"), demo, linear(0))
	before, err := os.ReadFile(filepath.Join(dir, "a", "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Create(disk.System, filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(s.AddTags(map[string]string{"study": "one", "who": "me"}), s.AddTags(nil),
		s.AddTags(map[string]string{"study": "two"}), s.Close())
	if err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "a", "plan.json")); err != nil || string(after) != string(before) {
		t.Errorf("the plan has changed: %v", err)
	}
	for _, c := range []struct {
		tags map[string]string
		want int
	}{{nil, 2}, {map[string]string{"study": "two"}, 1}, {map[string]string{"study": "two", "who": "me"}, 1},
		{map[string]string{"study": "one"}, 0}, {map[string]string{"other": "two"}, 0}} {
		all, err := runs.List(disk.System, dir, registry, none, c.tags)
		if err != nil || len(all) != c.want {
			t.Errorf("%v: %d runs, want %d: %v", c.tags, len(all), c.want, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "b", "tags.json"), []byte("[]"), 0o644); err != nil {
		t.Fatal(err)
	}
	all, err := runs.List(disk.System, filepath.Join(dir, "b"), registry, none, nil)
	if err != nil || all[0].State != runs.Unreadable || !strings.Contains(all[0].Problem, "tags.json") {
		t.Errorf("broken tags: %+v, %v", all, err)
	}
}

// A trial is found by the beginning of its key; none and several are errors that name them.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	p := run(t, filepath.Join(dir, "a"), demo, linear(0))
	run(t, filepath.Join(dir, "b"), demo, linear(0))
	key := p.Trials[3].Key
	for _, prefix := range []string{key, key[:8]} {
		f, err := runs.Find(disk.System, dir, prefix, registry)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "a", "trials", key+".json"))
		if err != nil || string(f.Text) != string(raw) || f.Key != key || len(f.Others) != 1 {
			t.Errorf("%s: found %s in %s and %s: %v", prefix, f.Key, f.Folder, f.Others, err)
		}
		for line := range strings.SplitSeq(f.Page(registry, 20), "\n") {
			if n := utf8.RuneCountInString(line); n > 20 {
				t.Errorf("a line of %d characters: %q", n, line)
			}
		}
		page := f.Page(registry, 80)
		for _, want := range []string{"demo/fit, seed 0: ok", "epsilon  2\n", "rmse   2 cm", "program  1.2.3"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q:\n%s", want, page)
			}
		}
		if strings.Contains(page, "method") {
			t.Errorf("the page has a default:\n%s", page)
		}
	}
	var none *runs.KeyError
	if _, err := runs.Find(disk.System, dir, "000000000000", registry); !errors.As(err, &none) {
		t.Errorf("a key of none: %v", err)
	}
	_, err := runs.Find(disk.System, dir, "", registry) // every key
	if !errors.As(err, &none) || !strings.Contains(err.Error(), key) {
		t.Errorf("several keys: %v", err)
	}
	for word, want := range map[string]bool{key: true, key[:6]: true, key[:5]: false, key + "0": false, "abcdeg": false} {
		if runs.IsKey(word) != want {
			t.Errorf("%s may be a key: %v", word, !want)
		}
	}
	torn := filepath.Join(dir, "a", "trials", key+".json")
	if err := os.WriteFile(torn, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Find(disk.System, filepath.Join(dir, "a"), key, registry); err == nil ||
		!strings.Contains(err.Error(), "cannot be used") {
		t.Errorf("a torn record: %v", err)
	}
}

// The page of a run has its settings that vary, and failures and warnings by their texts.
func TestLook(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	run(t, dir, demo, func(x plan.Trial, r *record.Record) *record.Record {
		if x.Seed == 2 {
			return r.Fail("it broke\x1b[2J")
		}
		r = linear(0)(x, r)
		r.Warnings = []string{"suspect"}
		return r
	})
	o, err := runs.Look(disk.System, dir, registry, none)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(o.Page(20), "\n") {
		if n := utf8.RuneCountInString(line); n > 20 {
			t.Errorf("a line of %d characters: %q", n, line)
		}
	}
	page := o.Page(100)
	for _, want := range []string{"A demonstration\n", "state        2 failed", "demo.yaml (SHA-256 abababababab)",
		"failed  2\n", "ok      4\n", "epsilon  1, 2\n", "seeds    0..2\n",
		"twice  it broke [2J, such as\n  run trial demo/fit",
		"4 times  suspect"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if _, err := runs.Look(disk.System, t.TempDir(), registry, none); err == nil {
		t.Error("a folder that is no run was shown")
	}
}

// Trials of equal settings and seeds are pairs. Of the shifts 1, 2, 3 of the seeds 0, 1, 2 the mean is 2, with the
// standard error 1/√3, and t = 2√3 with two degrees of freedom has the two-sided p-value 1 - t/√(2 + t²).
func TestDiff(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	run(t, a, demo, linear(0))
	run(t, b, "experiment: demo/fit\nparams: {size: 9}\nsweep: {epsilon: [1, 2, 3]}\nseeds: 0..2\n", linear(1))
	x, err := runs.Diff(disk.System, a, b, registry)
	if err != nil {
		t.Fatal(err)
	}
	e := x.Experiments[0]
	if len(e.Settings) != 1 || e.Settings[0] != (runs.Change{Name: "size", Values: [2]string{"7", "9"}}) {
		t.Errorf("settings that differ: %+v", e.Settings)
	}
	want := runs.Change{Name: "epsilon", Values: [2]string{"1, 2", "1, 2, 3"}}
	if len(e.Values) != 1 || e.Values[0] != want {
		t.Errorf("other values: %+v", e.Values)
	}
	if e.Paired != 6 || e.BitEqual != 0 || e.OnlyIn != [2]int{0, 3} || e.Seeds != 3 || len(x.Identity) != 0 {
		t.Errorf("%+v, %+v", e, x.Identity)
	}
	if len(e.Metrics) != 3 {
		t.Fatalf("metrics: %+v", e.Metrics)
	}
	rank, rmse, took := e.Metrics[0], e.Metrics[1], e.Metrics[2]
	if rank.Mean != 0 || *rank.P != 1 || took.P != nil || !took.Timing || took.Mean != 1 {
		t.Errorf("rank %+v, time %+v", rank, took)
	}
	tt := 2 * math.Sqrt(3)
	p := 2 * (1 - tt/math.Sqrt(2+tt*tt)) // of two metrics, the smaller one by Holm
	if rmse.Pairs != 6 || rmse.Seeds != 3 || math.Abs(rmse.Mean-2) > 1e-15 ||
		math.Abs(*rmse.StandardError-1/math.Sqrt(3)) > 1e-15 || math.Abs(*rmse.P-p) > 1e-12 {
		t.Errorf("rmse %+v, p %v, want %v", rmse, *rmse.P, p)
	}
	page := x.Lines(100)
	for _, want := range []string{"size  A: 7, B: 9", "6 trials in both with a result, 0 of them bit-equal; 3 in B only",
		"2.00 ± 0.58"} {
		if !strings.Contains(page, want) {
			t.Errorf("the text lacks %q:\n%s", want, page)
		}
	}
}

// Where a seed has fewer pairs than another, the means still differ by the mean difference.
func TestDiffUnbalanced(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	run(t, a, demo, linear(0))
	run(t, b, demo, func(x plan.Trial, r *record.Record) *record.Record {
		if x.Seed == 0 && experiment.SettingsIn[fitSettings](x.Params).Epsilon == 2 {
			return nil
		}
		return linear(1)(x, r)
	})
	x, err := runs.Diff(disk.System, a, b, registry)
	if err != nil {
		t.Fatal(err)
	}
	m := x.Experiments[0].Metrics[1]
	if m.Metric != "rmse" || m.Pairs != 5 || math.Abs(m.Means[1]-m.Means[0]-m.Mean) > 1e-12 {
		t.Errorf("%+v", m)
	}
}

// A setting that a run lacks, as those of programs may, has no value.
func TestDiffWithoutSetting(t *testing.T) {
	programs := experiment.NewRegistry()
	dir := t.TempDir()
	folders := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	for i, p := range []experiment.Params{{"x": 1.0}, {"x": 1.0, "more": 2.0}} {
		e := &experiment.Experiment{Untyped: experiment.Untyped{Name: "command/p", Version: 1, External: true},
			Params: []experiment.Param{{Name: "x", Kind: experiment.Number}, {Name: "more", Kind: experiment.Number}}}
		programs.Define(e)
		made, err := plan.New([]sweep.Assignment{{Experiment: e, Params: p}}, nil,
			plan.Options{Backend: "cpu", DType: "float64"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Create(disk.System, folders[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.FreezePlan(made, programs, false), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	x, err := runs.Diff(disk.System, folders[0], folders[1], programs)
	if err != nil {
		t.Fatal(err)
	}
	want := []runs.Change{{Name: "more", Values: [2]string{"-", "2"}}}
	if got := x.Experiments[0].Settings; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A difference that all seeds have alike has no spread to be tested by.
func TestDiffThatIsConstant(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	run(t, a, demo, linear(0))
	run(t, b, demo, func(x plan.Trial, r *record.Record) *record.Record {
		return measured(x, r, 0.1, 1)
	})
	x, err := runs.Diff(disk.System, a, b, registry)
	if err != nil {
		t.Fatal(err)
	}
	if m := x.Experiments[0].Metrics[1]; m.Metric != "rmse" || math.Abs(m.Mean-0.1) > 1e-12 || m.P != nil {
		t.Errorf("%+v, p %v", m, m.P)
	}
}

// Runs of one seed are not tested, equal runs are bit-equal for any times, and series count.
func TestDiffOfEqualRuns(t *testing.T) {
	dir := t.TempDir()
	const single = "experiment: demo/fit\nsweep: {epsilon: [1, 2]}\n"
	withSeries := func(last, took float64) func(plan.Trial, *record.Record) *record.Record {
		return func(x plan.Trial, r *record.Record) *record.Record {
			r = measured(x, r, 0, took)
			r.Series["curve"] = map[string]record.SeriesColumn{"y": {math.NaN(), last}}
			r.Provenance.Version = map[bool]string{true: "1", false: "2"}[took == 1]
			return r
		}
	}
	for name, complete := range map[string]func(plan.Trial, *record.Record) *record.Record{
		"a": withSeries(1, 1), "same": withSeries(1, 2), "series": withSeries(2, 1),
		"failed": func(_ plan.Trial, r *record.Record) *record.Record { return r.Fail("no") },
	} {
		run(t, filepath.Join(dir, name), single, complete)
	}
	for _, c := range []struct {
		other           string
		paired, equal   int
		want, identity  string
		withoutInSecond int
	}{
		{"same", 2, 2, "2 trials bit-equal\n", "program", 0}, {"series", 2, 0, "0 of them bit-equal", "", 0},
		{"failed", 0, 0, "0 trials in both with a result, 0 of them bit-equal; 2 without a result in B", "", 2},
	} {
		t.Run(c.other, func(t *testing.T) {
			x, err := runs.Diff(disk.System, filepath.Join(dir, "a"), filepath.Join(dir, c.other), registry)
			if err != nil {
				t.Fatal(err)
			}
			e := x.Experiments[0]
			if e.Paired != c.paired || e.BitEqual != c.equal || e.NoResult[1] != c.withoutInSecond {
				t.Errorf("%+v", e)
			}
			for _, m := range e.Metrics {
				if m.P != nil || m.StandardError != nil {
					t.Errorf("a single seed was tested: %+v", m)
				}
			}
			if page := x.Lines(100); !strings.Contains(page, c.want) || strings.Contains(page, "Student") ||
				!strings.Contains(page, c.identity) {
				t.Errorf("the text lacks %q or %q:\n%s", c.want, c.identity, page)
			}
		})
	}
}

// Runs of two experiments cannot be compared; the error names both.
func TestDisjointRuns(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	run(t, a, demo, linear(0))
	run(t, b, "experiment: demo/other\n", linear(0))
	var disjoint *runs.DisjointError
	if _, err := runs.Diff(disk.System, a, b, registry); !errors.As(err, &disjoint) ||
		!strings.Contains(err.Error(), "demo/fit") || !strings.Contains(err.Error(), "demo/other") {
		t.Errorf("got %v", err)
	}
	if _, err := runs.Beside(disk.System, []string{a, b}, nil, registry); !errors.As(err, &disjoint) {
		t.Errorf("got %v", err)
	}
}

// Several runs have a column each; a setting that one of them lacks has none of its values.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	run(t, a, demo, linear(0))
	run(t, b, "experiment: demo/fit\nparams: {method: other}\nsweep: {epsilon: [2, 4]}\nseeds: 0..2\n", linear(0))
	s, err := runs.Beside(disk.System, []string{a, b}, nil, registry)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := s.Text(&text, tables.TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	want := "A: " + a + "\nB: " + b + "\n" + `
demo/fit

  Settings that differ
    method  A: plain, B: other

epsilon       rmse A       rmse B
───────  ───────────  ───────────
1        2.00 ± 0.58            -
2        3.00 ± 0.58  3.00 ± 0.58
4                  -  5.00 ± 0.58
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
	if s, err = runs.Beside(disk.System, []string{a, b}, []string{"rank", "fit_s"}, registry); err != nil ||
		len(s.Experiments[0].Metrics) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	var unknown *experiment.UnknownError
	if _, err := runs.Beside(disk.System, []string{a, b}, []string{"rnk"}, registry); !errors.As(err, &unknown) {
		t.Errorf("an unknown metric: %v", err)
	}
}

// A run is running while somebody holds a lock of its folder.
func TestListRunning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	p := run(t, dir, demo, linear(0))
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	unlock, ok, err := s.Lock(p.Trials[0].Key)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, want := range []runs.State{runs.Running, runs.Complete} {
		all, err := runs.List(disk.System, dir, registry, none, nil)
		if err != nil || len(all) != 1 || all[0].State != want {
			t.Errorf("%+v, want %s: %v", all, want, err)
		}
		if want == runs.Running {
			unlock()
		}
	}
}
