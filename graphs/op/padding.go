package op

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
)

// Exact padding: members of a batch have one size, and the padding of a smaller one must
// contribute nothing to it. The number of rows that count is an operand,
// one for each member. See package batch for the sizes.

// Far is the coordinate of points that pad the samples of an [AffineHull]. For scaled queries
// below 1e14 the kernel value of such a point, divided by the row's largest, is exactly zero, so
// that the solutions of padding have no part in the sums; they should be zero because they
// count in the norm of b. The square of Far is finite in float32.
const Far = 1e15

// Leading is the operation (A, c) → A with the rows and columns from c on replaced by those
// of the diagonal matrix d·I, for a square n×n A and a scalar c in [0, n]; c is rounded
// down. With d = 1 the factor of a padded definite matrix A is diag(L, I) for that L of its
// leading block, the log-determinant is that of the block, and solutions for
// right-hand sides that are zero from row c on are zero there.
func Leading(d float64) Op {
	return Op{def: &definition{
		name: fmt.Sprintf("Leading(d=%x)", d), in: []int{2, 0}, out: 2, shape: square,
		run64: func(c call[float64]) error { return leading(c, d) },
		run32: func(c call[float32]) error { return leading(c, float32(d)) },
		launch: func(t Stream) {
			t.Launch(kernels.Leading{A: t.In(0), Count: t.In(1), N: t.In(0).Rows, Diagonal: d, Out: t.Out()})
		},
		diff: []bool{true, false},
		sym: func(f *formula, in gorgonia.Nodes, _, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{f.apply(Leading(0), grad, in[1]), nil}
		},
		cases: func(s *sampler) []Case {
			a, count := s.normal(small, small), s.scalar(20)
			return []Case{applied("Leading", Leading(1), 0, a, count),
				derived("Leading, derivative", Leading(1), 0, 10, a, count)}
		},
	}}
}

// leading is the CPU kernel of Leading.
func leading[T cpublas.Float](c call[T], d T) error {
	a, n := c.in[0], c.in[0].rows
	count := leadingRows(c.in[1].data[0], n)
	for i := range n {
		row := c.out.row(i)
		clear(row)
		if i < count {
			copy(row[:count], a.row(i))
		} else {
			row[i] = d
		}
	}
	return nil
}

// leadingRows returns a count as an integer in [0, n]; NaN counts none.
func leadingRows[T cpublas.Float](count T, n int) int {
	if count > 0 {
		return int(min(count, T(n)))
	}
	return 0
}

// On the CPU the kernels that take most of the time compute the leading block alone and set the
// other results to zero, which are the results of the whole matrix.

// leadingBlock returns the least m for which the symmetric matrix a is diag(A, d·I) with A of
// order m. For a matrix without padding it reads one element or two.
func leadingBlock[T cpublas.Float](a matrix[T], d T) int {
	for i := a.rows - 1; i >= 0; i-- {
		row := a.row(i)
		if row[i] != d || !zeros(row[:i]) {
			return i + 1
		}
	}
	return 0
}

// rowsInUse returns the number of leading rows after which all are zero.
func rowsInUse[T cpublas.Float](a matrix[T]) int {
	n := a.rows
	for n > 0 && zeros(a.row(n-1)) {
		n--
	}
	return n
}

// zeros reports whether all elements are zero.
func zeros[T cpublas.Float](a []T) bool {
	for _, v := range a {
		if v != 0 {
			return false
		}
	}
	return true
}
