package vector

import "privkern/graphs/simd"

//go:noescape
func scal64NEON(dst, src *float64, n int, alpha float64)

//go:noescape
func scal32NEON(dst, src *float32, n int, alpha float32)

//go:noescape
func norms64NEON(dst, norms *float64, n int, norm, near float64) bool

//go:noescape
func norms32NEON(dst, norms *float32, n int, norm, near float32) bool

// vectorScal64 runs the level's kernel on whole blocks, if there is one.
func vectorScal64(dst, src []float64, alpha float64) bool {
	switch simd.Active() {
	case simd.NEON:
		scal64NEON(&dst[0], &src[0], len(src), alpha)
	default:
		return false
	}
	return true
}

// vectorNorms64 runs the level's kernel on whole blocks, if there is one.
func vectorNorms64(dst, norms []float64, norm, near float64) (hit, done bool) {
	switch simd.Active() {
	case simd.NEON:
		return norms64NEON(&dst[0], &norms[0], len(dst), norm, near), true
	}
	return false, false
}

// vectorScal32 is vectorScal64 for float32.
func vectorScal32(dst, src []float32, alpha float32) bool {
	switch simd.Active() {
	case simd.NEON:
		scal32NEON(&dst[0], &src[0], len(src), alpha)
	default:
		return false
	}
	return true
}

// vectorNorms32 is vectorNorms64 for float32.
func vectorNorms32(dst, norms []float32, norm, near float32) (hit, done bool) {
	switch simd.Active() {
	case simd.NEON:
		return norms32NEON(&dst[0], &norms[0], len(dst), norm, near), true
	}
	return false, false
}
