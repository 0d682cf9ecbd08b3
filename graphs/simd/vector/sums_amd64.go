package vector

import "privkern/graphs/simd"

//go:noescape
func dot64AVX512(x, y *float64, n int, tailX, tailY *float64) float64

//go:noescape
func dot64AVX2(x, y *float64, n int, tailX, tailY *float64) float64

//go:noescape
func dot32AVX512(x, y *float32, n int, tailX, tailY *float32) float32

//go:noescape
func dot32AVX2(x, y *float32, n int, tailX, tailY *float32) float32

//go:noescape
func squared64AVX512(x, y *float64, n int, tailX, tailY *float64) float64

//go:noescape
func squared64AVX2(x, y *float64, n int, tailX, tailY *float64) float64

//go:noescape
func squared32AVX512(x, y *float32, n int, tailX, tailY *float32) float32

//go:noescape
func squared32AVX2(x, y *float32, n int, tailX, tailY *float32) float32

// vectorSum64 returns the sum over whole blocks and a padded one, if the level has a kernel.
func vectorSum64(k term, x, y *float64, n int, tailX, tailY *float64) (float64, bool) {
	level := simd.Active()
	switch {
	case level == simd.AVX512 && k == products:
		return dot64AVX512(x, y, n, tailX, tailY), true
	case level == simd.AVX512 && k == squares:
		return squared64AVX512(x, y, n, tailX, tailY), true
	case level == simd.AVX2 && k == products:
		return dot64AVX2(x, y, n, tailX, tailY), true
	case level == simd.AVX2 && k == squares:
		return squared64AVX2(x, y, n, tailX, tailY), true
	}
	return 0, false
}

// vectorSum32 is vectorSum64 for float32.
func vectorSum32(k term, x, y *float32, n int, tailX, tailY *float32) (float32, bool) {
	level := simd.Active()
	switch {
	case level == simd.AVX512 && k == products:
		return dot32AVX512(x, y, n, tailX, tailY), true
	case level == simd.AVX512 && k == squares:
		return squared32AVX512(x, y, n, tailX, tailY), true
	case level == simd.AVX2 && k == products:
		return dot32AVX2(x, y, n, tailX, tailY), true
	case level == simd.AVX2 && k == squares:
		return squared32AVX2(x, y, n, tailX, tailY), true
	}
	return 0, false
}
