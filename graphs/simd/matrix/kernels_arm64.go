package matrix

import "privkern/graphs/simd"

// The fields of kernels document these functions.

//go:noescape
func gemmF64(k int, a, b, c *float64, ldc, add int, alpha float64)

//go:noescape
func gemmF32(k int, a, b, c *float32, ldc, add int, alpha float32)

//go:noescape
func rowF64(n, k int, a *float64, as int, b *float64, bk, bj int, c *float64, cs int, alpha float64)

//go:noescape
func rowF32(n, k int, a *float32, as int, b *float32, bk, bj int, c *float32, cs int, alpha float32)

//go:noescape
func solveF64(n int, t, x *float64)

//go:noescape
func solveF32(n int, t, x *float32)

//go:noescape
func multiplyF64(n int, t, x *float64)

//go:noescape
func multiplyF32(n int, t, x *float32)

//go:noescape
func eliminateF64(n, k int, x *float64, inv float64)

//go:noescape
func eliminateF32(n, k int, x *float32, inv float32)

//go:noescape
func transpose4F64(m, n int, src *float64, lds int, dst *float64, ldd int)

//go:noescape
func transpose4F32(m, n int, src *float32, lds int, dst *float32, ldd int)

//go:noescape
func largestF64(n int, x, out *float64)

//go:noescape
func largestF32(n int, x, out *float32)

var kernels64 = [...]*kernels[float64]{
	simd.Portable: portable64,
	simd.NEON: {mr: 4, nr: 8, gemm: gemmF64, width: 8, solve: solveF64, multiply: multiplyF64,
		eliminate: eliminateF64, row: rowF64, largest: largestF64, transpose4: transpose4F64},
}

var kernels32 = [...]*kernels[float32]{
	simd.Portable: portable32,
	simd.NEON: {mr: 4, nr: 16, gemm: gemmF32, width: 16, solve: solveF32, multiply: multiplyF32,
		eliminate: eliminateF32, row: rowF32, largest: largestF32, transpose4: transpose4F32},
}
