package op

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/kernels"
)

// metricGradient is the operation (X, Y, W) → Σ_j W_ij ∂m(x_i, y_j)/∂x_i, an
// n×d matrix for the n×m weights W. It never holds the n×m×d differences.
//
// For the inner product it is WY, for squared distances 2(s∘X − WY) with the row sums s of
// W. Both terms are taken from a common centre c, the mean of Y: in exact arithmetic the
// result is the same, and the terms that cancel have the size of the spread of the points, not
// of their distance from the origin. With m points and unit of roundoff u, the error of an
// element is at most about
//
//	2(m+4)·u·Σ_j |W_ij|·(|x_ik − c_k| + |y_jk − c_k|),
//
// where differences of single points would give (m+2)·u·Σ_j |W_ij|·2|x_ik − y_jk|: a
// cluster that is small against the spread of all points loses as many digits as it is
// smaller.
//
// For L1 distances the sums of signs run over j for one i at a time, in O(nmd) operations
// and O(d) memory a worker. The slope of |x−y| at zero counts as zero, the middle of its
// subdifferential.
func metricGradient(m Metric) Op {
	return Op{def: &definition{
		name: "MetricGradient(" + m.String() + ")", in: []int{2, 2, 2}, out: 2, shape: sameShape(0),
		run64:  func(c call[float64]) error { return metricPullback(c, m) },
		run32:  func(c call[float32]) error { return metricPullback(c, m) },
		launch: func(t Stream) { metricGradientOn(t, m) },
		cases: func(s *sampler) (cases []Case) {
			for _, m := range []Metric{SquaredEuclidean, Manhattan, InnerProduct} {
				for _, d := range []int{3, 90} {
					cases = append(cases, applied(fmt.Sprintf("MetricGradient %v %d", m, d), metricGradient(m), 100,
						s.normal(small, d), s.normal(71, d), s.normal(small, 71)))
				}
			}
			return cases
		},
	}}
}

// metricGradientOn queues metricGradient.
func metricGradientOn(t Stream, m Metric) {
	x, y, w := t.In(0), t.In(1), t.In(2)
	n, d, k := x.Rows, x.Cols, y.Rows
	switch m {
	case InnerProduct:
		t.Gemm(blas.NoTrans, blas.NoTrans, n, d, k, 1, w, y, t.Out())
	case Manhattan:
		t.Launch(kernels.ManhattanGradient{X: x, Y: y, W: w, N: n, M: k, D: d, Width: lanes(d), Out: t.Out()})
	default:
		centre, sums := t.Doubles(d), t.Scratch(n, 1)
		sumColumnsOn(t, kernels.SumColumns{A: y, Divisor: float64(k), Parts: centre})
		centred, _ := shiftedOn(t, y, centre)
		t.Launch(kernels.SumRows{A: w, Rows: n, Cols: k, Scale: 1, Out: sums})
		t.Gemm(blas.NoTrans, blas.NoTrans, n, d, k, -2, w, centred, t.Out())
		t.Launch(kernels.SquaredGradient{X: x, Sums: sums, Mean: centre, N: n, D: d, Out: t.Out()})
	}
}

// lanes returns the number of dimensions that a block of a gradient computes at a time.
func lanes(d int) int {
	w := 1
	for w < d && w < 32 {
		w *= 2
	}
	return w
}

// metricPullback is the CPU kernel of metricGradient.
func metricPullback[T cpublas.Float](c call[T], m Metric) error {
	x, y, w := c.in[0], c.in[1], c.in[2]
	d := x.cols
	switch m {
	case Manhattan:
		return manhattanPullback(c)
	case InnerProduct:
		return dense.Gemm(c.pool, blas.NoTrans, blas.NoTrans, x.rows, d, y.rows, 1, w.data, w.cols, y.data, d, 0,
			c.out.data, d)
	}
	centre := columnMeans(y)
	centred, done := shifted(y, centre)
	defer done()
	if err := dense.Gemm(c.pool, blas.NoTrans, blas.NoTrans, x.rows, d, y.rows, -2, w.data, w.cols, centred.data, d, 0,
		c.out.data, d); err != nil {
		return err
	}
	return rowTiles(c.pool, x.rows, func(i int) {
		s, out := 2*sum(w.row(i)), c.out.row(i)
		for k, v := range x.row(i) {
			out[k] = T(s*(float64(v)-centre[k]) + float64(out[k]))
		}
	})
}

// sum returns Σ_j row_j in float64.
func sum[T cpublas.Float](row []T) float64 {
	var s0, s1, s2, s3 float64
	j := 0
	for ; j+4 <= len(row); j += 4 {
		s0 += float64(row[j])
		s1 += float64(row[j+1])
		s2 += float64(row[j+2])
		s3 += float64(row[j+3])
	}
	for ; j < len(row); j++ {
		s0 += float64(row[j])
	}
	return (s0 + s1) + (s2 + s3)
}

// manhattanPullback is metricGradient for L1 distances. Every row of the result is summed
// in float64 by one worker in the order of j, so that its bits do not depend on the number
// of workers. Signs are numbers: a branch on them would be mispredicted every other time.
func manhattanPullback[T cpublas.Float](c call[T]) error {
	x, y, w := c.in[0], c.in[1], c.in[2]
	d := x.cols
	return c.pool.For(context.Background(), x.rows, rowTile, func(lo, hi int) error {
		sums := make([]float64, d)
		for i := lo; i < hi; i++ {
			clear(sums)
			xi := x.row(i)[:d]
			for j, v := range w.row(i) {
				yj, wij := y.row(j)[:d], float64(v)
				for k := range sums {
					sums[k] += wij * float64(sign(xi[k], yj[k]))
				}
			}
			for k, s := range sums {
				c.out.data[i*d+k] = T(s)
			}
		}
		return nil
	})
}

// sign returns the sign of x − y, zero where they are equal.
func sign[T cpublas.Float](x, y T) int {
	above, below := 0, 0
	if x > y {
		above = 1
	}
	if x < y {
		below = 1
	}
	return above - below
}
