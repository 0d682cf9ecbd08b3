package trial

import (
	"fmt"

	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// SharedWork locates the results of work that trials of a sweep have in common. The
// zero value keeps none.
type SharedWork struct {
	Dir   string `json:"dir"`   // the output folder of the sweep
	Limit int64  `json:"limit"` // the most bytes of all results together
}

// keeps reports whether results of the job's work may be kept and used. A trial with
// secure noise writes nothing but its record. One with a profile does all of its work,
// and so does a timed one, except where its times count shared work and it runs alone.
func (j *Job) keeps(e *experiment.Experiment) bool {
	return j.Shared.Dir != "" && j.Shared.Limit > 0 && !j.Secure && j.Profile == "" &&
		(!e.Timed() || e.CountsShared && !j.Beside)
}

// class identifies, together with the identity, the trials that share work. Where times
// count the work, these have the same processor and number of workers.
func (j *Job) class(e *experiment.Experiment) string {
	if !e.Timed() {
		return j.Host.Class()
	}
	return fmt.Sprintf("%s, %d workers, %s", j.Host.Class(), j.Workers, j.Host.CPU)
}

// openShared opens the results of shared work for a job; nil where none are kept, of
// which the job's notice has the reason where that is one of the machine.
func openShared(e *experiment.Experiment, job Job) *store.Memo {
	if !job.keeps(e) {
		return nil
	}
	job.ResultVersion = e.Version
	m, err := store.OpenMemo(disk.System, job.Shared.Dir, store.MemoOptions{Identity: job.Identity, Class: job.class(e),
		Limit: job.Shared.Limit, Notice: job.Notice})
	if err != nil && job.Notice != nil {
		job.Notice(err.Error() + ": every trial does all of its work")
	}
	if err != nil {
		return nil
	}
	return m
}

// noteShared adds to a record how long the work had taken that was found done, and a
// warning where its metrics of time count it.
func noteShared(r *record.Record, e *experiment.Experiment, m *store.Memo) {
	if m == nil {
		return
	}
	results, took := m.Found()
	if results == 0 {
		return
	}
	r.Timing.SharedS = took.Seconds()
	if e.Timed() {
		r.Warnings = append(r.Warnings, record.TimedShared)
	}
}
