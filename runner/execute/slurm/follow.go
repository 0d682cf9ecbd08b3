package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/text"
)

// follow polls the queue and submits the parts that have no task and those whose task
// was lost. It is done where all parts that are left were lost too often.
func (w *watch) follow(ctx context.Context) (done bool, err error) {
	tasks, err := queue(ctx, w.users...)
	if err != nil {
		w.unread(err)
		return false, nil
	}
	if w.trouble != "" {
		w.trouble = ""
		w.Observer.Notice("the queue can be read again", true)
	}
	w.survey(tasks)
	return w.act(ctx)
}

// unread reports an error of the queue, once. A controller that is down for a while costs
// nothing: tasks go on.
func (w *watch) unread(err error) {
	if w.trouble != err.Error() {
		w.trouble = err.Error()
		w.Observer.Notice(fmt.Sprintf("the queue cannot be read (%v); trying again", err), true)
	}
	w.Observer.Queue("the queue cannot be read")
}

// survey finds the latest task of every part in the queue.
func (w *watch) survey(queued []task) {
	running, waiting, reasons := 0, 0, map[string]int{}
	jobs, latest := map[string]bool{}, map[int]task{}
	for _, t := range queued {
		n, ok := parseName(t.name)
		part := n.base + t.index + 1
		if n.base = 0; !ok || n != w.jobName || part > w.parts {
			continue
		}
		switch {
		case t.live():
			latest[part], jobs[t.job] = t, true
			w.tries[part] = max(1, w.tries[part]) // by another run
			if t.state == "PENDING" {
				waiting++
				reasons[t.reason]++
			} else {
				running++
			}
		case w.last[part].job == t.job && latest[part].job == "":
			latest[part] = t
		}
	}
	for part, t := range w.last {
		if latest[part].job == "" {
			t.state = gone
			latest[part] = t
		}
	}
	w.last, w.live, w.pending = latest, sortJobs(jobs), waiting > 0
	w.Observer.Queue(queueText(running, waiting, reasons))
}

// act submits the parts that have no task yet and those whose task was lost. A part
// that was lost too often ends the run with [schedule.ErrFailFast] where FailFast is set.
func (w *watch) act(ctx context.Context) (done bool, err error) {
	fresh, again, givenUp, waits := w.sort()
	if len(givenUp) > 0 && w.FailFast {
		w.report(givenUp)
		return false, errors.Join(schedule.ErrFailFast, w.stop(ctx))
	}
	// A refused submission is not repeated within a minute, except where nothing runs.
	if len(w.live) == 0 || time.Since(w.refused) > time.Minute {
		if len(again) > 0 {
			states := map[string]int{}
			for _, part := range again {
				states[w.last[part].state]++
			}
			w.Observer.Notice(lost(again, states, w.parts), true)
		}
		if len(fresh) > 0 && w.followed {
			w.followed = false
			w.Observer.Notice("the run that was followed has ended without all results; submitting "+
				partNames(fresh, w.parts), true)
		}
		rest, err := w.submit(ctx, slices.Sorted(slices.Values(append(fresh, again...))))
		var refused *CommandError
		if err != nil && (!errors.As(err, &refused) || len(w.live) == 0) {
			return false, err
		}
		if err != nil { // the limit on a user's jobs may leave room when some have ended
			w.refused = time.Now()
			w.Observer.Notice(fmt.Sprintf("%s cannot be submitted now (%v); trying again while others run",
				text.Count(rest, "part"), err), true)
		}
	}
	if len(fresh)+len(again) > 0 || waits || len(givenUp) == 0 {
		return false, nil
	}
	w.report(givenUp)
	return true, nil
}

// sort sorts the parts without all results: fresh ones have had no task, and the task
// of the others was lost. waits reports whether some have a task or may get results yet.
func (w *watch) sort() (fresh, again, givenUp []int, waits bool) {
	settle := w.Settle
	if settle == 0 {
		settle = 10 * time.Second
	}
	w.left = make([]int, w.parts+1)
	for i, part := range w.of {
		if !w.done[i] {
			w.left[part]++
		}
	}
	for part := 1; part <= w.parts; part++ {
		t, known := w.last[part]
		since, seen := w.lostSince[part]
		switch {
		case w.left[part] == 0:
		case !known:
			fresh = append(fresh, part)
		case t.live():
			delete(w.lostSince, part)
			waits = true
		case !seen:
			w.lostSince[part] = time.Now()
			waits = true
		case time.Since(since) < settle:
			waits = true
		case w.tries[part] > w.Requeue:
			givenUp = append(givenUp, part)
		default:
			again = append(again, part)
		}
	}
	return fresh, again, givenUp, waits
}
