package vector

import "privkern/graphs/simd"

//go:noescape
func rotateAVX512(a, b *float64, n int, c, s float64)

//go:noescape
func rotateAVX2(a, b *float64, n int, c, s float64)

//go:noescape
func axpyAVX512(x, y *float64, n int, alpha float64)

//go:noescape
func axpyAVX2(x, y *float64, n int, alpha float64)

// vectorRotate runs the level's kernel on whole blocks, if there is one.
func vectorRotate(a, b []float64, c, s float64) bool {
	switch simd.Active() {
	case simd.AVX512:
		rotateAVX512(&a[0], &b[0], len(a), c, s)
	case simd.AVX2:
		rotateAVX2(&a[0], &b[0], len(a), c, s)
	default:
		return false
	}
	return true
}

// vectorAxpy runs the level's kernel on whole blocks, if there is one.
func vectorAxpy(alpha float64, x, y []float64) bool {
	switch simd.Active() {
	case simd.AVX512:
		axpyAVX512(&x[0], &y[0], len(x), alpha)
	case simd.AVX2:
		axpyAVX2(&x[0], &y[0], len(x), alpha)
	default:
		return false
	}
	return true
}
