package op

import (
	"context"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
	"privkern/graphs/simd/vector"
)

// Metric is the number that a kernel of a pair of points x, y depends on.
type Metric int

// The metrics.
const (
	SquaredEuclidean Metric = iota // Σ (x−y)²
	Manhattan                      // Σ |x−y|
	InnerProduct                   // Σ x·y
)

// String is the metric's name in an operation's.
func (m Metric) String() string {
	return [...]string{"SquaredEuclidean", "Manhattan", "InnerProduct"}[m]
}

// Tiles are fixed, so that results do not depend on the number of workers. Those of pairs are
// as large as lets a tile of the result stay in the second-level cache between the matrix
// product and what is done with it: every product packs its operands anew.
const (
	rowTile     = 64
	pairRowTile = 128
	pairColTile = 512
)

// directDims is the number of dimensions up to which distances are computed
// term by term: as fast as by a matrix product, and exact.
const directDims = 8

// pairwise fills out with the metric over all pairs of rows of x and y, and
// then with finish of it, tile by tile. With symmetric set, y is x: one
// triangle is computed and mirrored, and the distance of a point to itself is
// exactly zero.
//
// x is n×d, y is m×d, out is n×m; finish gets parts of row i of out, from column c on, of
// at most pairColTile elements. It takes O(nmd) operations, half of that if symmetric, and no
// memory besides out and, for squared distances by the product formula, shifted copies of
// x and y.
func pairwise[T cpublas.Float](pool *parallel.Pool, m Metric, x, y matrix[T], symmetric bool, out matrix[T],
	finish func(i, c int, row []T)) error {
	t := newTiler(m, x, y, symmetric)
	return pool.For(context.Background(), x.rows, pairRowTile, func(lo, hi int) error {
		first := 0
		if symmetric {
			first = lo
		}
		for c := first; c < y.rows; c += pairColTile {
			end := min(c+pairColTile, y.rows)
			t.fill(lo, hi, c, end, out)
			for i := lo; i < hi; i++ {
				row := out.data[i*out.cols+c : i*out.cols+end]
				if symmetric && m != InnerProduct && i >= c && i < end {
					row[i-c] = 0
				}
				if finish != nil {
					finish(i, c, row)
				}
			}
			if symmetric {
				mirrorTile(out, lo, hi, c, end)
			}
		}
		return nil
	})
}

// mirror copies the upper triangle into the lower one: it makes a symmetric matrix
// exactly so, which products of a matrix with its transpose are not: BLAS may sum
// elements ij and ji in different orders. Eigen-solvers and derivatives rely on it.
func mirror[T cpublas.Float](pool *parallel.Pool, a matrix[T]) error {
	return pool.For(context.Background(), a.rows, rowTile, func(lo, hi int) error {
		mirrorTile(a, lo, hi, lo, a.cols)
		return nil
	})
}

// mirrorTile copies what stands right of the diagonal in the rows from lo to hi and the
// columns from c to end to its place below the diagonal, in squares of whole cache lines.
func mirrorTile[T cpublas.Float](a matrix[T], lo, hi, c, end int) {
	const side = 8
	n := a.cols
	for top := lo; top < hi; top += side {
		for left := max(c, top); left < end; left += side {
			if top+side <= hi && left+side <= end && left >= top+side {
				transposeSquare(a.data[top*n+left:], a.data[left*n+top:], n)
				continue
			}
			for i := top; i < min(top+side, hi); i++ {
				for j := max(left, i+1); j < min(left+side, end); j++ {
					a.data[j*n+i] = a.data[i*n+j]
				}
			}
		}
	}
}

// transposeSquare stores the transpose of an 8×8 square in another one, both in rows at a
// distance of n.
func transposeSquare[T cpublas.Float](from, to []T, n int) {
	r0, r1, r2, r3 := (*[8]T)(from), (*[8]T)(from[n:]), (*[8]T)(from[2*n:]), (*[8]T)(from[3*n:])
	r4, r5, r6, r7 := (*[8]T)(from[4*n:]), (*[8]T)(from[5*n:]), (*[8]T)(from[6*n:]), (*[8]T)(from[7*n:])
	for j := range 8 {
		*(*[8]T)(to[j*n:]) = [8]T{r0[j], r1[j], r2[j], r3[j], r4[j], r5[j], r6[j], r7[j]}
	}
}

// tiler computes the metric for tiles of pairs.
type tiler[T cpublas.Float] struct {
	metric Metric
	x, y   matrix[T]
	// For squared distances by a matrix product only: squared norms of the
	// centred rows.
	xx, yy []T
	near   T
	// With symmetric set, y is x.
	symmetric bool
}

// Where |x−y|² is below this share of |x|²+|y|², the product formula has lost
// too many digits and the pair is computed term by term. It keeps the error of
// exp(−|x−y|²) below 1e-12 in float64 and 5e-6 in float32, whatever the scale.
const (
	near64 = 1e-4
	near32 = 2e-2
)

// near is near64 or near32.
func near(single bool) float64 {
	if single {
		return near32
	}
	return near64
}

// newTiler prepares the metric over pairs of rows of x and y; with symmetric set, y is x
// and shares its shifted copy and norms.
func newTiler[T cpublas.Float](m Metric, x, y matrix[T], symmetric bool) *tiler[T] {
	t := &tiler[T]{metric: m, x: x, y: y, near: T(near(isSingle[T]())), symmetric: symmetric}
	if m != SquaredEuclidean || x.cols <= directDims {
		return t
	}
	// Distances do not change when all points move, but the rounding errors of
	// the product formula do: with the centre of X at the origin, fewer pairs
	// need to be computed term by term.
	centre := columnMeans(x)
	t.x = shifted(x, centre)
	t.y = t.x
	if !symmetric {
		t.y = shifted(y, centre)
	}
	t.xx, t.yy = squaredNorms(t.x), squaredNorms(t.y)
	return t
}

// fill computes out[lo:hi, c:end]. For squared distances by the product formula xx_i +
// yy_j − 2x_i·y_j, the product is one call for the tile, and pairs for which it has
// cancelled are computed again.
func (t *tiler[T]) fill(lo, hi, c, end int, out matrix[T]) {
	d := t.x.cols
	if t.metric == Manhattan || (t.metric == SquaredEuclidean && t.xx == nil) {
		m := vector.SquaredEuclidean
		if t.metric == Manhattan {
			m = vector.Manhattan
		}
		vector.Distances(m, hi-lo, end-c, d, t.x.data[lo*d:], d, t.y.data[c*d:], d, out.data[lo*out.cols+c:], out.cols)
		return
	}
	alpha := T(1)
	if t.metric == SquaredEuclidean {
		alpha = -2
	}
	cpublas.Gemm(blas.NoTrans, blas.Trans, hi-lo, end-c, d, alpha, t.x.data[lo*d:], d, t.y.data[c*d:], d,
		0, out.data[lo*out.cols+c:], out.cols)
	if t.metric == InnerProduct {
		return
	}
	for i := lo; i < hi; i++ {
		row := out.row(i)[c:end]
		if t.symmetric && i >= c && i < end {
			row[i-c] = 0 // It would count as cancelled; the distance to itself is known.
		}
		if vector.AddNorms(row, t.yy[c:end], t.xx[i], t.near) {
			t.again(i, c, row)
		}
	}
}

// again computes the distances of a row term by term where the product formula has cancelled.
// The row begins at pair i, c.
func (t *tiler[T]) again(i, c int, row []T) {
	for j, s := range row {
		norms := t.xx[i] + t.yy[c+j]
		if s < t.near*norms {
			row[j] = vector.SquaredDistance(t.x.row(i), t.y.row(c+j))
		}
	}
}

// columnMeans is the mean of the rows, summed in float64 in their order.
func columnMeans[T cpublas.Float](a matrix[T]) []float64 {
	mean := make([]float64, a.cols)
	for i := range a.rows {
		for k, v := range a.row(i) {
			mean[k] += float64(v)
		}
	}
	for k := range mean {
		mean[k] /= float64(a.rows)
	}
	return mean
}

// shifted is a copy of a with the vector by taken off every row, in float64 and rounded
// once.
func shifted[T cpublas.Float](a matrix[T], by []float64) matrix[T] {
	b := matrix[T]{a.rows, a.cols, make([]T, len(a.data))}
	for i := range a.rows {
		to := b.row(i)
		for k, v := range a.row(i) {
			to[k] = T(float64(v) - by[k])
		}
	}
	return b
}

// squaredNorms are |a_i|² of the rows, summed in float64: their errors would enter every
// distance of the row.
func squaredNorms[T cpublas.Float](a matrix[T]) []T {
	norms, row := make([]T, a.rows), make([]float64, a.cols)
	for i := range norms {
		for k, v := range a.row(i) {
			row[k] = float64(v)
		}
		norms[i] = T(vector.Dot(row, row))
	}
	return norms
}
