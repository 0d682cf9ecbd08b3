package trial

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"

	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Counter is an engine that counts the work of a trial with a profile.
type Counter interface {
	StartCounting()
	// MarshalProfile returns the counts as JSON.
	MarshalProfile() ([]byte, error)
}

// NoCPUProfile begins the warning of a record whose profile of the processor was not written.
const NoCPUProfile = "there is no profile of the processor"

// profiled runs a trial. Where the job asks for a profile, the counts of its engine go
// to the record and the profile of the processor to a file. A failure of either is a
// warning, because the result stands.
func profiled(job Job, r *record.Record, f func(*experiment.Trial) (*experiment.Result, error),
) func(*experiment.Trial) (*experiment.Result, error) {
	if job.Profile == "" || job.Secure { // counts may depend on the private data
		return f
	}
	return func(t *experiment.Trial) (result *experiment.Result, failure error) {
		counter, _ := t.Engine.(Counter)
		if counter != nil {
			counter.StartCounting()
		}
		stop, err := startCPUProfile(job.Profile)
		defer func() { // in a panic, too: the process may run another trial
			if err = errors.Join(err, stop()); err != nil {
				r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %v", NoCPUProfile, err))
			}
			if counter == nil {
				return
			}
			counts, err := counter.MarshalProfile()
			if err != nil {
				r.Warnings = append(r.Warnings, fmt.Sprintf("there are no counts of the programs: %v", err))
				return
			}
			r.Profile = counts
		}()
		return f(t)
	}
}

// startCPUProfile writes a profile of the processor to a file until stop is called.
func startCPUProfile(file string) (stop func() error, err error) {
	nothing := func() error { return nil }
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return nothing, err
	}
	out, err := os.Create(file)
	if err != nil {
		return nothing, err
	}
	checked := &checkedWriter{Writer: out}
	if err := pprof.StartCPUProfile(checked); err != nil {
		return nothing, errors.Join(err, out.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(checked.err, out.Close())
	}, nil
}

// checkedWriter keeps the first error, which pprof passes over.
type checkedWriter struct {
	io.Writer
	err error
}

// Write implements [io.Writer].
func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}
