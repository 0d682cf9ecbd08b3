// Package progress shows how far a run is: a bar on a terminal, a line every
// few seconds elsewhere, and every event as a line of JSON in the output
// folder's log.
//
// The time that is left is estimated from the costs of trials, not from their
// number: a [Forecast] fits the times of the trials that have ended to their settings
// and shares those that wait out to the workers. The log is a convenience: a run goes
// on without it, and nothing reads results from it.
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

// Format is how messages are written.
type Format string

// Text is for people, JSON for programs.
const (
	Text Format = "text"
	JSON Format = "json"
)

// Options say where and how progress is shown.
type Options struct {
	Out      io.Writer // usually standard error
	Terminal bool      // draw a bar
	Color    bool
	Quiet    bool // only what went wrong: failed and skipped trials, files put aside
	Format   Format
	Interval time.Duration    // between two lines where there is no terminal; 0: 5 s
	Width    func() int       // columns of the terminal; nil: 80
	Now      func() time.Time // nil: time.Now
	// What computes, for the first line: a backend, and this machine's device where it
	// uses one.
	Backend, Device string
}

// withDefaults fills in what is not given.
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
	cached   int
	before   int            // failures of earlier runs
	skipped  map[string]int // reason to count
	givenUp  []string       // trials without a result, as they are shown at the end
	running  map[string]current
	queue    string // the state of a cluster's queue
	lines    pace
	stop     func() // of the clock that shows time pass

	forecast *Forecast // nil where nothing is to be run
	left     TimeLeft
	known    bool      // left is
	asked    time.Time // of the forecast
	pause    time.Duration
}

// current is a trial that runs, with how much of it is done.
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
		lines: pace{interval: opts.Interval, last: now}, stop: func() {},
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
	r.total, r.finished, r.cached = total, finished, finished
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
	r.forecast = NewForecast(w, r.opts.Now())
	r.stop()
	r.stop = every(r.period(), func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.forecast != nil { // not closed since
			r.show()
		}
	})
}

// period is how often progress is shown where nothing happens.
func (r *Reporter) period() time.Duration {
	if r.bar != nil {
		return time.Second
	}
	return max(r.opts.Interval, time.Second)
}

// maxBefore is how many earlier failures are listed.
const maxBefore = 10

// FailedBefore implements schedule.Observer.
func (r *Reporter) FailedBefore(t plan.Trial, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.event(event{Event: "failed_before", Key: t.Key, Experiment: t.Experiment, Error: reason}, true)
	if r.before++; r.before <= maxBefore {
		r.line("%s %s: %s", r.color("31", "failed before"), t.Describe(r.experiments), reason)
	}
}

// Started implements schedule.Observer.
func (r *Reporter) Started(t plan.Trial) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.forecast != nil {
		r.forecast.Started(t, r.opts.Now())
	}
	r.running[t.Key] = current{trial: t}
	r.event(event{Event: "started", Key: t.Key, Experiment: t.Experiment}, false)
	r.show()
}

// Inner implements schedule.Observer.
func (r *Reporter) Inner(t plan.Trial, done, total int, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.forecast != nil {
		r.forecast.Inner(t, done, total, what, r.opts.Now())
	}
	r.running[t.Key] = current{t, fmt.Sprintf(" %s %d/%d", what, done, total)}
	r.show()
}

// Finished implements schedule.Observer.
func (r *Reporter) Finished(t plan.Trial, rec *record.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.forecast != nil {
		if rec.Status == record.Skipped { // it says nothing of what others cost
			r.forecast.Dropped(t, r.opts.Now())
		} else {
			r.forecast.Ended(t, rec.Timing.WallS, r.opts.Now())
		}
	}
	delete(r.running, t.Key)
	r.finished++
	e := event{Event: "finished", Key: t.Key, Experiment: t.Experiment, Status: string(rec.Status),
		WallS: rec.Timing.WallS, Done: r.finished, Total: r.total}
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
	if r.forecast != nil {
		r.forecast.Again(t, r.opts.Now())
	}
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
	if r.forecast != nil {
		r.forecast.Dropped(t, r.opts.Now())
	}
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
	if r.forecast != nil {
		r.forecast.Dropped(t, r.opts.Now())
	}
	r.finished++
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

func (r *Reporter) step() {
	if r.bar != nil {
		_ = r.bar.Set(r.finished)
		r.show()
		return
	}
	r.show()
}

// show draws the state beside the bar, or writes a line when it is time for one.
func (r *Reporter) show() {
	if r.opts.Quiet || r.total == 0 {
		return
	}
	now := r.opts.Now()
	what := r.queue
	for _, c := range r.running {
		if v := c.trial.Experiment + c.part; what == "" || v < what { // any one, but not a flickering one
			what = v
		}
	}
	if r.bar != nil {
		text := elapsed(now.Sub(r.start)) + r.leftText(now)
		if what != "" {
			text += "; " + what
		}
		r.bar.Describe(cut(text, r.opts.Width()-barWidth(r.total)))
		return
	}
	line := fmt.Sprintf("%d of %s", r.finished, text.Count(r.total, "trial"))
	if len(r.running) > 1 { // one of many says little
		what = r.queue
	}
	if !r.lines.due(now, line+what) {
		return
	}
	line += " after " + elapsed(now.Sub(r.start)) + r.leftText(now)
	if what != "" {
		line += "; " + what
	}
	r.line("%s", line)
}

// barWidth is the width of the bar with its counts, and of the spaces around what
// stands behind it; the last column stays free.
func barWidth(total int) int {
	const text = " 100% |" + "| (/) " + " " + " "
	return len(text) + barColumns + 2*len(strconv.Itoa(total))
}

// barColumns is the width of the bar itself, where the terminal has room for it.
const barColumns = 24

// barColumns is the width of this run's bar.
func (r *Reporter) barColumns() int {
	return max(1, min(barColumns, r.opts.Width()-barWidth(r.total)+barColumns))
}

// forecastShare is the share of the time that forecasts take at most: those of a
// hundred thousand different settings take some milliseconds.
const forecastShare = 0.02

// leftText is how long the run still takes, to stand behind the time that it has
// taken.
func (r *Reporter) leftText(now time.Time) string {
	if r.forecast == nil || r.finished >= r.total {
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

// shownGivenUp is how many trials without a result are named at the end.
const shownGivenUp = 10

// Close takes the bar away and says what was kept for the end. It may be called
// again.
func (r *Reporter) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	r.stop, r.forecast = func() {}, nil
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
	r.before, r.skipped, r.givenUp = 0, map[string]int{}, nil // said once
}

func (r *Reporter) color(code, s string) string {
	if !r.opts.Color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
