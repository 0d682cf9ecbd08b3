// Package progress shows how far a run is: a bar on a terminal, a line every
// few seconds elsewhere, and every event as a line of JSON in the output
// folder's log.
//
// A [Forecast] estimates the time that is left from the mean cost of each setting. The
// log is a convenience: a run goes on without it, and nothing reads results from it.
package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/plan"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/text"
)

// Format is the format of messages.
type Format string

// Text is for people, JSON for programs.
const (
	Text Format = "text"
	JSON Format = "json"
)

// Options configure a [Reporter].
type Options struct {
	Out      io.Writer // usually standard error
	Terminal bool      // draw a bar
	Color    bool
	Quiet    bool // only problems: failed and skipped trials, files put aside
	Format   Format
	Interval time.Duration    // between two lines where there is no terminal; 0: 5 s
	Width    func() int       // columns of the terminal; nil: 80
	Now      func() time.Time // nil: time.Now
	// Backend and Device are named in the first line; Device is that of this machine
	// where one is used.
	Backend, Device string
	// Known means that the failures of earlier runs have been shown: they are in the log alone.
	Known bool
}

// withDefaults sets the options that are not given.
func (o Options) withDefaults() Options {
	if o.Interval == 0 {
		o.Interval = 5 * time.Second
	}
	if o.Width == nil {
		o.Width = func() int { return 80 }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Reporter shows a run's progress. It implements schedule.Observer.
type Reporter struct {
	opts        Options
	experiments *experiment.Registry
	log         io.Writer
	start       time.Time

	mu       sync.Mutex
	bar      *progressbar.ProgressBar
	total    int
	finished int
	before   int            // failures of earlier runs
	skipped  map[string]int // reason to count
	givenUp  []string       // messages about trials without a result, shown at the end
	running  map[string]current
	queue    string // the state of a cluster's queue
	lines    throttle
	stop     func() // of the clock that shows time pass

	forecast *Forecast
	ahead    bool // the forecast has a workload, and is shown
	left     TimeLeft
	known    bool      // left is
	asked    time.Time // of the forecast
	pause    time.Duration
}

// current is a trial that runs, with the progress of its present phase.
type current struct {
	trial plan.Trial
	part  string
}

// Running returns the trials that run at present.
func (r *Reporter) Running() []plan.Trial {
	r.mu.Lock()
	defer r.mu.Unlock()
	trials := make([]plan.Trial, 0, len(r.running))
	for _, c := range r.running {
		trials = append(trials, c.trial)
	}
	return trials
}

// New returns a reporter; log, which may be nil, gets every event as JSON. The
// experiments serve to show parameters that differ from their defaults.
func New(opts Options, experiments *experiment.Registry, log io.Writer) *Reporter {
	opts = opts.withDefaults()
	now := opts.Now()
	return &Reporter{
		opts: opts, experiments: experiments, log: log, start: now, skipped: map[string]int{}, running: map[string]current{},
		lines: throttle{interval: opts.Interval, last: now}, stop: func() {},
		forecast: NewForecast(plan.Workload{}, now),
	}
}

// OpenLog opens the log of an output folder for appending. A line that a full
// disk or a crash has cut off is ended first, so that it costs no other.
func OpenLog(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	last := make([]byte, 1)
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			_, _ = f.Write([]byte{'\n'}) // the log is a convenience
		}
	}
	return f, nil
}

// event is a line of the log. Members that do not apply are absent.
type event struct {
	Time       string  `json:"time"`
	Event      string  `json:"event"`
	Key        string  `json:"key,omitempty"`
	Experiment string  `json:"experiment,omitempty"`
	Status     string  `json:"status,omitempty"`
	Error      string  `json:"error,omitempty"`
	File       string  `json:"file,omitempty"`
	Message    string  `json:"message,omitempty"`
	Done       int     `json:"done,omitempty"`
	Total      int     `json:"total,omitempty"`
	WallS      float64 `json:"wall_s,omitempty"`
	Backend    string  `json:"backend,omitempty"`
	Device     string  `json:"device,omitempty"`
}

// line returns the event of this moment as a line.
func (e event) line() ([]byte, error) {
	e.Time = time.Now().UTC().Format(time.RFC3339Nano)
	raw, err := json.Marshal(e)
	return append(raw, '\n'), err
}

func (r *Reporter) event(e event, shown bool) {
	raw, err := e.line()
	if err != nil {
		return
	}
	if r.log != nil {
		// The log is a convenience: the records are the truth.
		_, _ = r.log.Write(raw)
	}
	if shown && r.opts.Format == JSON {
		_, _ = r.opts.Out.Write(raw)
	}
}

// line writes a line for people, above the bar where there is one.
func (r *Reporter) line(format string, args ...any) {
	if r.opts.Format == JSON {
		return
	}
	if r.bar != nil {
		_ = r.bar.Clear()
	}
	_, _ = fmt.Fprintf(r.opts.Out, format+"\n", args...)
	if r.bar != nil {
		_ = r.bar.RenderBlank()
	}
}

// Planned implements schedule.Observer.
func (r *Reporter) Planned(total, finished int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total, r.finished = total, finished
	planned := event{Event: "planned", Done: finished, Total: total, Backend: r.opts.Backend, Device: r.opts.Device}
	r.event(planned, !r.opts.Quiet)
	if r.opts.Quiet {
		return
	}
	first := text.Count(total, "trial")
	if r.opts.Backend != "" {
		first += " on " + r.opts.Backend
	}
	if finished == total {
		r.line("%s, all with a result", first)
		return
	}
	if finished > 0 {
		first += fmt.Sprintf(", %d with a result already", finished)
	}
	if r.opts.Device != "" {
		first += "; " + r.opts.Device
	}
	r.line("%s", first)
	if r.opts.Terminal && r.opts.Format == Text {
		r.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(r.opts.Out), progressbar.OptionSetWidth(r.barColumns()), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionShowDescriptionAtLineEnd(), progressbar.OptionThrottle(65*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true), progressbar.OptionSpinnerType(14),
			progressbar.OptionSetRenderBlankState(true))
		_ = r.bar.Set(finished)
	}
}

// Ahead implements schedule.Observer. From now on time is shown passing.
func (r *Reporter) Ahead(w plan.Workload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opts.Quiet || r.opts.Format == JSON {
		return
	}
	r.forecast, r.ahead = NewForecast(w, r.opts.Now()), true
	r.stop()
	r.stop = every(r.period(), func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.ahead { // not closed since
			r.show()
		}
	})
}

// period returns the interval at which progress is shown where nothing happens.
func (r *Reporter) period() time.Duration {
	if r.bar != nil {
		return time.Second
	}
	return max(r.opts.Interval, time.Second)
}

// maxBefore limits the earlier failures that are listed.
const maxBefore = 10

// FailedBefore implements schedule.Observer.
func (r *Reporter) FailedBefore(t plan.Trial, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.event(event{Event: "failed_before", Key: t.Key, Experiment: t.Experiment, Error: reason}, !r.opts.Known)
	if r.opts.Known {
		return
	}
	if r.before++; r.before <= maxBefore {
		r.line("%s %s: %s", r.color("31", "failed before"), t.Describe(r.experiments), reason)
	}
}

// Started implements schedule.Observer.
func (r *Reporter) Started(t plan.Trial) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forecast.Started(t, r.opts.Now())
	r.running[t.Key] = current{trial: t}
	r.event(event{Event: "started", Key: t.Key, Experiment: t.Experiment}, false)
	r.show()
}

// Inner implements schedule.Observer.
func (r *Reporter) Inner(t plan.Trial, done, total int, phase string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forecast.Inner(t, done, total, phase, r.opts.Now())
	r.running[t.Key] = current{t, fmt.Sprintf(" %s %d/%d", phase, done, total)}
	r.show()
}

// Finished implements schedule.Observer.
func (r *Reporter) Finished(t plan.Trial, rec *record.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec.Status == record.Skipped { // its duration is not the cost of a trial
		r.forecast.Dropped(t)
	} else {
		r.forecast.Ended(t, rec.Timing.WallS)
	}
	delete(r.running, t.Key)
	e := event{Event: "finished", Key: t.Key, Experiment: t.Experiment, Status: string(rec.Status),
		WallS: rec.Timing.WallS, Done: r.finished + 1, Total: r.total}
	if rec.Error != nil {
		e.Error = *rec.Error
	}
	r.event(e, !r.opts.Quiet || rec.Status == record.Failed)
	switch rec.Status {
	case record.Failed:
		r.line("%s %s: %s", r.color("31", "failed"), t.Describe(r.experiments), e.Error)
	case record.Skipped:
		if r.skipped[e.Error]++; r.skipped[e.Error] == 1 {
			r.line("%s %s: %s", r.color("33", "skipped"), t.Experiment, e.Error)
		}
	}
	r.step()
}

// Again implements schedule.Observer.
func (r *Reporter) Again(t plan.Trial, why *trial.Trouble, try, tries int, pause time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forecast.Again(t)
	delete(r.running, t.Key)
	r.event(event{Event: "again", Key: t.Key, Experiment: t.Experiment, Error: why.Reason, Done: try, Total: tries},
		!r.opts.Quiet)
	if !r.opts.Quiet {
		r.line("%s %s: %s; run %d of %d begins in %v", r.color("33", "no result yet of"), t.Describe(r.experiments),
			why.Reason, try+1, tries, pause)
	}
	r.show()
}

// GivenUp implements schedule.Observer.
func (r *Reporter) GivenUp(t plan.Trial, why *trial.Trouble, tries int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forecast.Dropped(t)
	delete(r.running, t.Key)
	r.event(event{Event: "given_up", Key: t.Key, Experiment: t.Experiment, Error: why.Reason,
		Message: why.Advice, Done: tries}, true)
	sentence := t.Describe(r.experiments) + ": " + why.Reason
	if tries > 0 {
		sentence += fmt.Sprintf(" (tried %s)", text.Times(tries))
	}
	if why.Advice != "" {
		sentence += "; " + why.Advice
	}
	r.givenUp = append(r.givenUp, sentence)
	r.show()
}

// Elsewhere implements schedule.Observer.
func (r *Reporter) Elsewhere(t plan.Trial) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forecast.Dropped(t)
	r.event(event{Event: "elsewhere", Key: t.Key, Experiment: t.Experiment}, false)
	r.step()
}

// Waiting implements schedule.Observer.
func (r *Reporter) Waiting(n int) {
	r.Notice(fmt.Sprintf("waiting for %s that other runners hold", text.Count(n, "trial")), false)
}

// Queue implements slurm.QueueObserver: the text is shown with the progress.
func (r *Reporter) Queue(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text != r.queue {
		r.event(event{Event: "queue", Message: text}, !r.opts.Quiet)
	}
	r.queue = text
	r.show()
}

// Notice shows a message; a problem is shown with --quiet, too.
func (r *Reporter) Notice(text string, problem bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind := "notice"
	if problem {
		kind = "problem"
	}
	shown := problem || !r.opts.Quiet
	r.event(event{Event: kind, Message: text}, shown)
	if shown {
		r.line("%s", text)
	}
}

// Aside implements schedule.Observer.
func (r *Reporter) Aside(a store.Aside) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.event(event{Event: "aside", File: a.File, Message: a.Reason}, true)
	if a.Moved != "" {
		r.line("%s %s (%s); it is now %s", r.color("33", "put aside"), a.File, a.Reason, a.Moved)
	} else {
		r.line("%s %s (%s)", r.color("33", "ignored"), a.File, a.Reason)
	}
}

// step counts a trial that has ended.
func (r *Reporter) step() {
	r.finished++
	if r.bar != nil {
		_ = r.bar.Set(r.finished)
	}
	r.show()
}

// show draws the state after the bar, or writes a line when one is due.
func (r *Reporter) show() {
	if r.opts.Quiet || r.total == 0 {
		return
	}
	now := r.opts.Now()
	doing := r.queue
	for _, c := range r.running {
		if v := c.trial.Experiment + c.part; doing == "" || v < doing { // the first, so that it does not flicker
			doing = v
		}
	}
	if r.bar != nil {
		text := elapsed(now.Sub(r.start)) + r.leftText(now)
		if doing != "" {
			text += "; " + doing
		}
		r.bar.Describe(cut(text, r.opts.Width()-barWidth(r.total)))
		return
	}
	line := fmt.Sprintf("%d of %s", r.finished, text.Count(r.total, "trial"))
	if len(r.running) > 1 { // one of many is of little interest
		doing = r.queue
	}
	if !r.lines.due(now, line+doing) {
		return
	}
	line += " after " + elapsed(now.Sub(r.start)) + r.leftText(now)
	if doing != "" {
		line += "; " + doing
	}
	r.line("%s", line)
}

// barWidth is the width of the bar with its counts, and of the spaces around the text
// after it; the last column stays free.
func barWidth(total int) int {
	const text = " 100% |" + "| (/) " + " " + " "
	return len(text) + barColumns + 2*len(strconv.Itoa(total))
}

// barColumns is the width of the bar itself, where the terminal has room for it.
const barColumns = 24

// barColumns returns the width of this run's bar.
func (r *Reporter) barColumns() int {
	return max(1, min(barColumns, r.opts.Width()-barWidth(r.total)+barColumns))
}

// forecastShare limits the share of the time that forecasts take: those of a hundred
// thousand different settings take some milliseconds.
const forecastShare = 0.02

// leftText returns the time that is left, as it follows the elapsed time.
func (r *Reporter) leftText(now time.Time) string {
	if !r.ahead || r.finished >= r.total {
		return ""
	}
	if now.Sub(r.asked) >= r.pause {
		begin := time.Now()
		r.left, r.known = r.forecast.Left(now)
		r.asked, r.pause = now, time.Duration(float64(time.Since(begin))/forecastShare)
	}
	left := r.left
	left.Time = max(0, left.Time-now.Sub(r.asked))
	return left.text(r.known)
}

// shownGivenUp limits the trials without a result that are named at the end.
const shownGivenUp = 10

// Close removes the bar and writes the messages that were kept for the end. It may be
// called again.
func (r *Reporter) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	r.stop, r.ahead = func() {}, false
	if r.bar != nil {
		_ = r.bar.Clear()
		r.bar = nil
	}
	if r.before > 0 {
		r.line("%s failed before; --retry failed runs them again", text.Count(r.before, "trial"))
	}
	for reason, n := range r.skipped {
		if n > 1 && !r.opts.Quiet {
			r.line("skipped %s for the same reason: %s", text.Count(n, "trial"), reason)
		}
	}
	for _, text := range r.givenUp[:min(len(r.givenUp), shownGivenUp)] {
		r.line("%s %s", r.color("31", "no result of"), text)
	}
	if n := len(r.givenUp); n > 0 {
		text := text.Count(n, "trial") + " without a result; the same command runs them again"
		if n > shownGivenUp {
			text += ", and log.jsonl names all"
		}
		r.line("%s", text)
	}
	r.before, r.skipped, r.givenUp = 0, map[string]int{}, nil // shown once
}

func (r *Reporter) color(code, s string) string {
	if !r.opts.Color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
