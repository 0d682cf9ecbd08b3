package sparse

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// How far the bound of [Model.largest] may be above the largest value found,
// relative to it: exactTolerance, or coarseTolerance once exactTerms values of the
// kernel have been taken. On dense grids the sum is flat, and every interval would
// be cut until it is short enough for the first.
const (
	exactTolerance  = 1e-12
	coarseTolerance = 1e-6
	exactTerms      = 1 << 25
	vanishes        = 28    // e^−784 is 0
	termCurvature   = 0.893 // the largest second derivative of e^(−r²), 4e^(−3/2), rounded up
)

// largest returns an upper bound on max_x Σ_j k_r(x − z_j)², at most exactTolerance above it, on
// dense grids coarseTolerance, by bisection: on an interval of half width h around c, g(x) ≤ g(c) +
// |g'(c)|h + Lh²/2 with |g”| ≤ L = 2|Z|/l².
//
// g is a sum of Gaussians and has many local maxima: an ascent from any start may miss the largest,
// and the noise would then be too small. Branch and bound proves its result: an interval stays open
// until its bound is below the largest value found. Each bisection divides the last term by four,
// so that near a maximum, where the slope is small, a handful of intervals survive each round.
func (m *Model) largest() float64 {
	z := mat.Col(nil, 0, m.Inducing.Z)
	l2 := m.Lengthscale * m.Lengthscale
	curvature := 2 * float64(len(z)) / l2
	found, terms := 0.0, 0
	at := func(x float64) (value, slope float64) {
		// Further away than vanishes lengthscales the terms are 0 in floating point.
		first, _ := slices.BinarySearch(z, x-vanishes*m.Lengthscale)
		for _, v := range z[first:] {
			if v > x+vanishes*m.Lengthscale {
				break
			}
			terms++
			k := m.decay(x - v)
			value += k
			slope -= 2 * (x - v) / l2 * k
		}
		return value, slope
	}
	type interval struct{ centre, half, value, slope, bound float64 }
	measure := func(centre, half float64) interval {
		value, slope := at(centre)
		found = max(found, value)
		return interval{centre, half, value, slope, value + math.Abs(slope)*half + curvature*half*half/2}
	}
	// Outside the inducing inputs the sum falls; and six lengthscales from every one of them a term
	// is at most e^−36, far below the value of one at each. Start with intervals of half a
	// lengthscale at most on the rest.
	const reach = 6
	slices.Sort(z)
	var open []interval
	for i := 0; i < len(z); {
		low, high := z[i], z[i]
		for i++; i < len(z) && z[i]-high <= 2*reach*m.Lengthscale; i++ {
			high = z[i]
		}
		low, high = max(z[0], low-reach*m.Lengthscale), min(z[len(z)-1], high+reach*m.Lengthscale)
		pieces := int(math.Ceil(2*(high-low)/m.Lengthscale)) + 1
		for j := range pieces {
			h := (high - low) / float64(2*pieces)
			open = append(open, measure(low+h*float64(2*j+1), h))
		}
	}
	// local is a closer bound for many inducing inputs: a term's second derivative is
	// at most 4e^(−3/2)/l², and below 1e-13/l² from reach lengthscales on.
	local := func(i interval) float64 {
		first, _ := slices.BinarySearch(z, i.centre-i.half-reach*m.Lengthscale)
		end, _ := slices.BinarySearch(z, i.centre+i.half+reach*m.Lengthscale)
		near := (termCurvature*float64(end-first) + 1e-13*float64(len(z))) / l2
		return min(i.bound, i.value+math.Abs(i.slope)*i.half+near*i.half*i.half/2)
	}
	left := 0.0 // the largest bound of an interval that coarseTolerance leaves uncut
	for len(open) > 0 {
		var next []interval
		for _, i := range open {
			if i.bound <= found*(1+exactTolerance) {
				continue
			}
			if terms > exactTerms {
				if b := local(i); b <= found*(1+coarseTolerance) {
					left = max(left, b)
					continue
				}
			}
			h := i.half / 2
			next = append(next, measure(i.centre-h, h), measure(i.centre+h, h))
		}
		open = next
	}
	return max(found*(1+exactTolerance), left)
}
