package stats

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
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

// scale finds the intervals that hold values. It counts the first value of each unit. count is the noisy number
// of values.
func (p *problem) scale(private *mat.Dense, j int, count float64, source *release.Source) (
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
	first, last, clear := rangeOf(noisy, noise.Scale())
	low, _ = endsOf(first)
	_, high = endsOf(last)
	switch outside := min(count, float64(p.units)) - floats.Sum(noisy[first:last+1]); {
	case !clear:
		warning = fmt.Sprintf("no power of two has clearly more values of %s than the noise of %.3g: its statistics may be "+
			"of no use; give low and high, a larger epsilon, or fewer columns", p.names[j], noise.Scale())
	case first == powers && last == powers:
		warning = fmt.Sprintf("most values of %s are 0, and its statistics leave out any others; give low and high",
			p.names[j])
	case outside > outsideShare*count+2*noise.Scale()*math.Sqrt2*math.Sqrt(float64(last-first+1)):
		warning = fmt.Sprintf("some %.0f of %.0f values of %s are not between %.6g and %.6g, where its statistics are "+
			"computed; give low and high, or a larger epsilon", outside, count, p.names[j], low, high)
	}
	return low, high, warning, nil
}

// outsideShare is the share of values that the outer quantiles leave out by default.
const outsideShare = 0.05

// rangeOf returns the first and the last interval that hold values, by noisy counts with Laplace noise of that
// scale. Neighbours are those with the largest sum, of which each costs one and a half times the scale, so that
// the noise of an empty one rarely adds it; farther ones, as of numbers of both signs, those with more than the
// noise gives any of the intervals with a probability of 1 %. clear is false where noise explains the sum: that
// of a single interval is so large anywhere with a probability of 5 %.
func rangeOf(noisy []float64, scale float64) (first, last int, clear bool) {
	best := math.Inf(-1)
	for from, start, sum := 0, 0, 0.0; from < len(noisy); from++ {
		if sum <= 0 {
			start, sum = from, 0
		}
		if sum += noisy[from] - 1.5*scale; sum > best {
			best, first, last = sum, start, from
		}
	}
	length := float64(last - first + 1)
	clear = best+1.5*scale*length > largestNoise(scale, 0.05)*math.Sqrt(length)
	for i, n := range noisy {
		if n > largestNoise(scale, 0.01) {
			first, last = min(first, i), max(last, i)
		}
	}
	return first, last, clear
}

// largestNoise is a bound of the noise in all intervals but with that probability.
func largestNoise(scale, probability float64) float64 {
	return scale * math.Log(intervals/(2*probability))
}

// gridPoints is the number of points of a grid.
const gridPoints = 4097

// gridOf returns the points among which quantiles are chosen: evenly, or, if steps are to be relative, with one
// ratio between neighbours, where both ends have one sign. Of relative steps around zero, every other one is even,
// and the others have one ratio on either side.
func gridOf(low, high float64, relative bool) []float64 {
	out := make([]float64, gridPoints)
	for i := range out {
		share := float64(i) / (gridPoints - 1)
		switch {
		case relative && (low > 0 || high < 0):
			out[i] = low * math.Pow(high/low, share)
		case relative && i%2 == 1:
			out[i] = aroundZero(low, high, share)
		default:
			out[i] = low + share*(high-low)
		}
	}
	out[gridPoints-1] = high
	slices.Sort(out)
	return out
}

// aroundZero returns the number at that share of the way from low to high, of which each halving of a number, down to
// the interval around zero, has one length.
func aroundZero(low, high, share float64) float64 {
	octaves := func(end float64) float64 { return max(math.Log2(math.Abs(end))-lowestPower, 0) }
	below, above := octaves(low), octaves(high)
	switch at := share*(below+1+above) - below; {
	case at < 0:
		return -math.Exp2(lowestPower - at)
	case at < 1:
		return math.Ldexp(2*at-1, lowestPower)
	default:
		return math.Exp2(lowestPower + at - 1)
	}
}

// cellOf returns the ends of the numbers that are nearest to a point of a grid, of which the first is theirs.
func cellOf(grid []float64, k int) (from, to float64) {
	from, to = math.Inf(-1), math.Inf(1)
	if k > 0 {
		from = grid[k-1] + (grid[k]-grid[k-1])/2
	}
	if k+1 < len(grid) {
		to = grid[k] + (grid[k+1]-grid[k])/2
	}
	return from, to
}

// shortest returns zero or v to as few digits as are in [from, to]; it is v where none are. Values are often of few
// digits, and many of them are equal.
func shortest(v, from, to float64) float64 {
	if from <= 0 && 0 <= to {
		return 0
	}
	for digits := range 17 {
		short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits, 64), 64)
		if err == nil && from <= short && short <= to {
			return short
		}
	}
	return v
}
