package audit

import (
	"fmt"
	"math"
	"slices"
)

// SupportSample holds the published numbers of several releases of a data set: release i
// has the coordinates Values[i*D:(i+1)*D], on a grid with the stated spacings, 0
// for a coordinate that is no noisy number.
type SupportSample struct {
	Values []float64
	D      int
	Grid   []float64
	// Scale is that of the noise of each coordinate, 0 for none; nil where no grid is
	// stated to follow it.
	Scale []float64
}

// A grid that follows a scale is this many times finer at least, and at most.
const (
	leastFine = 512
	mostFine  = 1 << 20
)

// occupancyLevel is the probability with which the test of the occupancy of one coordinate
// rejects a stated grid.
const occupancyLevel = 1e-7

// TestSupport returns the errors in the values of two neighbouring data sets.
// Each spacing is a power of two; every value is a multiple of it, to
// the last bit; the spacings are equal for both data sets. The part of the grid
// points in the middle of the values that is hit is as large as many draws from a
// smooth law leave it, so that the true spacing is no coarser than the stated one.
// Where the noise has a stated scale, a spacing is stated and lies between 2^-20 and
// 2^-9 of it.
// Noise that was drawn in floating point and is printed with all its digits fails.
//
// Values that one data set has and the other cannot have are an event like any
// other: the black box looks for it.
func TestSupport(first, second SupportSample) []string {
	var found []string
	if first.D != second.D || len(first.Grid) != first.D || len(second.Grid) != second.D {
		return append(found, fmt.Sprintf("%d and %d coordinates with %d and %d spacings",
			first.D, second.D, len(first.Grid), len(second.Grid)))
	}
	for j, g := range first.Grid {
		if other := second.Grid[j]; g != other {
			found = append(found, fmt.Sprintf("coordinate %d has grid %g, and %g of the neighbour", j+1, g, other))
			continue
		}
		for _, s := range []SupportSample{first, second} {
			if len(s.Scale) > j && s.Scale[j] > 0 && !(g >= s.Scale[j]/mostFine && g <= s.Scale[j]/leastFine) {
				found = append(found, fmt.Sprintf("coordinate %d has grid %g for noise of scale %g: it should be %d to %d "+
					"times finer",
					j+1, g, s.Scale[j], leastFine, mostFine))
				break
			}
		}
		if g == 0 {
			continue
		}
		if !powerOfTwo(g) {
			found = append(found, fmt.Sprintf("coordinate %d has grid %g, which is no power of two", j+1, g))
		}
		for side, s := range []SupportSample{first, second} {
			if text := s.coordinate(j, g); text != "" {
				found = append(found, fmt.Sprintf("coordinate %d, data set %d: %s", j+1, side+1, text))
			}
		}
	}
	return found
}

func powerOfTwo(g float64) bool {
	fraction, _ := math.Frexp(g)
	return fraction == 0.5 && !math.IsInf(g, 0)
}

// coordinate returns the error in one coordinate, "" where there is none.
func (s SupportSample) coordinate(j int, grid float64) string {
	n := len(s.Values) / s.D
	points := make([]float64, n)
	off := 0
	for i := range points {
		v := s.Values[i*s.D+j]
		points[i] = v / grid
		if points[i] != math.Trunc(points[i]) || math.IsInf(points[i], 0) {
			off++
		}
	}
	if off > 0 {
		return fmt.Sprintf("%d of %d values are no multiples of %g", off, n, grid)
	}
	slices.Sort(points)
	return occupancy(points, grid)
}

// occupancy compares how many of the grid points in the middle half of the values
// are hit with how many are to be expected. With λ draws at a point on average, a
// Poisson number, 1 − e^−λ of the points are hit; λ follows the empirical law, in
// 32 cells. That is a mean of concave functions, so that a law that varies inside
// a cell lowers the share a little: half a percent is allowed, and the variation of
// independent points. Twice the spacing hits half of the points.
func occupancy(points []float64, grid float64) string {
	const parts = 32
	n := len(points)
	if n < 64*parts {
		return ""
	}
	hit, expected, variance, all := 0.0, 0.0, 0.0, 0.0
	for c := range parts {
		low, high := n/4+c*n/(2*parts), n/4+(c+1)*n/(2*parts)
		// From the point at low up to the one at high, which is not counted.
		from, to := points[low], points[high]
		cells := to - from
		if cells < 1 {
			continue
		}
		draws := 0.0
		last := math.NaN()
		i, _ := slices.BinarySearch(points, from)
		for ; i < n && points[i] < to; i++ {
			draws++
			if points[i] != last {
				hit++
				last = points[i]
			}
		}
		share := -math.Expm1(-draws / cells)
		expected += cells * share
		variance += cells * share * (1 - share)
		all += cells
	}
	z := math.Sqrt2 * math.Erfinv(1-2*occupancyLevel)
	if least := expected*(1-0.005) - z*math.Sqrt(variance) - 2; hit < least {
		return fmt.Sprintf("only %.0f of the %.0f grid points in the middle are hit, of which %.0f were expected: "+
			"the values are coarser than the stated grid %g", hit, all, expected, grid)
	}
	return ""
}
