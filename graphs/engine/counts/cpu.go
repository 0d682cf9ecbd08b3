package counts

import (
	"runtime"
	"sync/atomic"

	"privkern/graphs/internal/cputime"
)

// CPU compares the processor time of runs with that of the process.
//
// The time of runs is that of the threads on which they compute, each locked to its goroutine
// meanwhile: of the goroutine that calls Run, from the upload of inputs to the download of
// outputs, and of the workers that join it. It is exact to about a microsecond a run. It
// excludes the building of a graph, which is done once, the collection of garbage on other
// threads, and the threads of a BLAS library other than the caller's.
type CPU struct {
	// Process is the processor time of the process in seconds since the measurement began:
	// the trial's, where the process runs one trial at a time.
	Process float64 `json:"process_s"`
	// Graphs is the part of it inside runs, in seconds, and Share their ratio.
	Graphs float64 `json:"graphs_s"`
	Share  float64 `json:"share_in_graphs"`
}

// meter measures the processor time of runs while it is on.
type meter struct {
	on atomic.Bool
	// began is the processor time of the process when it was switched on, in nanoseconds.
	began atomic.Int64
}

// StartCPU begins to measure the processor time of runs, without counting their work: it costs
// a run about a microsecond. It does nothing where threads have no clocks.
func (c *Counter) StartCPU() {
	if began, ok := cputime.Process(); ok {
		c.cpu.began.Store(began)
		c.cpu.on.Store(true)
	}
}

// CPUTimes returns the processor times of the process and of runs in seconds, since StartCPU or
// StartCounting; ok is false where nothing was measured.
func (c *Counter) CPUTimes() (process, graphs float64, ok bool) {
	if cpu := c.Profile().CPU; cpu != nil {
		return cpu.Process, cpu.Graphs, true
	}
	return 0, 0, false
}

// share compares the time of runs, in seconds, with that of the process.
func (m *meter) share(graphs float64) *CPU {
	now, ok := cputime.Process()
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

// Clock starts the processor clock of this goroutine, on which a part of a run is computed,
// and returns the function that adds the time to the program's. Runs do not call one
// another, so that none is added twice.
func (r Recorder) Clock() (stop func()) {
	if !r.counter.cpu.on.Load() {
		return func() {}
	}
	runtime.LockOSThread() // a goroutine that waits may go on elsewhere
	began := cputime.Thread()
	return func() {
		took := cputime.Thread() - began
		runtime.UnlockOSThread()
		r.Add(Tally{CPU: float64(took) / 1e9})
	}
}
