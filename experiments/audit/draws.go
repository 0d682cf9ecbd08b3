package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"privkern/experiments/mechanism"
)

// draws holds statistics, noise and outputs of the releases of one pair. Arrays of two are
// of the two data sets.
type draws struct {
	statistics []statistic
	// values[k][side] holds statistic k of the draws.
	values    [][2][]float64
	size      int  // the largest number of published coordinates
	varies    bool // releases differ in their number of coordinates
	published [2][]float64
	noise     [2][]float64
	noiseD    int
	noiseGrid float64
	grid      [2][]float64
	scale     [2][]float64
	moved     []string // grids and sizes that differ between releases
}

// choose chooses the event on the first half, among all statistics.
func (d *draws) choose(claim mechanism.Guarantee, o Options) choice {
	half := o.Draws / 2
	var best choice
	for k, s := range d.statistics {
		first, second := d.values[k][0], d.values[k][1]
		c := bestEvent(first[:half], second[:half], claim, o.Confidence)
		if k == 0 || c.better(best) {
			best = c
			best.index, best.by, best.first, best.second = k, s.name, first[half:], second[half:]
		}
	}
	return best
}

// chunk is the number of releases of one stream.
const chunk = 1000

// sample draws both data sets of a pair. The streams belong to positions in the
// sample, not to goroutines. Discriminants are learnt from the first draws, at most half of
// the draws that choose the event.
func sample(ctx context.Context, s Subject, pair int, o Options) (*draws, error) {
	learn := min(learntDraws, max(o.Draws/4, 1))
	d := new(draws)
	var early [2][]Output
	for side := range early {
		early[side] = make([]Output, learn)
		err := each(ctx, s, pair, side == 1, 0, learn, o, func(i int, out Output) error {
			if slices.ContainsFunc(out.Published, math.IsNaN) {
				return errors.New("an output is NaN, which belongs to no event")
			}
			early[side][i] = out
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, out := range slices.Concat(early[0], early[1]) {
		d.size = max(d.size, len(out.Published))
	}
	for side := range early {
		for i := range early[side] {
			early[side][i].fit(d.size)
			d.varies = d.varies || early[side][i].length != d.size
		}
	}
	d.noiseD = len(early[0][0].Noise)
	d.statistics = statistics(early[0], early[1])
	if d.varies {
		lengths := statistic{name: "number of coordinates", of: func(o Output) float64 { return float64(o.length) }}
		d.statistics = append(d.statistics, lengths)
	}
	if len(d.statistics) == 0 {
		return nil, errors.New("nothing is published")
	}
	d.values = make([][2][]float64, len(d.statistics))
	for side := range early {
		if err := d.fill(ctx, s, pair, side, early[side], o); err != nil {
			return nil, err
		}
	}
	if d.varies {
		d.noise, d.grid, d.scale = [2][]float64{}, [2][]float64{}, [2][]float64{}
	}
	return d, nil
}

// fill records the early draws of a data set and makes the others.
func (d *draws) fill(ctx context.Context, s Subject, pair, side int, early []Output, o Options) error {
	keep := min(keptDraws, o.Draws)
	for k := range d.values {
		d.values[k][side] = make([]float64, o.Draws)
	}
	d.grid[side], d.scale[side] = early[0].Grid, early[0].Scale
	if d.noiseD > 0 {
		d.noise[side] = make([]float64, keep*d.noiseD)
	}
	if d.grid[side] != nil {
		d.published[side] = make([]float64, keep*d.size)
	}
	for _, out := range early {
		d.noiseGrid = max(d.noiseGrid, out.NoiseGrid)
	}
	var moved, others atomic.Int64
	record := func(i int, out Output) error {
		for k, t := range d.statistics {
			v := t.of(out)
			if math.IsNaN(v) {
				return errors.New("an output is NaN, which belongs to no event")
			}
			d.values[k][side][i] = v
		}
		if !slices.Equal(out.Grid, d.grid[side]) {
			moved.Add(1)
		}
		if out.length != d.size {
			others.Add(1)
		}
		if i < keep {
			copy(d.noise[side][min(i*d.noiseD, len(d.noise[side])):min((i+1)*d.noiseD, len(d.noise[side]))], out.Noise)
			if d.published[side] != nil {
				copy(d.published[side][i*d.size:], out.Published)
			}
		}
		return nil
	}
	for i, out := range early {
		if err := record(i, out); err != nil {
			return err
		}
	}
	err := each(ctx, s, pair, side == 1, len(early), o.Draws, o, func(i int, out Output) error {
		out.fit(d.size)
		return record(i, out)
	})
	if n := moved.Load(); n > 0 {
		d.moved = append(d.moved, fmt.Sprintf("%d of %d releases of data set %d have another grid", n, o.Draws, side+1))
	}
	if n := others.Load(); n > 0 {
		d.varies = true
		d.moved = append(d.moved, fmt.Sprintf("%d of %d releases of data set %d have another number of coordinates than %d",
			n, o.Draws, side+1, d.size))
	}
	return err
}

// fit keeps the number of coordinates and makes it size, with zeros or by leaving some out.
func (o *Output) fit(size int) {
	if o.length = len(o.Published); o.length != size {
		fitted := make([]float64, size)
		copy(fitted, o.Published)
		o.Published = fitted
	}
}

// each draws the releases from..to-1 of one data set and hands them over, from
// several goroutines.
func each(ctx context.Context, s Subject, pair int, second bool, from, to int, o Options,
	record func(i int, out Output) error) error {
	chunks := (to - from + chunk - 1) / chunk
	workers := min(runtime.GOMAXPROCS(0), chunks)
	failures := make([]error, workers)
	var next atomic.Int64
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= chunks {
					return
				}
				if failures[w] = ctx.Err(); failures[w] != nil {
					return
				}
				low, high := from+k*chunk, min(from+(k+1)*chunk, to)
				entropy := streamOf(s.Name, "draws", pair, second, low, o.Seed)
				for i := low; i < high; i++ {
					out, err := s.Pairs[pair].Draw(second, entropy)
					if err == nil {
						err = record(i, out)
					}
					if err != nil {
						failures[w] = err
						next.Store(int64(chunks)) // the others need not go on
						return
					}
				}
				if o.Drawn != nil {
					o.Drawn(high - low)
				}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(failures...)
}
