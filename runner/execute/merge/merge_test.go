package merge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/runner/execute/merge"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

var demo = experiment.Of(experiment.Declaration[*demoSettings, demoMetrics]{
	Name: "demo/a", Version: 1,
	Run: func(context.Context, *experiment.Trial, *demoSettings) (*experiment.Outcome[demoMetrics], error) {
		return nil, errors.New("the tests of this package run no trial")
	},
})()

type demoSettings struct {
	X int `name:"x" default:"0" doc:"any number"`
}

type demoMetrics struct {
	Y    float64 `name:"y" doc:"any number"`
	Time float64 `name:"time_s" unit:"s" timing:"yes" doc:"a time"`
}

var registry = experiment.NewRegistry(demo.Experiment)

type noData struct{}

func (noData) Find(string) (string, string, error) { return "", "", errors.New("none") }

func makePlan(t *testing.T, trials int) *plan.Plan {
	t.Helper()
	var settings []sweep.Assignment
	for i := range trials {
		p, err := demo.Resolve(map[string]any{"x": i})
		if err != nil {
			t.Fatal(err)
		}
		settings = append(settings, sweep.Assignment{Experiment: demo.Experiment, Params: p})
	}
	p, err := plan.New(settings, plan.NewDatasets(noData{}), plan.Options{Title: "demo", Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// a folder's records: of the n-th trial a text such as "ok 1.5" (the metric), "ok
// 1.5 OpenBLAS" (computed with it), "failed", "skipped", "torn", or "" for none.
func folder(t *testing.T, p *plan.Plan, records ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "f")
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.FreezePlan(p, registry, false); err != nil {
		t.Fatal(err)
	}
	for i, text := range records {
		x := p.Trials[i]
		r, err := trial.NewRecord(trial.Job{Key: x.Key, Identity: x.Identity})
		if err != nil {
			t.Fatal(err)
		}
		status, value, _ := strings.Cut(text, " ")
		value, class, _ := strings.Cut(value, " ")
		if class != "" {
			r.Provenance.BLAS = class + " 1.0 (ZEN, lib.so)"
		}
		switch status {
		case "":
			continue
		case "torn":
			if err := os.WriteFile(filepath.Join(dir, "trials", x.Key+".json"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		case "failed":
			r = r.Fail("it failed")
		case "skipped":
			r = r.Skip("no data")
		case "ok":
			var y float64
			if _, err := fmt.Sscan(value, &y); err != nil {
				t.Fatal(err)
			}
			r.Status = record.OK
			r.Metrics = experiment.MetricValues(demoMetrics{Y: y, Time: float64(len(dir))*100 + float64(i)})
		}
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// show returns the records of a folder as folder takes them.
func show(t *testing.T, dir string, p *plan.Plan) []string {
	t.Helper()
	s, err := store.Open(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, x := range p.Trials {
		r, ok, err := s.Get(x.Key)
		switch {
		case err != nil:
			t.Fatal(err)
		case !ok:
			out = append(out, "")
		case r.Status == record.OK:
			out = append(out, fmt.Sprintf("ok %v", demo.Values(r.Metrics).Y))
		default:
			out = append(out, string(r.Status))
		}
	}
	return out
}

// The log of a failure goes with its record; that of an earlier run of a trial
// with a result stays where it is.
func TestLogsGoWithFailures(t *testing.T) {
	p := makePlan(t, 3)
	from, into := folder(t, p, "failed", "ok 2", "failed"), filepath.Join(t.TempDir(), "into")
	s, err := store.Create(disk.System, from)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Trials[:2] {
		if _, err := s.PutLog(x.Key, []byte("the stack of "+x.Key)); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.Close()
	if _, err := merge.Folders(disk.System, into, []string{from}, "", registry); err != nil {
		t.Fatal(err)
	}
	logs, err := os.ReadDir(filepath.Join(into, "logs"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%v, %v", logs, err)
	}
	raw, err := os.ReadFile(filepath.Join(into, "logs", p.Trials[0].Key+".log"))
	if err != nil || string(raw) != "the stack of "+p.Trials[0].Key {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestFolders(t *testing.T) {
	p := makePlan(t, 4)
	for _, c := range []struct {
		name      string
		into      []string // nil where the folder is not there
		from      [][]string
		prefer    int // number of from, counted from 1; negative for a symbolic link to it
		want      []string
		report    string
		conflicts int
	}{
		{"parts", nil, [][]string{{"ok 1", "", "ok 3"}, {"", "ok 2"}}, 0,
			[]string{"ok 1", "ok 2", "ok 3", ""}, "4 trials, 3 copied, 0 kept, 1 missing, 0 better, 0 ignored", 0},
		{"into a folder with records", []string{"ok 1", "", "", ""}, [][]string{{"ok 1", "ok 2"}}, 0,
			[]string{"ok 1", "ok 2", "", ""}, "4 trials, 1 copied, 1 kept, 2 missing, 0 better, 0 ignored", 0},
		{"a result before a failure before missing data", []string{"skipped", "failed", "ok 3", "failed"},
			[][]string{{"failed", "ok 2", "failed", "skipped"}, {"ok 1", "skipped", "skipped", "failed"}}, 0,
			[]string{"ok 1", "ok 2", "ok 3", "failed"}, "4 trials, 2 copied, 2 kept, 0 missing, 4 better, 0 ignored", 0},
		{"torn", []string{"torn", "torn", "ok 3", ""}, [][]string{{"ok 1", "", "torn", "torn"}}, 0,
			[]string{"ok 1", "", "ok 3", ""}, "4 trials, 1 copied, 1 kept, 2 missing, 0 better, 4 ignored", 0},
		{"conflicts", []string{"ok 1", "ok 2", "", ""}, [][]string{{"ok 1.5", "ok 2"}, {"", "ok 2.5"}}, 0,
			[]string{"ok 1", "ok 2", "", ""}, "4 trials, 0 copied, 0 kept, 0 missing, 0 better, 0 ignored", 2},
		{"conflicts, torn", []string{"ok 1", "torn", "", ""}, [][]string{{"ok 1.5", "ok 2", "torn"}}, 0,
			[]string{"ok 1", "", "", ""}, "4 trials, 0 copied, 0 kept, 0 missing, 0 better, 2 ignored", 1},
		{"a preferred folder", []string{"ok 1", "ok 2", "", ""}, [][]string{{"ok 1.5", "ok 2"}, {"ok 1"}}, 1,
			[]string{"ok 1.5", "ok 2", "", ""}, "4 trials, 1 copied, 1 kept, 2 missing, 0 better, 0 ignored", 0},
		{"a preferred folder by another name", nil, [][]string{{"ok 1"}, {"ok 2"}}, -2,
			[]string{"ok 2", "", "", ""}, "4 trials, 1 copied, 0 kept, 3 missing, 0 better, 0 ignored", 0},
		{"the preferred folder settles a conflict of two others", nil, [][]string{{"ok 1"}, {"ok 2"}, {"ok 2"}}, 2,
			[]string{"ok 2", "", "", ""}, "4 trials, 1 copied, 0 kept, 3 missing, 0 better, 0 ignored", 0},
		{"a conflict among others than the preferred folder", nil, [][]string{{"ok 1"}, {"ok 2"}, {"", "ok 1"}}, 3, nil,
			"4 trials, 0 copied, 0 kept, 0 missing, 0 better, 0 ignored", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			into := filepath.Join(t.TempDir(), "into")
			if c.into != nil {
				into = folder(t, p, c.into...)
			}
			var from []string
			for _, records := range c.from {
				from = append(from, folder(t, p, records...))
			}
			prefer := ""
			if c.prefer > 0 {
				prefer = from[c.prefer-1] + "/"
			} else if c.prefer < 0 {
				prefer = filepath.Join(t.TempDir(), "link")
				if err := os.Symlink(from[-c.prefer-1], prefer); err != nil {
					t.Fatal(err)
				}
			}
			before := make([][]string, len(from))
			for i, dir := range from {
				before[i] = show(t, dir, p)
			}
			r, err := merge.Folders(disk.System, into, from, prefer, registry)
			if c.conflicts > 0 {
				if !errors.Is(err, merge.ErrConflicts) || len(r.Conflicts) != c.conflicts ||
					!strings.HasPrefix(r.Conflicts[0].Differences[0], "y 1, ") {
					t.Errorf("%+v, %v", r, err)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%d trials, %d copied, %d kept, %d missing, %d better, %d ignored", r.Total, r.Copied,
				r.Kept, r.Missing, r.Better, len(r.Ignored)); got != c.report {
				t.Errorf("got  %s\nwant %s", got, c.report)
			}
			if c.want == nil {
				if _, err := os.Stat(into); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the united folder was made: %v", err)
				}
				return
			}
			if got := show(t, into, p); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			for i, dir := range from {
				if got := show(t, dir, p); !slices.Equal(got, before[i]) {
					t.Errorf("%s was %q and is %q", dir, before[i], got)
				}
			}
			if c.conflicts > 0 {
				return
			}
			// Again: nothing is left to do.
			if r, err := merge.Folders(disk.System, into, from, prefer, registry); err != nil || r.Copied != 0 {
				t.Errorf("again: %+v, %v", r, err)
			}
		})
	}
}

// A record of an early version gives way to a sealed one with the same results, and is
// a conflict where they differ. Records are copied byte for byte.
func TestUnsealedRecords(t *testing.T) {
	p := makePlan(t, 1)
	name := filepath.Join("trials", p.Trials[0].Key+".json")
	read := func(dir string) string {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	unsealed := func(y string) string {
		dir := folder(t, p, "ok "+y)
		text, _, _ := strings.Cut(strings.Replace(read(dir), `"result_version":1,`, "", 1), `,"digest":`)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+" }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	sealed := folder(t, p, "ok 1")
	for _, c := range []struct {
		name     string
		from     []string
		taken    int
		conflict bool
	}{
		{"sealed first", []string{sealed, unsealed("1")}, 0, false},
		{"sealed last", []string{unsealed("1"), unsealed("1"), sealed}, 2, false},
		{"unsealed alone", []string{unsealed("1")}, 0, false},
		{"other results", []string{unsealed("2"), sealed}, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			into := filepath.Join(t.TempDir(), "into")
			r, err := merge.Folders(disk.System, into, c.from, "", registry)
			if c.conflict {
				if !errors.Is(err, merge.ErrConflicts) {
					t.Errorf("%+v, %v", r, err)
				}
				return
			}
			if err != nil || r.Copied != 1 {
				t.Fatalf("%+v, %v", r, err)
			}
			if got, want := read(into), read(c.from[c.taken]); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	// So does one that is in the united folder already.
	into := unsealed("1")
	if r, err := merge.Folders(disk.System, into, []string{sealed}, "",
		registry); err != nil || r.Copied != 1 || read(into) != read(sealed) {
		t.Errorf("%+v, %v", r, err)
	}
}

// The report counts the trials that were skipped in the united folder.
func TestSkippedAreCounted(t *testing.T) {
	p := makePlan(t, 3)
	for _, c := range []struct {
		name string
		a, b []string
		want int
	}{
		{"all", []string{"skipped", "skipped"}, []string{"", "skipped", "skipped"}, 3},
		{"all that have a record", []string{"skipped"}, []string{"skipped"}, 1},
		{"one, as others have a result", []string{"skipped", "skipped", "skipped"}, []string{"ok 1", "failed"}, 1},
		{"none", []string{"ok 1"}, []string{"", "failed"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := []string{folder(t, p, c.a...), folder(t, p, c.b...)}
			r, err := merge.Folders(disk.System, filepath.Join(t.TempDir(), "all"), from, "", registry)
			if err != nil || r.Skipped != c.want || r.Plan == nil || len(r.Plan.Trials) != 3 {
				t.Errorf("%+v, %v; want %d", r, err, c.want)
			}
		})
	}
}

func TestFoldersRefuses(t *testing.T) {
	p := makePlan(t, 2)
	a, b := folder(t, p, "ok 1"), folder(t, makePlan(t, 3), "ok 1")
	_, err := merge.Folders(disk.System, filepath.Join(t.TempDir(), "into"), []string{a, b}, "", registry)
	var other *merge.PlanError
	if !errors.As(err, &other) || other.Difference != "same trials: 2, new: 1, gone: 0" {
		t.Error(err)
	}
	if _, err := merge.Folders(disk.System, b, []string{a}, "", registry); !errors.As(err, &other) {
		t.Error(err)
	}
	into := filepath.Join(t.TempDir(), "into")
	if _, err := merge.Folders(disk.System, into, []string{t.TempDir()}, "", registry); err == nil ||
		!strings.Contains(err.Error(), "is not the output folder of a sweep") {
		t.Error(err)
	}
	// A run that is at work on a trial keeps its folder.
	s, err := store.Create(disk.System, a)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, ok, err := s.Lock(p.Trials[1].Key); err != nil || !ok {
		t.Fatal(ok, err)
	}
	newer := []string{folder(t, p, "", "ok 2")}
	if _, err := merge.Folders(disk.System, a, newer, "", registry); !errors.Is(err, merge.ErrBusy) {
		t.Error(err)
	}
}

// A record that comes into the united folder while others are read, or is there
// without a plan, is not replaced by a worse one.
func TestRecordsThatCameMeanwhile(t *testing.T) {
	p := makePlan(t, 3)
	into := folder(t, p, "ok 1", "failed", "skipped")
	if err := os.Remove(filepath.Join(into, "plan.json")); err != nil {
		t.Fatal(err)
	}
	r, err := merge.Folders(disk.System, into, []string{folder(t, p, "failed", "ok 2", "failed")}, "", registry)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(t, into, p); !slices.Equal(got, []string{"ok 1", "ok 2", "failed"}) || r.Copied != 2 || r.Kept != 1 {
		t.Errorf("%q, %+v", got, r)
	}
}

// An archive of a folder may lack empty folders.
func TestFolderWithoutTrials(t *testing.T) {
	p := makePlan(t, 1)
	empty := folder(t, p)
	if err := os.Remove(filepath.Join(empty, "trials")); err != nil {
		t.Fatal(err)
	}
	into := filepath.Join(t.TempDir(), "into")
	from := []string{empty, folder(t, p, "ok 1")}
	if r, err := merge.Folders(disk.System, into, from, "", registry); err != nil || r.Copied != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
