package slurm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"privkern/runner/execute/schedule"
	"privkern/runner/record"
)

// Where somebody else has run all trials, tasks that wait are not needed.
func TestNotNeeded(t *testing.T) {
	c := newCluster(t, 2)
	c.outcome = func(int, int) outcome { return outcome{state: "PENDING", reason: "Priority"} }
	go func() {
		eventually(t, "tasks wait", func() bool {
			c.observer.mu.Lock()
			defer c.observer.mu.Unlock()
			return slices.Contains(c.observer.queues, "0 running, 2 waiting (Priority)")
		})
		c.put(0, record.OK)
		c.put(1, record.OK)
	}()
	if sum, err := c.execute(context.Background(), c.executor()); err != nil || sum.OK != 2 ||
		!slices.Equal(c.log("scancel"), []string{"--state=PENDING 101"}) {
		t.Errorf("%+v, %v, %q", sum, err, c.log("scancel"))
	}
}

// A program that ends leaves the jobs; the next one attaches to them and submits
// nothing but what is lost.
func TestAttach(t *testing.T) {
	c := newCluster(t, 3)
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		eventually(t, "tasks run", func() bool {
			c.observer.mu.Lock()
			defer c.observer.mu.Unlock()
			return slices.Contains(c.observer.queues, "3 running")
		})
		stop()
	}()
	sum, err := c.execute(ctx, c.executor())
	if !errors.Is(err, context.Canceled) || sum.NotRun != 3 ||
		c.observer.said("job 101 goes on; the same command attaches again, `scancel 101` cancels") != 1 {
		t.Fatalf("%+v, %v, %q", sum, err, c.observer.lines)
	}
	if !c.journal().Open || c.log("scancel") != nil {
		t.Error("the jobs were not left alone")
	}
	// In the meantime one trial ends well, and a task ends badly.
	c.put(0, record.OK)
	name := c.journal().Submissions[0].Name
	c.write("queue/101", strings.ReplaceAll(
		"101|0|NAME|COMPLETED|None\n101|1|NAME|TIMEOUT|TimeLimit\n101|2|NAME|RUNNING|None\n", "NAME", name))
	c.outcome = func(part, _ int) outcome {
		if part == 2 {
			c.put(2, record.OK) // the third task ends, too
			return good
		}
		return outcome{state: "live"}
	}
	e := c.executor()
	e.Retry = schedule.RetryAll // which does not touch what is under way
	sum, err = c.execute(context.Background(), e)
	if err != nil || sum != (schedule.Summary{Total: 3, OK: 3, Cached: 1}) || len(c.log("sbatch")) != 2 ||
		c.observer.said("attached to job 101, begun ") != 1 {
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
	go func() {
		eventually(t, "a submission", func() bool { return c.observer.said("submitted 3 tasks as job 101") == 1 })
		stop()
	}()
	_, err := c.execute(ctx, e)
	if !errors.Is(err, context.Canceled) || asked != 1 || c.observer.said("cancelled job 101") != 1 || c.journal().Open {
		t.Errorf("%v, asked about %d, %q", err, asked, c.observer.lines)
	}
	if got := c.log("scancel"); !slices.Equal(got, []string{"101"}) {
		t.Errorf("cancelled %q", got)
	}
}

// A program that died between sbatch and its answer has left a job without an
// id; it is found by its name. What was never submitted is submitted now.
func TestAdopt(t *testing.T) {
	for _, there := range []bool{true, false} {
		c := newCluster(t, 2)
		s := c.store()
		j := &journal{}
		if err := os.Mkdir(filepath.Join(c.dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := j.begin(c.dir, digest(c.plan), &division{parts: 2}); err != nil {
			t.Fatal(err)
		}
		sub := j.next([]int{1, 2})
		j.Submissions = []submission{sub}
		if err := j.write(c.dir); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		if there {
			c.write("queue/55", "55|0|"+sub.Name+"|PENDING|Priority\n55|1|"+sub.Name+"|PENDING|Priority\n")
		}
		sum, err := c.execute(context.Background(), c.executor())
		want := []string{"55"}
		if !there {
			want = []string{"101"}
		}
		if err != nil || sum.OK != 2 || !slices.Equal(c.journal().jobs(), want) {
			t.Errorf("%v: %+v, %v, %v", there, sum, err, c.journal().jobs())
		}
	}
}

// A controller that does not answer for a while costs nothing.
func TestQueueCannotBeRead(t *testing.T) {
	c := newCluster(t, 2)
	c.outcome = func(int, int) outcome { return outcome{state: "live"} }
	go func() {
		eventually(t, "a submission", func() bool { return c.observer.said("submitted") == 1 })
		c.write("squeue.fail", "Unable to contact slurm controller\n")
		eventually(t, "word of it", func() bool {
			return c.observer.said("the queue cannot be read (squeue: Unable to contact") == 1
		})
		_ = os.Remove(filepath.Join(c.folder, "squeue.fail"))
		eventually(t, "word of it", func() bool { return c.observer.said("the queue can be read again") == 1 })
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
