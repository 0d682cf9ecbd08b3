// Package slurm runs a plan on a cluster with Slurm. It submits array jobs of
// which each task runs a part of the plan (`run work OUT --shard i/n`) on a file
// system that all nodes see, and follows them by the trials' files and the
// queue. What was submitted is in OUT/slurm/jobs.json, written before and after
// every submission, so that the program may end at any moment and another one
// attach to the jobs that are there. Batch scripts and the tasks' logs are
// beside it.
//
// A task is lost where it ends, or is gone from the queue, before all of its
// trials have a result. It is submitted again a few times. A trial that failed
// has a result.
package slurm

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
	"privkern/runner/text"
)

// DefaultTasks is into how many tasks a plan is divided at most, DefaultChunk how
// many of them an array job has at most, where nothing else is asked for.
const (
	DefaultTasks = 1000
	DefaultChunk = 1000
)

// QueueObserver receives the events of a plan that runs on a cluster: those of its
// trials, and those of the queue. The methods are called one at a time.
type QueueObserver interface {
	schedule.Observer
	// Queue receives the state of the jobs in the queue, in words.
	Queue(text string)
	// Notice receives a message; a problem is shown even where messages are not.
	Notice(text string, problem bool)
}

// Executor runs plans on a cluster. Paths are absolute, and the same on all
// nodes.
type Executor struct {
	Program     string   // this program
	Work        []string // arguments of `run work` besides the folder and the part
	Environment []string // NAME=value, for the tasks

	// Timed says which trials are timed; nil: none. Their tasks have their nodes to
	// themselves, but for ShareTimings.
	Timed        func(plan.Trial) bool
	ShareTimings bool

	Options       []Option // of sbatch
	TrialsPerTask int      // 0: as many as make DefaultTasks tasks
	Chunk         int      // most tasks of an array job; 0: DefaultChunk, or what the site allows
	MaxRunning    int      // most tasks at a time; 0: no limit
	Requeue       int      // how often a lost task is submitted again

	Retry    schedule.Retry
	FailFast bool
	Observer QueueObserver
	// Cancel decides whether the given number of jobs is cancelled when the context
	// ends; nil leaves them.
	Cancel func(jobs int) bool

	Poll   time.Duration // between two looks at files and queue; 0: from 1 s to 15 s
	Settle time.Duration // for which a record may take to be seen after its task has ended; 0: 10 s
}

// Execute implements runner.Executor. Where the context ends, jobs go on unless
// Cancel says otherwise. The error is nil where trials are left over whose tasks
// were lost too often: the summary counts them.
func (e *Executor) Execute(ctx context.Context, s *store.Store, p *plan.Plan) (schedule.Summary, error) {
	if err := checkCommands(); err != nil {
		return schedule.Summary{Total: len(p.Trials), NotRun: len(p.Trials)}, err
	}
	dir, err := filepath.Abs(s.Dir())
	if err != nil {
		return schedule.Summary{}, err
	}
	if err := disk.MakeFolder(disk.System, filepath.Join(dir, folder), 0o777); err != nil {
		return schedule.Summary{}, fmt.Errorf("the output folder cannot be written: %w", err)
	}
	w := &watch{Executor: e, dir: dir, store: s, plan: p, digest: digest(p), start: time.Now(), seen: map[place]*end{}}
	w.summary.Total = len(p.Trials)
	defer func() {
		if w.unlock != nil {
			w.unlock()
		}
	}()
	err = w.run(ctx)
	sum := w.summary
	sum.NotRun = sum.Total - sum.OK - sum.Failed - sum.Skipped
	return sum, err
}

// withdraw puts the records aside that are to be made again. It is done once,
// before anything is submitted: tasks that are submitted again must not repeat
// what others did.
func (e *Executor) withdraw(s *store.Store, p *plan.Plan) error {
	if e.Retry == schedule.RetryNone {
		return nil
	}
	n := 0
	for _, t := range p.Trials {
		rec, ok, err := s.Get(t.Key)
		if err != nil {
			return err
		}
		if !ok || rec.Status == record.Skipped || e.Retry == schedule.RetryFailed && rec.Status != record.Failed {
			continue
		}
		if err := s.Withdraw(t.Key); err != nil {
			return err
		}
		n++
	}
	if n > 0 {
		e.Observer.Notice(fmt.Sprintf("--retry %s: %s put aside, to be run again", e.Retry, text.Count(n, "record")), false)
	}
	return nil
}
