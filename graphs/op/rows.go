package op

import (
	"context"
	"fmt"
	"math"

	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
	"privkern/graphs/parallel"
	"privkern/graphs/simd/vector"
)

// Operations on rows, and traces.

// RowMeans is the operation A → m, m_i the mean of row i, n×1 for an n×p A.
// Sums are taken in float64.
func RowMeans() Op {
	return Op{def: &definition{
		name: "RowMeans", in: []int{2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) { return tensor.Shape{in[0][0], 1}, nil },
		run64: rowMeans[float64], run32: rowMeans[float32],
		launch: func(t Stream) {
			a := t.In(0)
			t.Launch(kernels.SumRows{A: a, Rows: a.Rows, Cols: a.Cols, Scale: 1 / float64(a.Cols), Out: t.Out()})
		},
		cases: func(s *sampler) []Case { return []Case{applied("RowMeans", RowMeans(), 1, s.normal(70, 300))} },
	}}
}

// rowMeans is the CPU kernel of RowMeans.
func rowMeans[T cpublas.Float](c call[T]) error {
	a := c.in[0]
	return rowTiles(c.pool, a.rows, func(i int) {
		s := 0.0
		for _, v := range a.row(i) {
			s += float64(v)
		}
		c.out.data[i] = T(s / float64(a.cols))
	})
}

// CentreSymmetric is the operation (K, m) → CKC with C = I − 11ᵀ/n, for a
// symmetric n×n K with the row means m (n×1). The result is exactly symmetric
// where K is.
//
// Element by element it is k_ij − (m_i + m_j) + m̄, O(n²) operations where the products
// with C would take O(n³). K̄ has lost the digits by which the level of K exceeds its
// spread: a kernel that is nearly constant leaves rounding.
func CentreSymmetric() Op {
	return Op{def: &definition{
		name: "CentreSymmetric", in: []int{2, 2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if _, err := square(in); err != nil {
				return nil, err
			}
			if in[1][0] != in[0][0] || in[1][1] != 1 {
				return nil, fmt.Errorf("means %v of a matrix %v, want %d×1", in[1], in[0], in[0][0])
			}
			return in[0].Clone(), nil
		},
		run64: centreSymmetric[float64], run32: centreSymmetric[float32],
		launch: func(t Stream) {
			t.Launch(kernels.CentreSymmetric{K: t.In(0), Mean: t.In(1), N: t.In(0).Rows, Out: t.Out()})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("CentreSymmetric", CentreSymmetric(), 1, s.symmetric(big), s.normal(big, 1))}
		},
	}}
}

// centreSymmetric is the CPU kernel of CentreSymmetric; m̄ adds up in float64.
func centreSymmetric[T cpublas.Float](c call[T]) error {
	k, m := c.in[0], c.in[1].data
	all := 0.0
	for _, v := range m {
		all += float64(v)
	}
	all /= float64(len(m))
	return rowTiles(c.pool, k.rows, func(i int) {
		out := c.out.row(i)
		for j, v := range k.row(i) {
			// The sum of the two means first: it does not depend on their order.
			out[j] = T(float64(v) - (float64(m[i]) + float64(m[j])) + all)
		}
	})
}

// SubtractRow is the operation (X, r) → X − 1r, the row r (1×m) taken off every row of the
// n×m X. Of a batch the rows may be those of the members, and X the same one for all.
func SubtractRow() Op {
	return Op{def: &definition{
		name: "SubtractRow", in: []int{2, 2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if in[1][0] != 1 || in[1][1] != in[0][1] {
				return nil, fmt.Errorf("a row %v of a matrix %v, want 1×%d", in[1], in[0], in[0][1])
			}
			return in[0].Clone(), nil
		},
		run64: subtractRow[float64], run32: subtractRow[float32],
		launch: func(t Stream) {
			x := t.In(0)
			row := t.Doubles(x.Cols) // the sum of one row is the row
			sumColumnsOn(t, kernels.SumColumns{A: t.In(1), Divisor: 1, Parts: row})
			t.Launch(kernels.ShiftRows{A: x, Mean: row, Rows: x.Rows, Cols: x.Cols, Out: t.Out(), Norms: t.Scratch(x.Rows, 1)})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("SubtractRow", SubtractRow(), 1, s.normal(70, 300), s.normal(1, 300))}
		},
	}}
}

// subtractRow is the CPU kernel of SubtractRow.
func subtractRow[T cpublas.Float](c call[T]) error {
	r := c.in[1].data
	return rowTiles(c.pool, c.in[0].rows, func(i int) {
		out := c.out.row(i)
		for j, v := range c.in[0].row(i) {
			out[j] = v - r[j]
		}
	})
}

// Trace is the operation A → tr(A) for a square A.
// The sum is taken in float64.
func Trace() Op {
	return Op{def: &definition{
		name: "Trace", in: []int{2}, out: 0, shape: squareToScalar,
		run64: trace[float64], run32: trace[float32],
		launch: func(t Stream) { t.Launch(kernels.SumDiagonal{A: t.In(0), N: t.In(0).Rows, Out: t.Out()}) },
		cases:  func(s *sampler) []Case { return []Case{applied("Trace", Trace(), 10, s.normal(small, small))} },
	}}
}

// trace is the CPU kernel of Trace.
func trace[T cpublas.Float](c call[T]) error {
	a, s := c.in[0], 0.0
	for i := range a.rows {
		s += float64(a.data[i*a.cols+i])
	}
	c.out.data[0] = T(s)
	return nil
}

// ScaleRows is the operation (s, X) → diag(s) X. s is n×1, X is n×m.
func ScaleRows() Op {
	return Op{def: &definition{
		name: "ScaleRows", in: []int{2, 2}, out: 2, shape: rowsAlike,
		run64: scaleRows[float64], run32: scaleRows[float32],
		launch: func(t Stream) {
			t.Launch(kernels.Scale{In: t.In(1), S: t.In(0), Out: t.Out(), Rows: t.Out().Rows, Cols: t.Out().Cols})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("ScaleRows", ScaleRows(), 1, s.normal(small, 1), s.normal(small, 9))}
		},
	}}
}

// scaleRows is the CPU kernel of ScaleRows.
func scaleRows[T cpublas.Float](c call[T]) error {
	for i, s := range c.in[0].data {
		to := c.out.row(i)
		for j, v := range c.in[1].row(i) {
			to[j] = s * v
		}
	}
	return nil
}

// RowDistance is the operation (A, B) → d, d_i = ‖a_i − b_i‖ over the columns
// from the given one on: A and B are q×c, d is q×1. A row that is not finite
// has distance +Inf.
// It subtracts before it squares: the distance of a point to its image is small against
// both, and ‖a‖² − 2a·b + ‖b‖² would be rounding.
func RowDistance(from int) Op {
	return Op{def: &definition{
		name: fmt.Sprintf("RowDistance(from=%d)", from), in: []int{2, 2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if !in[0].Eq(in[1]) || from < 0 || from >= in[0][1] {
				return nil, fmt.Errorf("rows %v and %v from column %d on", in[0], in[1], from)
			}
			return tensor.Shape{in[0][0], 1}, nil
		},
		run64: func(c call[float64]) error { return rowDistance(c, from) },
		run32: func(c call[float32]) error { return rowDistance(c, from) },
		launch: func(t Stream) {
			a := t.In(0)
			t.Launch(kernels.RowDistance{A: a, B: t.In(1), Rows: a.Rows, Cols: a.Cols, First: from, Out: t.Out()})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("RowDistance", RowDistance(2), 10, s.normal(big, 9), s.normal(big, 9))}
		},
	}}
}

// rowDistance is the CPU kernel of RowDistance.
func rowDistance[T cpublas.Float](c call[T], from int) error {
	a, b := c.in[0], c.in[1]
	return c.pool.For(context.Background(), a.rows, hullTile, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			d := T(math.Sqrt(float64(vector.SquaredDistance(a.row(i)[from:], b.row(i)[from:]))))
			if d != d { // NaN
				d = T(math.Inf(1))
			}
			c.out.data[i] = d
		}
		return nil
	})
}

// rowTiles calls f for every row.
// Rows are independent of one another: which worker takes which has no part in the
// result.
func rowTiles(pool *parallel.Pool, rows int, f func(i int)) error {
	return pool.For(context.Background(), rows, rowTile, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			f(i)
		}
		return nil
	})
}
