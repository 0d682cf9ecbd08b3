package trial_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// exporting is an experiment that exports the result of f.
func exporting(f func(*experiment.Trial) (*experiment.Release, error)) *experiment.Experiment {
	e := releasing(nil)
	e.Release = nil
	e.Export = func(_ context.Context, t *experiment.Trial, _ experiment.Params) (*experiment.Release, error) {
		return f(t)
	}
	return e
}

// bare is an export with nothing wrong.
func bare() *experiment.Release {
	r := good()
	r.Noise, r.Privacy = nil, &experiment.Privacy{Unit: "a place"}
	r.Privacy.Withdraw("a tolerance on variances is not differential privacy")
	return r
}

type register struct{ experiment.Exports }

func secureJob() trial.Job {
	return trial.Job{Identity: experiment.Identity{Experiment: "demo/a",
		Datasets: map[string]string{"csv:my.csv": "d1935f"}}, Secure: true}
}

// An export has the files of a release, an empty guarantee, and no budget.
func TestExportRecord(t *testing.T) {
	kept := new(register)
	e := exporting(func(tr *experiment.Trial) (*experiment.Release, error) {
		if tr.Entropy == nil || tr.Exports != kept {
			t.Error("no entropy for its noise, or another register")
		}
		return bare(), nil
	})
	r, exported, err := trial.Export(context.Background(), e, secureJob(), kept, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != record.OK || len(exported.Rows) != 2 || r.Series["released"]["prediction"][1] != 20 ||
		r.Privacy.Guarantee != "" || r.Privacy.RNG != "secure" || r.Release != nil || r.Timing != (record.Timing{}) {
		t.Errorf("%s", raw)
	}
	if text := string(raw); !strings.Contains(text, `"export":{"format":"export/1","noise":[]}`) ||
		strings.Contains(text, "d1935f") {
		t.Errorf("%s", text)
	}
}

func TestExportRefusals(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*experiment.Release)
		want  string
	}{
		{"a guarantee", func(r *experiment.Release) { r.Privacy.Guarantee = "(1, 0)-DP" }, "claims (1, 0)-DP"},
		{"no reason", func(r *experiment.Release) { r.Privacy.Notes = nil }, "why it has no guarantee"},
		{"no privacy", func(r *experiment.Release) { r.Privacy = nil }, "what it protects"},
		{"nothing", func(r *experiment.Release) { r.Rows = nil }, "nothing to"},
		{"ragged", func(r *experiment.Release) { r.Rows[1] = []float64{1} }, "row 2 of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := trial.Export(context.Background(), exporting(func(*experiment.Trial) (*experiment.Release, error) {
				r := bare()
				c.spoil(r)
				return r, nil
			}), secureJob(), nil, nil, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// An output that books a budget is a release.
func TestExportBooksNothing(t *testing.T) {
	_, _, err := trial.Export(context.Background(), exporting(func(tr *experiment.Trial) (*experiment.Release, error) {
		return bare(), tr.Book(experiment.Spending{})
	}), secureJob(), nil, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "books a budget") {
		t.Errorf("error %v", err)
	}
}

func TestExportNeedsEntropy(t *testing.T) {
	job := secureJob()
	job.Secure = false
	if _, _, err := trial.Export(context.Background(), exporting(nil), job, nil, nil, nil); err == nil {
		t.Error("noise from a seed was exported")
	}
	if _, _, err := trial.Export(context.Background(), releasing(nil), secureJob(), nil, nil, nil); err == nil {
		t.Error("an experiment without export exported")
	}
}
