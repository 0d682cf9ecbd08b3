package vector

import "privkern/graphs/simd"

//go:noescape
func exp64NEON(dst, src *float64, n int, table *float64)

//go:noescape
func exp32NEON(dst, src *float32, n int, table *float32)

//go:noescape
func scaledExp64NEON(dst, src *float64, n int, table, parameters *float64)

//go:noescape
func scaledExp32NEON(dst, src *float32, n int, table, parameters *float32)

//go:noescape
func rootExp64NEON(dst, src *float64, n int, table, parameters *float64)

//go:noescape
func rootExp32NEON(dst, src *float32, n int, table, parameters *float32)

// vectorExp64 runs the level's kernel of a form on whole blocks, if there is one.
func vectorExp64(f form, dst, src []float64, p *parameters[float64]) bool {
	if simd.Active() != simd.NEON {
		return false
	}
	d, s, n, table := &dst[0], &src[0], len(src), &expTable64[0]
	switch f {
	case plain:
		exp64NEON(d, s, n, table)
	case scaled:
		scaledExp64NEON(d, s, n, table, &p[0])
	case root:
		rootExp64NEON(d, s, n, table, &p[0])
	}
	return true
}

// vectorExp32 is vectorExp64 for float32.
func vectorExp32(f form, dst, src []float32, p *parameters[float32]) bool {
	if simd.Active() != simd.NEON {
		return false
	}
	d, s, n, table := &dst[0], &src[0], len(src), &expTable32[0]
	switch f {
	case plain:
		exp32NEON(d, s, n, table)
	case scaled:
		scaledExp32NEON(d, s, n, table, &p[0])
	case root:
		rootExp32NEON(d, s, n, table, &p[0])
	}
	return true
}
