package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
)

// cells cuts the line at numbers that the training half has chosen. A number
// that occurs often is a cell of its own, so that atoms are seen.
type cells struct {
	atoms []float64 // ascending
	edges []float64 // ascending; cell i holds edges[i-1] ≤ v < edges[i]
}

// An atom occurs this often among the training draws. A law with a density
// repeats no number, but for numbers that collide by chance, and for those on a
// grid: among more different numbers than fewAtoms an atom also occurs several
// times as often as its neighbours on the line.
const (
	atomDraws    = 5
	fewAtoms     = 1024
	atomContrast = 8
	atomReach    = 16 // neighbours on each side
)

// newCells cuts at quantiles: 128 evenly, and powers of a half in both tails.
func newCells(training ...[]float64) *cells {
	all := slices.Concat(training...)
	slices.Sort(all)
	c := new(cells)
	var start []int // of the runs of equal numbers, and the end of the last
	for i := range all {
		if i == 0 || all[i] != all[i-1] {
			start = append(start, i)
		}
	}
	start = append(start, len(all))
	runs := len(start) - 1
	var rest []float64
	for i := range runs {
		count := start[i+1] - start[i]
		atom := count >= atomDraws
		if atom && runs > fewAtoms {
			low, high := max(0, i-atomReach), min(runs, i+atomReach+1)
			others := float64(start[high]-start[low]-count) / float64(high-low-1)
			atom = float64(count) > atomContrast*others+atomDraws
		}
		if atom {
			c.atoms = append(c.atoms, all[start[i]])
		} else {
			rest = append(rest, all[start[i]:start[i+1]]...)
		}
	}
	cut := func(level float64) {
		if len(rest) > 0 {
			c.edges = append(c.edges, rest[min(int(level*float64(len(rest))), len(rest)-1)])
		}
	}
	const even = 128
	for i := 1; i < even; i++ {
		cut(float64(i) / even)
	}
	for tail := 1.0 / (2 * even); tail*float64(len(rest)) >= 1; tail /= 2 {
		cut(tail)
		cut(1 - tail)
	}
	// An atom cuts the line on both sides, so that the numbers below it are a cell of
	// their own.
	for _, a := range c.atoms {
		c.edges = append(c.edges, a, math.Nextafter(a, math.Inf(1)))
	}
	slices.Sort(c.edges)
	c.edges = slices.Compact(c.edges)
	return c
}

// count returns the number of cells.
func (c *cells) count() int { return len(c.atoms) + len(c.edges) + 1 }

// of returns the cell of a number: the atoms come first.
func (c *cells) of(v float64) int {
	if i, found := slices.BinarySearch(c.atoms, v); found {
		return i
	}
	i, found := slices.BinarySearch(c.edges, v)
	if found {
		i++
	}
	return len(c.atoms) + i
}

// low is where a cell begins on the line.
func (c *cells) low(cell int) float64 {
	switch i := cell - len(c.atoms); {
	case i < 0:
		return c.atoms[cell]
	case i == 0:
		return math.Inf(-1)
	default:
		return c.edges[i-1]
	}
}

// counts returns the number of values in each cell.
func (c *cells) counts(values []float64) []int {
	out := make([]int, c.count())
	for _, v := range values {
		out[c.of(v)]++
	}
	return out
}

// choice is an event with the bounds that it has on the draws it is chosen from,
// which are no bounds at all.
type choice struct {
	// margin is the bound of P − e^ε P' less the claimed δ; epsilon, the bound of ε.
	margin, epsilon float64

	cells   *cells
	in      []bool // by cell
	outputs string
	swapped bool // the second data set is the likely one

	pair, by      string    // the statistic's name
	index         int       // of the statistic
	first, second []float64 // the draws to test with
}

// better compares choices. Where one of them violates the claim on the draws it is
// chosen from, the larger violation of δ is better: it is at the outputs whose
// likelihood ratio exceeds e^ε, the hockey stick, which are less rare than those
// with the largest ratio. Otherwise the larger ε is, which then is below the
// claimed one.
func (c choice) better(o choice) bool {
	if c.margin > 0 || o.margin > 0 {
		return c.margin > o.margin
	}
	return c.epsilon > o.epsilon
}

// bestEvent returns the best event for a claim among three families, in
// both directions: all outputs from a number up, all below one, and the cells with
// the highest ratio of counts, which approach the best event there is (the
// level sets of the likelihood ratio, by the lemma of Neyman and Pearson).
func bestEvent(first, second []float64, claim mechanism.Guarantee, confidence float64) choice {
	c := newCells(first, second)
	a, b := c.counts(first), c.counts(second)
	best := choice{margin: math.Inf(-1), epsilon: -1, cells: c}
	interval := newIntervals(len(first), confidence)
	for _, swapped := range []bool{false, true} {
		if swapped {
			a, b = b, a
		}
		byPlace := learn.AllRows(c.count())
		byRatio := slices.Clone(byPlace)
		// An atom is at the edge of the empty cell that holds nothing else.
		slices.SortStableFunc(byPlace, func(i, j int) int { return cmp.Compare(c.low(i), c.low(j)) })
		ratio := func(i int) float64 { return (float64(a[i]) + 0.5) / (float64(b[i]) + 0.5) }
		slices.SortStableFunc(byRatio, func(i, j int) int { return cmp.Compare(ratio(j), ratio(i)) })
		downwards := slices.Clone(byPlace)
		slices.Reverse(downwards)
		for _, try := range []struct {
			order   []int
			outputs func(k int) string // of the first k+1 cells
		}{
			{byPlace, func(k int) string { return fmt.Sprintf("below %.4g", c.low(byPlace[k+1])) }},
			{downwards, func(k int) string { return fmt.Sprintf("from %.4g up", c.low(downwards[k])) }},
			{byRatio, func(k int) string {
				return fmt.Sprintf("the %d of %d cells with the highest ratio of counts", k+1, len(byRatio))
			}},
		} {
			hits, others := 0, 0
			for k, cell := range try.order[:len(try.order)-1] {
				hits += a[cell]
				others += b[cell]
				p, q := interval.bound(hits, -interval.z), interval.bound(others, interval.z)
				found := choice{margin: p - math.Exp(claim.Epsilon)*q - claim.Delta, cells: c, swapped: swapped}
				if p-claim.Delta > q {
					found.epsilon = math.Log((p - claim.Delta) / q)
				}
				if !found.better(best) {
					continue
				}
				best = found
				best.outputs = try.outputs(k)
				best.in = make([]bool, c.count())
				for _, in := range try.order[:k+1] {
					best.in[in] = true
				}
			}
		}
	}
	return best
}

// test counts in the draws that had no part in the choice.
func (c choice) test() Event {
	count := func(values []float64) int {
		hits := 0
		for _, v := range values {
			if c.in != nil && c.in[c.cells.of(v)] {
				hits++
			}
		}
		return hits
	}
	e := Event{Pair: c.pair, Statistic: c.by, Outputs: c.outputs, Likely: 1, Tested: len(c.first)}
	likely, other := c.first, c.second
	if c.swapped {
		e.Likely, likely, other = 2, c.second, c.first
	}
	e.Hits, e.OtherHits = count(likely), count(other)
	return e
}

// DeltaAtLeast bounds δ at ε from below, at the confidence, in the way of
// [EpsilonAtLeast]: δ ≥ P − e^ε P'. It is negative where that is no bound. A claim
// (ε, δ) is violated by one of the two bounds where it is by the other.
func DeltaAtLeast(hits, others, n int, epsilon, confidence float64) float64 {
	alpha := (1 - confidence) / 2
	return atLeast(hits, n, alpha) - math.Exp(epsilon)*atMost(others, n, alpha)
}

// intervals approximates the bounds of Clopper and Pearson for the choice of an
// event, which need not be exact but is made of thousands: Wilson's score
// interval (1927).
type intervals struct{ n, z float64 }

// newIntervals returns the intervals for n draws, with z = Φ⁻¹((1 + confidence)/2).
func newIntervals(n int, confidence float64) intervals {
	return intervals{n: float64(n), z: math.Sqrt2 * math.Erfinv(confidence)}
}

// bound returns, for p = hits/n,
//
//	(p + z²/2n + z √(p(1 − p)/n + z²/4n²))/(1 + z²/n),
//
// the upper end of the interval for z > 0 and the lower end for z < 0.
func (w intervals) bound(hits int, z float64) float64 {
	p, square := float64(hits)/w.n, z*z/w.n
	return (p + square/2 + z*math.Sqrt(p*(1-p)/w.n+square/(4*w.n))) / (1 + square)
}

// EpsilonAtLeast bounds ε from below at the given δ and confidence, from an event
// with hits among n draws on one data set and others among n draws on its
// neighbour: (ε, δ)-differential privacy needs P ≤ e^ε P' + δ, so that
// ε ≥ log((P − δ)/P'), with Clopper and Pearson's bounds of P from below and of P'
// from above, each at half of 1 − confidence. It is 0 where that is no
// bound.
func EpsilonAtLeast(hits, others, n int, delta, confidence float64) float64 {
	alpha := (1 - confidence) / 2
	p, q := atLeast(hits, n, alpha), atMost(others, n, alpha)
	if !(p-delta > q) {
		return 0
	}
	return math.Log((p - delta) / q)
}

// atLeast and atMost are the one-sided bounds of Clopper and Pearson (1934) of a
// probability, wrong with probability alpha at most.
func atLeast(hits, n int, alpha float64) float64 {
	if hits == 0 {
		return 0
	}
	return mathext.InvRegIncBeta(float64(hits), float64(n-hits+1), alpha)
}

func atMost(hits, n int, alpha float64) float64 {
	if hits == n {
		return 1
	}
	return mathext.InvRegIncBeta(float64(hits+1), float64(n-hits), 1-alpha)
}
