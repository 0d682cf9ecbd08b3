package learn

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"privkern/graphs/clusters"
)

// distances are those of n fixed points from moving centres.
type distances interface {
	// squared writes the squared distance of point i from centre c, of k, to
	// out[i·k + c].
	squared(centres [][]float64, out []float64)
}

// distancesFor chooses by the size of the problem alone, so that a result never depends
// on the machine. A round below [clusters.ProductSize] takes some milliseconds, and its
// results stay those of [differences] to the last bit.
func distancesFor(points [][]float64, k int) distances {
	if len(points)*k*len(points[0]) < clusters.ProductSize {
		return differences(points)
	}
	return newProducts(points)
}

// differences sums squared differences.
type differences [][]float64

// It takes 3nkd operations and is exact to rounding of each distance.
func (p differences) squared(centres [][]float64, out []float64) {
	for i, x := range p {
		squaredDistances(x, centres, out[i*len(centres):(i+1)*len(centres)])
	}
}

// squaredDistance is |a−b|², summed in order.
func squaredDistance(a, b []float64) float64 {
	var s float64
	for j := range a {
		d := a[j] - b[j]
		s += d * d
	}
	return s
}

// squaredDistances writes the [squaredDistance] of x from each centre to out. Four sums run
// side by side, each in its order: none waits for the additions of another.
func squaredDistances(x []float64, centres [][]float64, out []float64) {
	c := 0
	for ; c+4 <= len(centres); c += 4 {
		n := len(x)
		p, q, r, s := centres[c][:n], centres[c+1][:n], centres[c+2][:n], centres[c+3][:n]
		var sp, sq, sr, ss float64
		for j, v := range x {
			dp, dq, dr, ds := v-p[j], v-q[j], v-r[j], v-s[j]
			sp += dp * dp
			sq += dq * dq
			sr += dr * dr
			ss += ds * ds
		}
		out[c], out[c+1], out[c+2], out[c+3] = sp, sq, sr, ss
	}
	for ; c < len(centres); c++ {
		out[c] = squaredDistance(x, centres[c])
	}
}

// products uses |x−c|² = |x|² − 2xᵀc + |c|². The mean of the points is taken
// off first, so that little cancels where the points are far from zero. The
// result does not depend on the number of threads: each entry of a product is
// summed by one of them.
//
// The absolute error of a squared distance is about d·u·(|x|² + |c|²) with the unit of
// roundoff u: relative to the spread of the points, not to the distance itself.
type products struct {
	mean   []float64
	points blas64.General // n×d, less the mean
	norms  []float64      // |x|²
}

// newProducts copies the points less their mean, n·d numbers.
func newProducts(points [][]float64) *products {
	n, d := len(points), len(points[0])
	p := &products{mean: make([]float64, d), norms: make([]float64, n),
		points: blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}}
	for _, x := range points {
		floats.Add(p.mean, x)
	}
	floats.Scale(1/float64(n), p.mean)
	for i, x := range points {
		row := p.points.Data[i*d : (i+1)*d]
		floats.SubTo(row, x, p.mean)
		p.norms[i] = floats.Dot(row, row)
	}
	return p
}

// moved returns the centres (k×d) less the mean, and their squared norms.
func (p *products) moved(centres [][]float64) (blas64.General, []float64) {
	k, d := len(centres), p.points.Cols
	out := blas64.General{Rows: k, Cols: d, Stride: d, Data: make([]float64, k*d)}
	norms := make([]float64, k)
	for c, centre := range centres {
		row := out.Data[c*d : (c+1)*d]
		floats.SubTo(row, centre, p.mean)
		norms[c] = floats.Dot(row, row)
	}
	return out, norms
}

// It takes 2nkd operations, at several times the speed of differences.
func (p *products) squared(centres [][]float64, out []float64) {
	moved, norms := p.moved(centres)
	complete(p.points, moved, p.norms, norms, out)
}

// complete writes |x|² − 2xᵀc + |c|² for the points x and the centres c.
func complete(points, centres blas64.General, pointNorms, centreNorms, out []float64) {
	k := centres.Rows
	blas64.Gemm(blas.NoTrans, blas.Trans, -2, points, centres, 0,
		blas64.General{Rows: points.Rows, Cols: k, Stride: k, Data: out})
	for i, norm := range pointNorms {
		for c, centreNorm := range centreNorms {
			// Rounding must not make a distance negative.
			out[i*k+c] = max(0, out[i*k+c]+norm+centreNorm)
		}
	}
}
