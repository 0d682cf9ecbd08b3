package vector

import "privkern/graphs/simd"

//go:noescape
func add64NEON(dst, x, y *float64, n int)

//go:noescape
func sub64NEON(dst, x, y *float64, n int)

//go:noescape
func mul64NEON(dst, x, y *float64, n int)

//go:noescape
func add32NEON(dst, x, y *float32, n int)

//go:noescape
func sub32NEON(dst, x, y *float32, n int)

//go:noescape
func mul32NEON(dst, x, y *float32, n int)

// vectorCombine64 runs the level's kernel on whole blocks, if there is one.
func vectorCombine64(o operator, dst, x, y []float64) bool {
	if simd.Active() != simd.NEON {
		return false
	}
	switch o {
	case plus:
		add64NEON(&dst[0], &x[0], &y[0], len(dst))
	case minus:
		sub64NEON(&dst[0], &x[0], &y[0], len(dst))
	case times:
		mul64NEON(&dst[0], &x[0], &y[0], len(dst))
	}
	return true
}

// vectorCombine32 is vectorCombine64 for float32.
func vectorCombine32(o operator, dst, x, y []float32) bool {
	if simd.Active() != simd.NEON {
		return false
	}
	switch o {
	case plus:
		add32NEON(&dst[0], &x[0], &y[0], len(dst))
	case minus:
		sub32NEON(&dst[0], &x[0], &y[0], len(dst))
	case times:
		mul32NEON(&dst[0], &x[0], &y[0], len(dst))
	}
	return true
}
