package matrix

import (
	"sync"
	"unsafe"

	"privkern/graphs/simd"
)

// Sizes of blocks. blockK and blockTri are part of the definition of results, and blockTri is a
// constant of the assembly as well; the others are multiples of the tiles of every level.
const (
	blockK   = 256
	blockM   = 240
	blockN   = 3072
	blockTri = 32
)

// kernels holds the inner loops of one level for one element type. A field that is nil is
// replaced by a loop in Go.
type kernels[T Float] struct {
	// gemm computes c = fma(alpha, A B, c) for the mr×nr tile c, or with +0 for c where add
	// is 0. a holds k columns of mr elements, b k rows of nr. k > 0.
	mr, nr int
	gemm   func(k int, a, b, c *T, ldc, add int, alpha T)

	// solve computes T⁻¹ X, multiply T X in place. T is n×n lower triangular with distance
	// blockTri of rows, n at most blockTri; X has n rows of width elements. For solve the
	// diagonal holds reciprocals.
	width           int
	solve, multiply func(n int, t, x *T)

	// eliminate scales row k of a matrix with blockTri elements per row by inv, and then subtracts
	// element i of row k times row k from the rows i of (k, n). Elements before the diagonal and the
	// pivot k are undefined afterwards.
	eliminate func(n, k int, x *T, inv T)

	// row computes c = fma(alpha, s, c) for n elements of a row of C, where s are dot products
	// of length k > 0 and elements have any distances. May be nil.
	row func(n, k int, a *T, as int, b *T, bk, bj int, c *T, cs int, alpha T)

	narrows narrowKernels[T] // may be empty

	// largest writes the largest element of each column of an n×nr panel, undefined for columns with
	// NaN. n > 0. May be nil.
	largest func(n int, x, out *T)

	// transpose4 copies the transpose, m and n multiples of 4. May be nil.
	transpose4 func(m, n int, src *T, lds int, dst *T, ldd int)
	// copyRows copies m rows of n bytes, a multiple of 16. May be nil.
	copyRows func(m, n int, src unsafe.Pointer, lds int, dst unsafe.Pointer, ldd int)

	pool sync.Pool // of *work[T]
}

// use returns the kernels of the active level.
func use[T Float]() *kernels[T] {
	l := simd.Active()
	var zero T
	if _, ok := any(zero).(float64); ok {
		return any(kernels64[l]).(*kernels[T])
	}
	return any(kernels32[l]).(*kernels[T])
}

// work holds the buffers of one call, aligned to cache lines.
type work[T Float] struct{ a, b, tile, triangle, x []T }

// get returns buffers from the pool.
func (ks *kernels[T]) get() *work[T] {
	if w, ok := ks.pool.Get().(*work[T]); ok {
		return w
	}
	return &work[T]{tile: aligned[T](ks.mr * ks.nr), triangle: aligned[T](blockTri * blockTri),
		x: aligned[T](blockTri * ks.width)}
}

// size returns the size of an element in bytes.
func size[T Float]() int { return int(unsafe.Sizeof(T(0))) }

// aligned returns n elements that begin at a cache line.
func aligned[T Float](n int) []T {
	const line = 64
	s := make([]T, n+line/size[T]())
	off := int(-uintptr(unsafe.Pointer(&s[0]))&(line-1)) / size[T]()
	return s[off : off+n : off+n]
}

// grown returns s with a length of n, in new memory if its capacity is smaller.
func grown[T Float](s []T, n int) []T {
	if cap(s) < n {
		return aligned[T](n)
	}
	return s[:n]
}

// roundUp returns n rounded up to a multiple of to.
func roundUp(n, to int) int { return (n + to - 1) / to * to }
