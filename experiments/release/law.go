package release

// magnitude is a real number whole + fraction ≥ 0, of which the fraction is known
// to as many digits as have been needed.
type magnitude struct {
	whole    uint32
	fraction uniform
}

// normal draws the absolute value of a standard normal number, exactly (Karney,
// "Sampling exactly from the normal distribution", ACM TOMS 42, 2016, Algorithm
// N). Only comparisons of uniform numbers are made: no rounding, no table, no
// value of a transcendental function.
func (b *bitReader) normal() magnitude {
	for {
		// N1: whole = k with probability exp(−k/2)(1 − exp(−1/2)).
		k := uint32(0)
		for b.expFloat(0.5) {
			k++
		}
		// N2: keep k with probability exp(−k(k−1)/2).
		if !b.allHalves(uint64(k) * (uint64(k) - 1)) {
			continue
		}
		// N3 and N4: keep the fraction x with probability exp(−x(2k+x)/2), as k+1
		// trials of probability exp(−x(2k+x)/(2k+2)).
		x := b.uniform()
		if b.keep(k, &x) {
			return magnitude{k, x}
		}
	}
}

// allHalves is true with probability exp(−n/2).
func (b *bitReader) allHalves(n uint64) bool {
	for ; n > 0; n-- {
		if !b.expFloat(0.5) {
			return false
		}
	}
	return true
}

// keep is true with probability exp(−x(2k+x)/2).
func (b *bitReader) keep(k uint32, x *uniform) bool {
	for range k + 1 {
		if !b.keepOnce(k, x) {
			return false
		}
	}
	return true
}

// keepOnce is Karney's Algorithm B: the run x > u₁ > u₂ > ..., each link of which
// holds with probability (2k+x)/(2k+2) besides, has even length with probability
// exp(−x(2k+x)/(2k+2)).
func (b *bitReader) keepOnce(k uint32, x *uniform) bool {
	last := b.uniform()
	if !last.less(x, b) || !b.link(k, x) {
		return true
	}
	for even := false; ; even = !even {
		next := b.uniform()
		if !next.less(&last, b) || !b.link(k, x) {
			return even
		}
		last = next
	}
}

// link is true with probability (2k+x)/(2k+2): of 2k+2 equal parts of the unit
// interval, 2k are below and of the next one the share x.
func (b *bitReader) link(k uint32, x *uniform) bool {
	switch part := b.below(2*k + 2); {
	case part < 2*k:
		return true
	case part > 2*k:
		return false
	}
	u := b.uniform()
	return u.less(x, b)
}

// exponential draws a number with density exp(−v), exactly: whole = k with
// probability e^-k (1 − 1/e), and independently a fraction with density
// proportional to exp(−x) on the unit interval.
func (b *bitReader) exponential() magnitude {
	k := uint32(0)
	for b.expFloat(1) {
		k++
	}
	for {
		x := b.uniform()
		if b.expUniform(&x) {
			return magnitude{k, x}
		}
	}
}
