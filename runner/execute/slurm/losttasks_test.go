package slurm

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"privkern/runner/execute/schedule"
	"privkern/runner/record"
)

// A task that ends in whatever way before its trials have results is submitted
// again; one whose trials have results is not, whatever Slurm says of it.
func TestLostTasks(t *testing.T) {
	for _, c := range []struct {
		first outcome
		said  string
	}{
		{outcome{state: "FAILED", reason: "NonZeroExitCode"}, "1 task lost (FAILED), submitted again: part 2 of 3"},
		{outcome{state: "CANCELLED"}, "1 task lost (CANCELLED)"},
		{outcome{state: "TIMEOUT", reason: "TimeLimit"}, "1 task lost (TIMEOUT)"},
		{outcome{state: "NODE_FAIL"}, "1 task lost (NODE_FAIL)"},
		{outcome{state: "OUT_OF_MEMORY"}, "1 task lost (OUT_OF_MEMORY)"},
		{outcome{state: "PREEMPTED"}, "1 task lost (PREEMPTED)"},
		{outcome{state: "BOOT_FAIL"}, "1 task lost (BOOT_FAIL)"},
		{outcome{state: "DEADLINE"}, "1 task lost (DEADLINE)"},
		{outcome{state: "COMPLETED"}, "1 task lost (COMPLETED)"},
		{outcome{state: "gone"}, "1 task lost (GONE)"},
		{outcome{state: "PENDING", reason: "launch_failed_requeued_held"}, "1 task lost (LAUNCH_FAILED)"},
		{outcome{state: "FAILED", results: record.OK}, ""},
		{outcome{state: "NODE_FAIL", results: record.OK}, ""},
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
			if err != nil || sum != (schedule.Summary{Total: 3, OK: 3}) {
				t.Fatalf("%+v, %v, %q", sum, err, k.observer.lines)
			}
			want := 1
			if c.said != "" {
				want = 2
			}
			if n := len(k.log("sbatch")); n != want {
				t.Errorf("submitted %d times, not %d: %q", n, want, k.observer.lines)
			}
			if c.said != "" && k.observer.said(c.said) != 1 {
				t.Errorf("said %q, not %q", k.observer.lines, c.said)
			}
		})
	}
}

// What the queue has forgotten, the accounting may know.
func TestAccounting(t *testing.T) {
	c := newCluster(t, 1)
	ready := make(chan struct{})
	c.outcome = func(_, try int) outcome {
		<-ready
		if try == 1 {
			return outcome{state: "gone"}
		}
		return good
	}
	go func() {
		eventually(t, "a submission", func() bool { return c.observer.said("submitted") == 1 })
		c.write("sacct", "101_0|"+c.journal().Submissions[0].Name+"|OUT_OF_MEMORY\n")
		close(ready)
	}()
	if _, err := c.execute(context.Background(), c.executor()); err != nil ||
		c.observer.said("lost (OUT_OF_MEMORY)") != 1 {
		t.Errorf("%v, %q", err, c.observer.lines)
	}
}

// A controller that lost its state knows no task any more, and gives the same id
// again: the names of the jobs distinguish the tasks.
func TestReusedID(t *testing.T) {
	c := newCluster(t, 3)
	c.write("sameid", "")
	c.outcome = func(part, try int) outcome {
		switch {
		case part == 1:
			return good
		case try == 1:
			return outcome{state: "gone"}
		}
		return outcome{state: "live"}
	}
	go func() {
		eventually(t, "both tasks run", func() bool {
			c.observer.mu.Lock()
			defer c.observer.mu.Unlock()
			return slices.Contains(c.observer.queues, "2 running")
		})
		c.put(1, record.OK)
		c.put(2, record.OK)
	}()
	sum, err := c.execute(context.Background(), c.executor())
	if err != nil || sum.OK != 3 || len(c.log("sbatch")) != 2 || c.observer.said("2 tasks lost (GONE)") != 1 {
		t.Errorf("%+v, %v, %q", sum, err, c.observer.lines)
	}
	for _, text := range c.observer.queues {
		if strings.HasPrefix(text, "3 ") || strings.HasPrefix(text, "4 ") {
			t.Errorf("tasks are counted twice: %q", text)
		}
	}
}

// A task that is lost again and again is given up, and reported; the others'
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
	if err != nil || sum != (schedule.Summary{Total: 4, OK: 3, NotRun: 1}) {
		t.Fatalf("%+v, %v", sum, err)
	}
	if n := len(c.log("sbatch")); n != 3 {
		t.Errorf("submitted %d times", n)
	}
	if c.observer.said("1 trial of part 3 of 4 without a result: its task was lost 3 times, last as 103_0 (TIMEOUT); ") !=
		1 ||
		c.observer.said("the log of part 3, try 3") != 1 {
		t.Errorf("%q", c.observer.lines)
	}
	if c.journal().Open {
		t.Error("the round is open")
	}
	e := c.executor()
	e.Requeue = 0
	c.outcome = func(int, int) outcome { return good }
	if sum, err := c.execute(context.Background(), e); err != nil ||
		sum != (schedule.Summary{Total: 4, OK: 4, Cached: 3}) {
		t.Errorf("%+v, %v", sum, err)
	}
}

// How a task was lost again and again says what to do.
func TestAdvice(t *testing.T) {
	for _, c := range []struct{ state, want string }{
		{"OUT_OF_MEMORY", "last as 101_0 (OUT_OF_MEMORY); give a task more memory (--slurm mem=16G), or use a smaller " +
			"setting; the end of "},
		{"TIMEOUT", "last as 101_0 (TIMEOUT); give a task more time (--slurm time=4:00:00), or fewer trials " +
			"(--trials-per-task); the end of "},
		{"PREEMPTED", "last as 101_0 (PREEMPTED); use a partition or a quality of service whose jobs are not preempted"},
		{"NODE_FAIL", "last as 101_0 (NODE_FAIL); the end of "},
	} {
		t.Run(c.state, func(t *testing.T) {
			cl := newCluster(t, 1)
			cl.outcome = func(int, int) outcome { return outcome{state: c.state} }
			e := cl.executor()
			e.Requeue = 0
			sum, err := cl.execute(context.Background(), e)
			if err != nil || sum.NotRun != 1 || cl.observer.said(c.want) != 1 {
				t.Errorf("%+v, %v, %q", sum, err, cl.observer.lines)
			}
		})
	}
}

// The first task that is lost too often stops the jobs where that is asked for.
func TestFailFastOfLostTasks(t *testing.T) {
	c := newCluster(t, 3)
	c.outcome = func(part, _ int) outcome {
		if part == 2 {
			return outcome{state: "NODE_FAIL"}
		}
		return outcome{state: "live"}
	}
	e := c.executor()
	e.FailFast, e.Requeue = true, 1
	sum, err := c.execute(context.Background(), e)
	if !errors.Is(err, schedule.ErrFailFast) || sum != (schedule.Summary{Total: 3, NotRun: 3}) ||
		c.observer.said("its task was lost twice") != 1 {
		t.Errorf("%+v, %v, %q", sum, err, c.observer.lines)
	}
	if got := c.log("scancel"); !slices.Equal(got, []string{"101"}) || c.journal().Open {
		t.Errorf("cancelled %q", got)
	}
}
