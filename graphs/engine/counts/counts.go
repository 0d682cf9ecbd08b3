// Package counts adds up the work and the times of the runs of programs.
package counts

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"privkern/graphs/cost"
)

// Count is the work that the runs of one program in one element type ask of a device. On the
// CPU, too, launches and copies are those of a CUDA device that fuses nothing.
type Count struct {
	Program string `json:"program"`
	DType   string `json:"dtype"`
	Runs    int64  `json:"runs"`
	// Launches are those of kernels, copies on the device and calls of libraries, and one for all
	// that a run of a loop replays.
	Launches int64 `json:"launches"`
	// Synchronisations are the waits of the host for the device: at the end of each run that
	// returns a result, for each fallback, and where it copies resident values. Waits for
	// room, to copy or to queue more, are not counted.
	Synchronisations int64 `json:"synchronisations"`
	// Copies between host and device, and their bytes.
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
	// Predicted are the times that package cost predicts for devices, in seconds, by name.
	Predicted map[string]float64 `json:"predicted_s"`
	// Own is the time that is predicted for the device of cost.SetOwn.
	Own float64 `json:"-"`
}

// Profile holds the counts of an engine.
type Profile struct {
	// Programs come with the longest wall time first.
	Programs []Count `json:"programs"`
	Total    Count   `json:"total"`
	CPU      *CPU    `json:"cpu,omitempty"`
}

// Counter adds up the work on the devices of an engine, by program, from StartCounting on.
type Counter struct {
	on  atomic.Bool
	cpu meter

	mu  sync.Mutex
	all map[Key]*Tally
}

// Key identifies a program in an element type.
type Key struct{ Program, DType string }

// Tally is a part of a program's counts.
type Tally struct {
	Runs, Waits, Fallbacks int
	Seconds, CPU           float64
	Work                   cost.Work // with the copies of operands and results
}

// add adds another tally.
func (t *Tally) add(other Tally) {
	t.Runs += other.Runs
	t.Waits += other.Waits
	t.Fallbacks += other.Fallbacks
	t.Seconds += other.Seconds
	t.CPU += other.CPU
	t.Work.Add(other.Work)
}

// predicted returns the predicted times of the work, the copies and the waits.
func (t *Tally) predicted() cost.Seconds {
	s := t.Work.Seconds
	s.Add(cost.Copies(t.Work.Copies, t.Work.Up, t.Work.Down))
	s.Add(cost.Waits(t.Waits))
	return s
}

// count returns the tally of a program as a Count.
func (t *Tally) count(key Key, predicted cost.Seconds) Count {
	return Count{Program: key.Program, DType: key.DType, Runs: int64(t.Runs), Launches: int64(t.Work.Launches),
		Synchronisations: int64(t.Waits), Copies: int64(t.Work.Copies), BytesUp: t.Work.Up, BytesDown: t.Work.Down,
		Operations: t.Work.Operations, Traffic: t.Work.Traffic, Fallbacks: int64(t.Fallbacks), Seconds: t.Seconds,
		CPU: t.CPU, Predicted: predicted.ByName(), Own: predicted.Own()}
}

// StartCounting begins to count. Counting costs a run some microseconds an operation and
// changes no result. The processor time of runs is measured, too.
func (c *Counter) StartCounting() {
	c.on.Store(true)
	c.StartCPU()
}

// StopCounting ends the count, apart from runs that have begun.
func (c *Counter) StopCounting() {
	c.on.Store(false)
	c.cpu.on.Store(false)
}

// Profile returns the counts since StartCounting.
func (c *Counter) Profile() Profile {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := Profile{Programs: []Count{}}
	var total Tally
	var predicted cost.Seconds
	for key, t := range c.all {
		times := t.predicted()
		p.Programs = append(p.Programs, t.count(key, times))
		total.add(*t)
		predicted.Add(times)
	}
	p.Total = total.count(Key{}, predicted)
	p.CPU = c.cpu.share(total.CPU)
	slices.SortFunc(p.Programs, func(a, b Count) int {
		return cmp.Or(-cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Program, b.Program), cmp.Compare(a.DType, b.DType))
	})
	return p
}

// MarshalProfile returns the profile as JSON, for a runner that does not import graphs.
func (c *Counter) MarshalProfile() ([]byte, error) { return json.Marshal(c.Profile()) }

// Recorder adds to the counts of one program. It is safe for concurrent use.
type Recorder struct {
	counter *Counter
	key     Key
}

// For returns the recorder of a program.
func For(c *Counter, key Key) Recorder { return Recorder{c, key} }

// Key returns the program's key.
func (r Recorder) Key() Key { return r.key }

// On reports whether the counter counts.
func (r Recorder) On() bool { return r.counter.on.Load() }

// Add adds a tally to the program's.
func (r Recorder) Add(t Tally) {
	c := r.counter
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[Key]*Tally{}
	}
	to := c.all[r.key]
	if to == nil {
		to = new(Tally)
		c.all[r.key] = to
	}
	to.add(t)
}

// Ran stops the clock of a run, which began at some time, and counts the run.
func (r Recorder) Ran(began time.Time, stop func()) {
	stop()
	if r.On() {
		r.Add(Tally{Runs: 1, Seconds: time.Since(began).Seconds()})
	}
}
