package op

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
	"privkern/graphs/simd/vector"
)

// Lloyd's iteration of k-means, for several starts of the same points at once. The centres of
// S starts follow one another, k rows each, and labels are numbers of centres within a start,
// from 0, a column for each start. How many of the n points count is an operand, so that
// padding contributes nothing.
//
// An assignment is n×3S: S columns of labels, S of squared distances to the own centre, S of
// ones where the label is another one than before. Its sums of columns are the inertia of each
// start and the number of points that have moved. Labels are rounded down; one that is not
// between 0 and k is that of no cluster.

// NearestCentres is the operation (X, C, L, c) → the assignment of the points X (n×d) to the
// nearest of the k centres of each start (C, S·k×d). Direct distances are sums of squared
// differences, in order, by which ties are those of the numbers given. Others are
// |x|² − 2xᵀc + |c|², at least 0, which is accurate for points about zero. Of centres as near
// the first is taken. L (n×S) are the labels before. Rows of points from c on are zeros; c is
// rounded down.
func NearestCentres(k int, direct bool) Op {
	return Op{def: &definition{
		name: fmt.Sprintf("NearestCentres(k=%d,direct=%t)", k, direct), in: []int{2, 2, 2, 0}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			x, c, l := in[0], in[1], in[2]
			if k < 1 || l[0] != x[0] || c[1] != x[1] || c[0] != k*l[1] {
				return nil, fmt.Errorf("points %v, centres %v and labels %v for %d clusters", x, c, l, k)
			}
			return tensor.Shape{x[0], 3 * l[1]}, nil
		},
		run64: func(c call[float64]) error { return nearestCentres(c, k, direct) },
		run32: func(c call[float32]) error { return nearestCentres(c, k, direct) },
		launch: func(t Stream) {
			x, c := t.In(0), t.In(1)
			nearest := kernels.NearestCentres{P: t.Scratch(x.Rows, c.Rows), Labels: t.In(2), Count: t.In(3), N: x.Rows,
				Starts: c.Rows / k, K: k, Direct: direct, Out: t.Out()}
			if direct {
				nearest.HX, nearest.HC = nearest.P, nearest.P // not read
				t.Launch(kernels.HalfDistances{X: x, Centres: c, N: x.Rows, M: c.Rows, D: x.Cols, Out: nearest.P})
			} else {
				nearest.HX, nearest.HC = t.Scratch(x.Rows, 1), t.Scratch(c.Rows, 1)
				t.Launch(kernels.HalfSquares{X: x, Rows: x.Rows, Cols: x.Cols, Out: nearest.HX})
				t.Launch(kernels.HalfSquares{X: c, Rows: c.Rows, Cols: c.Cols, Out: nearest.HC})
				t.Gemm(blas.NoTrans, blas.Trans, x.Rows, c.Rows, x.Cols, 1, x, c, nearest.P)
			}
			t.Launch(nearest)
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("NearestCentres", NearestCentres(4, false), 10, s.normal(big, 5), s.normal(3*4, 5),
				s.labels(3), s.scalar(100)),
				applied("NearestCentres, several as near", NearestCentres(4, false), 10, s.whole(big, 2), s.whole(3*4, 2),
					s.labels(3), s.scalar(big)),
				applied("NearestCentres, direct", NearestCentres(4, true), 1, s.normal(big, 5), s.normal(3*4, 5),
					s.labels(3), s.scalar(100))}
		},
	}}
}

// nearestCentres is the CPU kernel of NearestCentres.
func nearestCentres[T cpublas.Float](c call[T], k int, direct bool) error {
	x, centres, labels := c.in[0], c.in[1], c.in[2]
	starts, all, d := labels.cols, centres.rows, x.cols
	count := leadingRows(c.in[3].data[0], x.rows)
	clear(c.out.data[count*c.out.cols:])
	half := func(row []T) T {
		if direct {
			return 0
		}
		return -vector.Dot(row, row) / 2
	}
	halves := make([]T, all)
	for i := range halves {
		halves[i] = half(centres.row(i))
	}
	return c.pool.For(context.Background(), count, hullTile, func(lo, hi int) error {
		products := make([]T, (hi-lo)*all)
		if direct {
			halfDistances(x, centres, lo, hi, products)
		} else {
			cpublas.Gemm(blas.NoTrans, blas.Trans, hi-lo, all, d, 1, x.data[lo*d:], d, centres.data, d, 0, products, all)
		}
		for i := lo; i < hi; i++ {
			own, to := half(x.row(i)), c.out.row(i)
			for s := range starts {
				best, from := 0, (i-lo)*all+s*k
				most := products[from] + halves[s*k]
				for j := 1; j < k; j++ {
					if v := products[from+j] + halves[s*k+j]; v > most {
						best, most = j, v
					}
				}
				to[s], to[starts+s], to[2*starts+s] = T(best), max(0, -2*(most+own)), 0
				if labels.row(i)[s] != T(best) {
					to[2*starts+s] = 1
				}
			}
		}
		return nil
	})
}

// halfDistances writes −½|x−c|² of some points and all centres, as the kernel of a device.
func halfDistances[T cpublas.Float](x, centres matrix[T], lo, hi int, out []T) {
	for i := lo; i < hi; i++ {
		for c := range centres.rows {
			s, centre := T(0), centres.row(c)
			for j, v := range x.row(i) {
				s += T((v - centre[j]) * (v - centre[j])) //nolint:unconvert // it rounds: no fused multiply-add
			}
			out[(i-lo)*centres.rows+c] = -s / 2
		}
	}
}

// RefillClusters is the operation (A, c) → L, the labels (n×S) of an assignment (n×3S), in
// which every cluster that has lost all its points has taken the point that is farthest from
// its own centre, among those whose cluster keeps another one; of points as far the first.
// Rows from c on are zeros.
func RefillClusters(k int) Op {
	return Op{def: &definition{
		name: fmt.Sprintf("RefillClusters(k=%d)", k), in: []int{2, 0}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if k < 1 || in[0][1]%3 != 0 {
				return nil, fmt.Errorf("an assignment %v to %d clusters", in[0], k)
			}
			return tensor.Shape{in[0][0], in[0][1] / 3}, nil
		},
		run64: func(c call[float64]) error { return refillClusters(c, k) },
		run32: func(c call[float32]) error { return refillClusters(c, k) },
		launch: func(t Stream) {
			a, starts := t.In(0), t.In(0).Cols/3
			t.Launch(kernels.RefillClusters{Assignment: a, Count: t.In(1), Sizes: t.Scratch(starts, k), N: a.Rows,
				Starts: starts, K: k, Out: t.Out()})
		},
		cases: func(s *sampler) []Case {
			// The clusters from 4 on are empty, of the last start all but the first.
			a := s.labels(9)
			for i := range big {
				a.Set(i, 2, 0)
				for start := range 3 {
					a.Set(i, 3+start, float64(i%(11*start+7))) // several are as far
				}
			}
			return []Case{applied("RefillClusters", RefillClusters(9), 1, a, s.scalar(100))}
		},
	}}
}

// refillClusters is the CPU kernel of RefillClusters.
func refillClusters[T cpublas.Float](c call[T], k int) error {
	a, starts := c.in[0], c.out.cols
	count := leadingRows(c.in[1].data[0], a.rows)
	clear(c.out.data[count*starts:])
	sizes := make([]int, k)
	for s := range starts {
		clear(sizes)
		for i := range count {
			c.out.row(i)[s] = a.row(i)[s]
			if label := labelOf(a.row(i)[s], k); label >= 0 {
				sizes[label]++
			}
		}
		for empty, size := range sizes {
			if size > 0 {
				continue
			}
			far, farthest := -1, T(-1)
			for i := range count {
				label, away := labelOf(c.out.row(i)[s], k), a.row(i)[starts+s]
				if label >= 0 && sizes[label] > 1 && away > farthest {
					far, farthest = i, away
				}
			}
			if far >= 0 {
				sizes[labelOf(c.out.row(far)[s], k)]--
				c.out.row(far)[s], sizes[empty] = T(empty), 1
			}
		}
	}
	return nil
}

// ClusterMeans is the operation (X, L, c) → C, the means (S·k×d) of the points X (n×d) with
// each of the k labels of L (n×S), over the first c rows; zeros for a label without points.
// The CPU adds in the order of the points, a device by a product with an n×S·k matrix of
// memberships.
func ClusterMeans(k int) Op {
	return Op{def: &definition{
		name: fmt.Sprintf("ClusterMeans(k=%d)", k), in: []int{2, 2, 0}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if k < 1 || in[0][0] != in[1][0] {
				return nil, fmt.Errorf("points %v with labels %v of %d clusters", in[0], in[1], k)
			}
			return tensor.Shape{in[1][1] * k, in[0][1]}, nil
		},
		run64: func(c call[float64]) error { return clusterMeans(c, k) },
		run32: func(c call[float32]) error { return clusterMeans(c, k) },
		launch: func(t Stream) {
			x, labels := t.In(0), t.In(1)
			n, starts := labels.Rows, labels.Cols
			z, sizes := t.Scratch(n, starts*k), t.Scratch(1, starts*k)
			t.Launch(kernels.Memberships{Labels: labels, Count: t.In(2), N: n, Starts: starts, K: k, Out: z})
			sumColumnsOn(t, kernels.SumColumns{A: z, Divisor: 1, Out: sizes})
			t.Gemm(blas.Trans, blas.NoTrans, starts*k, x.Cols, n, 1, z, x, t.Out())
			t.Launch(kernels.MeansOfSums{Sizes: sizes, Rows: starts * k, Cols: x.Cols, Out: t.Out()})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("ClusterMeans", ClusterMeans(5), 10, s.normal(big, 7), s.labels(3),
				s.scalar(100))}
		},
	}}
}

// clusterMeans is the CPU kernel of ClusterMeans.
func clusterMeans[T cpublas.Float](c call[T], k int) error {
	x, labels := c.in[0], c.in[1]
	count := leadingRows(c.in[2].data[0], x.rows)
	clear(c.out.data)
	sizes := make([]int, c.out.rows)
	for i := range count {
		for s, v := range labels.row(i) {
			label := labelOf(v, k)
			if label < 0 {
				continue
			}
			row := s*k + label
			sizes[row]++
			to := c.out.row(row)
			for j, v := range x.row(i) {
				to[j] += v
			}
		}
	}
	for row, size := range sizes {
		if size == 0 {
			continue
		}
		for j := range c.out.row(row) {
			c.out.row(row)[j] /= T(size)
		}
	}
	return nil
}

// labelOf is a label as an integer, −1 for that of no cluster.
func labelOf[T cpublas.Float](v T, k int) int {
	if v >= 0 && v < T(k) {
		return int(v)
	}
	return -1
}

// labels are whole numbers from 0 to 3, of many points.
func (s *sampler) labels(cols int) Operand {
	a := s.normal(big, cols)
	a.Apply(func(_, _ int, _ float64) float64 { return float64(s.rng.IntN(4)) }, a.Dense)
	return a
}
