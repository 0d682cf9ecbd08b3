package vector

import "privkern/graphs/simd"

//go:noescape
func exp64AVX512(dst, src *float64, n int, table *float64)

//go:noescape
func exp64AVX2(dst, src *float64, n int, table *float64)

//go:noescape
func exp32AVX512(dst, src *float32, n int, table *float32)

//go:noescape
func exp32AVX2(dst, src *float32, n int, table *float32)

//go:noescape
func scaledExp64AVX512(dst, src *float64, n int, table, parameters *float64)

//go:noescape
func scaledExp64AVX2(dst, src *float64, n int, table, parameters *float64)

//go:noescape
func scaledExp32AVX512(dst, src *float32, n int, table, parameters *float32)

//go:noescape
func scaledExp32AVX2(dst, src *float32, n int, table, parameters *float32)

//go:noescape
func rootExp64AVX512(dst, src *float64, n int, table, parameters *float64)

//go:noescape
func rootExp64AVX2(dst, src *float64, n int, table, parameters *float64)

//go:noescape
func rootExp32AVX512(dst, src *float32, n int, table, parameters *float32)

//go:noescape
func rootExp32AVX2(dst, src *float32, n int, table, parameters *float32)

// vectorExp64 runs the level's kernel of a form on whole blocks, if there is one.
func vectorExp64(f form, dst, src []float64, p *parameters[float64]) bool {
	level := simd.Active()
	d, s, n, table := &dst[0], &src[0], len(src), &expTable64[0]
	switch {
	case level == simd.Portable:
		return false
	case level == simd.AVX512 && f == plain:
		exp64AVX512(d, s, n, table)
	case level == simd.AVX512 && f == scaled:
		scaledExp64AVX512(d, s, n, table, &p[0])
	case level == simd.AVX512:
		rootExp64AVX512(d, s, n, table, &p[0])
	case f == plain:
		exp64AVX2(d, s, n, table)
	case f == scaled:
		scaledExp64AVX2(d, s, n, table, &p[0])
	default:
		rootExp64AVX2(d, s, n, table, &p[0])
	}
	return true
}

// vectorExp32 is vectorExp64 for float32.
func vectorExp32(f form, dst, src []float32, p *parameters[float32]) bool {
	level := simd.Active()
	d, s, n, table := &dst[0], &src[0], len(src), &expTable32[0]
	switch {
	case level == simd.Portable:
		return false
	case level == simd.AVX512 && f == plain:
		exp32AVX512(d, s, n, table)
	case level == simd.AVX512 && f == scaled:
		scaledExp32AVX512(d, s, n, table, &p[0])
	case level == simd.AVX512:
		rootExp32AVX512(d, s, n, table, &p[0])
	case f == plain:
		exp32AVX2(d, s, n, table)
	case f == scaled:
		scaledExp32AVX2(d, s, n, table, &p[0])
	default:
		rootExp32AVX2(d, s, n, table, &p[0])
	}
	return true
}
