package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/release"
)

// Powers of two between which values are looked for.
const (
	lowestPower, highestPower = -20, 40
	powers                    = highestPower - lowestPower
	// intervals are those of either sign, and one around zero in their middle.
	intervals = 2*powers + 1
)

// intervalOf returns the place of a value among the intervals.
func intervalOf(v float64) int {
	if math.Abs(v) < math.Ldexp(1, lowestPower) {
		return powers
	}
	_, power := math.Frexp(v) // |v| is in [1/2, 1)·2^power
	at := min(power-lowestPower, powers)
	if v < 0 {
		at = -at
	}
	return powers + at
}

// endsOf returns the ends of an interval.
func endsOf(interval int) (low, high float64) {
	at := interval - powers
	switch {
	case at > 0:
		return math.Ldexp(1, lowestPower+at-1), math.Ldexp(1, lowestPower+at)
	case at < 0:
		return -math.Ldexp(1, lowestPower-at), -math.Ldexp(1, lowestPower-at-1)
	}
	return -math.Ldexp(1, lowestPower), math.Ldexp(1, lowestPower)
}

// scale finds the intervals that hold values. It counts the first value of each unit.
func (p *problem) scale(private *mat.Dense, j int, source *release.Source) (
	low, high float64, warning string, err error,
) {
	counts := make([]float64, intervals)
	for unit := 0; unit < p.slots; unit += p.most {
		for row := unit; row < min(unit+p.most, p.slots); row++ {
			if v := private.At(row, j); !math.IsNaN(v) && !math.IsInf(v, 0) {
				counts[intervalOf(v)]++
				break
			}
		}
	}
	noise, err := release.Laplace(release.Query{What: p.nameOf("numbers between powers of two", j), Coordinates: intervals,
		Change: 2, Size: float64(p.units)}, p.epsilon)
	if err != nil {
		return 0, 0, "", err
	}
	noisy, err := source.Add(noise, counts)
	if err != nil {
		return 0, 0, "", err
	}
	low, high, clear := rangeOf(noisy, noise.Scale())
	if !clear {
		warning = fmt.Sprintf("no power of two has clearly more values of %s than the noise of %.3g: its statistics may be "+
			"of no use; give low and high, a larger epsilon, or fewer columns", p.names[j], noise.Scale())
	}
	return low, high, warning, nil
}

// rangeOf returns the ends of the successive intervals that hold the values, by noisy counts with Laplace
// noise of that scale: those with the largest sum, of which each costs one and a half times the scale, so
// that the noise of an empty one rarely adds it. clear is false where noise explains the sum: that of a
// single interval is so large anywhere with a probability of 5 %.
func rangeOf(noisy []float64, scale float64) (low, high float64, clear bool) {
	best, first, last := math.Inf(-1), 0, 0
	for from, start, sum := 0, 0, 0.0; from < len(noisy); from++ {
		if sum <= 0 {
			start, sum = from, 0
		}
		if sum += noisy[from] - 1.5*scale; sum > best {
			best, first, last = sum, start, from
		}
	}
	length := float64(last - first + 1)
	low, _ = endsOf(first)
	_, high = endsOf(last)
	return low, high, best+1.5*scale*length > scale*math.Log(intervals/(2*0.05))*math.Sqrt(length)
}

// gridPoints is the number of points of a grid.
const gridPoints = 4097

// gridOf returns the points among which quantiles are chosen, evenly, or, if steps are to be relative and
// both ends have one sign, with one ratio between neighbours.
func gridOf(low, high float64, relative bool) []float64 {
	out := make([]float64, gridPoints)
	for i := range out {
		share := float64(i) / (gridPoints - 1)
		switch {
		case relative && (low > 0 || high < 0):
			out[i] = low * math.Pow(high/low, share)
		default:
			out[i] = low + share*(high-low)
		}
	}
	out[gridPoints-1] = high
	return out
}
