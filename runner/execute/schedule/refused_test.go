package schedule_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
)

// scripted is a runner that runs trials in this process, some of them without a result,
// by their position in the plan.
func scripted(p *plan.Plan, outcome func(i int) error) func() schedule.Runner {
	position := map[string]int{}
	for i, t := range p.Trials {
		position[t.Key] = i
	}
	return func() schedule.Runner {
		return runnerFunc(func(ctx context.Context, job trial.Job, _ time.Duration) (*record.Record, error) {
			e := *demo
			if err := outcome(position[job.Key]); err != nil {
				e.Run = func(context.Context, *experiment.Trial, experiment.Params) (*experiment.Result, error) {
					return nil, err
				}
			}
			return trial.Execute(ctx, &e, job, nil, nil)
		})
	}
}

// Where the machine refuses one trial after another, the sweep stops after a few, with
// a sentence; none has a record, and the same command goes on. A trial that ends resets
// the count, and trouble that may be due to a trial does not count.
func TestRefusedTrialsStopTheRun(t *testing.T) {
	const ok, refused, failed, died = 'o', 'r', 'f', 'd'
	for _, c := range []struct {
		name, trials string // one letter for each
		jobs         int
		requeue      int
		want         schedule.Summary
		stopped      bool
	}{
		{"all", "rrrrrrrr", 1, 0, schedule.Summary{Total: 8, NotRun: 8}, true},
		{"each tried again", "rrrrrrrr", 1, 2, schedule.Summary{Total: 8, NotRun: 8}, true},
		{"after a result", "orrroooo", 1, 0, schedule.Summary{Total: 8, OK: 1, NotRun: 7}, true},
		{"results between them", "rrorrorro", 1, 0, schedule.Summary{Total: 9, OK: 3, NotRun: 6}, false},
		{"a failure between them", "rrfrrorro", 1, 0, schedule.Summary{Total: 9, OK: 2, Failed: 1, NotRun: 6}, false},
		{"others between them", "rrdroo", 1, 0, schedule.Summary{Total: 6, OK: 0, NotRun: 6}, true},
		{"of another cause", "ddddddo", 1, 0, schedule.Summary{Total: 7, OK: 1, NotRun: 6}, false},
		{"no more than at a time", "rrrr", 4, 0, schedule.Summary{Total: 4, NotRun: 4}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, p := t.TempDir(), makePlan(t, len(c.trials))
			var o noticeLog
			opts := schedule.Options{Jobs: c.jobs, Requeue: c.requeue, Pause: time.Millisecond, Observer: &o}
			opts.NewRunner = scripted(p, func(i int) error {
				switch c.trials[i] {
				case refused:
					return syscall.EMFILE
				case failed:
					return errors.New("singular")
				case died:
					return killed()
				}
				return nil
			})
			sum, err := run(context.Background(), t, dir, p, plan.Shard{}, opts)
			var stop *schedule.RefusedError
			if errors.As(err, &stop) != c.stopped || err != nil && !c.stopped || sum != c.want {
				t.Fatalf("%+v, %v", sum, err)
			}
			if c.stopped && err.Error() != "stopped after 3 trials in a row that this machine refused: the machine is short of "+
				"open files of a process: too many open files; "+trial.FilesAdvice+
				"; what was finished is kept, and the same command goes on" {
				t.Errorf("%v", err)
			}
			if n := len(results(t, dir, p)); n != c.want.OK+c.want.Failed {
				t.Errorf("%d records", n)
			}
			if again := strings.Count(strings.Join(o.lines, "\n"), "again: "); again > 3*c.requeue {
				t.Errorf("%d trials were begun again", again)
			}
			sum, err = run(context.Background(), t, dir, p, plan.Shard{}, options(1, &sync.Map{}, 0))
			if err != nil || sum.OK+sum.Failed != len(c.trials) || sum.Cached != c.want.OK+c.want.Failed {
				t.Errorf("the same command: %+v, %v", sum, err)
			}
		})
	}
}

// A trial that runs when others are refused ends normally, and has its result.
func TestRefusedTrialsLeaveOthersAlone(t *testing.T) {
	dir, p := t.TempDir(), makePlan(t, 9)
	o := &givenUpLog{halted: make(chan struct{})}
	opts := schedule.Options{Jobs: 2, Observer: o}
	opts.NewRunner = scripted(p, func(i int) error {
		if i > 0 {
			return syscall.EAGAIN
		}
		<-o.halted
		return nil
	})
	sum, err := run(context.Background(), t, dir, p, plan.Shard{}, opts)
	var stop *schedule.RefusedError
	if want := (schedule.Summary{Total: 9, OK: 1, NotRun: 8}); !errors.As(err, &stop) || sum != want || o.given != 3 {
		t.Errorf("%+v, %v, %d given up", sum, err, o.given)
	}
	if n := len(results(t, dir, p)); n != 1 {
		t.Errorf("%d records", n)
	}
}

// givenUpLog closes a channel where three trials are given up.
type givenUpLog struct {
	stopAfter
	given  int
	halted chan struct{}
}

func (o *givenUpLog) GivenUp(plan.Trial, *trial.Trouble, int) {
	if o.given++; o.given == 3 {
		close(o.halted)
	}
}
