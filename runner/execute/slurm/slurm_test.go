package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/plan"
	"privkern/runner/record"
)

func TestExecute(t *testing.T) {
	c := newCluster(t, 10)
	e := c.executor()
	e.TrialsPerTask, e.Chunk, e.MaxRunning, e.Options = 2, 3, 2, []Option{{"partition", "p"}}
	sum, err := c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 10, OK: 10}) {
		t.Fatalf("%+v, %v, %q", sum, err, c.observer.lines)
	}
	log := c.log("sbatch")
	if len(log) != 2 || !strings.Contains(log[0], "--array=0-2%2 ") || !strings.Contains(log[1], "--array=0-1%2 ") ||
		!strings.Contains(log[1], "--dependency=afterany:101") || strings.Contains(log[0], "dependency") ||
		!strings.Contains(log[0], "--partition=p") {
		t.Errorf("submitted %q", log)
	}
	if j := c.journal(); j.Open || j.Parts != 5 || len(j.Submissions) != 2 ||
		!slices.Equal(j.Submissions[1].Parts, []int{4, 5}) || j.Submissions[1].Job != "102" {
		t.Errorf("%+v", j)
	}
	if c.observer.finished[record.OK] != 10 || !slices.Equal(c.observer.planned, []int{10, 0}) ||
		!slices.Equal(c.observer.ahead, []int{10, 0}) {
		t.Errorf("%+v", c.observer)
	}
	// Again: nothing is submitted.
	sum, err = c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 10, OK: 10, Cached: 10}) || len(c.log("sbatch")) != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
}

// What is announced are the trials without a record, with the times of the others.
func TestWorkload(t *testing.T) {
	p := &plan.Plan{Trials: []plan.Trial{{Key: "a"}, {Key: "b"}, {Key: "c"}, {Key: "d"}}}
	w := workload(p, map[string]float64{"b": 2.5, "d": 0})
	if w.Plan != p || w.Jobs != 0 || !slices.Equal(w.Pending, []int{0, 2}) ||
		!slices.Equal(w.Past, []plan.Past{{Index: 1, Seconds: 2.5}, {Index: 3}}) {
		t.Errorf("%+v", w)
	}
}

// A trial that failed has a result: its task is not lost. --retry failed runs it
// again, once.
func TestFailedTrials(t *testing.T) {
	c := newCluster(t, 4)
	c.outcome = func(part, _ int) outcome {
		if part == 2 {
			return outcome{state: "FAILED", reason: "NonZeroExitCode", results: record.Failed}
		}
		return good
	}
	sum, err := c.execute(context.Background(), c.executor())
	if err != nil || sum != (schedule.Summary{Total: 4, OK: 3, Failed: 1}) || len(c.log("sbatch")) != 1 {
		t.Fatalf("%+v, %v, %q", sum, err, c.log("sbatch"))
	}
	if sum, err = c.execute(context.Background(), c.executor()); err != nil || sum.Cached != 4 || c.observer.before != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	e := c.executor()
	e.Retry = schedule.RetryFailed
	sum, err = c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 4, OK: 3, Failed: 1, Cached: 3}) || len(c.log("sbatch")) != 2 {
		t.Errorf("%+v, %v, %q", sum, err, c.log("sbatch"))
	}
	e.Retry = schedule.RetryAll
	sum, err = c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 4, OK: 3, Failed: 1}) || len(c.log("sbatch")) != 3 {
		t.Errorf("%+v, %v, %q", sum, err, c.log("sbatch"))
	}
}

// A record is not put aside for a job that is refused.
func TestRetryThatIsRefused(t *testing.T) {
	c := newCluster(t, 4)
	if _, err := c.execute(context.Background(), c.executor()); err != nil {
		t.Fatal(err)
	}
	e := c.executor()
	e.Retry, e.Options = schedule.RetryAll, []Option{{"partition", "x"}}
	c.write("sbatch.fail", "sbatch: error: invalid partition specified: x\n")
	if _, err := c.execute(context.Background(), e); err == nil || !strings.Contains(err.Error(), "invalid partition") {
		t.Error(err)
	}
	if got := c.log("test-only"); !slices.Equal(got, []string{"--test-only --partition=x --wrap=true"}) {
		t.Errorf("%q", got)
	}
	e.Chunk = 21
	if _, err := c.execute(context.Background(), e); err == nil || !strings.Contains(err.Error(), "--array-chunk is 21") {
		t.Error(err)
	}
	files, err := os.ReadDir(filepath.Join(c.dir, "trials"))
	if err != nil || len(files) != 4 || c.journal().Open {
		t.Errorf("%d records are left, %v", len(files), err)
	}
}

// The first failure stops the jobs where that is asked for.
func TestFailFast(t *testing.T) {
	c := newCluster(t, 4)
	c.outcome = func(part, _ int) outcome {
		if part == 2 {
			return outcome{state: "FAILED", results: record.Failed}
		}
		return outcome{state: "live"}
	}
	e := c.executor()
	e.FailFast = true
	sum, err := c.execute(context.Background(), e)
	if !errors.Is(err, schedule.ErrFailFast) || sum != (schedule.Summary{Total: 4, Failed: 1, NotRun: 3}) {
		t.Errorf("%+v, %v", sum, err)
	}
	if got := c.log("scancel"); !slices.Equal(got, []string{"101"}) {
		t.Errorf("cancelled %q", got)
	}
}

// Trials that were skipped are looked at again by every command, once, whatever the
// exit status of their task: one of which all trials were skipped ends with 1.
func TestSkipped(t *testing.T) {
	for _, state := range []string{"COMPLETED", "FAILED"} {
		t.Run(state, func(t *testing.T) {
			c := newCluster(t, 3)
			c.outcome = func(int, int) outcome { return outcome{state: state, results: record.Skipped} }
			for n := range 2 {
				sum, err := c.execute(context.Background(), c.executor())
				if err != nil || sum != (schedule.Summary{Total: 3, Skipped: 3}) || len(c.log("sbatch")) != n+1 {
					t.Fatalf("%+v, %v, %q", sum, err, c.observer.lines)
				}
				time.Sleep(20 * time.Millisecond) // the clock of a file system may tick slowly
			}
		})
	}
}

// Where a user may have no more jobs, the rest is submitted when some have
// ended.
func TestNoRoomForMore(t *testing.T) {
	c := newCluster(t, 6)
	c.write("sbatch.full", "")
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	go func() {
		eventually(t, "word of it", func() bool { return c.observer.said("4 parts cannot be submitted now") == 1 })
		_ = os.Remove(filepath.Join(c.folder, "sbatch.full"))
		c.put(0, record.OK)
		c.put(1, record.OK)
		_ = os.Remove(filepath.Join(c.folder, "queue", "101")) // the job has ended
		eventually(t, "more submissions", func() bool { return c.observer.said("submitted 2 tasks") == 3 })
		for i := 2; i < 6; i++ {
			c.put(i, record.OK)
		}
	}()
	e := c.executor()
	e.Chunk = 2
	if sum, err := c.execute(context.Background(), e); err != nil || sum.OK != 6 {
		t.Errorf("%+v, %v, %q", sum, err, c.observer.lines)
	}
}

// What a user has set for sbatch applies, but for what the executor reserves.
func TestOptionsInTheEnvironment(t *testing.T) {
	c := newCluster(t, 1)
	for _, name := range []string{"SBATCH_ACCOUNT", "SBATCH_EXPORT", "SBATCH_ERROR", "SBATCH_WAIT", "SBATCH_OPEN_MODE"} {
		t.Setenv(name, "x")
	}
	if _, err := c.execute(context.Background(), c.executor()); err != nil {
		t.Fatal(err)
	}
	if got := c.log("environment"); !slices.Equal(got, []string{"SBATCH_ACCOUNT=x"}) {
		t.Errorf("%q", got)
	}
	t.Setenv("SBATCH_CLUSTERS", "other")
	if _, err := newCluster(t, 1).execute(context.Background(), c.executor()); err == nil ||
		!strings.Contains(err.Error(), "SBATCH_CLUSTERS is set") {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	t.Run("no commands", func(t *testing.T) {
		c := newCluster(t, 1)
		t.Setenv("PATH", c.folder)
		if _, err := c.execute(context.Background(), c.executor()); err == nil ||
			!strings.Contains(err.Error(), "sbatch is not in PATH") {
			t.Error(err)
		}
	})
	t.Run("sbatch refuses", func(t *testing.T) {
		c := newCluster(t, 1)
		c.write("sbatch.fail", "sbatch: error: invalid partition specified: x\n")
		if _, err := c.execute(context.Background(), c.executor()); err == nil ||
			!strings.Contains(err.Error(), "sbatch: error: invalid partition specified: x (exit status 1)") {
			t.Error(err)
		}
		if j := c.journal(); len(j.Submissions) != 0 {
			t.Errorf("%+v", j)
		}
	})
	t.Run("no controller", func(t *testing.T) {
		c := newCluster(t, 1)
		c.write("squeue.fail", "no controller\n")
		if _, err := c.execute(context.Background(), c.executor()); err == nil ||
			!strings.Contains(err.Error(), "squeue: no controller") {
			t.Error(err)
		}
	})
	t.Run("array too large", func(t *testing.T) {
		c := newCluster(t, 1)
		e := c.executor()
		e.Chunk = 21
		if _, err := c.execute(context.Background(), e); err == nil ||
			!strings.Contains(err.Error(), "--array-chunk is 21; this site allows array jobs of at most 20 tasks") {
			t.Error(err)
		}
	})
	t.Run("jobs of another plan", func(t *testing.T) {
		c := newCluster(t, 2)
		c.outcome = func(int, int) outcome { return outcome{state: "live"} }
		ctx, stop := context.WithCancel(context.Background())
		go func() {
			eventually(t, "a submission", func() bool { return c.observer.said("submitted") == 1 })
			stop()
		}()
		if _, err := c.execute(ctx, c.executor()); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		c.plan.Trials = c.plan.Trials[:1] // as after --replan
		if _, err := c.execute(context.Background(), c.executor()); err == nil ||
			!strings.Contains(err.Error(), "are still there; wait for their end, or cancel them: scancel 101") {
			t.Error(err)
		}
	})
	for _, row := range []struct{ name, text, want string }{
		{"torn", "{", "jobs.json cannot be read"},
		{"of another schema", `{"schema": 9}`, "jobs.json has schema 9; this version reads 1"},
		{"more parts than there are", `{"schema": 1, "round": 1, "open": true, "parts": 1, ` +
			`"submissions": [{"round": 1, "parts": "1-2"}]}`, "parts beyond the 1 that there are"},
		{"falling parts", `{"schema": 1, "round": 1, "submissions": [{"round": 1, "parts": "2-1"}]}`,
			`"2-1" is no list of parts`},
		{"no parts", `{"schema": 1, "open": true}`, "the plan is in 0 parts"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newCluster(t, 1)
			if err := os.MkdirAll(filepath.Join(c.dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(c.dir, folder, journalFile), []byte(row.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := c.execute(context.Background(), c.executor()); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: %v", row.text, err)
			}
		})
	}
}
