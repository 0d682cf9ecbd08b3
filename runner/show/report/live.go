package report

import (
	"fmt"
	"io"
	"time"

	"privkern/runner/record"
)

// SweepState is what a sweep is doing.
type SweepState string

// The states of a sweep.
const (
	Awaited  SweepState = "not started" // there is no plan yet
	Running  SweepState = "running"
	Paused   SweepState = "not running" // trials are left, and no runner works on them
	Complete SweepState = "finished"    // every trial has a record
)

// SweepProgress is how far a sweep is.
type SweepProgress struct {
	Title, Dir string
	State      SweepState
	Now        time.Time
	Total      int
	OK         int
	Failed     int
	Skipped    int
	Running    int
	// Unread is how many records have yet to be read: counts and tables are
	// without them.
	Unread int
	// PerMinute is the recent throughput, 0 where it is not known.
	PerMinute float64
	Left      time.Duration // estimated; 0 where it is not known
	Latest    []FinishedTrial
	Warnings  []string
	Log       []string
	Problem   string // why plan or records cannot be used
}

// FinishedTrial is a trial that has finished recently.
type FinishedTrial struct {
	When                      time.Time
	Key, Experiment, Settings string
	Seed                      int64
	Status                    record.Status
	Seconds                   float64
	Error                     string
}

// Done is the number of trials with a record.
func (p SweepProgress) Done() int { return p.OK + p.Failed + p.Skipped }

// Waiting is the number of trials that no runner has begun.
func (p SweepProgress) Waiting() int { return max(p.Total-p.Done()-p.Running, 0) }

// LeftText is the time left for people. It is an estimate.
func (p SweepProgress) LeftText() string {
	switch {
	case p.State == Complete:
		return "none"
	case p.Left <= 0:
		return "unknown"
	case p.Left < time.Minute:
		return "< 1 min"
	case p.Left < 2*time.Hour:
		return fmt.Sprintf("%d min", int(p.Left.Minutes()+0.5))
	}
	return fmt.Sprintf("%.1f h", p.Left.Hours())
}

// Rate is the throughput for people, in trials a minute.
func (p SweepProgress) Rate() string {
	switch {
	case p.PerMinute <= 0:
		return "–"
	case p.PerMinute < 10:
		return fmt.Sprintf("%.2g", p.PerMinute)
	}
	return fmt.Sprintf("%.0f", p.PerMinute)
}

// WriteLive writes the page of a running sweep. Its script asks the server for
// /progress and /results and puts them in place of these; without scripts the
// page loads itself again every few seconds.
func WriteLive(w io.Writer, p SweepProgress, d Content) error {
	v, err := newLiveView(d)
	if err != nil {
		return err
	}
	if v.Frame, err = newFrame(p.Title+": "+string(p.State), "'self'", "report.js", "live.js"); err != nil {
		return err
	}
	return execute(w, "live.html.tmpl", struct {
		*view
		Progress SweepProgress
	}{v, p})
}

// WriteProgress writes the part of the live page that says how far the sweep is.
func WriteProgress(w io.Writer, p SweepProgress) error { return execute(w, "progress", p) }

// WriteResults writes the part of the live page with the tables.
func WriteResults(w io.Writer, d Content) error {
	v, err := newLiveView(d)
	if err != nil {
		return err
	}
	return execute(w, "results", v)
}

// newLiveView links to records, since the live page has no table of trials.
func newLiveView(d Content) (*view, error) {
	if d.Trials == nil {
		d.Trials = NewTrialTally(nil)
	}
	d.Trials.recordsOnly = true
	return newView(d)
}

func execute(w io.Writer, name string, data any) error {
	if err := pages.ExecuteTemplate(w, name, data); err != nil {
		return fmt.Errorf("the page: %w", err)
	}
	return nil
}
