package op

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
	panel "privkern/graphs/simd/matrix"
	"privkern/graphs/simd/vector"
)

// hullTile is the number of queries whose kernel values are held at a time:
// with a thousand samples they stay in the caches between the exponentials and the
// product that reads them.
const hullTile = 240

// hullSafety is the share of √N·‖b‖, a bound on kᵀb, below which a sum of
// memberships counts as not safely positive, because the difference may be rounding.
const (
	hullSafety64 = 1e-10
	hullSafety32 = 1e-4
)

// safety returns the share of √N·‖b‖ below which a sum of memberships is not safely positive.
func safety(single bool) float64 {
	if single {
		return hullSafety32
	}
	return hullSafety64
}

// AffineHull is the fused operation (Z, X, w, B) → O of a kernel affine hull
// machine (Kumar, Moser and Fischer, Definition 1, Eqs. 33, 35 and 38):
//
//	k_ij = exp(−½ Σ_a (w_a z_ia − x_ja)²),  o_i = k_iᵀ B' / k_iᵀ b.
//
// Z (q×c, c ≥ d) holds queries, whose first d columns enter the kernel;
// X (N×d) the encoded samples, already scaled; w (1×d) the scale of each
// column; B = [B' b] (N×(c+1)) the solutions of the regularised least squares
// problem, whose last column b = (K+λI)⁻¹1 gives the sum of memberships. O is
// q×c: a point of the affine hull in the coordinates of Z, so that machines
// can be nested.
//
// Kernel values are divided by the largest of their row, which leaves O as it
// is and avoids 0/0 far away from all samples. A row whose sum of memberships
// is not safely positive, above the rounding errors of cancelling terms, is NaN: the paper's
// claim that the sum is positive (Eq. 148) does not hold.
//
// The threshold is a share (safety) of √N·‖b‖, which bounds |kᵀb| because no kernel
// value is above one once the row is divided by its largest. It does not depend on the
// query.
//
// The kernel values of all queries would be q×N. They are made and used in tiles of
// hullTile queries instead, N+c+d+2 numbers a query, in 2qN(d+c+2) operations of matrix
// products and qN exponentials. Every query stands in one tile alone, so that its bits
// do not depend on the number of workers.
func AffineHull() Op {
	return Op{def: &definition{
		name: "AffineHull", in: []int{2, 2, 2, 2}, out: 2, shape: hullShape,
		run64: affineHull[float64], run32: affineHull[float32],
		launch: launchAffineHull,
		cases: func(s *sampler) []Case {
			in := []Operand{s.normal(big, 5), s.normal(small, 3), s.positive(1, 3), s.positive(small, 6)}
			far := []Operand{s.normal(big, 5), s.normal(small, 3), s.positive(1, 3), s.positive(small, 6)}
			far[0].Scale(100, far[0].Dense)
			distant := applied("AffineHull, far away", AffineHull(), 1e4, far...)
			distant.Double = true
			return []Case{applied("AffineHull", AffineHull(), 100, in...), distant}
		},
	}}
}

// hullShape checks the operands of AffineHull and returns the shape of Z.
func hullShape(in []tensor.Shape) (tensor.Shape, error) {
	z, x, w, b := in[0], in[1], in[2], in[3]
	switch {
	case x[1] > z[1]:
		return nil, fmt.Errorf("samples of %d dimensions for queries of %d", x[1], z[1])
	case w[0] != 1 || w[1] != x[1]:
		return nil, fmt.Errorf("weights %v for samples of %d dimensions, want 1×%[2]d", w, x[1])
	case b[0] != x[0] || b[1] != z[1]+1:
		return nil, fmt.Errorf("solutions %v for %d samples and queries of %d dimensions, want %[2]d×%d", b, x[0], z[1],
			z[1]+1)
	}
	return z.Clone(), nil
}

// affineHull is the CPU kernel of AffineHull. With u = w∘z the scaled query,
//
//	−½|u−x|² = −½|u|² + (u·x − ½|x|²),
//
// and the first term is the same for a whole row: it cancels in O. The second term is one
// product of [u, 1] with [x, −½|x|²], whose absolute error, about the unit of roundoff
// times |x|², is a relative one of the kernel value.
func affineHull[T cpublas.Float](c call[T]) error {
	h := newHull(c)
	compute, tile := h.byRows, hullTile
	if p := h.panels(); p != nil {
		width := p.samples.Width()
		compute, tile = p.compute, (hullTile+width-1)/width*width
	}
	return c.pool.For(context.Background(), h.z.rows, tile, func(lo, hi int) error {
		compute(lo, hi)
		return nil
	})
}

// hullOf is a call of affineHull.
type hullOf[T cpublas.Float] struct {
	z, b, out matrix[T]
	w, rows   []T     // rows are [x, −½|x|²], n×(d+1)
	n, d      int     // of the samples
	least     float64 // a sum of memberships is above it
}

func newHull[T cpublas.Float](c call[T]) *hullOf[T] {
	x, b := c.in[1], c.in[3]
	h := &hullOf[T]{z: c.in[0], b: b, out: c.out, w: c.in[2].data, rows: withHalfSquares(x), n: x.rows, d: x.cols}
	// No element of a row of kernel values is above one.
	h.least = safety(isSingle[T]()) * (math.Sqrt(float64(h.n)) * columnNorm(b, b.cols-1))
	return h
}

// scale writes [u, 1] of q queries from lo on, whose elements are distances of a query and of a
// coordinate apart.
func (h *hullOf[T]) scale(lo, q int, to []T, query, coordinate int) {
	for i := range q {
		row := h.z.row(lo + i)
		for j := range h.d {
			to[i*query+j*coordinate] = h.w[j] * row[j]
		}
		to[i*query+h.d*coordinate] = 1
	}
}

// byRows computes the queries from lo to before hi by products of any kernels.
func (h *hullOf[T]) byRows(lo, hi int) {
	q, n, k, cols := hi-lo, h.n, h.d+1, h.b.cols
	scratch := borrow[T](q * (k + n + cols))
	defer release(scratch)
	u, e, a := (*scratch)[:q*k], (*scratch)[q*k:q*(k+n)], (*scratch)[q*(k+n):]
	h.scale(lo, q, u, k, 1)
	// u·x − ½|x|²: ½|u|² is the same for a whole row and drops out.
	cpublas.Gemm(blas.NoTrans, blas.Trans, q, n, k, 1, u, k, h.rows, k, 0, e, n)
	for i := range q {
		relativeExp(e[i*n : (i+1)*n])
	}
	cpublas.Gemm(blas.NoTrans, blas.NoTrans, q, cols, n, 1, e, n, h.b.data, cols, 0, a, cols)
	for i := range q {
		from := a[i*cols : (i+1)*cols]
		h.normalise(h.out.row(lo+i), from, from[cols-1])
	}
}

// hullPanels computes queries in panels, whose products our kernels take without a copy for each
// tile: a query is a column of a panel.
type hullPanels[T cpublas.Float] struct {
	*hullOf[T]
	samples, solutions *panel.Left[T]
}

// panels is nil for other kernels than ours, and where there are few queries: the copies that are
// made once cost more than they spare then.
func (h *hullOf[T]) panels() *hullPanels[T] {
	if h.z.rows < 2*hullTile {
		return nil
	}
	samples := cpublas.NewLeft(blas.NoTrans, h.n, h.d+1, h.rows, h.d+1)
	if samples == nil {
		return nil
	}
	return &hullPanels[T]{h, samples, cpublas.NewLeft(blas.Trans, h.b.cols, h.n, h.b.data, h.b.cols)}
}

// compute has the bits of byRows.
func (h *hullPanels[T]) compute(lo, hi int) {
	width, k, cols := h.samples.Width(), h.d+1, h.b.cols
	panels := (hi - lo + width - 1) / width
	scaled, kernel, sums := k*width, h.samples.Rows()*width, h.solutions.Rows()*width
	scratch := borrow[T](panels*(scaled+kernel+sums) + width)
	defer release(scratch)
	largest, u := (*scratch)[:width], (*scratch)[width:][:panels*scaled]
	e, a := (*scratch)[width+len(u):][:panels*kernel], (*scratch)[width+len(u)+panels*kernel:]
	clear(u) // the last panel may have fewer queries
	for p := range panels {
		h.scale(lo+p*width, min(width, hi-lo-p*width), u[p*scaled:(p+1)*scaled], 1, width)
	}
	// As in byRows, with the samples as rows.
	h.samples.Multiply(panels, u, scaled, e)
	for p := range panels {
		one := e[p*kernel : (p+1)*kernel]
		h.samples.Largest(h.n, one, largest)
		vector.ExpBelow(one[:h.n*width], largest)
	}
	h.solutions.Multiply(panels, e, kernel, a)
	for p := range panels {
		at, of := lo+p*width, a[p*sums:(p+1)*sums]
		q := min(width, hi-at)
		panel.Transpose(cols-1, q, of, width, h.out.data[at*h.out.cols:], h.out.cols)
		for i := range q {
			out := h.out.row(at + i)
			h.normalise(out, out, of[(cols-1)*width+i])
		}
	}
}

// normalise divides a row by its sum of memberships, or makes it NaN.
func (h *hullOf[T]) normalise(out, from []T, total T) {
	sum := float64(total)
	if !(sum > h.least) {
		for j := range out {
			out[j] = T(math.NaN())
		}
		return
	}
	scale := T(1 / sum)
	for j := range out {
		out[j] = from[j] * scale
	}
}

// withHalfSquares returns the rows [x, −½|x|²], n×(d+1).
// The squares add up in float64 and are rounded once.
func withHalfSquares[T cpublas.Float](x matrix[T]) []T {
	out := make([]T, x.rows*(x.cols+1))
	for i := range x.rows {
		to := out[i*(x.cols+1) : (i+1)*(x.cols+1)]
		s := 0.0
		for j, v := range x.row(i) {
			to[j] = v
			s += float64(v) * float64(v)
		}
		to[x.cols] = T(-s / 2)
	}
	return out
}

// relativeExp overwrites a row by its exponentials, divided by the largest. It subtracts the
// largest exponent before it exponentiates, as log-sum-exp does: far away from all samples
// every exponential underflows, but the ratios of the nearest samples do not. Ratios below the
// smallest normal number are zero.
func relativeExp[T cpublas.Float](row []T) { vector.ScaledExp(row, row, vector.Max(row), 1, 1) }

// columnNorm is the Euclidean norm of column j, summed in float64.
func columnNorm[T cpublas.Float](a matrix[T], j int) float64 {
	s := 0.0
	for i := range a.rows {
		v := float64(a.data[i*a.cols+j])
		s += v * v
	}
	return math.Sqrt(s)
}

// hullBytes bounds the kernel values that a device holds at a time. It must not
// depend on the memory that is free: cuBLAS may sum in another order for another
// number of queries.
const hullBytes = 128 << 20

// launchAffineHull works on a part of the queries at a time: two products with
// everything between them in place.
// Tiles follow from N alone: as on the host, the bits of a query do not depend on how
// much memory the device has left.
func launchAffineHull(t Stream) {
	z, x, w, b := t.In(0), t.In(1), t.In(2), t.In(3)
	n, d := x.Rows, x.Cols
	least, half := t.Doubles(1), t.Scratch(n, 1)
	t.Launch(kernels.HullSafety{B: b, N: n, Cols: b.Cols, Share: safety(t.Single()), Out: least})
	t.Launch(kernels.HalfSquares{X: x, Rows: n, Cols: d, Out: half})
	element := 8
	if t.Single() {
		element = 4
	}
	tile := min(z.Rows, max(1, hullBytes/(n*element)))
	u, k, a := t.Scratch(tile, d), t.Scratch(tile, n), t.Scratch(tile, b.Cols)
	for lo := 0; lo < z.Rows; lo += tile {
		q := min(tile, z.Rows-lo)
		queries, out := t.Part(z, lo*z.Cols, q, z.Cols), t.Part(t.Out(), lo*z.Cols, q, z.Cols)
		t.Launch(kernels.HullQueries{Z: queries, W: w, Rows: q, C: z.Cols, D: d, Out: u})
		t.Gemm(blas.NoTrans, blas.Trans, q, n, d, 1, u, x, k)
		t.Launch(kernels.HullExponentials{K: k, Half: half, Rows: q, N: n})
		t.Gemm(blas.NoTrans, blas.NoTrans, q, b.Cols, n, 1, k, b, a)
		t.Launch(kernels.HullNormalise{A: a, Safety: least, Rows: q, C: z.Cols, Out: out})
	}
}
