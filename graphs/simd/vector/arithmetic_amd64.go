package vector

import "privkern/graphs/simd"

//go:noescape
func add64AVX(dst, x, y *float64, n int)

//go:noescape
func sub64AVX(dst, x, y *float64, n int)

//go:noescape
func mul64AVX(dst, x, y *float64, n int)

//go:noescape
func add32AVX(dst, x, y *float32, n int)

//go:noescape
func sub32AVX(dst, x, y *float32, n int)

//go:noescape
func mul32AVX(dst, x, y *float32, n int)

// vectorCombine64 runs the level's kernel on whole blocks, if there is one.
func vectorCombine64(o operator, dst, x, y []float64) bool {
	if simd.Active() == simd.Portable {
		return false
	}
	switch o {
	case plus:
		add64AVX(&dst[0], &x[0], &y[0], len(dst))
	case minus:
		sub64AVX(&dst[0], &x[0], &y[0], len(dst))
	case times:
		mul64AVX(&dst[0], &x[0], &y[0], len(dst))
	}
	return true
}

// vectorCombine32 is vectorCombine64 for float32.
func vectorCombine32(o operator, dst, x, y []float32) bool {
	if simd.Active() == simd.Portable {
		return false
	}
	switch o {
	case plus:
		add32AVX(&dst[0], &x[0], &y[0], len(dst))
	case minus:
		sub32AVX(&dst[0], &x[0], &y[0], len(dst))
	case times:
		mul32AVX(&dst[0], &x[0], &y[0], len(dst))
	}
	return true
}
