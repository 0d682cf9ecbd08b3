package vector

import "privkern/graphs/simd"

//go:noescape
func manhattan64AVX512(kc int, x *float64, ldx int, panel, c *float64, ldc int)

//go:noescape
func manhattan64AVX2(kc int, x *float64, ldx int, panel, c *float64, ldc int)

//go:noescape
func manhattan32AVX512(kc int, x *float32, ldx int, panel, c *float32, ldc int)

//go:noescape
func manhattan32AVX2(kc int, x *float32, ldx int, panel, c *float32, ldc int)

//go:noescape
func euclidean64AVX512(kc int, x *float64, ldx int, panel, c *float64, ldc int)

//go:noescape
func euclidean64AVX2(kc int, x *float64, ldx int, panel, c *float64, ldc int)

//go:noescape
func euclidean32AVX512(kc int, x *float32, ldx int, panel, c *float32, ldc int)

//go:noescape
func euclidean32AVX2(kc int, x *float32, ldx int, panel, c *float32, ldc int)

// vectorPairs64 adds four rows of distances to c, if the level has a kernel.
func vectorPairs64(m Metric, kc int, x *float64, ldx int, panel, c *float64, ldc int) bool {
	level := simd.Active()
	switch {
	case level == simd.AVX512 && m == Manhattan:
		manhattan64AVX512(kc, x, ldx, panel, c, ldc)
	case level == simd.AVX512 && m == SquaredEuclidean:
		euclidean64AVX512(kc, x, ldx, panel, c, ldc)
	case level == simd.AVX2 && m == Manhattan:
		manhattan64AVX2(kc, x, ldx, panel, c, ldc)
	case level == simd.AVX2 && m == SquaredEuclidean:
		euclidean64AVX2(kc, x, ldx, panel, c, ldc)
	default:
		return false
	}
	return true
}

// vectorPairs32 is vectorPairs64 for float32.
func vectorPairs32(m Metric, kc int, x *float32, ldx int, panel, c *float32, ldc int) bool {
	level := simd.Active()
	switch {
	case level == simd.AVX512 && m == Manhattan:
		manhattan32AVX512(kc, x, ldx, panel, c, ldc)
	case level == simd.AVX512 && m == SquaredEuclidean:
		euclidean32AVX512(kc, x, ldx, panel, c, ldc)
	case level == simd.AVX2 && m == Manhattan:
		manhattan32AVX2(kc, x, ldx, panel, c, ldc)
	case level == simd.AVX2 && m == SquaredEuclidean:
		euclidean32AVX2(kc, x, ldx, panel, c, ldc)
	default:
		return false
	}
	return true
}
