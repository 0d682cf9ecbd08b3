package vector

import "privkern/graphs/simd"

//go:noescape
func manhattan64NEON(kc int, x *float64, ldx int, panel, c *float64, ldc int)

//go:noescape
func manhattan32NEON(kc int, x *float32, ldx int, panel, c *float32, ldc int)

//go:noescape
func euclidean64NEON(kc int, x *float64, ldx int, panel, c *float64, ldc int)

//go:noescape
func euclidean32NEON(kc int, x *float32, ldx int, panel, c *float32, ldc int)

// vectorPairs64 adds four rows of distances to c, if the level has a kernel.
func vectorPairs64(m Metric, kc int, x *float64, ldx int, panel, c *float64, ldc int) bool {
	level := simd.Active()
	switch {
	case level == simd.NEON && m == Manhattan:
		manhattan64NEON(kc, x, ldx, panel, c, ldc)
	case level == simd.NEON && m == SquaredEuclidean:
		euclidean64NEON(kc, x, ldx, panel, c, ldc)
	default:
		return false
	}
	return true
}

// vectorPairs32 is vectorPairs64 for float32.
func vectorPairs32(m Metric, kc int, x *float32, ldx int, panel, c *float32, ldc int) bool {
	level := simd.Active()
	switch {
	case level == simd.NEON && m == Manhattan:
		manhattan32NEON(kc, x, ldx, panel, c, ldc)
	case level == simd.NEON && m == SquaredEuclidean:
		euclidean32NEON(kc, x, ldx, panel, c, ldc)
	default:
		return false
	}
	return true
}
