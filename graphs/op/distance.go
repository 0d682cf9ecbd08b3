package op

import (
	"context"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/parallel"
	"privkern/graphs/simd/vector"
)

// Tiles are fixed, so that results do not depend on the number of workers.
const rowTile = 64

// Tiles of pairs. Every product packs its operands anew, which takes the less of its time the
// larger it is: few tiles serve products that take long. Where sums are short, a small tile of
// the result stays in the second-level cache between the product and its reader.
const (
	pairRowTile = 120
	pairColTile = 512

	largePairRowTile = 4 * pairRowTile
	largePairColTile = 2 * pairColTile
	longSum          = 256 // dimensions from which on tiles are large
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
	defer t.release()
	tiles := pairTiles(x.rows, y.rows, x.cols, symmetric)
	return pool.For(context.Background(), len(tiles), 1, func(k, _ int) error {
		p := tiles[k]
		t.fill(p, out)
		for i := p.lo; i < p.hi; i++ {
			first := p.c
			if symmetric {
				first = max(first, i)
			}
			for c := first; c < p.end; c += pairColTile {
				row := out.row(i)[c:min(c+pairColTile, p.end)]
				t.complete(i, c, row)
				if finish != nil {
					finish(i, c, row)
				}
			}
		}
		if symmetric {
			mirrorTile(out, p.lo, p.hi, p.c, p.end)
		}
		return nil
	})
}

// pairTile is the rows from lo to hi and the columns from c to end.
type pairTile struct{ lo, hi, c, end int }

// pairTiles divides n×m pairs, or the triangle from the diagonal on. They follow from the
// shape alone.
func pairTiles(n, m, dims int, triangle bool) (tiles []pairTile) {
	rows, cols := pairRowTile, pairColTile
	if dims >= longSum && n*m*dims >= dense.LargeProduct {
		rows, cols = largePairRowTile, largePairColTile
	}
	for lo := 0; lo < n; lo += rows {
		hi, first := min(lo+rows, n), 0
		if triangle {
			tiles = append(tiles, pairTile{lo, hi, lo, hi})
			first = hi
		}
		for c := first; c < m; c += cols {
			tiles = append(tiles, pairTile{lo, hi, c, min(c+cols, m)})
		}
	}
	return tiles
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

// mirrorTile copies the elements right of the diagonal in the rows from lo to hi and the
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
	release   func() // gives back the scratch memory of x and y
}

// Where |x−y|² is below this share of |x|²+|y|², the product formula has lost
// too many digits and the pair is computed term by term. It keeps the error of
// exp(−|x−y|²) below 1e-12 in float64 and 5e-6 in float32, for any scale.
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
	t := &tiler[T]{metric: m, x: x, y: y, near: T(near(isSingle[T]())), symmetric: symmetric, release: func() {}}
	if m != SquaredEuclidean || x.cols <= directDims {
		return t
	}
	// Distances do not change when all points move, but the rounding errors of
	// the product formula do: with the centre of X at the origin, fewer pairs
	// need to be computed term by term.
	centre := columnMeans(x)
	var done, doneToo func()
	t.x, done = shifted(x, centre)
	t.y, t.release = t.x, done
	if !symmetric {
		t.y, doneToo = shifted(y, centre)
		t.release = func() {
			done()
			doneToo()
		}
	}
	t.xx, t.yy = squaredNorms(t.x), squaredNorms(t.y)
	return t
}

// fill computes the metric of a tile, or of squared distances by the product formula
// xx_i + yy_j − 2x_i·y_j the product, for complete. Of a tile on the diagonal of a symmetric
// matrix it is the upper triangle at least.
func (t *tiler[T]) fill(p pairTile, out matrix[T]) {
	d, rows, cols := t.x.cols, p.hi-p.lo, p.end-p.c
	x, y, to := t.x.data[p.lo*d:], t.y.data[p.c*d:], out.data[p.lo*out.cols+p.c:]
	if t.metric == Manhattan || (t.metric == SquaredEuclidean && t.xx == nil) {
		m := vector.SquaredEuclidean
		if t.metric == Manhattan {
			m = vector.Manhattan
		}
		vector.Distances(m, rows, cols, d, x, d, y, d, to, out.cols)
		return
	}
	alpha := T(1)
	if t.metric == SquaredEuclidean {
		alpha = -2
	}
	if t.symmetric && p.lo == p.c {
		cpublas.Syrk(blas.Upper, blas.NoTrans, rows, d, alpha, x, d, 0, to, out.cols)
		return
	}
	cpublas.Gemm(blas.NoTrans, blas.Trans, rows, cols, d, alpha, x, d, y, d, 0, to, out.cols)
}

// complete computes distances |x|² − 2xᵀy + |y|² from the products of fill in the row of pairs
// that begins at i, c. Where the formula cancels, they are computed term by term.
func (t *tiler[T]) complete(i, c int, row []T) {
	diagonal := t.symmetric && i >= c && i < c+len(row) && t.metric != InnerProduct
	if diagonal {
		row[i-c] = 0 // It would count as cancelled; the distance to itself is known.
	}
	if t.xx != nil && vector.AddNorms(row, t.yy[c:c+len(row)], t.xx[i], t.near) {
		t.again(i, c, row)
	}
	if diagonal {
		row[i-c] = 0
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
	i := 0
	for ; i+4 <= a.rows; i += 4 {
		r0, r1, r2, r3 := a.row(i), a.row(i+1), a.row(i+2), a.row(i+3)
		r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
		for k, v := range r0 {
			mean[k] = mean[k] + float64(v) + float64(r1[k]) + float64(r2[k]) + float64(r3[k])
		}
	}
	for ; i < a.rows; i++ {
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
// once. It is in scratch memory, which done gives back.
func shifted[T cpublas.Float](a matrix[T], by []float64) (b matrix[T], done func()) {
	scratch := borrow[T](len(a.data))
	b = matrix[T]{a.rows, a.cols, *scratch}
	for i := range a.rows {
		from := a.row(i)
		to, mean := b.row(i)[:len(from)], by[:len(from)]
		for k, v := range from {
			to[k] = T(float64(v) - mean[k])
		}
	}
	return b, func() { release(scratch) }
}

// squaredNorms are |a_i|² of the rows, summed in float64: their errors would enter every
// distance of the row.
func squaredNorms[T cpublas.Float](a matrix[T]) []T {
	norms, wide := make([]T, a.rows), make([]float64, a.cols)
	for i := range norms {
		row, same := any(a.row(i)).([]float64)
		if !same {
			row = wide
			for k, v := range a.row(i) {
				row[k] = float64(v)
			}
		}
		norms[i] = T(vector.Dot(row, row))
	}
	return norms
}
