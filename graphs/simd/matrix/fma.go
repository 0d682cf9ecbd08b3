package matrix

import "math"

// fma is x·y + z, rounded once.
func fma[T Float](x, y, z T) T {
	switch x := any(x).(type) {
	case float64:
		return T(math.FMA(x, float64(y), float64(z)))
	case float32:
		return T(fma32(x, float32(y), float32(z)))
	}
	panic("unreachable")
}

// fma32 is x·y + z, rounded once. The product of two float32 is exact in float64. Their sum is
// rounded to odd there: where it is inexact, the last bit is 1. A second rounding to fewer
// bits, by at least two, is then that of the exact sum (Boldo and Melquiond, "Emulation of a
// FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
func fma32(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	// What the sum has lost (Knuth's TwoSum).
	v := s - p
	lost := (p - (s - v)) + (c - v)
	bits := math.Float64bits(s)
	if lost == 0 || bits&1 != 0 || math.IsInf(s, 0) || math.IsNaN(s) {
		return float32(s)
	}
	if (lost > 0) == (s > 0) {
		bits++
	} else {
		bits--
	}
	return float32(math.Float64frombits(bits))
}
