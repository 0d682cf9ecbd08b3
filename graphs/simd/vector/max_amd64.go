package vector

import "privkern/graphs/simd"

//go:noescape
func max64AVX512(x *float64, n int, tail *float64) float64

//go:noescape
func max64AVX2(x *float64, n int, tail *float64) float64

//go:noescape
func max32AVX512(x *float32, n int, tail *float32) float32

//go:noescape
func max32AVX2(x *float32, n int, tail *float32) float32

// vectorMax64 returns the largest element of whole blocks and a padded one, if the level has a
// kernel.
func vectorMax64(x *float64, n int, tail *float64) (float64, bool) {
	switch simd.Active() {
	case simd.AVX512:
		return max64AVX512(x, n, tail), true
	case simd.AVX2:
		return max64AVX2(x, n, tail), true
	}
	return 0, false
}

// vectorMax32 is vectorMax64 for float32.
func vectorMax32(x *float32, n int, tail *float32) (float32, bool) {
	switch simd.Active() {
	case simd.AVX512:
		return max32AVX512(x, n, tail), true
	case simd.AVX2:
		return max32AVX2(x, n, tail), true
	}
	return 0, false
}
