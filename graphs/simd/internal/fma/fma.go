// Package fma computes fused multiply-adds in Go, one rounding each, for the portable
// definitions of vector kernels.
package fma

import (
	"math"
	"unsafe"
)

// FMA is x·y + z, rounded once to the element type.
func FMA[T float32 | float64](x, y, z T) T {
	if unsafe.Sizeof(x) == 8 {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	return T(single(float32(x), float32(y), float32(z)))
}

// single is x·y + z in float32. The product is exact in float64; the sum is rounded there to
// odd, whose rounding to float32 is that of the exact sum, as float64 has more than two digits
// to spare (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved
// algorithms using rounding to odd", 2008).
func single(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return float32(s)
	}
	// What the sum has lost, exactly (Knuth's two-sum).
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
