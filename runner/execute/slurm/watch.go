package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/text"
)

// watch follows one run of an executor.
type watch struct {
	*Executor
	dir    string
	store  *store.Store
	plan   *plan.Plan
	digest string
	start  time.Time

	unlock  func() // not nil: this program submits and cancels; others only look on
	journal *journal
	results *results
	summary schedule.Summary
	limit   int // tasks of an array job; 0 until asked

	seen     map[place]*end // tasks that are not in the queue any more, or ended there
	live     []string       // jobs with live tasks, at the last look
	pending  bool           // some of their tasks wait
	trouble  string         // what was last wrong with the queue
	refused  time.Time      // when a submission was last refused
	followed bool           // that another program submits has been said
}

// run follows the plan to its end, or to that of the context.
func (w *watch) run(ctx context.Context) (err error) {
	defer func() {
		if jobs := w.ours(); err != nil && len(jobs) > 0 && ctx.Err() == nil && !errors.Is(err, schedule.ErrFailFast) {
			w.Observer.Notice(theyGoOn(jobs), true)
		}
	}()
	for {
		open, err := w.open(ctx)
		if err != nil {
			return err
		}
		if w.results != nil {
			failed, err := w.look()
			if err != nil {
				return err
			}
			switch {
			case failed && w.FailFast:
				return errors.Join(schedule.ErrFailFast, w.stop(context.WithoutCancel(ctx)))
			case w.results.total == 0:
				return w.finish(context.WithoutCancel(ctx))
			case !open: // another program has given up what is left
				return nil
			}
			done, err := w.follow(context.WithoutCancel(ctx))
			if err != nil || done {
				return err
			}
		}
		select {
		case <-ctx.Done():
			w.interrupted(context.WithoutCancel(ctx))
			return ctx.Err()
		case <-time.After(w.interval()):
		}
	}
}

// interval grows with the time that the run takes: a controller serves many.
func (w *watch) interval() time.Duration {
	if w.Poll > 0 {
		return w.Poll
	}
	return min(max(time.Since(w.start)/50, time.Second), 15*time.Second)
}

// open takes control if nobody has it, and opens a round or attaches to the one
// that is open. It returns false where the round was closed by another program.
func (w *watch) open(ctx context.Context) (bool, error) {
	gained := false
	if w.unlock == nil {
		unlock, ok, err := w.store.Lock(folder)
		if err != nil {
			return false, err
		}
		if ok {
			w.unlock, gained = unlock, true
		}
	}
	if w.unlock != nil && !gained {
		return true, nil // the journal is this program's own
	}
	j, err := readJournal(w.dir)
	if err != nil {
		return false, err
	}
	switch {
	case j != nil && j.Open && j.Plan == w.digest && w.journal == nil:
		w.journal = j
		return true, w.attach()
	case j != nil && j.Open && w.journal != nil && j.Round == w.journal.Round:
		w.journal = j // with what the program in control has submitted since
		return true, nil
	case w.journal != nil:
		return false, nil
	case w.unlock == nil:
		if !w.followed {
			w.followed = true
			w.Observer.Notice("another run of this folder is about to submit its jobs; following it", false)
		}
		return true, nil
	}
	if j == nil {
		j = &journal{}
	}
	if j.Open {
		if err := w.noneLeft(ctx, j); err != nil {
			return false, err
		}
	}
	return true, w.begin(ctx, j)
}

// attach follows a round that another run has begun.
func (w *watch) attach() error {
	j := w.journal
	if jobs := j.jobs(); len(jobs) > 0 {
		w.Observer.Notice(fmt.Sprintf("attached to %s, begun %s", jobNames(jobs),
			j.Started.Local().Format("2006-01-02 15:04:05")), false)
	}
	if w.Retry != schedule.RetryNone {
		w.Observer.Notice("--retry is for a new run: what is under way goes on", false)
	}
	d, err := w.divided(w.plan, j)
	if err != nil {
		return err
	}
	if w.ShareTimings && j.TimedParts > 0 {
		w.Observer.Notice("--share-timings is for a new run: the timed trials were submitted to nodes of their own", false)
	}
	if w.TrialsPerTask > 0 && w.divide(w.plan).parts != j.Parts {
		w.Observer.Notice(fmt.Sprintf("--trials-per-task is for a new run: the plan was submitted in %s",
			text.Count(j.Parts, "part")), false)
	}
	w.results = newResults(w.store, w.plan, d, j.Started)
	return w.planned()
}

// begin opens a round, if there is anything to do.
func (w *watch) begin(ctx context.Context, j *journal) error {
	if w.Retry != schedule.RetryNone {
		// No record is put aside for a job that would be refused.
		if err := w.askLimit(ctx); err != nil {
			return err
		}
		if err := trySubmit(ctx, w.Options); err != nil {
			return err
		}
	}
	if err := w.withdraw(w.store, w.plan); err != nil {
		return err
	}
	d := w.divide(w.plan)
	// A trial that was skipped is always looked at again.
	before := newResults(w.store, w.plan, d, time.Unix(1<<62, 0))
	if err := before.update(func(plan.Trial, *record.Record) {}); err != nil {
		return err
	}
	if before.total > 0 {
		if err := j.begin(w.dir, w.digest, d); err != nil {
			return err
		}
		w.journal = j
	}
	w.results = newResults(w.store, w.plan, d, j.Started)
	if before.total == 0 {
		w.results.since = time.Time{}
	}
	return w.planned()
}

// planned counts what has a result at the start.
func (w *watch) planned() error {
	type failure struct {
		t      plan.Trial
		reason string
	}
	var failed []failure
	seconds := map[string]float64{} // by the key of the trial
	if err := w.results.update(func(t plan.Trial, rec *record.Record) {
		if rec.Status != record.Skipped {
			seconds[t.Key] = rec.Timing.WallS
		}
		w.summary.Count(rec.Status)
		w.summary.Cached++
		if rec.Status == record.Failed && rec.Error != nil {
			failed = append(failed, failure{t, *rec.Error})
		}
	}); err != nil {
		return err
	}
	w.Observer.Planned(w.summary.Total, w.summary.Cached)
	if w.summary.Cached < w.summary.Total {
		w.Observer.Ahead(workload(w.plan, seconds))
	}
	for _, f := range failed {
		w.Observer.FailedBefore(f.t, f.reason)
	}
	return nil
}

// workload is what a cluster has before it: the trials of the plan, but those that
// took some seconds, by key.
func workload(p *plan.Plan, seconds map[string]float64) plan.Workload {
	w := plan.Workload{Plan: p}
	for i := range p.Trials {
		if s, ok := seconds[p.Trials[i].Key]; ok {
			w.Past = append(w.Past, plan.Past{Index: i, Seconds: s})
		} else {
			w.Pending = append(w.Pending, i)
		}
	}
	return w
}

// look takes note of new results; failed says whether one of them is a failure.
func (w *watch) look() (failed bool, err error) {
	err = w.results.update(func(t plan.Trial, rec *record.Record) {
		w.summary.Count(rec.Status)
		w.Observer.Finished(t, rec)
		failed = failed || rec.Status == record.Failed
	})
	return failed, err
}

// noneLeft refuses to replace a plan under jobs that work on it.
func (w *watch) noneLeft(ctx context.Context, j *journal) error {
	tasks, err := queue(ctx, w.users(j))
	if err != nil {
		return err
	}
	var jobs []string
	for _, s := range j.current() {
		for id, t := range tasks {
			if t.live() && t.name == s.Name && !slices.Contains(jobs, id.job) {
				jobs = append(jobs, id.job)
			}
		}
	}
	if len(jobs) > 0 {
		return fmt.Errorf("jobs of the plan that was in %s before are still there; wait for their end, or cancel them: "+
			"scancel %s", w.dir, strings.Join(jobs, " "))
	}
	return nil
}

// users are those whose jobs are looked at.
func (w *watch) users(j *journal) []string {
	users := map[string]bool{fmt.Sprint(os.Getuid()): true}
	for _, s := range j.current() {
		users[s.User] = true
	}
	return slices.Sorted(maps.Keys(users))
}

// ours are the jobs that are there and that this program answers for.
func (w *watch) ours() []string {
	if w.unlock == nil || w.journal == nil || !w.journal.Open {
		return nil
	}
	return w.live
}

// interrupted leaves the jobs, or cancels them where that is the answer.
func (w *watch) interrupted(ctx context.Context) {
	jobs := w.ours()
	if len(jobs) == 0 {
		return
	}
	if w.Cancel != nil && w.Cancel(len(jobs)) {
		err := w.stop(ctx)
		if err == nil {
			return
		}
		w.Observer.Notice(fmt.Sprintf("not cancelled: %v", err), true)
	}
	w.Observer.Notice(theyGoOn(jobs), true)
}

// stop cancels what is there.
func (w *watch) stop(ctx context.Context) error {
	jobs := w.ours()
	if err := cancel(ctx, jobs...); err != nil {
		return err
	}
	if len(jobs) > 0 {
		w.Observer.Notice("cancelled "+jobNames(jobs), true)
	}
	return w.close()
}

// finish ends a round of which all trials have a result. Tasks that have not
// begun are not needed any more; those that have are about to end.
func (w *watch) finish(ctx context.Context) error {
	if w.unlock != nil && w.pending && len(w.live) > 0 {
		// It fails where they have begun since; then they find nothing to do.
		_ = cancel(ctx, append([]string{"--state=PENDING"}, w.live...)...)
	}
	return w.close()
}

// close closes the round.
func (w *watch) close() error {
	if w.unlock == nil || w.journal == nil || !w.journal.Open {
		return nil
	}
	w.journal.Open = false
	return w.journal.write(w.dir)
}
