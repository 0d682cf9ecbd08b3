// Package vector computes functions and sums of vectors in float64 and float32: exponentials,
// distances and dot products of slices.
//
// Every function has one definition of its result, down to the order of its additions and
// fused multiply-adds, which all levels of package simd follow. The bits of a result
// therefore depend neither on the level nor on the processor, nor on where a slice begins;
// only the bits of a NaN may differ. Go's own code in this package, compiled for any
// processor, is that definition.
//
// A sum of products or of squares runs in 256/size interleaved partial sums, 32 in float64
// and 64 in float32, where element k belongs to partial sum k mod 32 (64), and elements past
// the end count as zero. The partial sums are then added up in halves: the upper half to the
// lower one, until one is left.
package vector

import "unsafe"

// Float is an element type.
type Float interface{ float32 | float64 }

// Product is x·y, rounded: compilers for some processors fuse x*y + z, possibly across
// statements, which would change bits.
func Product[T Float](x, y T) T {
	return T(x * y) //nolint:unconvert // the conversion rounds
}

// size is that of an element in bytes.
func size[T Float]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// blockBytes is what the widest vector holds, and the unit of the elementwise kernels.
const blockBytes = 64

// block is that unit in elements.
func block[T Float]() int { return blockBytes / size[T]() }
