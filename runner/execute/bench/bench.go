// Package bench runs benchmarks and tabulates their measurements with bounds and peers.
package bench

import (
	"context"
	"fmt"

	"privkern/runner/experiment"
)

// Options configure a run of benchmarks.
type Options struct {
	Repeat int   // least number of samples of a time; 0 is DefaultRepeat
	Peers  Peers // nil: no peers
	// Started is called before each benchmark.
	Started func(name, doc string)
}

// DefaultRepeat is the default number of samples of a time: the fewest whose middle half has
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
