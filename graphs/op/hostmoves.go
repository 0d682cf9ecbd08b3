package op

import (
	"context"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
)

// transpositionOnHost returns the host's kernel that transposes the members of a batch. A single matrix has none,
// because gorgonia's products take its transpose without a copy.
func transpositionOnHost(p *parameters, in []gorgonia.Value) HostKernel {
	if len(in) != 1 || len(in[0].Shape()) < 3 {
		return nil
	}
	x, pattern := contiguous(in[0]), p.integers("pattern")
	last := len(pattern) - 1
	if x == nil || p.err != nil || last != len(x.Shape())-1 || pattern[last] != last-1 || pattern[last-1] != last {
		return nil
	}
	for i, axis := range pattern[:last-1] {
		if axis != i {
			return nil
		}
	}
	switch x.Dtype() {
	case tensor.Float64:
		return transposeMembers[float64](x)
	case tensor.Float32:
		return transposeMembers[float32](x)
	}
	return nil
}

// transposedTile is the side of the squares that are transposed one after the other: their rows, of operand and result,
// stay in the first cache.
const transposedTile = 16

// transposeMembers returns the kernel that transposes matrices.
func transposeMembers[T cpublas.Float](x *tensor.Dense) HostKernel {
	shape := x.Shape()
	rows, cols := shape[len(shape)-2], shape[len(shape)-1]
	return func(pool *parallel.Pool, out *tensor.Dense) error {
		from, err := elementsOf[T](x)
		if err != nil {
			return err
		}
		to, err := elementsOf[T](out)
		if err != nil {
			return err
		}
		bands := (rows + transposedTile - 1) / transposedTile // of each member
		all := len(from) / (rows * cols) * bands
		return pool.For(context.Background(), all, max(1, elementPart/(transposedTile*cols)), func(lo, hi int) error {
			for b := lo; b < hi; b++ {
				at, first := b/bands*rows*cols, b%bands*transposedTile
				transposeBand(to[at:at+rows*cols], from[at:at+rows*cols], rows, cols, first, min(rows, first+transposedTile))
			}
			return nil
		})
	}
}

// transposeBand copies the rows from lo to hi of a matrix (rows×cols) to columns.
func transposeBand[T cpublas.Float](to, from []T, rows, cols, lo, hi int) {
	for first := 0; first < cols; first += transposedTile {
		for j := first; j < min(cols, first+transposedTile); j++ {
			column := to[j*rows : (j+1)*rows]
			for i := lo; i < hi; i++ {
				column[i] = from[i*cols+j]
			}
		}
	}
}
