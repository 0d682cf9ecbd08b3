package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

var demo = experiment.Of(experiment.Declaration[*demoSettings, demoMetrics]{
	Name: "demo/a", Version: 1,
	Run: func(context.Context, *experiment.Trial, *demoSettings) (*experiment.Outcome[demoMetrics], error) {
		return nil, errors.New("the tests of this package run no trial")
	},
	Datasets: func(*demoSettings) []string { return []string{"set"} },
})()

type demoSettings struct {
	X float64 `name:"x" default:"0" infinite:"yes" doc:"any number"`
}

type demoMetrics struct {
	Y float64 `name:"y" doc:"any number"`
}

var registry = experiment.NewRegistry(demo.Experiment)

type finder struct{ digest string }

func (f finder) Find(string) (string, string, error) { return "folder", f.digest, nil }

func makePlan(t *testing.T, digest string, xs ...any) *plan.Plan {
	t.Helper()
	var settings []sweep.Assignment
	for _, x := range xs {
		p, err := demo.Resolve(map[string]any{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		settings = append(settings, sweep.Assignment{Experiment: demo.Experiment, Params: p})
	}
	p, err := plan.New(settings, plan.NewDatasets(finder{digest}),
		plan.Options{Title: "demo", Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func create(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestPlanIsFrozen(t *testing.T) {
	dir := t.TempDir()
	s := create(t, dir)
	first := makePlan(t, "d1", 1.0, "inf", 1.0)
	if len(first.Trials) != 2 {
		t.Fatalf("%d trials; a setting that occurs twice is one trial", len(first.Trials))
	}
	if err := s.FreezePlan(first, registry, false); err != nil {
		t.Fatal(err)
	}
	back, err := s.ReadPlan(registry)
	if err != nil {
		t.Fatal(err)
	}
	if back.Digest != first.Digest || back.Trials[1].Key != first.Trials[1].Key || !maps.Equal(back.Trials[1].Params,
		first.Trials[1].Params) {
		t.Errorf("wrote %+v\nread  %+v", first, back)
	}
	if err := s.FreezePlan(makePlan(t, "d1", 1.0, "inf"), registry, false); err != nil {
		t.Errorf("the same plan again: %v", err)
	}
	err = s.FreezePlan(makePlan(t, "d1", 2.0, "inf"), registry, false)
	if err == nil || !strings.Contains(err.Error(), "same trials: 1, new: 1, gone: 1") ||
		!strings.Contains(err.Error(), "--replan") {
		t.Errorf("another plan: %v", err)
	}
	if err := s.FreezePlan(makePlan(t, "d2", 1.0, "inf"), registry, false); err == nil ||
		!strings.Contains(err.Error(), `the data set "set" has changed`) {
		t.Errorf("other data: %v", err)
	}
	if err := s.FreezePlan(makePlan(t, "d1", 2.0, "inf"), registry, true); err != nil {
		t.Errorf("with --replan: %v", err)
	}
	if got := s.Asides(); len(got) != 1 || got[0].File != "plan.json" {
		t.Errorf("the old plan was not put aside: %v", got)
	}
}

// A trial without a record has the zero version; a record that is written again has another.
func TestVersion(t *testing.T) {
	s, p := create(t, t.TempDir()), makePlan(t, "d", 1.0)
	if err := s.FreezePlan(p, registry, false); err != nil {
		t.Fatal(err)
	}
	key := p.Trials[0].Key
	version := func() store.Version {
		t.Helper()
		v, err := s.Version(key)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	versions := []store.Version{version()}
	for _, y := range []float64{1, 2} {
		r := newRecord(t, p.Trials[0])
		r.Metrics = map[string]float64{"y": y}
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, version())
	}
	for i, a := range versions {
		for j, b := range versions {
			if a.Same(b) != (i == j) {
				t.Errorf("version %d is that of %d: %v", i, j, a.Same(b))
			}
		}
	}
	if !versions[0].Same(store.Version{}) {
		t.Error("without a record the version is not zero")
	}
}

func TestLocksExclude(t *testing.T) {
	dir := t.TempDir()
	a, b := create(t, dir), create(t, dir)
	unlock, ok, err := a.Lock("k")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, _ := a.Lock("k"); ok {
		t.Error("one store locked a trial twice")
	}
	if _, ok, _ := b.Lock("k"); ok {
		t.Error("two stores locked one trial")
	}
	if u, ok, _ := b.Lock("k2"); !ok {
		t.Error("another trial is locked, too")
	} else {
		u()
	}
	unlock()
	if u, ok, _ := b.Lock("k"); !ok {
		t.Error("the lock was not given back")
	} else {
		u()
	}
}

// A killed runner leaves temporary files; the next one removes them, but not
// those of a runner that is alive.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	a := create(t, dir)
	for _, key := range []string{"dead", "alive"} {
		if err := os.WriteFile(filepath.Join(dir, "trials", "."+key+".json.123.tmp"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unlock, _, err := a.Lock("alive")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	create(t, dir)
	left, err := filepath.Glob(filepath.Join(dir, "trials", ".*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || !strings.Contains(left[0], "alive") {
		t.Errorf("left: %v", left)
	}
}

func TestFoldersThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create(disk.System, filepath.Join(file, "out")); err == nil {
		t.Error("a folder below a file was made")
	}
	if _, err := store.Open(disk.System, dir); err == nil || !strings.Contains(err.Error(), "not the output folder") {
		t.Errorf("%v", err)
	}
}

// A folder takes over the metrics that its sweep file names now; a plan without any has no member
// for them, as those of early versions.
func TestPlanTakesOverMetrics(t *testing.T) {
	dir := t.TempDir()
	s := create(t, dir)
	for _, metrics := range [][]string{nil, {"rmse"}, {"accuracy", "confusion_*"}, nil} {
		p := makePlan(t, "d1", 1.0)
		p.Metrics = metrics
		if err := s.FreezePlan(p, registry, false); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "plan.json"))
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(string(raw), `"metrics"`); has != (metrics != nil) {
			t.Errorf("with %q the file has metrics: %v", metrics, has)
		}
		back, err := s.ReadPlan(registry)
		if err != nil || !slices.Equal(back.Metrics, metrics) {
			t.Errorf("%q, want %q (%v)", back.Metrics, metrics, err)
		}
	}
}

// Runners that come with different plans at the same moment agree on one: the
// first freezes its plan, and the others are refused.
func TestOnePlanWins(t *testing.T) {
	dir := t.TempDir()
	var frozen atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range 8 {
		s, p := create(t, dir), makePlan(t, "d1", float64(i))
		wg.Go(func() {
			<-start
			err := s.FreezePlan(p, registry, false)
			var mismatch *store.PlanMismatchError
			switch {
			case err == nil:
				frozen.Add(1)
			case !errors.As(err, &mismatch):
				t.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	if n := frozen.Load(); n != 1 {
		t.Errorf("%d runners froze their plan", n)
	}
}

// The name of a folder may be a pattern that matches nothing, or another folder with a runner.
func TestLeftoversOfAFolderNamedLikeAPattern(t *testing.T) {
	parent := t.TempDir()
	other := filepath.Join(parent, "ab", "trials", ".key.json.1.tmp")
	if err := os.MkdirAll(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a*", "a[b]", "a["} {
		mine := filepath.Join(parent, name, "trials", ".key.json.1.tmp")
		if err := os.MkdirAll(filepath.Dir(mine), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(mine, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := store.Create(disk.System, filepath.Join(parent, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_ = s.Close()
		if _, err := os.Stat(mine); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: left behind: %v", name, err)
		}
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// Temporary files of plan and tables have no lock, and are removed when they are a day old.
func TestOldLeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	young, old := filepath.Join(dir, ".plan.json.1.tmp"), filepath.Join(dir, "tables", ".summary.md.2.tmp")
	if err := os.Mkdir(filepath.Join(dir, "tables"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, age := range map[string]time.Duration{young: time.Hour, old: 25 * time.Hour} {
		t.Run(path, func(t *testing.T) {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			when := time.Now().Add(-age)
			if err := os.Chtimes(path, when, when); err != nil {
				t.Fatal(err)
			}
		})
	}
	create(t, dir)
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a file of an hour ago is gone: %v", err)
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file of yesterday is still there: %v", err)
	}
}

// A record that is withdrawn is put aside, without being a defect; one that a
// runner is at stays.
func TestWithdraw(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, "d", 1.0, 2.0)
	s, other := create(t, dir), create(t, dir)
	for _, x := range p.Trials {
		if err := s.Put(newRecord(t, x)); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, err := other.Lock(p.Trials[1].Key); err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, x := range p.Trials {
		if err := s.Withdraw(x.Key); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Withdraw("unheard"); err != nil {
		t.Error(err)
	}
	keys, err := s.Keys()
	if err != nil || len(keys) != 1 || !keys[p.Trials[1].Key] || len(s.Asides()) != 0 {
		t.Errorf("%v, %v, %v", keys, err, s.Asides())
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "aside", p.Trials[0].Key+".json.*")); len(aside) != 1 {
		t.Errorf("put aside: %v", aside)
	}
}

// A plan of programs has the folder in which they ran last: a sweep may be moved.
func TestFolderOfAPlan(t *testing.T) {
	s := create(t, t.TempDir())
	for _, folder := range []string{"/before", "/after"} {
		p := makePlan(t, "d1", 1.0)
		if err := json.Unmarshal([]byte(`{"commands": {"folder": "`+folder+`", "programs": {}}}`), p); err != nil {
			t.Fatal(err)
		}
		if err := s.FreezePlan(p, registry, false); err != nil {
			t.Fatal(err)
		}
		if back, err := s.ReadPlan(registry); err != nil || back.Commands.Path() != folder {
			t.Errorf("%+v, %v, want %s", back.Commands, err, folder)
		}
	}
}

// The plan keeps the BLAS class on which it was made when another machine goes on with it, and
// when its tables change, which are no part of its identity. Early plans have no class.
func TestClassOfAPlan(t *testing.T) {
	for _, c := range []struct{ name, made, next, want string }{
		{"the same", "gonum-amd64", "gonum-amd64", "gonum-amd64"},
		{"another machine", "gonum-amd64", "openblas-0.3.21-zen", "gonum-amd64"},
		{"an early plan", "", "gonum-amd64", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s := create(t, dir)
			p := makePlan(t, "d1", 1.0)
			p.BLASClass = c.made
			if err := s.FreezePlan(p, registry, false); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, "plan.json"))
			if err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(string(text), `"blas_class"`); has != (c.made != "") {
				t.Errorf("the plan has a class: %v", has)
			}
			for _, tables := range [][]string{nil, {"demo/table1"}} {
				next := makePlan(t, "d1", 1.0)
				next.BLASClass, next.Tables = c.next, tables
				if err := s.FreezePlan(next, registry, false); err != nil {
					t.Fatal(err)
				}
				back, err := s.ReadPlan(registry)
				if err != nil {
					t.Fatal(err)
				}
				if next.BLASClass != c.want || back.BLASClass != c.want || len(back.Tables) != len(tables) {
					t.Errorf("tables %q: the class is %q, in the file %q with tables %q; want %q", tables, next.BLASClass,
						back.BLASClass, back.Tables, c.want)
				}
			}
			if c.made == "" {
				return
			}
			// The digest covers it.
			damaged := strings.Replace(string(text), c.made, "gonum-arm64", 1)
			if err := os.WriteFile(filepath.Join(dir, "plan.json"), []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := s.ReadPlan(registry); err == nil || !strings.Contains(err.Error(), "cannot be trusted") {
				t.Errorf("another class in the file: %v", err)
			}
		})
	}
}
