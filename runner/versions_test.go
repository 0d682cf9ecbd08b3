package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"privkern/runner"
	"privkern/runner/execute/merge"
	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	settings "privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/show"
	"privkern/runner/store/disk"
)

// An output folder of every format that there was is read: shown, resumed, merged,
// checked and repaired. The experiments are those of the folder, with the versions
// that they had, so that the folders outlive them.
func TestFormatsOfEveryVersion(t *testing.T) {
	for _, c := range []struct {
		folder   string
		refused  string // why the plan is not read; "" where it is
		unsealed int    // records
		sealed   int    // files that a repair gives digests
	}{
		{"escaped", "the plan has no result versions", 4, 0},
		{"plain", "the plan has no result versions", 4, 0},
		{"result-versions", "", 4, 5},
		{"sealed", "", 0, 0},
	} {
		t.Run(c.folder, func(t *testing.T) {
			from := filepath.Join("testdata", "versions", c.folder)
			old := readFolder(t, from)
			cat := runner.NewCatalogue([]experiment.Paper{{Name: "demo",
				Experiments: append(old.experiments, double.Experiment, other.Experiment), Ledger: []byte(ledger)}})
			dir := filepath.Join(t.TempDir(), "out")
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			k, err := cat.Check(dir, false, "")
			if err != nil || k.Records != 4 || k.Unsealed != c.unsealed {
				t.Fatalf("%+v, %v", k, err)
			}
			if c.refused != "" {
				if len(k.Problems) != 1 || !strings.Contains(k.Problems[0].Reason, c.refused) ||
					!strings.Contains(k.Problems[0].Reason, "--replan") {
					t.Errorf("%+v", k.Problems)
				}
				old.replan(t, cat, dir)
				return
			}
			if len(k.Problems) > 0 {
				t.Errorf("%+v", k.Problems)
			}
			old.show(t, cat, dir)
			into := filepath.Join(t.TempDir(), "merged")
			if r, err := merge.Folders(disk.System, into, []string{dir}, "", cat.Experiments); err != nil || r.Copied != 4 {
				t.Errorf("merge: %+v, %v", r, err)
			}
			old.show(t, cat, into)
			if k, err = cat.Check(into, true, ""); err != nil || k.Sealed != c.sealed-min(1, c.sealed) || len(k.Problems) > 0 {
				t.Errorf("repair of the merged: %+v, %v", k, err)
			}
			if k, err = cat.Check(dir, true, ""); err != nil || k.Sealed != c.sealed || len(k.Problems) > 0 {
				t.Errorf("repair: %+v, %v", k, err)
			}
			if k, err = cat.Check(dir, false, ""); err != nil || k.Unsealed != 0 || len(k.Problems) > 0 {
				t.Errorf("after the repair: %+v, %v", k, err)
			}
			old.show(t, cat, dir)
			_, p := results(t, cat, dir)
			old.resume(t, cat, runner.SweepRun{Dir: dir, Plan: p})
		})
	}
}

// oldFolder has the settings of a folder of an earlier version.
type oldFolder struct {
	experiments []*experiment.Experiment
	settings    []settings.Assignment
	data        noOldData
}

// noOldData is the data sets of the folder, which are not there.
type noOldData map[string]string

func (d noOldData) Find(name string) (string, string, error) { return "", d[name], missingError{} }

type missingError struct{}

func (missingError) Error() string  { return "kung is not here" }
func (missingError) Advice() string { return "none" }

// conditions has the metric of the folders' experiments.
var conditions = experiment.Of(experiment.Declaration[*struct{}, conditionMetrics]{})()

type conditionMetrics struct {
	Condition float64 `name:"condition" doc:"condition of a matrix"`
}

func notRun(context.Context, *experiment.Trial, experiment.Params) (*experiment.Result, error) {
	return nil, errors.New("an old trial is not run")
}

// readFolder makes experiments like those of the plan: with their names, versions
// and parameters.
func readFolder(t *testing.T, dir string) *oldFolder {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Datasets noOldData
		Versions map[string]int `json:"result_versions"`
		Trials   []struct {
			Experiment string
			Params     map[string]any
			Seed       int64
		}
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	f := &oldFolder{data: p.Datasets}
	known := map[string]*experiment.Experiment{}
	for _, x := range p.Trials {
		e := known[x.Experiment]
		if e == nil {
			// The version of all of them before plans had versions.
			e = &experiment.Experiment{Untyped: experiment.Untyped{
				Name: x.Experiment, Version: max(1, p.Versions[x.Experiment]), Run: notRun}}
			for name, value := range x.Params {
				param := experiment.Param{Name: name, Kind: experiment.Number, Default: value}
				if _, ok := value.(string); ok {
					param.Kind = experiment.Text
				}
				e.Params = append(e.Params, param)
			}
			if strings.HasPrefix(e.Name, "cloaking/") {
				e.Datasets = func(experiment.Params) []string { return []string{"kung"} }
			} else {
				e.Metrics = conditions.Metrics
			}
			known[x.Experiment] = e
			f.experiments = append(f.experiments, e)
		}
		params, err := e.Resolve(x.Params)
		if err != nil {
			t.Fatal(err)
		}
		f.settings = append(f.settings, settings.Assignment{Experiment: e, Params: params, Seed: x.Seed})
	}
	return f
}

func results(t *testing.T, c *runner.Catalogue, dir string) (*show.Results, *plan.Plan) {
	t.Helper()
	r, err := c.Results(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r, r.Plan
}

// show compares the records of a folder with those of its making.
func (f *oldFolder) show(t *testing.T, c *runner.Catalogue, dir string) {
	t.Helper()
	r, p := results(t, c, dir)
	if asides := r.Store.Asides(); len(asides) > 0 {
		t.Errorf("not read: %+v", asides)
	}
	var got []float64
	for _, x := range p.Trials {
		rec, ok, err := r.Store.Get(x.Key)
		switch {
		case err != nil || !ok:
			t.Errorf("%.8s: %v, %v", x.Key, ok, err)
		case rec.Status == record.OK:
			got = append(got, conditions.Values(rec.Metrics).Condition)
		case rec.Status != record.Skipped || !strings.Contains(*rec.Error, "kung"):
			t.Errorf("%+v", rec)
		}
	}
	if len(got) != 3 || got[0] != got[1] || int(1e6*got[0]) != 6358316 || int(1e6*got[2]) != 151886595 {
		t.Errorf("the metric is %v", got)
	}
	var table strings.Builder
	for _, one := range r.Summary {
		table.WriteString(one.Experiment)
	}
	if !strings.Contains(table.String(), "privacygp/uniform") || len(r.Summary) != 3 {
		t.Errorf("tables of %s", table.String())
	}
}

// resume runs the rest, which is the trial without data.
func (f *oldFolder) resume(t *testing.T, c *runner.Catalogue, req runner.SweepRun) {
	t.Helper()
	req.Executor = &schedule.Local{Experiments: c.Experiments, Data: plan.NewDatasets(f.data),
		Options: schedule.Options{NewRunner: func() schedule.Runner { return noRunner{t} }}}
	sum, err := c.Run(t.Context(), req)
	if err != nil || sum.OK != 3 || sum.Cached != 3 || sum.Skipped != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// noRunner has nothing to run.
type noRunner struct{ t *testing.T }

func (r noRunner) Run(_ context.Context, job trial.Job, _ time.Duration, _ trial.ProgressFunc) (*record.Record, error) {
	r.t.Errorf("%s runs again", job.Experiment)
	return trial.NewRecord(job)
}

func (noRunner) Close() {}

// replan makes a plan in place of one that is not read. The results are those of
// the new plan, since the keys of their settings have not changed.
func (f *oldFolder) replan(t *testing.T, c *runner.Catalogue, dir string) {
	t.Helper()
	p, err := plan.New(f.settings, plan.NewDatasets(f.data),
		plan.Options{Title: "Again", Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	req := runner.SweepRun{Dir: dir, Plan: p}
	if _, err := c.Run(t.Context(), req); err == nil || !strings.Contains(err.Error(), "--replan") {
		t.Errorf("another plan: %v", err)
	}
	req.Replan = true
	f.resume(t, c, req)
	if aside, err := filepath.Glob(filepath.Join(dir, "aside", "plan.json.*")); err != nil || len(aside) != 1 {
		t.Errorf("the old plan: %v, %v", aside, err)
	}
	f.show(t, c, dir)
	if k, err := c.Check(dir, true, ""); err != nil || len(k.Problems) > 0 || k.Sealed < 3 {
		t.Errorf("repair: %+v, %v", k, err)
	}
}
