package engine

import (
	"runtime"
	"sync/atomic"
)

// CPU compares the processor time of runs with that of the process.
//
// The time of runs is that of the threads on which they compute, each locked to its goroutine
// meanwhile: of the goroutine that calls Run, from the upload of inputs to the download of
// outputs, and of the workers that join it. It is exact to about a microsecond a run. Not
// in it are the building of a graph, which is done once, the collection of garbage beside the
// goroutines that compute, and threads of a BLAS library other than the caller's.
type CPU struct {
	// Process is the processor time of the process in seconds since the measurement began:
	// the trial's, where the process runs one trial at a time.
	Process float64 `json:"process_s"`
	// Graphs is the part of it inside runs, in seconds, and Share their ratio.
	Graphs float64 `json:"graphs_s"`
	Share  float64 `json:"share_in_graphs"`
}

// meter measures the processor time of runs. Nothing is measured before it is on.
type meter struct {
	on atomic.Bool
	// began is the processor time of the process when it was switched on, in nanoseconds.
	began atomic.Int64
}

// pooled is a Device that computes on several goroutines, each of which calls begin before
// its work, the caller's excepted, and stop after it.
type pooled interface {
	around(begin func() (stop func()))
}

// StartCPU measures from now on the processor time of runs, without counting what they ask of a
// device: it costs a run about a microsecond. It does nothing where threads have no clocks.
func (e *Engine) StartCPU() {
	if began, ok := processCPU(); ok {
		e.counts.cpu.began.Store(began)
		e.counts.cpu.on.Store(true)
	}
}

// CPUTimes are the processor times of the process and of runs in seconds, since StartCPU or
// StartCounting; ok is false where nothing was measured.
func (e *Engine) CPUTimes() (process, graphs float64, ok bool) {
	if c := e.Profile().CPU; c != nil {
		return c.Process, c.Graphs, true
	}
	return 0, 0, false
}

// share compares the time of runs, in seconds, with that of the process.
func (m *meter) share(graphs float64) *CPU {
	now, ok := processCPU()
	began := m.began.Load()
	if !ok || began == 0 {
		return nil
	}
	c := &CPU{Process: float64(now-began) / 1e9, Graphs: graphs}
	if c.Process > 0 {
		c.Share = c.Graphs / c.Process
	}
	return c
}

// clock starts the processor clock of this goroutine, on which a part of a program's run is
// computed, and returns the function that adds the time to the program's. Runs do not call
// one another, so that none is added twice.
func (c *counter) clock(key countKey) (stop func()) {
	if !c.cpu.on.Load() {
		return func() {}
	}
	runtime.LockOSThread() // a goroutine that waits may go on elsewhere
	began := threadCPU()
	return func() {
		took := threadCPU() - began
		runtime.UnlockOSThread()
		c.add(key, tally{cpu: float64(took) / 1e9})
	}
}
