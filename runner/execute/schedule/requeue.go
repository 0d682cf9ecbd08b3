package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"privkern/runner/execute/trial"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/text"
)

// errGivenUp is the error of a trial without a result after all of its runs.
var errGivenUp = errors.New("the machine kept the trial from a result")

// Pauses before a trial is run again: the first, where none is given, and the longest.
// Resources may be available again when other programs have ended.
const (
	firstPause = time.Second
	maxPause   = time.Minute
)

// insist runs a trial, and again where the machine kept it from a result. Its last run
// is alone, because others may take the resources that it lacks.
func (r *run) insist(ctx context.Context, runner Runner, t plan.Trial, job trial.Job) (*record.Record, error) {
	pause := r.opts.Pause
	if pause == 0 {
		pause = firstPause
	}
	for try := 1; ; try++ {
		rec, err := r.attempt(ctx, runner, t, job, try > 1 && try > r.opts.Requeue)
		var trouble *trial.Trouble
		if !errors.As(err, &trouble) { // a record, or the end of the run
			if err == nil {
				r.served()
			}
			return rec, err
		}
		if trouble.Output != "" {
			r.keepLog(t, trouble.Reason, trouble.Output)
		}
		if try > r.opts.Requeue {
			return nil, r.giveUp(t, trouble, try)
		}
		r.observe(func(o Observer) { o.Again(t, trouble, try, r.opts.Requeue+1, pause) })
		select {
		case <-time.After(pause):
		case <-r.halted:
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, r.giveUp(t, trouble, try)
		}
		pause = min(2*pause, maxPause)
	}
}

func (r *run) giveUp(t plan.Trial, trouble *trial.Trouble, tries int) error {
	if trouble.Refused && tries > 0 {
		r.refuse(trouble)
	}
	r.observe(func(o Observer) { o.GivenUp(t, trouble, tries) })
	return errGivenUp
}

// fewRefusals is how many trials in a row the machine may refuse before no other is begun.
const fewRefusals = 3

// RefusedError is the error of a run that was stopped because the machine refused one
// trial after another, and would refuse the rest.
type RefusedError struct {
	Trials int // in a row
	Why    *trial.Trouble
}

func (e *RefusedError) Error() string {
	sentence := fmt.Sprintf("stopped after %s in a row that this machine refused: %s", text.Count(e.Trials, "trial"),
		e.Why.Reason)
	if e.Why.Advice != "" {
		sentence += "; " + e.Why.Advice
	}
	return sentence + "; what was finished is kept, and the same command goes on"
}

// refuse counts a trial that the machine refused, and halts the run after too many in a
// row: more than run at a time, so that they were not refused because of each other.
// Running trials end normally.
func (r *run) refuse(why *trial.Trouble) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused++; r.refused >= max(fewRefusals, r.opts.Jobs+1) {
		r.halt(&RefusedError{r.refused, why})
	}
}

// served notes that the machine let a trial end.
func (r *run) served() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = 0
}

// attempt runs a trial once: with others, under the read lock of r.alone, or alone. The
// error is the end of ctx, a trouble of the machine, or the end of the run.
func (r *run) attempt(ctx context.Context, runner Runner, t plan.Trial, job trial.Job,
	alone bool) (*record.Record, error) {
	if alone {
		r.alone.RUnlock()
		r.alone.Lock()
		defer func() {
			r.alone.Unlock()
			r.alone.RLock()
		}()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.observe(func(o Observer) { o.Started(t) })
	begun := time.Now()
	rec, err := runner.Run(ctx, job, r.opts.Timeout, func(done, total int, phase string) {
		r.observe(func(o Observer) { o.Inner(t, done, total, phase) })
	})
	if err != nil {
		if rec, err = r.failed(ctx, job, err); err != nil {
			return nil, err
		}
		rec.Timing.WallS = time.Since(begun).Seconds() // its process cannot tell the rest any more
	}
	if rec.Log != "" {
		if name := r.keepLog(t, *rec.Error, rec.Log); name != "" {
			mention := *rec.Error + "; more is in " + name
			rec.Error = &mention
		}
	}
	return rec, nil
}

// failed returns the record of a trial that a runner's error ended, where that was
// the trial's doing.
func (r *run) failed(ctx context.Context, job trial.Job, err error) (*record.Record, error) {
	var trouble *trial.Trouble
	switch isTrouble := errors.As(err, &trouble); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case isTrouble && trouble.Machine:
		return nil, trouble
	case errors.Is(err, trial.ErrNotStarted):
		return nil, fmt.Errorf("%w; what was finished before is kept, and the same command goes on", err)
	}
	rec, newErr := trial.NewRecord(job)
	if newErr != nil {
		return nil, newErr
	}
	rec.Fail(err.Error())
	if trouble != nil && trouble.Output != "" {
		rec.Log = trouble.Output
	}
	return rec, nil
}

// keepLog writes the log of a trial and returns its name in the output folder; ""
// where it cannot be written, which costs no result.
func (r *run) keepLog(t plan.Trial, reason, text string) (name string) {
	head := fmt.Sprintf("%s\n%s --seed %d\n%s\n%s\n\n", t.Key, t.Experiment, t.Seed, time.Now().UTC().Format(time.RFC3339),
		reason)
	name, err := r.store.PutLog(t.Key, []byte(head+text+"\n"))
	if err != nil {
		if r.opts.Notice != nil {
			r.opts.Notice(fmt.Sprintf("the log of %s (%.12s) cannot be written: %v", t.Experiment, t.Key, err))
		}
		return ""
	}
	return name
}
