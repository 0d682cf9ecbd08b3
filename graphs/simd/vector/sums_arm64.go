package vector

import "privkern/graphs/simd"

//go:noescape
func dot64NEON(x, y *float64, n int, tailX, tailY *float64) float64

//go:noescape
func dot32NEON(x, y *float32, n int, tailX, tailY *float32) float32

//go:noescape
func squared64NEON(x, y *float64, n int, tailX, tailY *float64) float64

//go:noescape
func squared32NEON(x, y *float32, n int, tailX, tailY *float32) float32

// vectorSum64 returns the sum over whole blocks and a padded one, if the level has a kernel.
func vectorSum64(k term, x, y *float64, n int, tailX, tailY *float64) (float64, bool) {
	level := simd.Active()
	switch {
	case level == simd.NEON && k == products:
		return dot64NEON(x, y, n, tailX, tailY), true
	case level == simd.NEON && k == squares:
		return squared64NEON(x, y, n, tailX, tailY), true
	}
	return 0, false
}

// vectorSum32 is vectorSum64 for float32.
func vectorSum32(k term, x, y *float32, n int, tailX, tailY *float32) (float32, bool) {
	level := simd.Active()
	switch {
	case level == simd.NEON && k == products:
		return dot32NEON(x, y, n, tailX, tailY), true
	case level == simd.NEON && k == squares:
		return squared32NEON(x, y, n, tailX, tailY), true
	}
	return 0, false
}
