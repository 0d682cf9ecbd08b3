package vector

import "privkern/graphs/simd"

//go:noescape
func doubleAbs64AVX(dst, src *float64, n int)

//go:noescape
func doubleAbs32AVX(dst, src *float32, n int)

//go:noescape
func tanh64AVX(dst, src, e *float64, n int, table *[9]float64)

//go:noescape
func tanh32AVX(dst, src, e *float32, n int, table *[9]float32)

// The constants of tanh: tanhSmall, 1, 2, and the coefficients.
var (
	tanhTable64 = tanhTable[float64]()
	tanhTable32 = tanhTable[float32]()
)

func tanhTable[T Float]() *[9]T {
	return &[9]T{tanhSmall, 1, 2, -tanhP0, tanhP1, tanhP2, tanhQ0, tanhQ1, tanhQ2}
}

// vectorDoubleAbs runs the level's kernel on whole blocks, if there is one.
func vectorDoubleAbs[T Float](dst, src []T) bool {
	if simd.Active() == simd.Portable {
		return false
	}
	switch dst := any(dst).(type) {
	case []float64:
		doubleAbs64AVX(&dst[0], &any(src).([]float64)[0], len(dst))
	case []float32:
		doubleAbs32AVX(&dst[0], &any(src).([]float32)[0], len(dst))
	}
	return true
}

// vectorTanh runs the level's kernel on whole blocks, if there is one.
func vectorTanh[T Float](dst, src, e []T) bool {
	if simd.Active() == simd.Portable {
		return false
	}
	switch dst := any(dst).(type) {
	case []float64:
		tanh64AVX(&dst[0], &any(src).([]float64)[0], &any(e).([]float64)[0], len(dst), tanhTable64)
	case []float32:
		tanh32AVX(&dst[0], &any(src).([]float32)[0], &any(e).([]float32)[0], len(dst), tanhTable32)
	}
	return true
}
