package engine

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"privkern/graphs/cost"
)

// Count is what the runs of one program in one element type asked of a device, or would
// have asked of one: on the CPU, too, launches and copies are those of a CUDA device, where
// nothing is fused.
type Count struct {
	Program string `json:"program"`
	DType   string `json:"dtype"`
	Runs    int64  `json:"runs"`
	// Launches are those of kernels, copies on the device and calls of libraries.
	Launches int64 `json:"launches"`
	// Synchronisations is how often the host waits for the device: at the end of each run of
	// which it gets a result, for each fallback, and where it copies resident values. Waits
	// for room, to copy or to queue more, are not counted.
	Synchronisations int64 `json:"synchronisations"`
	// Copies between host and device, and what they copy.
	Copies    int64 `json:"copies"`
	BytesUp   int64 `json:"bytes_up"`
	BytesDown int64 `json:"bytes_down"`
	// Operations in floating point, and the traffic of the device's memory.
	Operations float64 `json:"operations"`
	Traffic    float64 `json:"traffic_bytes"`
	// Fallbacks are operations without a kernel, which the host computes.
	Fallbacks int64 `json:"fallbacks,omitempty"`
	// Seconds is the wall time of the runs, added up over goroutines.
	Seconds float64 `json:"seconds"`
	// CPU is the processor time of the runs in seconds, on all their goroutines: that of the
	// host, also where a device computes. It is 0 where threads have no clocks of their own.
	CPU float64 `json:"cpu_s"`
	// Predicted is what package cost predicts for devices, in seconds, by name.
	Predicted map[string]float64 `json:"predicted_s"`
}

// Profile is what an engine counted.
type Profile struct {
	// Programs come with the longest wall time first.
	Programs []Count `json:"programs"`
	Total    Count   `json:"total"`
	CPU      *CPU    `json:"cpu,omitempty"`
}

// counter adds up what the devices of an engine count. Nothing is counted before it is on.
type counter struct {
	on  atomic.Bool
	cpu meter

	mu  sync.Mutex
	all map[countKey]*tally
}

// countKey is a program in an element type.
type countKey struct{ program, dtype string }

// tally is what is counted: work has the copies of operands and results as well.
type tally struct {
	runs, waits, fallbacks int
	seconds, cpu           float64
	work                   cost.Work
}

// add adds another tally.
func (t *tally) add(other tally) {
	t.runs += other.runs
	t.waits += other.waits
	t.fallbacks += other.fallbacks
	t.seconds += other.seconds
	t.cpu += other.cpu
	t.work.Add(other.work)
}

// predicted are the times of the work, the copies and the waits.
func (t *tally) predicted() cost.Seconds {
	s := t.work.Seconds
	s.Add(cost.Copies(t.work.Copies, t.work.Up+t.work.Down))
	s.Add(cost.Waits(t.waits))
	return s
}

// count is the tally for people.
func (t *tally) count(key countKey, predicted cost.Seconds) Count {
	return Count{Program: key.program, DType: key.dtype, Runs: int64(t.runs), Launches: int64(t.work.Launches),
		Synchronisations: int64(t.waits), Copies: int64(t.work.Copies), BytesUp: t.work.Up, BytesDown: t.work.Down,
		Operations: t.work.Operations, Traffic: t.work.Traffic, Fallbacks: int64(t.fallbacks), Seconds: t.seconds,
		CPU: t.cpu, Predicted: predicted.ByName()}
}

// StartCounting counts what runs from now on. Counting costs a run some microseconds an
// operation and changes no result. The processor time of runs is measured, too.
func (e *Engine) StartCounting() {
	e.counts.on.Store(true)
	e.StartCPU()
}

// StopCounting counts nothing that begins from now on.
func (e *Engine) StopCounting() {
	e.counts.on.Store(false)
	e.counts.cpu.on.Store(false)
}

// Profile is what was counted since StartCounting.
func (e *Engine) Profile() Profile {
	e.counts.mu.Lock()
	defer e.counts.mu.Unlock()
	p := Profile{Programs: []Count{}}
	var total tally
	var predicted cost.Seconds
	for key, t := range e.counts.all {
		times := t.predicted()
		p.Programs = append(p.Programs, t.count(key, times))
		total.add(*t)
		predicted.Add(times)
	}
	p.Total = total.count(countKey{}, predicted)
	p.CPU = e.counts.cpu.share(total.cpu)
	slices.SortFunc(p.Programs, func(a, b Count) int {
		return cmp.Or(-cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Program, b.Program), cmp.Compare(a.DType, b.DType))
	})
	return p
}

// MarshalProfile is the profile as JSON, for a runner that knows nothing of graphs.
func (e *Engine) MarshalProfile() ([]byte, error) { return json.Marshal(e.Profile()) }

// add adds a count to that of a program.
func (c *counter) add(key countKey, t tally) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[countKey]*tally{}
	}
	to := c.all[key]
	if to == nil {
		to = new(tally)
		c.all[key] = to
	}
	to.add(t)
}

// ran stops the clock of a program's run, which began at some time, and counts the run.
func (c *counter) ran(key countKey, began time.Time, stop func()) {
	stop()
	if c.on.Load() {
		c.add(key, tally{runs: 1, seconds: time.Since(began).Seconds()})
	}
}
