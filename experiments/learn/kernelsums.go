package learn

import (
	"math"
	"sort"
)

const (
	// gaussTerms is the number of terms of the expansion in kernelSums, and
	// gaussReach, in units of √2 σ, how far from its middle a box is felt. Both
	// leave an error below 1e-13 for each point.
	gaussTerms = 16
	gaussReach = 6.25
)

// kernelSums returns, for every centre c, the sum of exp(−(x−c)²/(2σ²)) over
// the points x, which must be in increasing order. It is the fast Gauss
// transform (Greengard and Strain 1991) in one dimension: points in a box of
// width σ/√2 act through the moments of their distances from its middle, by
// the generating function of the Hermite polynomials
//
//	e^{−(t−s)²} = Σ_k s^k/k! h_k(t),  h_k(t) = e^{−t²} H_k(t),  |s| ≤ 1/4.
//
// The work is n·16 multiplications for the moments and at most 26·16 for a
// centre, in place of n exponentials for each centre.
//
// A box begins at a point and holds the points up to half a unit (√2σ) on, so that empty
// regions have no boxes. The Hermite functions come by their recurrence
//
//	h_{k+1}(t) = 2t h_k(t) − 2k h_{k−1}(t),
//
// whose values stay small: |h_k(t)| is below √(2^k k!)·1.1, which the moments'
// (1/4)^k/k! outweighs.
func kernelSums(points, centres []float64, sigma float64) []float64 {
	unit := math.Sqrt2 * sigma
	var middles []float64
	var moments [][gaussTerms]float64
	for start := 0; start < len(points); {
		middle := points[start] + unit/4
		var m [gaussTerms]float64
		i := start
		for ; i < len(points) && (i == start || points[i]-points[start] <= unit/2); i++ {
			s, term := (points[i]-middle)/unit, 1.0
			for k := range m {
				m[k] += term
				term *= s / float64(k+1)
			}
		}
		middles, moments = append(middles, middle), append(moments, m)
		start = i
	}
	out := make([]float64, len(centres))
	for j, c := range centres {
		first := sort.SearchFloat64s(middles, c-gaussReach*unit)
		for b := first; b < len(middles) && middles[b] <= c+gaussReach*unit; b++ {
			t := (c - middles[b]) / unit
			before, h := 0.0, math.Exp(-t*t)
			for k, m := range moments[b] {
				out[j] += m * h
				before, h = h, 2*(t*h-float64(k)*before)
			}
		}
	}
	return out
}
