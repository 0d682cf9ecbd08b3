package audit

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
)

// Numbers of starts of the search for the worst pair of rows.
const (
	climbedCorners = 4
	climbedPoints  = 2
)

// Worst searches pairs of rows in a box of d dimensions for the pair whose distance is largest,
// such as the Mahalanobis distance between the queries of a mechanism: it climbs by one
// coordinate of one of the rows at a time, to a bound, to the middle or by a step that shrinks,
// from the best of the 4^d pairs of corners and from two points inside the box. The result is a
// lower bound of the largest distance; nothing bounds it from above.
func Worst(low, high []float64, distance func(a, b []float64) float64) (a, b []float64, largest float64, err error) {
	d := len(low)
	rng := rand.New(rand.NewPCG(1, uint64(d)))
	c := climb{low: slices.Concat(low, low), high: slices.Concat(high, high), d: d, distance: distance}
	// The climb from a corner is dear where the distance is: the best few do.
	type corner struct {
		at    []float64
		value float64
	}
	var corners []corner
	for k := range 1 << (2 * d) {
		p := slices.Clone(c.low)
		for i := range p {
			if k>>i&1 == 1 {
				p[i] = c.high[i]
			}
		}
		corners = append(corners, corner{p, distance(p[:d], p[d:])})
	}
	slices.SortStableFunc(corners, func(x, y corner) int { return cmp.Compare(y.value, x.value) })
	var starts [][]float64
	for _, start := range corners[:min(climbedCorners, len(corners))] {
		starts = append(starts, start.at)
	}
	for range climbedPoints {
		p := slices.Clone(c.low)
		for i := range p {
			p[i] += rng.Float64() * (c.high[i] - c.low[i])
		}
		starts = append(starts, p)
	}
	largest = math.Inf(-1)
	for _, start := range starts {
		if v := c.from(start); v > largest {
			largest, a, b = v, start[:d], start[d:]
		}
	}
	if a == nil {
		return nil, nil, 0, errors.New("no pair of rows has a distance that is a number")
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
