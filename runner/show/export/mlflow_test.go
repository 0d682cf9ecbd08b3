package export_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"privkern/runner/show/export"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// tree reads a folder: relative path to content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func exportMLflow(t *testing.T, dir, from string) export.Counts {
	t.Helper()
	counts, err := export.MLflow(t.Context(), dir,
		[]*export.RunGroup{{Folder: open(t, from)[0], Artifacts: []export.Artifact{
			{Path: "tables/demo.md", Paper: "demo", Data: []byte("| a |")},
			{Path: "tables/far.md", Paper: "far", Data: []byte("no")},
		}}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// experimentID finds an experiment by its name.
func experimentID(t *testing.T, dir, name string) string {
	t.Helper()
	metas, err := filepath.Glob(filepath.Join(dir, "*", "meta.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range metas {
		if meta := readMeta(t, path); meta["name"] == name {
			return filepath.Base(filepath.Dir(path))
		}
	}
	t.Fatalf("%s has no experiment %s", dir, name)
	return ""
}

func readMeta(t *testing.T, path string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var meta map[string]any
	if err := yaml.Unmarshal(raw, &meta); err != nil {
		t.Fatal(err)
	}
	return meta
}

func TestMLflowLayout(t *testing.T) {
	from, p := output(t)
	dir := filepath.Join(t.TempDir(), "ml runs") // a space, which the addresses must escape
	if counts := exportMLflow(t, dir, from); counts != (export.Counts{Trials: 4, NotRun: 1}) {
		t.Errorf("counts are %+v", counts)
	}
	id := experimentID(t, dir, "demo/fit")
	run := filepath.Join(dir, id, p.Trials[0].Key[:32])
	files := tree(t, run)
	for name, want := range map[string]string{
		"params/epsilon": "inf", "params/at": "[1,2.5]", "params/seed": "0", "params/dtype": "float64",
		"tags/privkern.key": p.Trials[0].Key, "tags/mlflow.source.git.commit": "0123abc",
		"tags/mlflow.runName": "epsilon=inf exact=true seed=0",
	} {
		t.Run(name, func(t *testing.T) {
			equal(t, name, files[name], want)
		})
	}
	fields := func(name string) [][]string {
		var out [][]string
		for line := range strings.Lines(files[name]) {
			out = append(out, strings.Fields(line)[1:]) // without the time
		}
		return out
	}
	equal(t, "metric", fields("metrics/rmse_cm"), [][]string{{"0.30000000000000004", "0"}})
	equal(t, "a curve over whole x, with a gap", fields("metrics/series/curve/y"), [][]string{{"1.5", "0"}, {"-2", "10"}})
	equal(t, "a curve over other x", fields("metrics/series/slope/y"), [][]string{{"3", "0"}, {"4", "1"}})
	equal(t, "x that are no steps", fields("metrics/series/slope/x"), [][]string{{"0.5", "0"}, {"1", "1"}})
	for name := range files {
		if strings.Contains(name, "scatter") {
			t.Errorf("%s is no curve", name)
		}
	}
	if !strings.Contains(files["artifacts/record.json"], `"scatter":`) {
		t.Error("the artifact is not the whole record")
	}

	status := func(i int) any {
		return readMeta(t, filepath.Join(dir, experimentID(t, dir, p.Trials[i].Experiment),
			p.Trials[i].Key[:32], "meta.yaml"))["status"]
	}
	equal(t, "FINISHED, FAILED, KILLED", []any{status(0), status(2), status(3)}, []any{3, 4, 5})
	meta := readMeta(t, filepath.Join(run, "meta.yaml"))
	equal(t, "experiment", meta["experiment_id"], any(id))
	equal(t, "artifacts", meta["artifact_uri"], any("file://"+strings.ReplaceAll(run, " ", "%20")+"/artifacts"))
	s, err := store.Open(disk.System, from)
	if err != nil {
		t.Fatal(err)
	}
	written, err := s.Modified(p.Trials[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "end", meta["end_time"], any(uint64(written.UnixMilli())))

	parent := tree(t, filepath.Join(dir, id, files["tags/mlflow.parentRunId"]))
	equal(t, "table of the paper", parent["artifacts/tables/demo.md"], "| a |")
	if _, ok := parent["artifacts/tables/far.md"]; ok {
		t.Error("the run has another paper's table")
	}
	equal(t, "failed trials", strings.Fields(parent["metrics/trials/failed"])[1], "1")
	// MLflow takes a folder without one of these for no run.
	for _, name := range []string{"artifacts", "metrics", "params", "tags"} {
		if info, err := os.Stat(filepath.Join(dir, id, files["tags/mlflow.parentRunId"], name)); err != nil || !info.IsDir() {
			t.Errorf("the parent run has no folder %s", name)
		}
	}
}

// Exporting again replaces the runs, keeps the tags of others, and finds an
// experiment that was renamed.
func TestMLflowAgain(t *testing.T) {
	from, p := output(t)
	dir := filepath.Join(t.TempDir(), "mlruns")
	exportMLflow(t, dir, from)
	before := tree(t, dir)
	id := experimentID(t, dir, "demo/fit")
	mine := filepath.Join(dir, id, p.Trials[0].Key[:32], "tags", "mine")
	meta := filepath.Join(dir, id, "meta.yaml")
	renamed := strings.Replace(before[id+"/meta.yaml"], "demo/fit", "my name", 1)
	stale := filepath.Join(dir, id, p.Trials[0].Key[:32], "metrics", "stale")
	for path, text := range map[string]string{mine: "kept", meta: renamed, stale: "1 2 3\n"} {
		t.Run(path, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
	exportMLflow(t, dir, from)
	after := tree(t, dir)
	if after[id+"/"+p.Trials[0].Key[:32]+"/tags/mine"] != "kept" {
		t.Error("a tag that was added is lost")
	}
	if after[id+"/meta.yaml"] != renamed {
		t.Error("the experiment's new name is lost")
	}
	delete(after, id+"/"+p.Trials[0].Key[:32]+"/tags/mine")
	after[id+"/meta.yaml"] = before[id+"/meta.yaml"]
	equal(t, "the store", after, before)
}

// Nothing is made of nothing.
func TestMLflowWithoutResults(t *testing.T) {
	from, p := output(t)
	for _, planned := range p.Trials {
		if err := os.RemoveAll(filepath.Join(from, "trials", planned.Key+".json")); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "mlruns")
	_, err := export.MLflow(t.Context(), dir, []*export.RunGroup{{Folder: open(t, from)[0]}}, opts)
	if err == nil || !strings.Contains(err.Error(), "no trial has a result") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("an empty store was made")
	}
}

// A record of unknown origin leads to no file outside its run.
func TestMLflowNamesStayInTheRun(t *testing.T) {
	from, p := output(t)
	s, err := store.Create(disk.System, from)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecord(t, p.Trials[0])
	r.Metrics = map[string]float64{"../../../../../escaped/x": 1, "/a//../b": 2, "rmse_cm": 0.3}
	if err := errors.Join(s.Put(r), s.Close()); err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	dir := filepath.Join(top, "a", "mlruns")
	exportMLflow(t, dir, from)
	run := filepath.Join(experimentID(t, dir, "demo/fit"), p.Trials[0].Key[:32], "metrics")
	got := tree(t, filepath.Join(dir, run))
	if got["__/__/__/__/__/escaped/x"] == "" || got["_/a/_/__/b"] == "" {
		t.Errorf("the metrics are %v", slices.Sorted(maps.Keys(got)))
	}
	if entries, err := os.ReadDir(top); err != nil || len(entries) != 1 {
		t.Errorf("beside the store there is %v (%v)", entries, err)
	}
}

// The size of the store is known from the first run.
func TestMLflowForeseesItsSize(t *testing.T) {
	from, p := output(t)
	dir := filepath.Join(t.TempDir(), "mlruns")
	calls, foreseen, bytes := 0, 0, int64(0)
	opts := opts
	opts.Foresee = func(n int, b int64) { calls, foreseen, bytes = calls+1, n, b }
	if _, err := export.MLflow(t.Context(), dir, []*export.RunGroup{{Folder: open(t, from)[0]}}, opts); err != nil {
		t.Fatal(err)
	}
	first := tree(t, filepath.Join(dir, experimentID(t, dir, "demo/fit"), p.Trials[0].Key[:32]))
	if want := len(first) * len(p.Trials); calls != 1 || foreseen != want || bytes < 4096*int64(want) {
		t.Errorf("%d calls: %d files of %d bytes, want %d", calls, foreseen, bytes, want)
	}
}
