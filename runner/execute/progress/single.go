package progress

import (
	"fmt"
	"sync"
	"time"

	"privkern/runner/experiment"
	"privkern/runner/plan"
)

// Single shows the progress of a single trial.
type Single struct {
	opts Options
	name string

	mu       sync.Mutex
	forecast *Forecast
	trial    plan.Trial
	start    time.Time
	inner    string
	shown    time.Time // on a terminal
	lines    throttle
	stop     func()
}

// Watch shows the progress of a trial of an experiment until Close is called. With
// --quiet and in JSON nothing is shown.
func Watch(opts Options, name string) *Single {
	opts = opts.withDefaults()
	now := opts.Now()
	p := &plan.Plan{Trials: []plan.Trial{{Identity: experiment.Identity{Experiment: name}}}}
	s := &Single{
		opts: opts, name: name, trial: p.Trials[0], start: now, shown: now,
		lines:    throttle{interval: opts.Interval, last: now},
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

// Inner shows the progress of the trial in its present phase.
func (s *Single) Inner(done, total int, phase string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forecast == nil {
		return // a goroutine of the trial reports after its end
	}
	s.inner = fmt.Sprintf(" %s %d/%d", phase, done, total)
	s.forecast.Inner(s.trial, done, total, phase, s.opts.Now())
	s.show()
}

// redraw is the least interval between two lines on a terminal.
const redraw = 200 * time.Millisecond

func (s *Single) show() {
	if s.opts.Quiet || s.opts.Format == JSON || s.forecast == nil {
		return
	}
	now := s.opts.Now()
	text := s.name + s.inner
	if s.opts.Terminal && now.Sub(s.shown) < redraw || !s.opts.Terminal && !s.lines.due(now, text) {
		return
	}
	left, known := s.forecast.Left(now)
	text += " after " + elapsed(now.Sub(s.start))
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

// Close ends the display, and clears its line on a terminal.
func (s *Single) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	s.stop, s.forecast = func() {}, nil
	if s.opts.Terminal && !s.opts.Quiet && s.opts.Format != JSON {
		_, _ = fmt.Fprint(s.opts.Out, "\r\x1b[K")
	}
}
