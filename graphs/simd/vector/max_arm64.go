package vector

import "privkern/graphs/simd"

//go:noescape
func max64NEON(x *float64, n int, tail *float64) float64

//go:noescape
func max32NEON(x *float32, n int, tail *float32) float32

// vectorMax64 returns the largest element of whole blocks and a padded one, if the level has a
// kernel.
func vectorMax64(x *float64, n int, tail *float64) (float64, bool) {
	switch simd.Active() {
	case simd.NEON:
		return max64NEON(x, n, tail), true
	}
	return 0, false
}

// vectorMax32 is vectorMax64 for float32.
func vectorMax32(x *float32, n int, tail *float32) (float32, bool) {
	switch simd.Active() {
	case simd.NEON:
		return max32NEON(x, n, tail), true
	}
	return 0, false
}
