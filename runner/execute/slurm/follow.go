package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"privkern/runner/execute/schedule"
	"privkern/runner/text"
)

// Two looks at the queue must agree that a task is gone.
const missesBeforeGone = 2

// How a task ended that Slurm does not know any more, or could not start.
const (
	gone         = "GONE"
	launchFailed = "LAUNCH_FAILED"
)

// place is where a task is in the journal. It names the task in any case: a
// controller that lost its state gives ids a second time.
type place struct{ number, index int }

// end is what is known of a task that is over.
type end struct {
	state  string // "" while it may only be late in the queue
	since  time.Time
	misses int
}

// last is the latest task of a part.
type last struct {
	submission submission
	index      int
	tries      int
}

func (l last) place() place { return place{l.submission.Number, l.index} }

// follow looks at the queue, submits what has no task, and submits lost tasks
// again. It is done where all that is left was lost too often.
func (w *watch) follow(ctx context.Context) (done bool, err error) {
	tasks, err := queue(ctx, w.users(w.journal))
	if err != nil {
		if len(w.journal.current()) == 0 {
			return false, err
		}
		// A controller that is down for a while costs nothing: tasks go on.
		if w.trouble != err.Error() {
			w.trouble = err.Error()
			w.Observer.Notice(fmt.Sprintf("the queue cannot be read (%v); trying again", err), true)
		}
		w.Observer.Queue("the queue cannot be read")
		return false, nil
	}
	if w.trouble != "" {
		w.trouble = ""
		w.Observer.Notice("the queue can be read again", true)
	}
	if w.unlock != nil {
		if err := w.adopt(tasks); err != nil {
			return false, err
		}
	}
	lives, latest, err := w.survey(ctx, tasks)
	if err != nil || w.unlock == nil {
		return false, err
	}
	return w.act(ctx, lives, latest)
}

// adopt finds the ids of jobs that were submitted by a program that did not live
// to write them down, and strikes out those that never were.
func (w *watch) adopt(tasks map[taskID]task) error {
	changed := false
	var kept []submission
	for _, s := range w.journal.Submissions {
		if s.Job == "" && s.Round == w.journal.Round {
			changed = true
			for id, t := range tasks {
				if t.name == s.Name {
					s.Job = id.job
				}
			}
			if s.Job == "" {
				continue
			}
		}
		kept = append(kept, s)
	}
	if !changed {
		return nil
	}
	w.journal.Submissions = kept
	return w.journal.write(w.dir)
}

// survey sorts the round's tasks into live ones and ended ones. It returns which
// parts have live tasks, and the latest task of every part.
func (w *watch) survey(ctx context.Context,
	tasks map[taskID]task) (lives map[int]bool, latest map[int]last, err error) {
	lives, latest = map[int]bool{}, map[int]last{}
	running, waiting, reasons := 0, 0, map[string]int{}
	w.live, w.pending = nil, false
	type missing struct {
		id   taskID
		name string
	}
	absent := map[place]missing{}
	for _, s := range w.journal.current() {
		alive := false
		for i, part := range s.Parts {
			id, at := taskID{s.Job, i}, place{s.Number, i}
			t, known := tasks[id]
			known = known && t.name == s.Name
			latest[part] = last{s, i, latest[part].tries + 1}
			switch {
			case known && t.stuck():
				if w.unlock != nil {
					if err := cancel(ctx, id.String()); err != nil {
						return nil, nil, err
					}
				}
				w.end(at).state = launchFailed
			case known && t.live():
				alive, lives[part] = true, true
				delete(w.seen, at) // it was late
				if t.state == "PENDING" {
					waiting++
					reasons[t.reason]++
				} else {
					running++
				}
			case w.results.left[part-1] == 0 || s.Job == "":
			case known:
				if e := w.end(at); e.state == "" {
					e.state = t.state
				}
			default:
				if e := w.end(at); e.state == "" {
					if e.misses++; e.misses >= missesBeforeGone {
						absent[at] = missing{id, s.Name}
					}
				}
			}
		}
		if alive {
			w.live = append(w.live, s.Job)
		}
	}
	w.pending = waiting > 0
	w.Observer.Queue(queueText(running, waiting, reasons))
	if len(absent) == 0 {
		return lives, latest, nil
	}
	jobs := map[string]bool{}
	for _, m := range absent {
		jobs[m.id.job] = true
	}
	known := accounted(ctx, slices.Sorted(maps.Keys(jobs)))
	for at, m := range absent {
		w.seen[at].state = gone
		if t, ok := known[m.id]; ok && t.name == m.name && !t.live() {
			w.seen[at].state = t.state
		}
	}
	return lives, latest, nil
}

func (w *watch) end(at place) *end {
	e := w.seen[at]
	if e == nil {
		e = &end{since: time.Now()}
		w.seen[at] = e
	}
	return e
}

// act submits the parts that have no task yet and those whose task was lost. A
// part that was lost too often ends the run with [schedule.ErrFailFast] where
// that is asked for.
func (w *watch) act(ctx context.Context, lives map[int]bool, latest map[int]last) (done bool, err error) {
	settle := w.Settle
	if settle == 0 {
		settle = 10 * time.Second
	}
	var (
		fresh, again, givenUp []int
		states                = map[string]int{}
		unsettled             bool
	)
	for i, left := range w.results.left {
		part := i + 1
		l, submitted := latest[part]
		switch e := w.seen[l.place()]; {
		case left == 0 || lives[part]:
		case !submitted:
			fresh = append(fresh, part)
		case e == nil || e.state == "" || time.Since(e.since) < settle:
			unsettled = true
		case l.tries > w.Requeue:
			givenUp = append(givenUp, part)
		default:
			again = append(again, part)
			states[e.state]++
		}
	}
	if len(givenUp) > 0 && w.FailFast {
		w.report(givenUp, latest)
		return false, errors.Join(schedule.ErrFailFast, w.stop(ctx))
	}
	if len(again) > 0 && w.mayAsk() {
		w.Observer.Notice(lost(again, states, w.journal.Parts), true)
	}
	for _, parts := range [][]int{fresh, again} {
		if len(parts) == 0 || !w.mayAsk() {
			continue
		}
		if rest, err := w.submit(ctx, parts); err != nil {
			var refused *CommandError
			if !errors.As(err, &refused) || len(w.live) == 0 {
				return false, err
			}
			// Limits of a user's jobs: there may be room when some have ended.
			w.refused = time.Now()
			w.Observer.Notice(fmt.Sprintf("%s cannot be submitted now (%v); trying again while others run",
				text.Count(rest, "part"), err), true)
		}
	}
	if len(fresh)+len(again) > 0 || unsettled || len(lives) > 0 && w.leftIn(lives) {
		return false, nil
	}
	if len(givenUp) == 0 {
		return false, nil
	}
	w.report(givenUp, latest)
	return true, w.close()
}

// mayAsk says whether a submission may be tried: not within a minute after one
// was refused, except where nothing runs.
func (w *watch) mayAsk() bool {
	return len(w.live) == 0 || w.refused.IsZero() || time.Since(w.refused) > time.Minute
}

// leftIn says whether a part with a live task lacks results.
func (w *watch) leftIn(lives map[int]bool) bool {
	for part := range lives {
		if w.results.left[part-1] > 0 {
			return true
		}
	}
	return false
}
