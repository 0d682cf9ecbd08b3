// Package schedule runs the trials of a plan that have no result yet, several
// at a time. The number of workers and the order never change a result.
//
// Runners share a folder without knowing of each other. A runner takes the lock of
// a trial, reads the store again, since another runner may have finished the trial
// since, computes, stores the record and gives the lock back. A trial that another
// runner holds is tried again later. So no trial runs twice at the same time, and a
// runner that is killed holds nobody up: its locks end with its process.
//
// A trial that fails has a record, which is a result. Trouble of the machine, such as
// a worker that is killed, is none: the trial runs again, [Options.Requeue] times at
// most, and then has no record. Where the machine refuses any trial, the run stops after a
// few ([RefusedError]). Trials that measure time run alone, after the others.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"privkern/runner/execute/machine"
	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
)

// Runner runs jobs one after another; each worker has one of its own. An error is
// a failure of the trial, except a [trial.Trouble] of the machine, after which the
// trial is run again, and [trial.ErrNotStarted], which ends the run.
type Runner interface {
	// Run runs one job, for the time of limit at most (0: no limit), and calls
	// progress while it does.
	Run(ctx context.Context, job trial.Job, limit time.Duration, progress trial.ProgressFunc) (*record.Record, error)
	// Close ends the runner and its processes.
	Close()
}

// Retry selects the finished trials that are run again.
type Retry string

// Skipped trials always run again, because missing data may be there now.
const (
	RetryNone   Retry = ""
	RetryFailed Retry = "failed"
	RetryAll    Retry = "all"
)

// Options configure a run.
type Options struct {
	Jobs     int           // trials at a time
	Workers  int           // a trial's own parallelism; 0: the cores divided by Jobs
	Cores    int           // that of a timed trial, which runs alone; 0: all cores
	Timeout  time.Duration // after which a trial fails; 0 for no limit
	FailFast bool          // stop at the first trial that fails or has no result
	Retry    Retry         // which trials with a record run again
	// Requeue is how often a trial is run again that the machine kept from a result,
	// Pause how long it waits for the first time (0: 1 s); the next is twice as long.
	Requeue int
	Pause   time.Duration
	// Memory limits the memory of all trials together, in bytes; 0 for no limit. Fewer
	// run at a time where they would need more. A trial that needs more alone is not
	// started, and has no result.
	Memory int64
	// Process is the limit on the memory of a trial's process; the zero value is none.
	// A trial that needs more has no result.
	Process machine.MemoryLimit
	// SharedLimit is the most bytes that results of shared work take in the output
	// folder; 0 keeps none.
	SharedLimit int64
	// ShareTimings runs timed trials at the same time as others; their records have a
	// warning.
	ShareTimings bool
	// Profile counts the work of trials on a device, and profiles the processor.
	Profile   bool
	Notice    func(text string) // of fewer jobs, timed trials, other kernels, shared work; may be nil
	Host      record.Provenance
	NewRunner func() Runner
	Observer  Observer
}

// Observer receives the events of a run. The methods are called one at a time.
type Observer interface {
	// Planned is called once: how many trials there are, and how many of them
	// have a result already.
	Planned(total, finished int)
	// Ahead is called once, after Planned, where there is anything to run.
	Ahead(w plan.Workload)
	// FailedBefore is called for a trial that failed in an earlier run and is not
	// run again.
	FailedBefore(t plan.Trial, reason string)
	// Started is called when a worker begins a trial.
	Started(t plan.Trial)
	// Inner is called when a trial has done a part of its work, such as 3 of 14 folds.
	Inner(t plan.Trial, done, total int, phase string)
	// Finished is called when the record of a trial is stored.
	Finished(t plan.Trial, r *record.Record)
	// Again is called where the machine kept a trial from a result in run number try,
	// from 1, of at most tries; the next run begins after the pause.
	Again(t plan.Trial, why *trial.Trouble, try, tries int, pause time.Duration)
	// GivenUp is called where it did so in all runs of a trial, which has no record
	// then; tries is 0 for a trial that was not begun.
	GivenUp(t plan.Trial, why *trial.Trouble, tries int)
	// Elsewhere is called for a trial that another runner has finished.
	Elsewhere(t plan.Trial)
	// Waiting is called once where nothing is left to run but n trials that other
	// runners hold.
	Waiting(n int)
	// Aside is called for a file of the store that was put aside.
	Aside(a store.Aside)
}

// Summary counts the trials of a part of a plan by outcome: Total is OK + Failed +
// Skipped + NotRun.
type Summary struct {
	Total   int // trials of this part of the plan
	OK      int // with a result
	Failed  int // with the record of a failure
	Skipped int // with a record of missing data
	Cached  int // of these three, how many had their record before
	NotRun  int // left over after an interruption or a failure
}

// Count counts a trial that has a result, of the given status.
func (s *Summary) Count(status record.Status) {
	switch status {
	case record.OK:
		s.OK++
	case record.Failed:
		s.Failed++
	case record.Skipped:
		s.Skipped++
	}
}

// ErrFailFast is the error of a run that was stopped by the first failure.
var ErrFailFast = errors.New("stopped at the first trial that failed or has no result (--fail-fast)")

// pollInterval is how often a trial that another runner holds is looked at.
const pollInterval = 300 * time.Millisecond

// Local runs a part of a plan on this machine.
type Local struct {
	Kind        TrialKind  // of trials
	Shard       plan.Shard // of those; the zero value is all of them
	Experiments *experiment.Registry
	Data        *plan.Datasets
	Options     Options
}

// Execute calls [Run] for the part.
func (l *Local) Execute(ctx context.Context, s *store.Store, p *plan.Plan) (Summary, error) {
	positions, err := l.Kind.Positions(p, l.Experiments)
	if err != nil {
		return Summary{}, err
	}
	return Run(ctx, s, p, l.Shard.Of(positions), l.Experiments, l.Data, l.Options)
}

// Run runs the trials of the plan at the given positions. The summary holds even with
// an error: that of ctx after an interruption, ErrFailFast, or the reason for which a
// result cannot be written.
func Run(ctx context.Context, s *store.Store, p *plan.Plan, indices []int, experiments *experiment.Registry,
	data *plan.Datasets, opts Options) (Summary, error) {
	opts.Jobs = max(1, opts.Jobs)
	cores := runtime.GOMAXPROCS(0)
	if opts.Workers < 1 {
		opts.Workers = max(1, cores/opts.Jobs)
	}
	if opts.Cores < 1 {
		opts.Cores = cores
	}
	r := &run{store: s, plan: p, experiments: experiments, data: data, opts: opts,
		failedBefore: map[int]string{}, kept: record.Classes{},
		seen: map[int]store.Version{}}
	r.summary.Total = len(indices)
	pending, err := r.findPending(indices)
	if err != nil {
		return r.summary, err
	}
	requests, err := r.requests(pending)
	if err != nil {
		return r.summary, err
	}
	r.observe(func(o Observer) {
		o.Planned(len(indices), len(indices)-len(pending))
		if len(pending) > 0 {
			o.Ahead(r.workload(requests))
		}
		for i, index := range indices {
			if reason, ok := r.failedBefore[i]; ok {
				o.FailedBefore(p.Trials[index], reason)
			}
		}
	})
	if text := r.otherKernels(); text != "" && len(pending) > 0 && opts.Notice != nil {
		opts.Notice(text)
	}
	r.announce(requests)
	err = r.work(ctx, requests)
	sum := r.summary
	sum.NotRun = sum.Total - sum.OK - sum.Failed - sum.Skipped
	return sum, err
}

// Pending returns which of the trials at the given positions of the plan [Run] would run,
// in their order.
func Pending(s *store.Store, p *plan.Plan, indices []int, retry Retry) ([]int, error) {
	r := &run{store: s, plan: p, opts: Options{Retry: retry}, failedBefore: map[int]string{}, kept: record.Classes{},
		seen: map[int]store.Version{}}
	return r.findPending(indices)
}

type run struct {
	store       *store.Store
	plan        *plan.Plan
	experiments *experiment.Registry
	data        *plan.Datasets
	opts        Options

	failedBefore map[int]string // position in this part of the plan to reason
	past         []plan.Past    // of the trials that have a record
	// kept are the BLAS classes of the results that are there and stay.
	kept record.Classes
	// seen has the stored versions of trials that are run again, by their position in
	// the plan. A result that another runner stores meanwhile is another version.
	seen map[int]store.Version

	crowded sync.Once // for the notice that another runner's trials are waited for
	noticed sync.Map  // the notices of trials: many may have the same

	mu       sync.Mutex // guards the following fields, and the observer
	summary  Summary
	reported int // asides that the observer knows
	refused  int // trials in a row that the machine refused

	halt   context.CancelCauseFunc // keeps further trials from being begun
	halted <-chan struct{}         // by halt, or because the run ends

	alone sync.RWMutex // trials run under its read lock; one that runs alone, under the other
}

func (r *run) observe(f func(Observer)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opts.Observer == nil {
		return
	}
	for _, a := range r.store.Asides()[r.reported:] {
		r.reported++
		r.opts.Observer.Aside(a)
	}
	f(r.opts.Observer)
}

// findPending reads the records on all cores, and returns the positions that have to be
// run, in order.
func (r *run) findPending(indices []int) ([]int, error) {
	status, reasons := make([]record.Status, len(indices)), make([]*string, len(indices))
	seconds := make([]float64, len(indices))
	classes := make([]string, len(indices))
	versions := make([]store.Version, len(indices))
	errs := make([]error, max(1, runtime.GOMAXPROCS(0)))
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for i := w; i < len(indices); i += len(errs) {
				key := r.plan.Trials[indices[i]].Key
				var version store.Version
				var err error
				if r.opts.Retry != RetryNone {
					// The version before the record: of a record that is replaced in
					// between, the older version is seen, and the newer is another.
					version, err = r.store.Version(key)
				}
				var rec *record.Record
				var ok bool
				if err == nil {
					rec, ok, err = r.store.Get(key)
				}
				if err != nil {
					errs[w] = err
					return
				}
				if ok {
					status[i], reasons[i], classes[i] = rec.Status, rec.Error, rec.Provenance.Class()
					seconds[i] = rec.Timing.WallS
					if r.opts.Retry != RetryNone && r.wanted(rec.Status) {
						versions[i] = version
					}
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var pending []int
	for i, index := range indices {
		if status[i] == record.OK || status[i] == record.Failed {
			r.past = append(r.past, plan.Past{Index: index, Seconds: seconds[i]})
		}
		if r.wanted(status[i]) {
			pending = append(pending, index)
			if r.opts.Retry != RetryNone {
				r.seen[index] = versions[i]
			}
			continue
		}
		if status[i] == record.Failed && reasons[i] != nil {
			r.failedBefore[i] = *reasons[i]
		}
		if status[i] == record.OK && classes[i] != "" {
			r.kept.Add(classes[i], 1)
		}
		r.count(status[i])
		r.summary.Cached++
	}
	return pending, nil
}

// wanted reports whether a trial with that stored status is to be run.
func (r *run) wanted(s record.Status) bool {
	switch s {
	case record.OK:
		return r.opts.Retry == RetryAll
	case record.Failed:
		return r.opts.Retry == RetryAll || r.opts.Retry == RetryFailed
	default:
		return true
	}
}

func (r *run) count(s record.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Count(s)
}

// work runs the requests: first the free ones, then those that other runners held.
func (r *run) work(parent context.Context, requests []*request) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	taking, halt := context.WithCancelCause(ctx)
	defer halt(nil)
	r.halt, r.halted = halt, taking.Done()
	workers := min(r.opts.Jobs, max(1, len(requests)))
	q := newQueue(requests, r.opts.Memory, workers)
	var (
		wg      sync.WaitGroup
		waiting sync.Once
	)
	for range workers {
		wg.Go(func() {
			runner := r.opts.NewRunner()
			defer runner.Close()
			for {
				next, held := q.take(taking)
				if next == nil {
					return
				}
				if held > 0 {
					waiting.Do(func() { r.observe(func(o Observer) { o.Waiting(held) }) })
				}
				done, err := r.one(ctx, runner, next)
				switch {
				case err != nil:
					stop(err)
					q.done(next)
				case done:
					q.done(next)
				default:
					q.hold(next)
					// Another runner finishes its own trials; they become ours only
					// where it dies.
					if held > 0 {
						pause(taking)
					}
				}
			}
		})
	}
	wg.Wait()
	if err := parent.Err(); err != nil {
		return err
	}
	return context.Cause(taking)
}

// pause waits before trials of other runners are tried again.
func pause(ctx context.Context) {
	select {
	case <-time.After(pollInterval):
	case <-ctx.Done():
	}
}

// one runs a trial; done is false where another runner holds it.
func (r *run) one(ctx context.Context, runner Runner, q *request) (done bool, err error) {
	t := r.plan.Trials[q.index]
	// Before any lock, so that a trial that waits to run alone does not block other
	// runners.
	r.alone.RLock()
	defer r.alone.RUnlock()
	leave, err := r.enter(ctx, q.alone)
	if err != nil {
		return false, err
	}
	defer leave()
	unlock, ok, err := r.store.Lock(t.Key)
	if err != nil || !ok {
		return false, err
	}
	defer unlock()
	if err := r.store.PutAside(t.Key); err != nil {
		return false, err
	}
	// Another runner may have finished it since the folder was read.
	if rec, ok, err := r.store.Get(t.Key); err != nil {
		return false, err
	} else if ok && (!r.wanted(rec.Status) || r.opts.Retry != RetryNone && r.finishedSince(q.index)) {
		r.count(rec.Status)
		r.observe(func(o Observer) { o.Elsewhere(t) })
		return true, nil
	}
	rec, err := r.record(ctx, runner, t, q.alone)
	if errors.Is(err, errGivenUp) {
		if r.opts.FailFast {
			return true, ErrFailFast
		}
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if err := r.store.Put(rec); err != nil {
		return false, fmt.Errorf("the result of %s (%.12s) cannot be written; what was finished before is kept: %w",
			t.Experiment, t.Key, err)
	}
	r.count(rec.Status)
	r.observe(func(o Observer) { o.Finished(t, rec) })
	if rec.Status == record.Failed && r.opts.FailFast {
		return true, ErrFailFast
	}
	return true, nil
}

// noticeOnce hands on a notice of a trial.
func (r *run) noticeOnce(text string) {
	if _, before := r.noticed.LoadOrStore(text, true); !before && r.opts.Notice != nil {
		r.opts.Notice(text)
	}
}

// enter waits until the machine is free for a trial: a timed one runs at the same time
// as no trial of other runners on this folder and machine. leave ends that.
func (r *run) enter(ctx context.Context, alone bool) (leave func(), err error) {
	for {
		leave, ok, err := r.store.Enter(alone)
		if ok || err != nil {
			return leave, err
		}
		r.crowded.Do(func() {
			if r.opts.Notice != nil {
				r.opts.Notice("waiting for another runner of this folder on this machine: a timed trial runs beside no other")
			}
		})
		if pause(ctx); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// finishedSince reports whether another runner has stored a record of the trial at that
// position since the folder was read.
func (r *run) finishedSince(index int) bool {
	version, err := r.store.Version(r.plan.Trials[index].Key)
	return err == nil && !version.Same(r.seen[index])
}

// record runs a trial and returns its record. The error is errGivenUp where the
// machine kept it from one again and again; any other means that the whole run
// has to stop.
func (r *run) record(ctx context.Context, runner Runner, t plan.Trial, alone bool) (*record.Record, error) {
	e, err := r.experiments.Lookup(t.Experiment)
	if err != nil {
		return nil, err
	}
	job := trial.Job{
		Key: t.Key, Identity: t.Identity, Workers: r.opts.Workers, Host: r.opts.Host,
		Folders: map[string]string{}, Beside: e.Timed() && !alone,
		Notice: r.noticeOnce,
	}
	if e.External {
		job.Folder = r.plan.Commands.Path()
	}
	if r.opts.SharedLimit > 0 {
		job.Shared = trial.SharedWork{Dir: r.store.Dir(), Limit: r.opts.SharedLimit}
	}
	if alone {
		job.Workers = r.opts.Cores
	}
	if r.opts.Profile {
		job.Profile = r.store.ProfilePath(t.Key)
	}
	for _, name := range e.Reads(t.Params) {
		d := r.data.Get(name)
		job.Folders[name] = d.Folder
		if trouble := trial.Shortage(d.Err); trouble != nil {
			return nil, r.giveUp(t, trouble, 0) // the data that were read are kept
		}
		if d.Err != nil {
			rec, err := trial.NewRecord(job)
			if err != nil {
				return nil, err
			}
			return plan.WithoutData(rec, d.Err), nil
		}
	}
	if refusal := r.refusal(e, t.Params); refusal != "" {
		return nil, r.giveUp(t, &trial.Trouble{Machine: true, Reason: refusal}, 0)
	}
	return r.insist(ctx, runner, t, job)
}
