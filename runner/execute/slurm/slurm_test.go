package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// A trial that failed has a result: its task is not lost. --retry failed runs it
// again, once; a record is not put aside for a job that is refused.
func TestFailedTrials(t *testing.T) {
	c := newCluster(t, 4)
	c.outcome = func(part, _ int) outcome {
		if part == 2 {
			return outcome{state: "FAILED", reason: "NonZeroExitCode", results: record.Failed}
		}
		return good
	}
	for i, row := range []struct {
		retry schedule.Retry
		want  schedule.Summary
		jobs  int
	}{
		{"", schedule.Summary{Total: 4, OK: 3, Failed: 1}, 1},
		{"", schedule.Summary{Total: 4, OK: 3, Failed: 1, Cached: 4}, 1},
		{schedule.RetryFailed, schedule.Summary{Total: 4, OK: 3, Failed: 1, Cached: 3}, 2},
		{schedule.RetryAll, schedule.Summary{Total: 4, OK: 3, Failed: 1}, 3},
	} {
		e := c.executor()
		e.Retry = row.retry
		sum, err := c.execute(context.Background(), e)
		if err != nil || sum != row.want || len(c.log("sbatch")) != row.jobs || c.observer.before != min(i, 1) {
			t.Fatalf("command %d: %+v, %v, %q", i, sum, err, c.log("sbatch"))
		}
	}
	e := c.executor()
	e.Retry, e.Options = schedule.RetryAll, []Option{{"partition", "x"}}
	c.write("sbatch.fail", "sbatch: error: invalid partition specified: x\n")
	if _, err := c.execute(context.Background(), e); err == nil || !strings.Contains(err.Error(), "invalid partition") {
		t.Error(err)
	}
	files, err := os.ReadDir(filepath.Join(c.dir, "trials"))
	if got := c.log("test-only"); err != nil || len(files) != 4 ||
		got[len(got)-1] != "--test-only --partition=x --wrap=true" {
		t.Errorf("%d records are left, %v, %q", len(files), err, got)
	}
}

// The first failure, and the first task that is lost too often, stop the jobs with FailFast.
func TestFailFast(t *testing.T) {
	for _, row := range []struct {
		second outcome
		want   schedule.Summary
		said   string
	}{
		{outcome{state: "FAILED", results: record.Failed}, schedule.Summary{Total: 4, Failed: 1, NotRun: 3}, ""},
		{outcome{state: "NODE_FAIL"}, schedule.Summary{Total: 4, NotRun: 4}, "its task was lost twice"},
	} {
		t.Run(row.second.state, func(t *testing.T) {
			c := newCluster(t, 4)
			c.outcome = func(part, _ int) outcome {
				if part == 2 {
					return row.second
				}
				return outcome{state: "live"}
			}
			e := c.executor()
			e.FailFast, e.Requeue = true, 1
			sum, err := c.execute(context.Background(), e)
			if !errors.Is(err, schedule.ErrFailFast) || sum != row.want || c.observer.said(row.said) == 0 {
				t.Errorf("%+v, %v, %q", sum, err, c.observer.lines)
			}
			if got := c.log("scancel"); !slices.Equal(got, []string{"101"}) {
				t.Errorf("cancelled %q", got)
			}
		})
	}
}

// Trials that were skipped are looked at again by every command, once, and keep their
// records until then, also where the job is refused. A task whose trials were all skipped
// ends with status 1.
func TestSkipped(t *testing.T) {
	c := newCluster(t, 3)
	c.outcome = func(int, int) outcome { return outcome{state: "FAILED", results: record.Skipped} }
	for n := range 2 {
		sum, err := c.execute(context.Background(), c.executor())
		if err != nil || sum != (schedule.Summary{Total: 3, Skipped: 3}) || len(c.log("sbatch")) != n+1 {
			t.Fatalf("%+v, %v, %q", sum, err, c.observer.lines)
		}
		time.Sleep(20 * time.Millisecond) // the clock of a file system may tick slowly
	}
	c.write("sbatch.fail", "sbatch: error: invalid account\n")
	if _, err := c.execute(context.Background(), c.executor()); err == nil || !strings.Contains(err.Error(), "account") {
		t.Error(err)
	}
	if files, err := os.ReadDir(filepath.Join(c.dir, "trials")); err != nil || len(files) != 3 {
		t.Errorf("%d records are left, %v", len(files), err)
	}
}

// Where a user may have no more jobs, the rest is submitted when some have
// ended.
func TestNoRoomForMore(t *testing.T) {
	c := newCluster(t, 6)
	c.write("sbatch.full", "")
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	go func() {
		c.observer.says(t, "4 parts cannot be submitted now")
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

// The SBATCH_ variables of a user apply, except those that the executor reserves.
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
}

func TestRefusals(t *testing.T) {
	for _, row := range []struct {
		name  string
		setUp func(c *cluster)
		want  string
	}{
		{"no commands", func(c *cluster) { c.t.Setenv("PATH", c.folder) }, "sbatch is not in PATH"},
		{"many clusters", func(c *cluster) { c.t.Setenv("SBATCH_CLUSTERS", "other") }, "SBATCH_CLUSTERS is set"},
		{"sbatch refuses", func(c *cluster) {
			c.write("sbatch.fail", "sbatch: error: invalid partition specified: x\n")
		}, "sbatch: error: invalid partition specified: x (exit status 1)"},
		{"array too large", func(c *cluster) { c.write("sbatch.fail", "sbatch: error: Invalid job array specification\n") },
			"Invalid job array specification (exit status 1); --array-chunk sets"},
		{"no controller", func(c *cluster) { c.write("squeue.fail", "no controller\n") }, "squeue: no controller"},
		{"jobs of another plan", func(c *cluster) {
			name := nameOf(c.dir, &plan.Plan{})
			name.division = division{2, 0}
			c.write("queue/55", "55|0|"+name.String()+"|RUNNING|7|None\n")
			c.over[filepath.Join(c.folder, "queue", "55")] = true
		}, "are still there; wait for their end, or cancel them: scancel 55"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newCluster(t, 1)
			row.setUp(c)
			if _, err := c.execute(context.Background(), c.executor()); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Error(err)
			}
			if scripts, _ := filepath.Glob(filepath.Join(c.dir, folder, "*.sh")); len(scripts) > 0 {
				t.Errorf("left %q", scripts)
			}
		})
	}
}

// Where somebody else has run all trials, tasks that wait are not needed.
func TestNotNeeded(t *testing.T) {
	c := newCluster(t, 2)
	c.outcome = func(int, int) outcome { return outcome{state: "PENDING", reason: "Priority"} }
	go func() {
		c.observer.showed(t, "0 running, 2 waiting (Priority)")
		c.put(0, record.OK)
		c.put(1, record.OK)
	}()
	if sum, err := c.execute(context.Background(), c.executor()); err != nil || sum.OK != 2 ||
		!slices.Equal(c.log("scancel"), []string{"--state=PENDING 101"}) {
		t.Errorf("%+v, %v, %q", sum, err, c.log("scancel"))
	}
}

// A program that ends leaves the jobs. The next one attaches to them, with any options,
// and submits only parts whose tasks were lost.
func TestAttach(t *testing.T) {
	c := newCluster(t, 6)
	c.timed = everyThird // parts 1 and 2 are trials 1, 4 and 2, 5; part 3 is the timed trials 0 and 3
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	ctx, stop := context.WithCancel(context.Background())
	go func() { c.observer.showed(t, "3 running"); stop() }()
	e := c.executor()
	e.TrialsPerTask = 2
	sum, err := c.execute(ctx, e)
	if !errors.Is(err, context.Canceled) || sum.NotRun != 6 || c.log("scancel") != nil ||
		c.observer.said("jobs 101, 102 go on; the same command attaches again, `scancel 101 102` cancels") != 1 {
		t.Fatalf("%+v, %v, %q", sum, err, c.observer.lines)
	}
	c.put(1, record.OK)
	c.outcome = func(int, int) outcome { return good }
	c.observer.queues = nil
	go func() {
		c.observer.showed(t, "3 running")
		raw, err := os.ReadFile(filepath.Join(c.folder, "queue", "101"))
		if err != nil {
			t.Error(err)
		}
		c.put(4, record.OK)
		c.write("queue/101", strings.ReplaceAll(string(raw), "RUNNING", "TIMEOUT"))
		c.put(0, record.OK)
		c.put(3, record.OK)
	}()
	e = c.executor()
	e.TrialsPerTask, e.ShareTimings, e.Retry = 1, true, schedule.RetryAll
	sum, err = c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 6, OK: 6, Cached: 1}) || len(c.log("sbatch")) != 3 ||
		c.observer.said("attached to jobs 101, 102") != 1 || c.observer.said("is for a new run") != 3 ||
		c.observer.said("1 task lost (TIMEOUT), submitted again: part 2 of 3") != 1 {
		t.Errorf("%+v, %v, %q, %q", sum, err, c.observer.lines, c.log("sbatch"))
	}
}

// With --max-running a job waits for the one with the highest number.
func TestAfterTheLatestJob(t *testing.T) {
	c := newCluster(t, 3)
	name := nameOf(c.dir, c.plan)
	name.division = division{3, 0}
	c.write("queue/9999", fmt.Sprintf("9999|0|%s|RUNNING|7|None\n", name))
	c.write("queue/10000", fmt.Sprintf("10000|1|%s|RUNNING|7|None\n", name))
	c.outcome = func(part, _ int) outcome {
		if part < 3 {
			return outcome{state: "live"}
		}
		return good
	}
	go func() {
		c.observer.says(t, "submitted 1 task")
		c.put(0, record.OK)
		c.put(1, record.OK)
	}()
	e := c.executor()
	e.MaxRunning = 1
	sum, err := c.execute(context.Background(), e)
	log := c.log("sbatch")
	if err != nil || sum.OK != 3 || c.observer.said("attached to jobs 9999, 10000") != 1 || len(log) != 1 ||
		!strings.Contains(log[0], "--dependency=afterany:10000") {
		t.Errorf("%+v, %v, %q, %q", sum, err, c.observer.lines, log)
	}
}

// The jobs of another user, who has another path to a shared folder, are the folder's, also
// in later polls.
func TestSharedFolder(t *testing.T) {
	c := newCluster(t, 2)
	link := filepath.Join(t.TempDir(), "link")
	name := nameOf(c.dir, c.plan)
	name.division = division{2, 0}
	if err := errors.Join(os.Mkdir(c.dir, 0o700), os.Symlink(c.dir, link)); err != nil {
		t.Fatal(err)
	}
	c.dir = link
	other := fmt.Sprintf("50|%%d|%s|RUNNING|%d|None\n", name, os.Getuid()+1)
	c.write("queue/50", fmt.Sprintf(other+other, 0, 1))
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	go func() {
		c.observer.showed(t, "2 running")
		c.put(0, record.OK)
		c.put(1, record.OK)
	}()
	sum, err := c.execute(context.Background(), c.executor())
	if err != nil || sum.OK != 2 || c.observer.said("attached to job 50") != 1 || c.log("sbatch") != nil {
		t.Errorf("%+v, %v, %q, %q", sum, err, c.observer.lines, c.log("sbatch"))
	}
}

// Ctrl-C may also cancel.
func TestCancel(t *testing.T) {
	c := newCluster(t, 3)
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	ctx, stop := context.WithCancel(context.Background())
	e := c.executor()
	asked := 0
	e.Cancel = func(jobs int) bool { asked = jobs; return true }
	go func() { c.observer.says(t, "submitted 3 tasks as job 101"); stop() }()
	_, err := c.execute(ctx, e)
	if got := c.log("scancel"); !errors.Is(err, context.Canceled) || asked != 1 || !slices.Equal(got, []string{"101"}) ||
		c.observer.said("cancelled job 101") != 1 {
		t.Errorf("%v, asked about %d, %q, %q", err, asked, c.observer.lines, got)
	}
}

// A controller that does not answer for a while costs nothing.
func TestQueueCannotBeRead(t *testing.T) {
	c := newCluster(t, 2)
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	go func() {
		c.observer.says(t, "submitted")
		c.write("squeue.fail", "Unable to contact slurm controller\n")
		c.observer.says(t, "the queue cannot be read (squeue: Unable to contact")
		_ = os.Remove(filepath.Join(c.folder, "squeue.fail"))
		c.observer.says(t, "the queue can be read again")
		c.put(0, record.OK)
		c.put(1, record.OK)
	}()
	sum, err := c.execute(context.Background(), c.executor())
	if err != nil || sum.OK != 2 || len(c.log("sbatch")) != 1 {
		t.Errorf("%+v, %v, %q", sum, err, c.observer.lines)
	}
}

// Two programs on one folder: one submits, both end with all results.
func TestTwoExecutors(t *testing.T) {
	c := newCluster(t, 6)
	var wg sync.WaitGroup
	stop := c.start()
	defer stop()
	for range 2 {
		wg.Go(func() {
			s := c.store()
			defer func() { _ = s.Close() }()
			e := c.executor()
			e.Observer = &notes{}
			if sum, err := e.Execute(context.Background(), s, c.plan); err != nil || sum.OK != 6 {
				t.Errorf("%+v, %v", sum, err)
			}
		})
	}
	wg.Wait()
	if n := len(c.log("sbatch")); n != 1 {
		t.Errorf("submitted %d times", n)
	}
}

// A run that follows another one takes over when that ends and the queue can be read, and
// reports the parts that it submits.
func TestTakeOver(t *testing.T) {
	c := newCluster(t, 3)
	first := c.store()
	defer func() { _ = first.Close() }()
	unlock, ok, err := first.Lock(folder) // as another run does
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	go func() {
		c.observer.says(t, "another run of this folder submits its jobs; following it")
		c.write("squeue.fail", "Unable to contact slurm controller\n")
		c.put(0, record.OK)
		unlock()
		c.observer.says(t, "the queue cannot be read (squeue: Unable to contact")
		_ = os.Remove(filepath.Join(c.folder, "squeue.fail"))
	}()
	sum, err := c.execute(context.Background(), c.executor())
	if err != nil || sum.OK != 3 || c.observer.said("the queue can be read again") != 1 ||
		c.observer.said("the run that was followed has ended without all results; submitting parts 2-3 of 3") != 1 {
		t.Errorf("%+v, %v, %q", sum, err, c.observer.lines)
	}
}

// A task that ends before its trials have results, in any state, is submitted again;
// one whose trials have results is not.
func TestLostTasks(t *testing.T) {
	for _, c := range []struct {
		first outcome
		said  string
	}{
		{outcome{state: "FAILED", reason: "NonZeroExitCode"}, "1 task lost (FAILED), submitted again: part 2 of 3"},
		{outcome{state: "NODE_FAIL"}, "1 task lost (NODE_FAIL)"},
		{outcome{state: "COMPLETED"}, "1 task lost (COMPLETED)"},
		{outcome{state: "gone"}, "1 task lost (GONE)"},
		{outcome{state: "PENDING", reason: "launch_failed_requeued_held"}, "1 task lost (LAUNCH_FAILED)"},
		{outcome{state: "FAILED", results: record.OK}, ""},
		{outcome{state: "gone", results: record.OK}, ""},
	} {
		t.Run(c.first.state+string(c.first.results), func(t *testing.T) {
			k := newCluster(t, 3)
			k.outcome = func(part, try int) outcome {
				if part == 2 && try == 1 {
					return c.first
				}
				return good
			}
			sum, err := k.execute(context.Background(), k.executor())
			want := 1
			if c.said != "" {
				want = 2
			}
			if err != nil || sum != (schedule.Summary{Total: 3, OK: 3}) || len(k.log("sbatch")) != want ||
				c.said != "" && k.observer.said(c.said) != 1 {
				t.Errorf("%+v, %v, %q, submitted %q", sum, err, k.observer.lines, k.log("sbatch"))
			}
		})
	}
}

// A task that is lost again and again is given up, and reported with advice; the others'
// results stand. The next command tries anew.
func TestGivenUp(t *testing.T) {
	c := newCluster(t, 4)
	c.outcome = func(part, try int) outcome {
		if part == 3 && try <= 3 {
			return outcome{state: "TIMEOUT"}
		}
		return good
	}
	sum, err := c.execute(context.Background(), c.executor())
	if err != nil || sum != (schedule.Summary{Total: 4, OK: 3, NotRun: 1}) || len(c.log("sbatch")) != 3 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if c.observer.said("1 trial of part 3 of 4 without a result: its task was lost 3 times, last as 103_2 (TIMEOUT); "+
		"give a task more time (--slurm time=4:00:00), or fewer trials (--trials-per-task); the end of ") != 1 ||
		c.observer.said("the log of part 3, try 3") != 1 {
		t.Errorf("%q", c.observer.lines)
	}
	e := c.executor()
	e.Requeue = 0
	sum, err = c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 4, OK: 4, Cached: 3}) {
		t.Errorf("%+v, %v", sum, err)
	}
}

// everyThird makes every third trial, from the first, a timed one.
func everyThird(t plan.Trial) bool { return demonstration.Settings(t.Params).X%3 == 0 }

// Untimed trials have the first parts, timed ones the last; the parts are those
// that `run work --only KIND --shard i/n` runs.
func TestDivide(t *testing.T) {
	always := func(plan.Trial) bool { return true }
	for name, c := range map[string]struct {
		trials, size int
		timed        func(plan.Trial) bool
		share        bool
		want         division
		of           []int // of the first trials
	}{
		"none":                     {0, 0, nil, false, division{0, 0}, nil},
		"one a task":               {24, 0, nil, false, division{24, 0}, []int{1, 2, 3, 4}},
		"at most a thousand tasks": {1001, 0, nil, false, division{501, 0}, []int{1, 2, 3, 4}},
		"five a task":              {24, 5, nil, false, division{5, 0}, []int{1, 2, 3, 4, 5, 1, 2}},
		"some are timed":           {10, 2, everyThird, false, division{5, 2}, []int{4, 1, 2, 5, 3, 1, 4, 2, 3, 5}},
		"all are timed":            {4, 2, always, false, division{2, 2}, []int{1, 2, 1, 2}},
		"timings are shared":       {10, 2, everyThird, true, division{5, 0}, []int{1, 2, 3, 4, 5, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newCluster(t, c.trials).plan
			e := &Executor{TrialsPerTask: c.size, Timed: c.timed, ShareTimings: c.share}
			d := e.divide(p)
			of, err := d.assign(p, c.timed)
			if err != nil || d != c.want || !slices.Equal(of[:len(c.of)], c.of) {
				t.Errorf("%+v, %v, %v", d, of, err)
			}
		})
	}
	if _, err := (division{2, 2}).assign(newCluster(t, 3).plan, everyThird); err == nil {
		t.Error("a division without parts for untimed trials is accepted")
	}
}

// Timed trials are an array job of their own that has its nodes to itself, also
// where a task of it is lost; others are not.
func TestTimedTrialsAreExclusive(t *testing.T) {
	c := newCluster(t, 10)
	c.timed = everyThird
	c.outcome = func(part, try int) outcome {
		if part == 5 && try == 1 {
			return outcome{state: "NODE_FAIL"}
		}
		return good
	}
	e := c.executor()
	e.TrialsPerTask, e.Options = 2, []Option{{"partition", "p"}, {"oversubscribe", ""}}
	sum, err := c.execute(context.Background(), e)
	log := c.log("sbatch")
	if err != nil || sum != (schedule.Summary{Total: 10, OK: 10}) || len(log) != 3 ||
		c.observer.said("submitted 2 tasks of timed trials, each alone on its node, as job 102") != 1 {
		t.Fatalf("%+v, %v, %q, %q", sum, err, c.observer.lines, log)
	}
	for i, want := range []string{"--array=0-2 ", "--array=3-4 ", "--array=4 "} {
		line := log[i] + " "
		if !strings.Contains(line, want) || strings.Contains(line, "--exclusive ") != (i > 0) ||
			strings.Contains(line, "--oversubscribe ") == (i > 0) || !strings.Contains(line, "--partition=p ") {
			t.Errorf("submission %d is %q", i, line)
		}
	}
}
