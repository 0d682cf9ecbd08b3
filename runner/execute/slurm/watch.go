package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/text"
)

// watch follows one run of an executor. Parts are counted from 1.
type watch struct {
	*Executor
	dir     string
	start   time.Time
	store   *store.Store
	plan    *plan.Plan
	done    []bool                // trials with a result
	skipped map[int]store.Version // old records of skipped trials, which are no results; nil before the first update
	summary schedule.Summary

	unlock   func()   // not nil: this program submits and cancels; others wait for results
	followed bool     // another program had control
	users    []string // whose jobs are polled: this user, and owners of jobs that were attached to
	jobName
	of []int // the part of each trial

	left      []int             // trials without a result, by part
	last      map[int]task      // the latest task of a part, where this program knows one
	tries     map[int]int       // such tasks of a part
	lostSince map[int]time.Time // when the loss of a part's latest task was first seen
	live      []string          // jobs with live tasks, by the last poll
	pending   bool              // some of their tasks wait
	trouble   string            // the last error of the queue
	refused   time.Time         // of the last refused submission
}

// run follows the plan to its end, or to that of the context.
func (w *watch) run(ctx context.Context) (err error) {
	defer func() {
		if len(w.live) > 0 && err != nil && ctx.Err() == nil && !errors.Is(err, schedule.ErrFailFast) {
			w.Observer.Notice(theyGoOn(w.live), true)
		}
	}()
	calm := context.WithoutCancel(ctx) // commands of Slurm are not interrupted
	if err := w.control(calm); err != nil {
		return err
	}
	if w.unlock == nil {
		w.followed = true
		w.Observer.Notice("another run of this folder submits its jobs; following it", false)
	} else if err := w.withdraw(calm); err != nil {
		return err
	}
	if err := w.planned(); err != nil {
		return err
	}
	for {
		failed, err := w.look()
		if err != nil {
			return err
		}
		switch {
		case failed && w.FailFast:
			return errors.Join(schedule.ErrFailFast, w.stop(calm))
		case !slices.Contains(w.done, false):
			if w.pending && len(w.live) > 0 {
				// Tasks that have not begun are not needed. It fails where they have begun since.
				_, _ = call(calm, "scancel", append([]string{"--state=PENDING"}, w.live...)...)
			}
			return nil
		case w.unlock == nil:
			err = w.control(calm)
		default:
			var done bool
			if done, err = w.follow(calm); done {
				return nil
			}
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			w.interrupted(calm)
			return ctx.Err()
		case <-time.After(w.interval()):
		}
	}
}

// interval grows with the time that the run takes, because a controller serves many.
func (w *watch) interval() time.Duration {
	if w.Poll > 0 {
		return w.Poll
	}
	return min(max(time.Since(w.start)/50, time.Second), 15*time.Second)
}

// control takes control of the folder if no other program has it: it attaches to the jobs
// of the plan in the queue, or divides the plan anew.
func (w *watch) control(ctx context.Context) error {
	unlock, ok, err := w.store.Lock(folder)
	if err != nil || !ok {
		return err
	}
	w.unlock = unlock
	tasks, err := queue(ctx)      // of all users, because they may share the folder
	if err != nil && w.followed { // another program's jobs may go on
		w.unlock = nil
		unlock()
		w.unread(err)
		return nil
	}
	if err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(w.dir) // because the folder may have several paths
	if err != nil {
		return err
	}
	w.jobName, w.users = nameOf(dir, w.plan), []string{strconv.Itoa(os.Getuid())}
	planned := w.divide(w.plan)
	w.division = planned
	jobs, others := map[string]bool{}, map[string]bool{}
	for _, t := range tasks {
		switch n, ok := parseName(t.name); {
		case !ok || !t.live() || n.folder != w.folder:
		case n.keys == w.keys:
			w.division, jobs[t.job] = n.division, true
			if !slices.Contains(w.users, t.user) {
				w.users = append(w.users, t.user)
			}
		default:
			others[t.job] = true
		}
	}
	if len(others) > 0 {
		return fmt.Errorf("jobs of the plan that was in %s before are still there; wait for their end, or cancel them: "+
			"scancel %s", w.dir, strings.Join(sortJobs(others), " "))
	}
	if w.of, err = w.assign(w.plan, w.Timed); err != nil {
		return err
	}
	if w.live = sortJobs(jobs); len(jobs) > 0 {
		w.attached(planned)
	}
	return nil
}

// attached reports the jobs that another run has submitted, and the options that they
// were submitted without.
func (w *watch) attached(planned division) {
	w.Observer.Notice("attached to "+jobNames(w.live), false)
	for option, ignored := range map[string]bool{
		"--retry":           w.Retry != schedule.RetryNone,
		"--share-timings":   w.ShareTimings && w.timed > 0,
		"--trials-per-task": w.TrialsPerTask > 0 && planned.parts != w.parts,
	} {
		if ignored {
			w.Observer.Notice(option+" is for a new run: the jobs go on as they were submitted", false)
		}
	}
}

// withdraw puts the records aside that --retry makes again, before the first submission,
// because a task that is submitted again must not repeat the trials of others, and only
// for jobs that will be accepted. Records of skipped trials stay until their tasks
// replace them.
func (w *watch) withdraw(ctx context.Context) error {
	if w.Retry == schedule.RetryNone || len(w.live) > 0 {
		return nil
	}
	if err := testSubmit(ctx, w.Options); err != nil {
		return err
	}
	n := 0
	for _, t := range w.plan.Trials {
		rec, ok, err := w.store.Get(t.Key)
		if err != nil {
			return err
		}
		if !ok || rec.Status == record.Skipped || w.Retry == schedule.RetryFailed && rec.Status != record.Failed {
			continue
		}
		if err := w.store.Withdraw(t.Key); err != nil {
			return err
		}
		n++
	}
	if n > 0 {
		w.Observer.Notice(fmt.Sprintf("--retry %s: %s put aside, to be run again", w.Retry, text.Count(n, "record")), false)
	}
	return nil
}

// planned counts the results of earlier commands.
func (w *watch) planned() error {
	work := plan.Workload{Plan: w.plan}
	var failed []func()
	if err := w.update(func(i int, t plan.Trial, rec *record.Record) {
		work.Past = append(work.Past, plan.Past{Index: i, Seconds: rec.Timing.WallS})
		if rec.Status == record.Failed && rec.Error != nil {
			failed = append(failed, func() { w.Observer.FailedBefore(t, *rec.Error) })
		}
	}); err != nil {
		return err
	}
	w.summary.Cached = len(work.Past)
	w.Observer.Planned(w.summary.Total, w.summary.Cached)
	for i, done := range w.done {
		if !done {
			work.Pending = append(work.Pending, i)
		}
	}
	if len(work.Pending) > 0 {
		w.Observer.Ahead(work)
	}
	for _, report := range failed {
		report()
	}
	return nil
}

// look reports new results; failed reports whether one of them is a failure.
func (w *watch) look() (failed bool, err error) {
	err = w.update(func(_ int, t plan.Trial, rec *record.Record) {
		w.Observer.Finished(t, rec)
		failed = failed || rec.Status == record.Failed
	})
	return failed, err
}

// update counts new records, and calls found for each. A trial that was skipped before
// the first update runs again, because missing data may be there now: it has a result
// when its record is replaced.
func (w *watch) update(found func(i int, t plan.Trial, rec *record.Record)) error {
	keys, err := w.store.Keys()
	if err != nil {
		return err
	}
	first := w.skipped == nil
	if first {
		w.skipped = map[int]store.Version{}
	}
	for i, t := range w.plan.Trials {
		if w.done[i] || !keys[t.Key] {
			continue
		}
		// The version before the record: one that is replaced in between is new.
		version, err := w.store.Version(t.Key)
		if err != nil {
			return err
		}
		if old, known := w.skipped[i]; known && version.Same(old) {
			continue
		}
		rec, ok, err := w.store.Get(t.Key)
		if err != nil {
			return err
		}
		switch {
		case !ok: // the trial's task puts the file aside
		case first && rec.Status == record.Skipped:
			w.skipped[i] = version
		default:
			w.done[i] = true
			w.summary.Count(rec.Status)
			found(i, t, rec)
		}
	}
	return nil
}

// interrupted leaves the jobs, or cancels them where Cancel decides so.
func (w *watch) interrupted(ctx context.Context) {
	if len(w.live) == 0 {
		return
	}
	if w.Cancel != nil && w.Cancel(len(w.live)) {
		err := w.stop(ctx)
		if err == nil {
			return
		}
		w.Observer.Notice(fmt.Sprintf("not cancelled: %v", err), true)
	}
	w.Observer.Notice(theyGoOn(w.live), true)
}

// stop cancels the live jobs.
func (w *watch) stop(ctx context.Context) error {
	if len(w.live) == 0 {
		return nil
	}
	if _, err := call(ctx, "scancel", w.live...); err != nil {
		return err
	}
	w.Observer.Notice("cancelled "+jobNames(w.live), true)
	return nil
}
