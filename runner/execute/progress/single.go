package progress

import (
	"fmt"
	"sync"
	"time"

	"privkern/runner/experiment"
	"privkern/runner/plan"
)

// Single shows how far a single trial is.
type Single struct {
	opts Options
	name string

	mu       sync.Mutex
	forecast *Forecast
	trial    plan.Trial
	start    time.Time
	inner    string
	shown    time.Time // on a terminal
	lines    pace
	stop     func()
}

// Watch shows the progress of a trial of that name, until Close is called. With
// --quiet and in JSON nothing is shown.
func Watch(opts Options, name string) *Single {
	opts = opts.withDefaults()
	now := opts.Now()
	p := &plan.Plan{Trials: []plan.Trial{{Identity: experiment.Identity{Experiment: name}}}}
	s := &Single{
		opts: opts, name: name, trial: p.Trials[0], start: now, shown: now, lines: pace{interval: opts.Interval, last: now},
		forecast: NewForecast(plan.Workload{Plan: p, Pending: []int{0}, Jobs: 1}, now), stop: func() {},
	}
	s.forecast.Started(s.trial, now)
	if !opts.Quiet && opts.Format != JSON {
		s.stop = every(time.Second, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.show()
		})
	}
	return s
}

// Inner says that the trial is at done of total of what it does.
func (s *Single) Inner(done, total int, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forecast == nil {
		return // a goroutine of the trial reports after its end
	}
	s.inner = fmt.Sprintf(" %s %d/%d", what, done, total)
	s.forecast.Inner(s.trial, done, total, what, s.opts.Now())
	s.show()
}

// redraw is how long a line stays on a terminal at least.
const redraw = 200 * time.Millisecond

func (s *Single) show() {
	if s.opts.Quiet || s.opts.Format == JSON || s.forecast == nil {
		return
	}
	now := s.opts.Now()
	what := s.name + s.inner
	if s.opts.Terminal && now.Sub(s.shown) < redraw || !s.opts.Terminal && !s.lines.due(now, what) {
		return
	}
	left, known := s.forecast.Left(now)
	text := what + " after " + elapsed(now.Sub(s.start))
	if known {
		text += left.text(known)
	}
	if s.opts.Terminal {
		s.shown = now
		_, _ = fmt.Fprintf(s.opts.Out, "\r\x1b[K%s", cut(text, s.opts.Width()-1))
		return
	}
	_, _ = fmt.Fprintln(s.opts.Out, text)
}

// Close ends it, and clears its line on a terminal.
func (s *Single) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	s.stop, s.forecast = func() {}, nil
	if s.opts.Terminal && !s.opts.Quiet && s.opts.Format != JSON {
		_, _ = fmt.Fprint(s.opts.Out, "\r\x1b[K")
	}
}
