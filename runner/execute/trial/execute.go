// Package trial runs one trial of an experiment and makes its record.
//
// [Execute] runs it in this process; package worker calls it in a process of its own,
// so that a crash or a lack of memory costs one trial. Every outcome of an experiment
// is a record, with status failed after a panic, an error or a metric that is not
// finite. Trouble of the machine is a [Trouble] instead, after which the trial can run
// again. [Release] runs a mechanism whose output is to be published.
package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"privkern/runner/execute/machine"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Job is a trial with the resources of its process. Its JSON goes to workers.
type Job struct {
	Key string `json:"key"`
	experiment.Identity
	Workers int `json:"workers"`
	// Folders maps the data sets that the trial reads to their folders.
	Folders map[string]string `json:"folders"`
	Secure  bool              `json:"secure"`
	// Folder is where a program of the user's runs.
	Folder string `json:"folder,omitempty"`
	// Beside is true where other trials may run at the same time as a timed one.
	Beside bool `json:"beside,omitempty"`
	// Profile is the file for a profile of the processor; a job with one also counts the
	// work of its engine in the record. Empty for neither.
	Profile string `json:"profile,omitempty"`
	// Shared locates the results of shared work.
	Shared SharedWork `json:"shared,omitzero"`
	// Notice receives problems that cost no result, one sentence each; it may be nil. It is
	// not sent to workers, which have their own.
	Notice func(text string) `json:"-"`
	// Host is the provenance of the program that runs the plan, without data.
	Host record.Provenance `json:"host"`
}

// ProgressFunc reports the inner progress of a trial.
type ProgressFunc func(done, total int, phase string)

// NewRecord returns the record of the job before anything has happened.
func NewRecord(job Job) (*record.Record, error) {
	params, err := record.PlainParams(job.Params)
	if err != nil {
		return nil, err
	}
	host := job.Host
	host.Datasets = job.Datasets
	if host.Datasets == nil {
		host.Datasets = map[string]string{}
	}
	return &record.Record{
		Schema: record.Schema, Key: job.Key, Experiment: job.Experiment, Params: params, Seed: job.Seed,
		Backend: job.Backend, DType: job.DType, ResultVersion: job.ResultVersion,
		Metrics: map[string]float64{}, Series: map[string]map[string]record.SeriesColumn{}, Warnings: []string{},
		Privacy: experiment.Unprotected(job.Secure), Provenance: host,
	}, nil
}

// Opener opens the engine of a trial on a backend, in an element type, with at most the
// given number of goroutines that compute.
type Opener func(backend, dtype string, workers int) (io.Closer, error)

// compute calls f with the job's trial, for which an engine is open where there is an
// opener, and turns a panic into an error.
func compute[R any](e *experiment.Experiment, job Job, open Opener, progress ProgressFunc,
	f func(*experiment.Trial) (*R, error)) (result *R, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, &panicError{experiment: e.Name, value: p, stack: string(debug.Stack())}
		}
	}()
	t := newTrial(e, job, progress)
	if open != nil && !e.External {
		if t.Engine, err = open(job.Backend, job.DType, t.Workers); err != nil {
			return nil, notOpened(err)
		}
		defer func() {
			if closed := t.Engine.Close(); closed != nil {
				result, err = nil, errors.Join(err, closed)
			}
		}()
	}
	result, err = f(t)
	if err == nil && result == nil {
		err = errors.New("the experiment returned no result")
	}
	return result, err
}

// Execute runs the job in this process, with an engine of open, which may be nil. The
// error is that of ctx, or a [Trouble] where the machine is short of something or the
// engine cannot be opened or fails; every other failure is in the record.
func Execute(ctx context.Context, e *experiment.Experiment, job Job, open Opener,
	progress ProgressFunc) (*record.Record, error) {
	r, err := NewRecord(job)
	if err != nil {
		return nil, err
	}
	r.ResultVersion = e.Version
	shelf := openShared(e, job)
	if shelf != nil {
		defer func() { _ = shelf.Close() }()
	}
	others := watchTimes(e, job)
	machine.ResetPeakRSS()
	wall, cpu := time.Now(), machine.CPUSeconds()
	var spent experiment.Usage
	result, err := compute(e, job, open, progress, profiled(job, r, func(t *experiment.Trial) (*experiment.Result, error) {
		t.Spent = &spent
		if shelf != nil {
			t.Keeper = shelf
		}
		return e.Run(ctx, t, t.Params)
	}))
	timing := record.Timing{WallS: time.Since(wall).Seconds(), CPUS: machine.CPUSeconds() - cpu,
		PeakRSSBytes: machine.PeakRSS()}
	if e.External {
		timing.CPUS, timing.PeakRSSBytes = spent.CPU.Seconds(), spent.PeakRSS
	}
	beside := others(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if trouble := ofMachine(err); trouble != nil {
		return nil, trouble
	}
	if !job.Secure || !e.PrivateTiming {
		r.Timing = timing
	}
	if err != nil {
		r.Fail(err.Error())
		var detailed interface{ Detail() string }
		if errors.As(err, &detailed) && detailed.Detail() != "" {
			r.Log = err.Error() + "\n\n" + detailed.Detail()
		}
		return r, nil
	}
	r.Status = record.OK
	r.Metrics = result.Metrics
	if r.Metrics == nil {
		r.Metrics = map[string]float64{}
	}
	for name, s := range result.Series {
		columns := make(map[string]record.SeriesColumn, len(s))
		for k, v := range s {
			columns[k] = v
		}
		r.Series[name] = columns
	}
	r.Warnings = append(append(r.Warnings, result.Warnings...), beside...) // never nil: a record has a list
	noteShared(r, e, shelf)
	if p := result.Privacy; p != nil {
		if p.Guarantee != "" && p.Simulated == nil {
			return r.Fail(fmt.Sprintf("a defect in %s: a guarantee in words, without its epsilon and delta", e.Name)), nil
		}
		r.Privacy = p.Judged(job.Secure)
	}
	if problem := invalid(e, result.Metrics, result.Series); problem != "" {
		return r.Fail(problem), nil
	}
	// Such a record would be taken for a damaged one.
	if len(result.Metrics) == 0 && (len(e.Metrics) > 0 || len(result.Series) == 0) {
		return r.Fail(fmt.Sprintf("a defect in %s: a result without metrics", e.Name)), nil
	}
	return r, nil
}

// watchTimes watches the load of other programs during a timed trial. The function that
// it returns ends the watch and returns the warnings for the record.
func watchTimes(e *experiment.Experiment, job Job) func(context.Context) []string {
	none := func(context.Context) []string { return nil }
	switch {
	case !e.Timed() || job.Secure && e.PrivateTiming:
		return none
	case job.Beside:
		return func(context.Context) []string { return []string{record.TimedBesideTrials} }
	}
	others := machine.WatchOthers()
	return func(ctx context.Context) []string {
		switch used, cores, known := others.Cores(ctx); {
		case !known:
			return []string{record.TimedUnobserved}
		case used > 0:
			return []string{record.TimedBeside(used, cores)}
		}
		return nil
	}
}

// newTrial returns the view of the job that the experiment gets.
func newTrial(e *experiment.Experiment, job Job, progress ProgressFunc) *experiment.Trial {
	if progress == nil {
		progress = func(int, int, string) {}
	}
	return &experiment.Trial{
		Identity: job.Identity, Workers: max(1, job.Workers),
		Dataset:  func(name string) string { return job.Folders[name] },
		Progress: progress,
		Stream:   streams(e, job),
		Secure:   job.Secure,
		Folder:   job.Folder,
		Spent:    new(experiment.Usage),
	}
}

// panicError is a panic of an experiment. Its text is without the stack, which
// holds arguments of functions, and with them values of private data.
type panicError struct {
	experiment string
	value      any
	stack      string
}

func (e *panicError) Error() string {
	return fmt.Sprintf("a defect in %s: panic: %v", e.experiment, e.value)
}

// Detail is the stack.
func (e *panicError) Detail() string { return e.stack }

// invalid returns the first defect of a result, in the order in which the experiment documents its metrics, then of
// names; "" where it has none. The record of a key has the same error each time.
func invalid(e *experiment.Experiment, metrics map[string]float64, series map[string]experiment.Series) string {
	place := func(name string) int { // -1 of an undocumented one
		return slices.IndexFunc(e.Metrics, func(m experiment.Metric) bool { return m.Covers(name) })
	}
	for _, name := range slices.SortedFunc(maps.Keys(metrics), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	}) {
		v := metrics[name]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprintf("the metric %s is %v", name, v)
		}
		if place(name) < 0 {
			return fmt.Sprintf("a defect in %s: the metric %q is not documented", e.Name, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(series)) {
		n := -1
		for _, column := range slices.Sorted(maps.Keys(series[name])) {
			v := series[name][column]
			if n >= 0 && len(v) != n {
				return fmt.Sprintf("a defect in %s: the columns of the series %s have different lengths", e.Name, name)
			}
			n = len(v)
			for i, f := range v {
				if math.IsInf(f, 0) {
					return fmt.Sprintf("the series %s, column %s, is %v at position %d", name, column, f, i)
				}
			}
		}
	}
	return ""
}
