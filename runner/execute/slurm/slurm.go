// Package slurm runs a plan on a cluster with Slurm.
//
// The plan is divided into parts, and each task of an array job runs one of them
// (`run work OUT --shard i/n`) on a file system that all nodes see. The executor polls
// the files of the trials, which are the truth, and the queue, which shows whether a
// part without results still has a task. A task that has ended, or is gone from the
// queue, before all of its trials have a result is lost: its part is submitted again,
// [Executor.Requeue] times at most. A trial that failed has a result.
//
// The name of a job has the output folder, the plan and its division, so that a later
// command finds the jobs in the queue and attaches; nothing else is kept. Batch scripts
// and logs of tasks are in OUT/slurm. Two tasks of one part are harmless because a
// trial runs under its lock.
package slurm

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/plan"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// DefaultTasks limits the tasks of a plan, and DefaultChunk those of an array job, where
// the user sets no limit.
const (
	DefaultTasks = 1000
	DefaultChunk = 1000
)

// folder holds the files of this package inside the output folder.
const folder = "slurm"

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
	Work        []string // arguments of `run work` after the folder and the part
	Environment []string // NAME=value, for the tasks

	// Timed reports whether a trial is timed; nil: none is. Tasks of timed trials have
	// their nodes to themselves, except with ShareTimings.
	Timed        func(plan.Trial) bool
	ShareTimings bool

	Options       []Option // of sbatch
	TrialsPerTask int      // 0: as many as make DefaultTasks tasks
	Chunk         int      // limit on the tasks of an array job; 0: DefaultChunk
	MaxRunning    int      // limit on the tasks that run at a time; 0: no limit
	Requeue       int      // limit on the times that a lost task is submitted again

	Retry    schedule.Retry
	FailFast bool
	Observer QueueObserver
	// Cancel decides whether the given number of jobs is cancelled when the context
	// ends; nil leaves them.
	Cancel func(jobs int) bool

	Poll   time.Duration // interval of polling; 0: from 1 s to 15 s
	Settle time.Duration // time from the end of a task until its records are visible; 0: 10 s
}

// Execute implements runner.Executor. Where the context ends, jobs go on unless
// Cancel decides otherwise. The error is nil where trials are left over whose tasks
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
	w := &watch{Executor: e, dir: dir, start: time.Now(), store: s, plan: p, done: make([]bool, len(p.Trials)),
		last: map[int]task{}, tries: map[int]int{}, lostSince: map[int]time.Time{}}
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
