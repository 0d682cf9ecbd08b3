package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Worst searches pairs of rows in a box for the pair whose distance is largest,
// such as the Mahalanobis distance between the queries of a mechanism:
// it climbs by one coordinate of one of the rows at a time, to a bound, to the
// middle or by a step that shrinks, from all pairs of corners (of a few hundred by
// chance in many dimensions) and from starts points inside the box. It returns
// equal pairs for equal seeds. The result is a lower bound of the largest
// distance; nothing bounds it from above.
func Worst(low, high []float64, distance func(a, b []float64) float64, starts int, seed uint64) (
	a, b []float64, largest float64, err error) {
	d := len(low)
	if d == 0 || len(high) != d {
		return nil, nil, 0, fmt.Errorf("a box with %d lower and %d upper bounds", d, len(high))
	}
	for i := range low {
		if !(low[i] <= high[i]) || math.IsInf(low[i], 0) || math.IsInf(high[i], 0) {
			return nil, nil, 0, fmt.Errorf("bounds %g and %g of coordinate %d are no interval", low[i], high[i], i+1)
		}
	}
	rng := rand.New(rand.NewPCG(seed, uint64(d)))
	c := climb{low: slices.Concat(low, low), high: slices.Concat(high, high), d: d, distance: distance}
	largest = math.Inf(-1)
	try := func(start []float64) {
		if v := c.from(start); v > largest {
			largest, a, b = v, slices.Clone(start[:d]), slices.Clone(start[d:])
		}
	}
	corners := 256
	if 2*d <= 8 {
		corners = 1 << (2 * d)
	}
	// The climb from a corner is dear where the distance is: the best few do.
	type corner struct {
		at    []float64
		value float64
	}
	var all []corner
	for k := range corners {
		bits := uint64(k)
		if 2*d > 8 {
			bits = rng.Uint64()
		}
		p := make([]float64, 2*d)
		for i := range p {
			p[i] = c.low[i]
			if bits>>(i%64)&1 == 1 {
				p[i] = c.high[i]
			}
		}
		all = append(all, corner{p, distance(p[:d], p[d:])})
	}
	slices.SortStableFunc(all, func(x, y corner) int {
		switch {
		case x.value > y.value:
			return -1
		case x.value < y.value:
			return 1
		}
		return 0
	})
	for _, start := range all[:min(4, len(all))] {
		try(start.at)
	}
	for range starts {
		p := make([]float64, 2*d)
		for i := range p {
			p[i] = c.low[i] + rng.Float64()*(c.high[i]-c.low[i])
		}
		try(p)
	}
	if a == nil {
		return nil, nil, 0, fmt.Errorf("no pair of rows has a distance that is a number")
	}
	return a, b, largest, nil
}

// climb is a search in the box of pairs of rows, 2d coordinates.
type climb struct {
	low, high []float64
	d         int
	distance  func(a, b []float64) float64
}

// from climbs until no step of a 2⁻²⁰th of the box improves, and leaves p there.
func (c climb) from(p []float64) float64 {
	best := c.distance(p[:c.d], p[c.d:])
	for step := 0.25; step > 0x1p-20; {
		improved := false
		for i := range p {
			kept := p[i]
			width := c.high[i] - c.low[i]
			for _, v := range []float64{c.low[i], c.high[i], (c.low[i] + c.high[i]) / 2,
				max(c.low[i], kept-step*width), min(c.high[i], kept+step*width)} {
				p[i] = v
				// A gain in the last digits only would go on for ever.
				if found := c.distance(p[:c.d], p[c.d:]); found > best+1e-12*math.Abs(best) {
					best, kept, improved = found, v, true
				}
			}
			p[i] = kept
		}
		if !improved {
			step /= 2
		}
	}
	return best
}

// WorstOf returns the index, from 0 to n−1, with the largest distance, such as the index of
// the output that changes a release the most.
func WorstOf(n int, distance func(i int) float64) (index int, largest float64) {
	largest = math.Inf(-1)
	for i := range n {
		if v := distance(i); v > largest {
			index, largest = i, v
		}
	}
	return index, largest
}
