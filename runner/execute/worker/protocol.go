// Package worker runs trials in processes of their own, so that a crash, a kill for
// memory or an endless trial costs one result only, and processor time and memory are
// measured per trial.
//
// A worker process reads jobs as JSON lines from its standard input and writes messages
// as JSON lines to file descriptor 3, on Windows to a handle. It ends when its input
// ends, and so with its runner.
//
// Where a limit on memory holds, the whole program runs as a child of itself too (see
// [Supervise]), because a process that dies for want of memory cannot report it.
package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// message is sent by a worker: readiness, progress of the current job or a notice about it, or its
// end by a record or by trouble of the machine.
type message struct {
	Ready  bool           `json:"ready,omitempty"` // the first message: jobs are read from now on
	Done   int            `json:"done,omitempty"`
	Total  int            `json:"total,omitempty"`
	Phase  string         `json:"phase,omitempty"`
	Record *record.Record `json:"record,omitempty"`
	Log    string         `json:"log,omitempty"` // of the record
	Notice string         `json:"notice,omitempty"`
	// Trouble is why there is no record.
	Trouble *trial.Trouble `json:"trouble,omitempty"`
	// Last is true where the worker ends after this message.
	Last bool `json:"last,omitempty"`
}

// Backend describes and opens the device of a worker.
type Backend struct {
	// Describe names the device that a backend uses in this process.
	Describe func(backend string) string
	// Open opens the engine of a trial; nil where trials need none.
	Open trial.Opener
	// Failed reports whether a device was lost or ran out of memory. The worker then
	// ends after its trial, and the next trial starts with a fresh process.
	Failed func() bool
}

// progressInterval is the least time between two progress messages.
const progressInterval = 100 * time.Millisecond

// Serve is the main function of a worker process. It returns when the input
// ends, or when the device cannot be used any more.
func Serve(ctx context.Context, experiments *experiment.Registry, device Backend) error {
	out := openMessages()
	if out == nil {
		return errors.New("this command is started by the runner, not by hand")
	}
	if err := send(out, message{Ready: true}); err != nil {
		return err
	}
	jobs := make(chan trial.Job)
	readErr := make(chan error, 1)
	go func() {
		err := readJobs(os.Stdin, experiments, jobs)
		readErr <- err
		// A running trial has nobody left to report to.
		if errors.Is(err, io.EOF) {
			os.Exit(0)
		}
	}()
	for {
		select {
		case err := <-readErr:
			return err
		case job := <-jobs:
			if last, err := serve(ctx, out, experiments, device, job); err != nil || last {
				return err
			}
		}
	}
}

func readJobs(in io.Reader, experiments *experiment.Registry, jobs chan<- trial.Job) error {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return err
		}
		var job trial.Job
		if err := json.Unmarshal(line, &job); err != nil {
			return fmt.Errorf("a job that is not JSON: %w", err)
		}
		e, err := experiments.Lookup(job.Experiment)
		if err != nil {
			return err
		}
		if job.Params, err = e.Resolve(job.Params); err != nil {
			return err
		}
		jobs <- job
	}
}

func serve(ctx context.Context, out io.Writer, experiments *experiment.Registry, device Backend,
	job trial.Job) (last bool, err error) {
	e, err := experiments.Lookup(job.Experiment)
	if err != nil {
		return false, err
	}
	// A timed trial runs on more processors than the others.
	if n := max(1, job.Workers); n != runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(n)
	}
	if device.Describe != nil {
		job.Host.GPU = device.Describe(job.Backend)
	}
	job.Notice = func(text string) { _ = send(out, message{Notice: text}) }
	var sent time.Time
	r, err := trial.Execute(ctx, e, job, device.Open, func(done, total int, phase string) {
		if now := time.Now(); now.Sub(sent) >= progressInterval {
			sent = now
			// A lost progress message loses nothing.
			_ = send(out, message{Done: done, Total: total, Phase: phase})
		}
	})
	if trouble := (*trial.Trouble)(nil); errors.As(err, &trouble) {
		return true, send(out, message{Trouble: trouble, Last: true})
	}
	if err != nil {
		return false, err
	}
	last = device.Failed != nil && device.Failed()
	giveBackMemory()
	return last, send(out, message{Record: r, Log: r.Log, Last: last})
}

// spareMemory is how much of its heap a worker may keep for the next trial.
const spareMemory = 32 << 20

// giveBackMemory returns the memory of a trial to the system before its record is sent,
// because the next trials are scheduled by the available memory.
func giveBackMemory() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapSys-m.HeapReleased > spareMemory {
		debug.FreeOSMemory()
	}
}

func send(out io.Writer, m message) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = out.Write(append(raw, '\n'))
	return err
}
