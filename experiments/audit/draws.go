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
	size      int // coordinates published
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

// chunk is how many releases come from one stream.
const chunk = 1000

// sample draws both data sets of a pair. The streams belong to positions in the
// sample, not to goroutines. Discriminants are learnt from the first draws, at most half of
// the draws that choose the event.
func sample(ctx context.Context, s Subject, pair int, o Options) (*draws, error) {
	learn := min(learnt, max(o.Draws/4, 1))
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
	shapes := newShapes(early[0], early[1])
	probe := early[0][0]
	d.size, d.noiseD = shapes.size, len(probe.Noise)
	d.statistics = statistics(early[0], early[1])
	if shapes.vary() {
		lengths := statistic{name: "number of coordinates", of: func(o Output) float64 { return float64(o.length) }}
		d.statistics = append(d.statistics, lengths)
	}
	if len(d.statistics) == 0 {
		return nil, errors.New("nothing is published")
	}
	d.values = make([][2][]float64, len(d.statistics))
	for side := range early {
		if err := d.fill(ctx, s, pair, side, early[side], shapes, o); err != nil {
			return nil, err
		}
	}
	if shapes.vary() {
		d.moved = append(d.moved, fmt.Sprintf("releases have between %d and %d coordinates",
			shapes.least.Load(), shapes.most.Load()))
		d.noise, d.grid, d.scale = [2][]float64{}, [2][]float64{}, [2][]float64{}
	}
	return d, nil
}

// fill records the early draws of a data set and makes the others.
func (d *draws) fill(ctx context.Context, s Subject, pair, side int, early []Output, shapes *shapes, o Options) error {
	keep := min(kept, o.Draws)
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
	var moved atomic.Int64
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
		shapes.fit(&out)
		return record(i, out)
	})
	if n := moved.Load(); n > 0 {
		d.moved = append(d.moved, fmt.Sprintf("%d of %d releases of data set %d have another grid", n, o.Draws, side+1))
	}
	return err
}

// shapes are how many coordinates releases have, which should be one number.
type shapes struct {
	size        int
	least, most atomic.Int64
}

// newShapes fits early releases to the longest of them.
func newShapes(early ...[]Output) *shapes {
	s := new(shapes)
	s.least.Store(math.MaxInt64)
	for _, draws := range early {
		for _, o := range draws {
			s.size = max(s.size, len(o.Published))
		}
	}
	for _, draws := range early {
		for i := range draws {
			s.fit(&draws[i])
		}
	}
	return s
}

func (s *shapes) vary() bool { return s.least.Load() < s.most.Load() }

// fit notes the length of a release and makes it the common one, with zeros or by
// leaving coordinates out.
func (s *shapes) fit(o *Output) {
	o.length = len(o.Published)
	n := int64(o.length)
	for least := s.least.Load(); n < least && !s.least.CompareAndSwap(least, n); least = s.least.Load() {
	}
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	if o.length != s.size {
		fitted := make([]float64, s.size)
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
