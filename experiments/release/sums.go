package release

import (
	"fmt"
	"math"
)

// Sums adds the contributions of rows in whole numbers: a contribution depends on its
// row alone, and neither on the others nor on their order.
type Sums struct {
	noise   *Noise
	largest float64
	unit    float64 // of the grid of contributions, a power of two
	total   []int64
}

// contributionBits are the binary digits of a contribution behind the grid's unit.
const contributionBits = 24

// ContributionError bounds the rounding of one contribution to a coordinate of
// noise of that scale.
func ContributionError(scale float64) float64 {
	return scale / coarseness * math.Ldexp(1, -contributionBits-1)
}

// NewSums sums contributions of at most that magnitude each, from n rows, for
// noise whose [Query].Error covers the [ContributionError] of every coordinate.
func NewSums(noise *Noise, n int, largest float64) (*Sums, error) {
	s := &Sums{noise: noise, largest: largest, unit: math.Ldexp(noise.Grid(), -contributionBits), total: make([]int64,
		noise.query.Coordinates)}
	if !(float64(n)*(largest/s.unit+1) < 1<<62) {
		return nil, fmt.Errorf("%s: the sum of %d numbers up to %g is more than 2^62 steps of its grid: use a smaller "+
			"epsilon, or fewer rows", noise.query.What, n, largest)
	}
	return s, nil
}

// Add adds the contribution of one row. A number beyond the largest is cut to it, and
// NaN counts as 0: no row can make the whole numbers overflow.
func (s *Sums) Add(contribution []float64) {
	for i, v := range contribution {
		s.add(i, v)
	}
}

// AddAt is [Sums.Add] of a contribution that is 0 but at some places.
func (s *Sums) AddAt(places []int, values []float64) {
	for i, place := range places {
		s.add(place, values[i])
	}
}

func (s *Sums) add(i int, v float64) {
	v = min(max(v, -s.largest), s.largest)
	if math.IsNaN(v) {
		v = 0
	}
	s.total[i] += int64(math.RoundToEven(v / s.unit)) // exact division, by a power of two
}

// Noisy returns the sums with noise. No rounding comes between the whole numbers
// and the noise.
func (s *Sums) Noisy(source *Source) []float64 {
	query := make([]fixedPoint, len(s.total))
	for i, v := range s.total {
		query[i] = fixedPoint{v >> contributionBits, uint32(v&(1<<contributionBits-1)) << (queryBits - contributionBits)}
	}
	return source.add(s.noise, query)
}

// Merge adds the sums of other rows.
func (s *Sums) Merge(other *Sums) {
	for i, v := range other.total {
		s.total[i] += v
	}
}
