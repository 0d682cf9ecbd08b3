// Package fma computes fused multiply-adds in Go, with a single rounding, for the portable
// definitions of vector kernels.
package fma

import (
	"math"
	"unsafe"
)

// FMA returns x·y + z, rounded once to the element type.
func FMA[T float32 | float64](x, y, z T) T {
	if unsafe.Sizeof(x) == 8 {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	return T(single(float32(x), float32(y), float32(z)))
}

// single returns x·y + z in float32. The product is exact in float64. The sum is rounded to odd
// in float64, so that its rounding to float32 is that of the exact sum, because float64 has more
// than two additional bits (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums:
// proved algorithms using rounding to odd", 2008).
func single(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return float32(s)
	}
	// The exact rounding error of the sum (Knuth's two-sum).
	b := s - p
	lost := (p - (s - b)) + (c - b)
	bits := math.Float64bits(s)
	if lost != 0 && bits&1 == 0 {
		if (lost > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}
