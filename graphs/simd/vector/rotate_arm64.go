package vector

import "privkern/graphs/simd"

//go:noescape
func rotateNEON(a, b *float64, n int, c, s float64)

//go:noescape
func axpyNEON(x, y *float64, n int, alpha float64)

// vectorRotate runs the level's kernel on whole blocks, if there is one.
func vectorRotate(a, b []float64, c, s float64) bool {
	if simd.Active() != simd.NEON {
		return false
	}
	rotateNEON(&a[0], &b[0], len(a), c, s)
	return true
}

// vectorAxpy runs the level's kernel on whole blocks, if there is one.
func vectorAxpy(alpha float64, x, y []float64) bool {
	if simd.Active() != simd.NEON {
		return false
	}
	axpyNEON(&x[0], &y[0], len(x), alpha)
	return true
}
