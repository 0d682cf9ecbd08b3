// Package bench runs benchmarks, tabulates what they measure beside bounds and peers, and
// compares it with what an earlier run measured. Its own benchmarks measure the runner.
package bench

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"privkern/runner/execute/machine"
	"privkern/runner/experiment"
)

// Options say how benchmarks are run.
type Options struct {
	Repeat int   // of each measure of time, at least; 0 is DefaultRepeat
	Peers  Peers // nil: no peers
	// Started is called before each benchmark.
	Started func(name, doc string)
}

// DefaultRepeat is how often a time is measured: the fewest of which the middle half is
// more than one.
const DefaultRepeat = 5

// Run runs the benchmarks one after another. It stops at the first error.
func Run(ctx context.Context, benchmarks []experiment.Benchmark, o Options) ([]Measurement, error) {
	if o.Repeat == 0 {
		o.Repeat = DefaultRepeat
	}
	var out []Measurement
	for _, b := range benchmarks {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		o.Started(b.Name, b.Doc)
		m := &meter{benchmark: b.Name, ctx: ctx, options: o}
		if err := b.Run(ctx, m); err != nil {
			return out, fmt.Errorf("%s: %w", b.Name, err)
		}
		out = append(out, m.measurements...)
	}
	return out, nil
}

type meter struct {
	benchmark    string
	ctx          context.Context
	options      Options
	measurements []Measurement
}

// A timing is repeated until it has taken enoughTime, but no more than maxRuns times unless
// more are asked for. Beyond tooLong it is not repeated: a single run of something long is a
// measurement, too.
const (
	maxRuns    = 100
	enoughTime = time.Second / 2
	tooLong    = 10 * enoughTime
)

// clocks are readings before something is timed.
type clocks struct {
	cpu  float64
	wall time.Time
}

func read() clocks { return clocks{machine.CPUSeconds(), time.Now()} }

// since returns the seconds of both clocks.
func (c clocks) since() (cpu, wall float64) {
	return machine.CPUSeconds() - c.cpu, time.Since(c.wall).Seconds()
}

// Time implements experiment.Meter.
func (m *meter) Time(name string, f func() error) (float64, error) {
	var cpu, wall []float64
	began := time.Now()
	for n := 0; n < m.options.Repeat || time.Since(began) < enoughTime && n < maxRuns; n++ {
		if err := m.ctx.Err(); err != nil {
			return 0, err
		}
		if n > 0 && time.Since(began) > tooLong {
			break
		}
		start := read()
		if err := f(); err != nil {
			return 0, err
		}
		c, w := start.since()
		cpu, wall = append(cpu, c), append(wall, w)
	}
	m.timed(name+" (CPU)", CPU, cpu)
	m.timed(name+" (wall)", Wall, wall)
	return median(cpu), nil
}

// timed adds repeated measures of a time.
func (m *meter) timed(name string, clock Clock, samples []float64) *Measurement {
	m.Value(name, median(samples), "s", experiment.Target{})
	last := &m.measurements[len(m.measurements)-1]
	last.Clock, last.Samples = clock, samples
	return last
}

// Value implements experiment.Meter.
func (m *meter) Value(name string, value float64, unit string, target experiment.Target) {
	x := Measurement{Benchmark: m.benchmark, Name: name, Value: value, Unit: unit}
	met := true
	if target.AtMost != 0 {
		x.AtMost = &target.AtMost
		met = met && value <= target.AtMost
	}
	if target.AtLeast != 0 {
		x.AtLeast = &target.AtLeast
		met = met && value >= target.AtLeast
	}
	if x.AtMost != nil || x.AtLeast != nil {
		x.Met = &met
	}
	m.measurements = append(m.measurements, x)
}

// Memory implements experiment.Meter.
func (m *meter) Memory(name string, target experiment.Target, f func() error) error {
	debug.FreeOSMemory() // what earlier benchmarks left
	machine.ResetPeakRSS()
	if err := f(); err != nil {
		return err
	}
	m.Value(name, float64(machine.PeakRSS())/(1<<20), "MiB", target)
	return nil
}
