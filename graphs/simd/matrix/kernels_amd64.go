package matrix

import (
	"unsafe"

	"privkern/graphs/simd"
)

// The fields of kernels document these functions.

//go:noescape
func gemmAVX512F64(k int, a, b, c *float64, ldc, add int, alpha float64)

//go:noescape
func gemmAVX2F64(k int, a, b, c *float64, ldc, add int, alpha float64)

//go:noescape
func gemmAVX512F32(k int, a, b, c *float32, ldc, add int, alpha float32)

//go:noescape
func gemmAVX2F32(k int, a, b, c *float32, ldc, add int, alpha float32)

//go:noescape
func rowF64(n, k int, a *float64, as int, b *float64, bk, bj int, c *float64, cs int, alpha float64)

//go:noescape
func rowF32(n, k int, a *float32, as int, b *float32, bk, bj int, c *float32, cs int, alpha float32)

//go:noescape
func solveAVX512F64(n int, t, x *float64)

//go:noescape
func solveAVX2F64(n int, t, x *float64)

//go:noescape
func solveAVX512F32(n int, t, x *float32)

//go:noescape
func solveAVX2F32(n int, t, x *float32)

//go:noescape
func multiplyAVX512F64(n int, t, x *float64)

//go:noescape
func multiplyAVX2F64(n int, t, x *float64)

//go:noescape
func multiplyAVX512F32(n int, t, x *float32)

//go:noescape
func multiplyAVX2F32(n int, t, x *float32)

//go:noescape
func eliminateAVX512F64(n, k int, x *float64, inv float64)

//go:noescape
func eliminateAVX2F64(n, k int, x *float64, inv float64)

//go:noescape
func eliminateAVX512F32(n, k int, x *float32, inv float32)

//go:noescape
func eliminateAVX2F32(n, k int, x *float32, inv float32)

//go:noescape
func transpose4AVXF64(m, n int, src *float64, lds int, dst *float64, ldd int)

//go:noescape
func transpose4AVXF32(m, n int, src *float32, lds int, dst *float32, ldd int)

//go:noescape
func copyRowsAVX(m, n int, src unsafe.Pointer, lds int, dst unsafe.Pointer, ldd int)

//go:noescape
func narrowRowsAVX512F64(k int, a *float64, lda int, b, c *float64, alpha float64)

//go:noescape
func narrowColumnsAVX512F64(m, k, n int, a *float64, lda int, b, s *float64, lds int)

//go:noescape
func narrowRowsAVX2F64(k int, a *float64, lda int, b, c *float64, alpha float64)

//go:noescape
func narrowColumnsAVX2F64(m, k, n int, a *float64, lda int, b, s *float64, lds int)

//go:noescape
func narrowAddF64(n int, s, c *float64, alpha float64)

//go:noescape
func narrowRowsAVX512F32(k int, a *float32, lda int, b, c *float32, alpha float32)

//go:noescape
func narrowColumnsAVX512F32(m, k, n int, a *float32, lda int, b, s *float32, lds int)

//go:noescape
func narrowRowsAVX2F32(k int, a *float32, lda int, b, c *float32, alpha float32)

//go:noescape
func narrowColumnsAVX2F32(m, k, n int, a *float32, lda int, b, s *float32, lds int)

//go:noescape
func narrowAddF32(n int, s, c *float32, alpha float32)

//go:noescape
func largestAVX512F64(n int, x, out *float64)

//go:noescape
func largestAVX2F64(n int, x, out *float64)

//go:noescape
func largestAVX512F32(n int, x, out *float32)

//go:noescape
func largestAVX2F32(n int, x, out *float32)

var kernels64 = [...]*kernels[float64]{
	simd.Portable: portable64,
	simd.AVX2: {mr: 4, nr: 12, gemm: gemmAVX2F64, width: 16, solve: solveAVX2F64, multiply: multiplyAVX2F64,
		eliminate: eliminateAVX2F64, row: rowF64, largest: largestAVX2F64, transpose4: transpose4AVXF64,
		copyRows: copyRowsAVX,
		narrows:  narrowKernels[float64]{narrowRowsAVX2F64, narrowColumnsAVX2F64, narrowAddF64}},
	simd.AVX512: {mr: 12, nr: 16, gemm: gemmAVX512F64, width: 32, solve: solveAVX512F64,
		multiply: multiplyAVX512F64, eliminate: eliminateAVX512F64, row: rowF64, largest: largestAVX512F64,
		transpose4: transpose4AVXF64, copyRows: copyRowsAVX,
		narrows: narrowKernels[float64]{narrowRowsAVX512F64, narrowColumnsAVX512F64, narrowAddF64}},
}

var kernels32 = [...]*kernels[float32]{
	simd.Portable: portable32,
	simd.AVX2: {mr: 4, nr: 24, gemm: gemmAVX2F32, width: 32, solve: solveAVX2F32, multiply: multiplyAVX2F32,
		eliminate: eliminateAVX2F32, row: rowF32, largest: largestAVX2F32, transpose4: transpose4AVXF32,
		copyRows: copyRowsAVX,
		narrows:  narrowKernels[float32]{narrowRowsAVX2F32, narrowColumnsAVX2F32, narrowAddF32}},
	simd.AVX512: {mr: 12, nr: 32, gemm: gemmAVX512F32, width: 64, solve: solveAVX512F32,
		multiply: multiplyAVX512F32, eliminate: eliminateAVX512F32, row: rowF32, largest: largestAVX512F32,
		transpose4: transpose4AVXF32, copyRows: copyRowsAVX,
		narrows: narrowKernels[float32]{narrowRowsAVX512F32, narrowColumnsAVX512F32, narrowAddF32}},
}
