package vector

import "privkern/graphs/simd"

//go:noescape
func scal64AVX512(dst, src *float64, n int, alpha float64)

//go:noescape
func scal64AVX2(dst, src *float64, n int, alpha float64)

//go:noescape
func scal32AVX512(dst, src *float32, n int, alpha float32)

//go:noescape
func scal32AVX2(dst, src *float32, n int, alpha float32)

//go:noescape
func norms64AVX512(dst, norms *float64, n int, norm, near float64) bool

//go:noescape
func norms64AVX2(dst, norms *float64, n int, norm, near float64) bool

//go:noescape
func norms32AVX512(dst, norms *float32, n int, norm, near float32) bool

//go:noescape
func norms32AVX2(dst, norms *float32, n int, norm, near float32) bool

// vectorScal64 runs the level's kernel on whole blocks, if there is one.
func vectorScal64(dst, src []float64, alpha float64) bool {
	switch simd.Active() {
	case simd.AVX512:
		scal64AVX512(&dst[0], &src[0], len(src), alpha)
	case simd.AVX2:
		scal64AVX2(&dst[0], &src[0], len(src), alpha)
	default:
		return false
	}
	return true
}

// vectorNorms64 runs the level's kernel on whole blocks, if there is one.
func vectorNorms64(dst, norms []float64, norm, near float64) (hit, done bool) {
	switch simd.Active() {
	case simd.AVX512:
		return norms64AVX512(&dst[0], &norms[0], len(dst), norm, near), true
	case simd.AVX2:
		return norms64AVX2(&dst[0], &norms[0], len(dst), norm, near), true
	}
	return false, false
}

// vectorScal32 is vectorScal64 for float32.
func vectorScal32(dst, src []float32, alpha float32) bool {
	switch simd.Active() {
	case simd.AVX512:
		scal32AVX512(&dst[0], &src[0], len(src), alpha)
	case simd.AVX2:
		scal32AVX2(&dst[0], &src[0], len(src), alpha)
	default:
		return false
	}
	return true
}

// vectorNorms32 is vectorNorms64 for float32.
func vectorNorms32(dst, norms []float32, norm, near float32) (hit, done bool) {
	switch simd.Active() {
	case simd.AVX512:
		return norms32AVX512(&dst[0], &norms[0], len(dst), norm, near), true
	case simd.AVX2:
		return norms32AVX2(&dst[0], &norms[0], len(dst), norm, near), true
	}
	return false, false
}
