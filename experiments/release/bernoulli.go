package release

import "math"

// expUniform is true with probability exp(−u) exactly.
//
// Von Neumann's method ("Various techniques used in connection with random
// digits", 1951): the run u > u₁ > u₂ > ... of uniform numbers is at least n long
// with probability uⁿ/n!, so that its length is even with probability
// Σ (−u)ⁿ/n! = exp(−u).
func (b *bitReader) expUniform(u *uniform) bool {
	last := b.uniform()
	if !last.less(u, b) {
		return true
	}
	for even := false; ; even = !even {
		next := b.uniform()
		if !next.less(&last, b) {
			return even
		}
		last = next
	}
}

// expFloat is true with probability exp(−v) exactly, for a float64 v in [0, 1]:
// von Neumann's method, whose run starts below v.
func (b *bitReader) expFloat(v float64) bool {
	u := b.uniform()
	if !u.lessThan(v, b) {
		return true
	}
	return !b.expUniform(&u)
}

// exp is true with probability exp(−gamma) exactly, for a float64 gamma ≥ 0
// (Canonne, Kamath and Steinke 2020, Algorithm 1, with von Neumann's method for
// the fraction).
func (b *bitReader) exp(gamma float64) bool {
	// Whole units first. Subtracting 1 is exact below 2^53; above, it may leave
	// gamma as it is, which no run of successes gets to the end of.
	for ; gamma > 1; gamma-- {
		if !b.expFloat(1) {
			return false
		}
	}
	return b.expFloat(math.Max(gamma, 0))
}
