// Package bench runs benchmarks and tabulates what they measure beside the
// bounds that they are meant to keep. Its own benchmarks measure the runner.
package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"privkern/runner/execute/machine"
	"privkern/runner/experiment"
)

// Measurement is one measured value, with the bound that it is meant to keep where
// there is one.
type Measurement struct {
	Benchmark string   `json:"benchmark"`
	Name      string   `json:"name"` // of the value, within its benchmark
	Value     float64  `json:"value"`
	Unit      string   `json:"unit"`               // of Value and the bounds
	AtMost    *float64 `json:"at_most,omitempty"`  // nil: no upper bound
	AtLeast   *float64 `json:"at_least,omitempty"` // nil: no lower bound
	Met       *bool    `json:"met,omitempty"`      // nil: no bound
}

// Run runs the benchmarks one after another. It stops at the first error.
func Run(ctx context.Context, benchmarks []experiment.Benchmark,
	started func(name, doc string)) ([]Measurement, error) {
	var out []Measurement
	for _, b := range benchmarks {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		started(b.Name, b.Doc)
		m := &meter{benchmark: b.Name, ctx: ctx}
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
	measurements []Measurement
}

// A timing is repeated at least minRuns times and until it has taken
// enoughTime, but no more than maxRuns times.
const (
	minRuns    = 3
	maxRuns    = 100
	enoughTime = time.Second
)

// Time implements experiment.Meter.
func (m *meter) Time(name string, f func() error) (float64, error) {
	var cpu, wall []float64
	total := time.Duration(0)
	for len(cpu) < minRuns || total < enoughTime && len(cpu) < maxRuns {
		if err := m.ctx.Err(); err != nil {
			return 0, err
		}
		// A single run of something long is a measurement, too.
		if len(cpu) > 0 && total > 10*enoughTime {
			break
		}
		c, t := machine.CPUSeconds(), time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		d := time.Since(t)
		cpu, wall = append(cpu, machine.CPUSeconds()-c), append(wall, d.Seconds())
		total += d
	}
	m.Value(name+" (CPU)", median(cpu), "s", experiment.Target{})
	m.Value(name+" (wall)", median(wall), "s", experiment.Target{})
	return median(cpu), nil
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

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}

// Text writes the measurements for a terminal.
func Text(w io.Writer, ms []Measurement) error {
	last := ""
	for _, m := range ms {
		if m.Benchmark != last {
			last = m.Benchmark
			if _, err := fmt.Fprintln(w, m.Benchmark); err != nil {
				return err
			}
		}
		target := ""
		switch {
		case m.AtMost != nil:
			target = fmt.Sprintf("target at most %.4g %s", *m.AtMost, m.Unit)
		case m.AtLeast != nil:
			target = fmt.Sprintf("target at least %.4g %s", *m.AtLeast, m.Unit)
		}
		if m.Met != nil {
			target += map[bool]string{true: ": met", false: ": MISSED"}[*m.Met]
		}
		if _, err := fmt.Fprintln(w,
			strings.TrimRight(fmt.Sprintf("  %-44s %10.4g %-8s %s", m.Name, m.Value, m.Unit, target), " ")); err != nil {
			return err
		}
	}
	return nil
}

// JSON writes the measurements as one JSON object.
func JSON(w io.Writer, ms []Measurement) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{"schema": 1, "measurements": ms})
}
