package trial_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// private stands for a value that is computed from private data.
const private = 12345.678

// sharing is an experiment that shares work, which takes a moment; done counts how often
// it is done.
func sharing(done *int) *experiment.Experiment {
	return demo(func(ctx context.Context, t *experiment.Trial) (*experiment.Result, error) {
		v, err := t.Memo(ctx, "work", func(in *experiment.Inputs) { in.Text("inputs") }, shares(done))
		if err != nil {
			return nil, err
		}
		return &experiment.Result{Metrics: map[string]float64{"y": v.Numbers["x"][0]}}, nil
	})
}

func shares(done *int) func() (*experiment.Shared, error) {
	return func() (*experiment.Shared, error) {
		*done++
		time.Sleep(2 * time.Millisecond)
		return &experiment.Shared{Numbers: map[string][]float64{"x": {private}}}, nil
	}
}

// written are all files of an output folder but its lock.
func written(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "lock" {
			files = append(files, at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Work is shared where the job allows it, and never by a trial whose noise is secure,
// nor by one whose times would leave out the work of others.
func TestWhoSharesWork(t *testing.T) {
	for name, c := range map[string]struct {
		timed, counts bool
		job           trial.Job
		limit         int64
		shares        bool
	}{
		"a trial of a sweep":                     {limit: 1 << 20, shares: true},
		"without a folder":                       {},
		"none is to be kept":                     {limit: -1},
		"secure noise":                           {limit: 1 << 20, job: trial.Job{Secure: true}},
		"a trial with a profile":                 {limit: 1 << 20, job: trial.Job{Profile: "/dev/null"}},
		"a timed trial":                          {limit: 1 << 20, timed: true},
		"a timed trial that counts it":           {limit: 1 << 20, timed: true, counts: true, shares: true},
		"a timed trial with secure noise":        {limit: 1 << 20, timed: true, counts: true, job: trial.Job{Secure: true}},
		"another result, of other worker counts": {limit: 1 << 20, job: trial.Job{Workers: 7}, shares: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir, done := t.TempDir(), 0
			e := sharing(&done)
			e.Metrics[0].Timing, e.CountsShared = c.timed, c.counts
			if c.limit != 0 {
				c.job.Shared = trial.SharedWork{Dir: dir, Limit: c.limit}
			}
			for run := range 2 {
				r, err := trial.Execute(t.Context(), e, c.job, nil, nil)
				if err != nil || r.Status != record.OK || !maps.Equal(r.Metrics, map[string]float64{"y": private}) {
					t.Fatalf("%+v, %v", r, err)
				}
				found := run == 1 && c.shares
				if (r.Timing.SharedS >= .002) != found || (r.Timing.SharedS > 0) != found {
					t.Errorf("run %d: shared_s is %g", run, r.Timing.SharedS)
				}
				if slices.Contains(r.Warnings, record.TimedShared) != (found && c.timed) {
					t.Errorf("run %d: warnings %q", run, r.Warnings)
				}
			}
			if wanted := map[bool]int{true: 1, false: 2}[c.shares]; done != wanted {
				t.Errorf("done %d times, not %d", done, wanted)
			}
			if files := written(t, dir); len(files) > 0 != c.shares {
				t.Errorf("files %v", files)
			}
			if entries, err := os.ReadDir(dir); err != nil || !c.shares && len(entries) > 0 {
				t.Errorf("it looked into the folder: %v, %v", entries, err)
			}
		})
	}
}

// A release writes nothing that it computes from private data, wherever it runs.
func TestReleaseSharesNothing(t *testing.T) {
	dir, done := t.TempDir(), 0
	e := releasing(func(tr *experiment.Trial) (*experiment.Release, error) {
		_, err := tr.Memo(t.Context(), "work", func(*experiment.Inputs) {}, shares(&done))
		return good(), err
	})
	job := trial.Job{Identity: experiment.Identity{Experiment: "demo/a"}, Secure: true,
		Shared: trial.SharedWork{Dir: dir, Limit: 1 << 20}}
	for range 2 {
		if _, _, err := trial.Release(t.Context(), e, job, booked, nil); err != nil {
			t.Fatal(err)
		}
	}
	if files := written(t, dir); done != 2 || len(files) > 0 {
		t.Errorf("done %d times, files %v", done, files)
	}
	// Nor does one that was given a keeper by mistake.
	for name, tr := range map[string]*experiment.Trial{
		"secure":  {Secure: true},
		"books":   {Book: booked.Book},
		"entropy": {Entropy: strings.NewReader("")},
	} {
		t.Run(name, func(t *testing.T) {
			tr.Keeper = noKeeper{t}
			if v, err := tr.Memo(t.Context(), "work", func(*experiment.Inputs) {}, shares(&done)); err != nil || v == nil {
				t.Error(err)
			}
		})
	}
}

// noKeeper must not be called.
type noKeeper struct{ t *testing.T }

func (k noKeeper) Keep(context.Context, string, string, func() (*experiment.Shared, error),
) (*experiment.Shared, error) {
	k.t.Error("private work is kept")
	return nil, errors.New("kept")
}

// Without a folder to share in there is a notice, and the trial does its work.
func TestSharedWorkWithoutItsFolder(t *testing.T) {
	var notices []string
	done := 0
	job := trial.Job{Shared: trial.SharedWork{Dir: filepath.Join(t.TempDir(), "gone"), Limit: 1},
		Notice: func(text string) { notices = append(notices, text) }}
	r, err := trial.Execute(t.Context(), sharing(&done), job, nil, nil)
	if err != nil || r.Status != record.OK || len(notices) != 1 || !strings.Contains(notices[0], "shared work") {
		t.Errorf("%+v, %v, noticed %q", r, err, notices)
	}
	if err := os.Mkdir(job.Shared.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r, err = trial.Execute(t.Context(), sharing(&done), job, nil, nil)
	if err != nil || r.Status != record.OK || len(notices) != 2 || !strings.Contains(notices[1], "more than the limit") {
		t.Errorf("%+v, %v, noticed %q", r, err, notices)
	}
}

// Inputs that differ have another digest, however they are divided.
func TestInputs(t *testing.T) {
	seen := map[string]string{}
	for name, add := range map[string]func(*experiment.Inputs){
		"nothing":         func(*experiment.Inputs) {},
		"no text":         func(in *experiment.Inputs) { in.Text() },
		"an empty text":   func(in *experiment.Inputs) { in.Text("") },
		"ab":              func(in *experiment.Inputs) { in.Text("ab") },
		"a, b":            func(in *experiment.Inputs) { in.Text("a", "b") },
		"a and b":         func(in *experiment.Inputs) { in.Text("a"); in.Text("b") },
		"b, a":            func(in *experiment.Inputs) { in.Text("b", "a") },
		"zero":            func(in *experiment.Inputs) { in.Numbers(0) },
		"no number":       func(in *experiment.Inputs) { in.Numbers() },
		"whole zero":      func(in *experiment.Inputs) { in.Whole(0) },
		"minus one":       func(in *experiment.Inputs) { in.Whole(-1) },
		"two zeros":       func(in *experiment.Inputs) { in.Numbers(0, 0) },
		"the last of 600": func(in *experiment.Inputs) { n := make([]float64, 600); n[599] = 1; in.Numbers(n...) },
		"the 512th":       func(in *experiment.Inputs) { n := make([]float64, 600); n[511] = 1; in.Numbers(n...) },
		"600 zeros":       func(in *experiment.Inputs) { in.Numbers(make([]float64, 600)...) },
	} {
		d := experiment.Digest(add)
		if other, twice := seen[d]; twice {
			t.Errorf("%s and %s have the digest %s", name, other, d)
		}
		seen[d] = name
		if again := experiment.Digest(add); again != d {
			t.Errorf("%s: %s, then %s", name, d, again)
		}
	}
}
