// Package schedule runs the trials of a plan that have no result yet, several
// at a time. The number of workers and the order never change a result.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"privkern/runner/experiment"
	"privkern/runner/memory"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/trial"
)

// Runner runs jobs one after another; each worker has one of its own. An error is
// a failure of the trial, except [trial.ErrNotStarted], which ends the run.
type Runner interface {
	Run(ctx context.Context, job trial.Job, limit time.Duration, progress trial.Progress) (*record.Record, error)
	Close()
}

// Retry says which finished trials are run again.
type Retry string

// Skipped trials are always looked at again: what was missing may be there
// now.
const (
	RetryNone   Retry = ""
	RetryFailed Retry = "failed"
	RetryAll    Retry = "all"
)

// Options say how to run.
type Options struct {
	Jobs     int // trials at a time
	Workers  int // a trial's own parallelism; 0: the cores divided by Jobs
	Timeout  time.Duration
	FailFast bool
	Retry    Retry
	// Memory is what the trials may take together, in bytes; 0 for no limit.
	// Fewer run at a time where they would need more, and one that needs more
	// alone fails before it starts.
	Memory    int64
	Notice    func(text string) // is told of fewer jobs; may be nil
	Host      record.Provenance
	NewRunner func() Runner
	Observer  Observer
}

// Observer is told what happens. The methods are called one at a time.
type Observer interface {
	// Planned is called once: how many trials there are, and how many of them
	// have a result already.
	Planned(total, finished int)
	// FailedBefore is called for a trial that failed in an earlier run and is not
	// run again.
	FailedBefore(t plan.Trial, reason string)
	Started(t plan.Trial)
	Inner(t plan.Trial, done, total int, what string)
	Finished(t plan.Trial, r *record.Record)
	// Elsewhere is called for a trial that another runner has finished.
	Elsewhere(t plan.Trial)
	// Waiting is called once where nothing is left to run but so many trials that
	// other runners hold.
	Waiting(n int)
	Aside(a store.Aside)
}

// Summary counts the outcomes.
type Summary struct {
	Total   int // trials of this part of the plan
	OK      int
	Failed  int
	Skipped int
	Cached  int // of these, how many had a result before
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

// ErrFailFast says that the run was stopped by the first failure.
var ErrFailFast = errors.New("stopped at the first failed trial (--fail-fast)")

// pollInterval is how often a trial that another runner holds is looked at.
const pollInterval = 300 * time.Millisecond

// Local runs a part of a plan on this machine.
type Local struct {
	Shard       plan.Shard // the zero value is all of the plan
	Experiments *experiment.Registry
	Data        *plan.Datasets
	Options     Options
}

// Execute calls [Run] for the part.
func (l *Local) Execute(ctx context.Context, s *store.Store, p *plan.Plan) (Summary, error) {
	return Run(ctx, s, p, l.Shard.Indices(len(p.Trials)), l.Experiments, l.Data, l.Options)
}

// Run runs the trials of the plan at the given positions. The summary holds
// even where an error is returned: the error of ctx after an interruption,
// ErrFailFast, or what kept a result from being written.
func Run(ctx context.Context, s *store.Store, p *plan.Plan, indices []int, experiments *experiment.Registry, data *plan.Datasets, opts Options) (Summary, error) {
	opts.Jobs = max(1, opts.Jobs)
	if opts.Workers < 1 {
		opts.Workers = max(1, runtime.GOMAXPROCS(0)/opts.Jobs)
	}
	r := &run{store: s, plan: p, experiments: experiments, data: data, opts: opts, failedBefore: map[int]string{}, seen: map[int]store.Version{}}
	r.summary.Total = len(indices)
	pending, err := r.findPending(indices)
	if err != nil {
		return r.summary, err
	}
	r.observe(func(o Observer) {
		o.Planned(len(indices), len(indices)-len(pending))
		for i, index := range indices {
			if reason, ok := r.failedBefore[i]; ok {
				o.FailedBefore(p.Trials[index], reason)
			}
		}
	})
	if err := r.fitJobs(pending); err != nil {
		return r.summary, err
	}
	err = r.work(ctx, pending)
	sum := r.summary
	sum.NotRun = sum.Total - sum.OK - sum.Failed - sum.Skipped
	return sum, err
}

type run struct {
	store       *store.Store
	plan        *plan.Plan
	experiments *experiment.Registry
	data        *plan.Datasets
	opts        Options

	failedBefore map[int]string // position in this part of the plan to reason
	// seen is what was stored of the trials that are run again, by their
	// position in the plan, so that what another runner finishes meanwhile is
	// told from it.
	seen map[int]store.Version

	mu       sync.Mutex // guards what follows, and the observer
	summary  Summary
	reported int // asides that the observer knows
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

// findPending reads what is there, on all cores, and returns the positions
// that have to be run, in order.
func (r *run) findPending(indices []int) ([]int, error) {
	status, reasons := make([]record.Status, len(indices)), make([]*string, len(indices))
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
					status[i], reasons[i] = rec.Status, rec.Error
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
		r.count(status[i])
		r.summary.Cached++
	}
	return pending, nil
}

// fitJobs reduces the number of jobs to those that fit into the memory, counting
// each as the largest that is to be started at all.
func (r *run) fitJobs(pending []int) error {
	if r.opts.Memory == 0 {
		return nil
	}
	largest := int64(0)
	for _, index := range pending {
		t := r.plan.Trials[index]
		e, err := r.experiments.Lookup(t.Experiment)
		if err != nil {
			return err
		}
		if e.Memory == nil {
			continue
		}
		if need := e.Memory(t.Params); memory.Refusal(need, r.opts.Memory) == "" {
			largest = max(largest, need)
		}
	}
	asked := min(r.opts.Jobs, len(pending))
	if fit := memory.Jobs(asked, largest, r.opts.Memory); fit < asked {
		r.opts.Jobs = fit
		if r.opts.Notice != nil {
			r.opts.Notice(fmt.Sprintf("%d at a time instead of %d: a trial needs up to about %s, %s are available; --ignore-memory runs as many as asked for",
				fit, asked, memory.Text(largest), memory.Text(r.opts.Memory)))
		}
	}
	return nil
}

// wanted says whether a trial with that stored status is to be run.
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

// work runs the pending trials, first all that are free, then those that other
// runners held.
func (r *run) work(parent context.Context, pending []int) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	var (
		mu   sync.Mutex
		next int
		busy []int
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next < len(pending) {
			next++
			return pending[next-1], true
		}
		return 0, false
	}
	var (
		wg      sync.WaitGroup
		waiting sync.Once
	)
	for range min(r.opts.Jobs, max(1, len(pending))) {
		wg.Go(func() {
			runner := r.opts.NewRunner()
			defer runner.Close()
			for ctx.Err() == nil {
				i, ok := take()
				if !ok {
					break
				}
				switch done, err := r.one(ctx, runner, i); {
				case err != nil:
					stop(err)
				case !done:
					mu.Lock()
					busy = append(busy, i)
					mu.Unlock()
				}
			}
			// What others hold is theirs to finish; it becomes ours only where
			// they die.
			for ctx.Err() == nil {
				mu.Lock()
				if len(busy) == 0 {
					mu.Unlock()
					return
				}
				i, held := busy[0], len(busy)
				busy = busy[1:]
				mu.Unlock()
				waiting.Do(func() { r.observe(func(o Observer) { o.Waiting(held) }) })
				done, err := r.one(ctx, runner, i)
				if err != nil {
					stop(err)
				} else if !done {
					mu.Lock()
					busy = append(busy, i)
					mu.Unlock()
					select {
					case <-time.After(pollInterval):
					case <-ctx.Done():
					}
				}
			}
		})
	}
	wg.Wait()
	if err := parent.Err(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// one runs a trial; done is false where another runner holds it.
func (r *run) one(ctx context.Context, runner Runner, index int) (done bool, err error) {
	t := r.plan.Trials[index]
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
	} else if ok && (!r.wanted(rec.Status) || r.opts.Retry != RetryNone && r.finishedSince(index)) {
		r.count(rec.Status)
		r.observe(func(o Observer) { o.Elsewhere(t) })
		return true, nil
	}
	rec, err := r.record(ctx, runner, t)
	if err != nil {
		return false, err
	}
	if err := r.store.Put(rec); err != nil {
		return false, fmt.Errorf("the result of %s (%.12s) cannot be written; what was finished before is kept: %w", t.Experiment, t.Key, err)
	}
	r.count(rec.Status)
	r.observe(func(o Observer) { o.Finished(t, rec) })
	if rec.Status == record.Failed && r.opts.FailFast {
		return true, ErrFailFast
	}
	return true, nil
}

// finishedSince says whether another runner has stored a record of the trial at
// that position since the folder was read.
func (r *run) finishedSince(index int) bool {
	version, err := r.store.Version(r.plan.Trials[index].Key)
	return err == nil && !version.Same(r.seen[index])
}

// record runs a trial and returns its record; an error means that the whole
// run has to stop.
func (r *run) record(ctx context.Context, runner Runner, t plan.Trial) (*record.Record, error) {
	e, err := r.experiments.Lookup(t.Experiment)
	if err != nil {
		return nil, err
	}
	job := trial.Job{
		Key: t.Key, Experiment: t.Experiment, ResultVersion: e.Version, Params: t.Params, Seed: t.Seed,
		Backend: r.plan.Backend, DType: r.plan.DType, Workers: r.opts.Workers, Host: r.opts.Host,
		Folders: map[string]string{}, Digests: map[string]string{},
	}
	if e.Datasets != nil {
		for _, name := range e.Datasets(t.Params) {
			d := r.data.Get(name)
			job.Folders[name], job.Digests[name] = d.Folder, d.Digest
			if d.Err != nil {
				rec, err := trial.NewRecord(job)
				if err != nil {
					return nil, err
				}
				return plan.WithoutData(rec, d.Err), nil
			}
		}
	}
	if e.Memory != nil {
		if refusal := memory.Refusal(e.Memory(t.Params), r.opts.Memory); refusal != "" {
			rec, err := trial.NewRecord(job)
			if err != nil {
				return nil, err
			}
			return rec.Fail(refusal), nil
		}
	}
	r.observe(func(o Observer) { o.Started(t) })
	rec, err := runner.Run(ctx, job, r.opts.Timeout, func(done, total int, what string) {
		r.observe(func(o Observer) { o.Inner(t, done, total, what) })
	})
	if err == nil {
		return rec, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, trial.ErrNotStarted) {
		return nil, fmt.Errorf("%w; what was finished before is kept, and the same command goes on", err)
	}
	failed, newErr := trial.NewRecord(job)
	if newErr != nil {
		return nil, newErr
	}
	return failed.Fail(err.Error()), nil
}
