// Package dense computes one large product, triangular solve or Cholesky factor with all
// workers of a pool.
//
// A large problem is divided into calls of package cpublas whose sizes depend on those of
// the problem alone, never on the number of workers: every element is computed by the same
// call in the same order, so that the bits are the same for any number of workers. A
// problem below the sizes named here is one call, as without this package.
//
// The library runs each call on one thread, and gonum's products stay on the goroutine that
// calls them: a pool of w workers computes on w cores at most.
//
// Matrices are row-major; ld is the distance of rows. An error is that of the pool's loop: its
// context's, or a [parallel.PanicError]. After an error the results are undefined.
package dense

import (
	"context"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
)

// LargeProduct is the number of multiplications from which on products and triangular solves
// are divided: m·n·k of a product, n²k of a symmetric one, the order of the matrix times the
// elements of the right side of a solve. Those below take less than a tenth of a second.
const LargeProduct = 1 << 30

// LargeFactor is the order from which on Cholesky factors are divided: two workers are 1.7
// times as fast as one call there, and 1.4 times at half of it. With one worker the division
// costs a twentieth of the time, because the library copies operands more often.
const LargeFactor = 2048

// The sizes of calls. A part of a product has few rows and many columns: the library copies
// the operand that has the columns in less time than the other one.
const (
	rowPart    = 384
	columnPart = 1536
	solvePart  = 512 // rows or columns of the right side of a solve
	halfPart   = 256 // the order up to which a solve is one call
	factorPart = 256 // the order up to which a factor is one call
	// Sizes are multiples of the tiles that libraries keep in registers.
	align = 16
)

// wide returns the factor by which a type multiplies sizes, apart from the columns of a product
// and the order of a factor: 2 for float32, because copies take a larger share of its time.
func wide[T cpublas.Float]() int {
	var zero T
	if _, single := any(zero).(float32); single {
		return 2
	}
	return 1
}

// part returns the size of the parts of n elements, at most most before alignment. The number
// of parts is one or even, so that they divide evenly among an even number of workers.
func part(n, most int) int {
	parts := max(1, (n+most-1)/most)
	if parts > 1 {
		parts += parts % 2
	}
	size := max(1, (n+parts-1)/parts)
	return (size + align - 1) / align * align
}

// span is n elements from the one at.
type span struct{ at, n int }

// rectangle is a part of a matrix.
type rectangle struct{ rows, cols span }

// split divides [lo, hi) into spans of a size, the last of which may be shorter.
func split(lo, hi, size int) (spans []span) {
	for ; lo < hi; lo += size {
		spans = append(spans, span{lo, min(size, hi-lo)})
	}
	return spans
}

// submatrix returns the view of A that starts at row i, column j of op(A).
func submatrix[T cpublas.Float](a []T, lda, i, j int, t blas.Transpose) []T {
	if t != blas.NoTrans {
		i, j = j, i
	}
	return a[i*lda+j:]
}

// each calls f for all parts on the workers of the pool.
func each[P any](pool *parallel.Pool, parts []P, f func(P)) error {
	return pool.For(context.Background(), len(parts), 1, func(i, _ int) error {
		f(parts[i])
		return nil
	})
}
