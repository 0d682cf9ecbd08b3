// Package vector computes functions and sums of vectors in float64 and float32: exponentials,
// distances and dot products of slices.
//
// The result of every function is defined down to the order of its additions and fused
// multiply-adds, which all levels of package simd follow. Hence its bits depend neither on the
// level, nor on the processor, nor on the alignment of a slice; only the bits of a NaN may
// differ. The portable Go code of this package is the definition.
//
// A sum of products or of squares has 256/size interleaved partial sums, 32 in float64 and 64 in
// float32. Element k belongs to partial sum k mod 32 (64), and elements after the end are zero.
// Then the upper half of the partial sums is added to the lower half, until one is left.
package vector

import "unsafe"

// Float is an element type.
type Float interface{ float32 | float64 }

// Product returns x·y, rounded, because compilers for some processors fuse x*y + z, also across
// statements, which changes bits.
func Product[T Float](x, y T) T {
	return T(x * y) //nolint:unconvert // the conversion rounds
}

// size returns the size of an element in bytes.
func size[T Float]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// blockBytes is the size of the widest vector register, the unit of the elementwise kernels.
const blockBytes = 64

// block returns that unit in elements.
func block[T Float]() int { return blockBytes / size[T]() }
