package op

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
)

// hullTile is the number of queries whose kernel values are held at a time:
// with a thousand samples they stay in the second-level cache between the
// exponentials and the product that reads them.
const hullTile = 128

// hullSafety is the share of √N·‖b‖, a bound on kᵀb, below which a sum of
// memberships counts as not safely positive: what is left may be rounding.
const (
	hullSafety64 = 1e-10
	hullSafety32 = 1e-4
)

// AffineHull is the fused operation (Z, X, w, B) → O of a kernel affine hull
// machine (Kumar, Moser and Fischer, Definition 1, Eqs. 33, 35 and 38):
//
//	k_ij = exp(−½ Σ_a (w_a z_ia − x_ja)²),  o_i = k_iᵀ B' / k_iᵀ b.
//
// Z (q×c, c ≥ d) holds queries, of which the first d columns enter the kernel;
// X (N×d) the encoded samples, already scaled; w (1×d) the scale of each
// column; B = [B' b] (N×(c+1)) the solutions of the regularised least squares
// problem, whose last column b = (K+λI)⁻¹1 gives the sum of memberships. O is
// q×c: a point of the affine hull in the coordinates of Z, so that machines
// can be nested.
//
// Kernel values are divided by the largest of their row, which leaves O as it
// is and avoids 0/0 far away from all samples. A row whose sum of memberships
// is not safely positive, which is to say above what rounding may leave of
// cancelling terms, is NaN: the paper's claim that the sum is positive (Eq.
// 148) does not hold.
func AffineHull() Op {
	d := &definition{name: "AffineHull", in: []int{2, 2, 2, 2}, out: 2, shape: hullShape}
	return Op{d.kernels(affineHull[float64], affineHull[float32])}
}

func hullShape(in []tensor.Shape) (tensor.Shape, error) {
	z, x, w, b := in[0], in[1], in[2], in[3]
	switch {
	case x[1] > z[1]:
		return nil, fmt.Errorf("samples of %d dimensions for queries of %d", x[1], z[1])
	case w[0] != 1 || w[1] != x[1]:
		return nil, fmt.Errorf("weights %v for samples of %d dimensions, want 1×%[2]d", w, x[1])
	case b[0] != x[0] || b[1] != z[1]+1:
		return nil, fmt.Errorf("solutions %v for %d samples and queries of %d dimensions, want %[2]d×%d", b, x[0], z[1], z[1]+1)
	}
	return z.Clone(), nil
}

func affineHull[T cpublas.Float](c call[T]) error {
	z, x, w, b := c.in[0], c.in[1], c.in[2].data, c.in[3]
	n, d, cols := x.rows, x.cols, b.cols
	samples := withHalfSquares(x)
	safety := hullSafety64
	if isSingle[T]() {
		safety = hullSafety32
	}
	// No element of a row of kernel values is above one.
	safety *= math.Sqrt(float64(n)) * columnNorm(b, cols-1)
	return c.pool.For(context.Background(), z.rows, hullTile, func(lo, hi int) error {
		q := hi - lo
		scratch := borrow[T](q * (d + 1 + n + cols))
		defer release(scratch)
		u, k, a := (*scratch)[:q*(d+1)], (*scratch)[q*(d+1):q*(d+1+n)], (*scratch)[q*(d+1+n):]
		for i := range q {
			row, to := z.row(lo+i), u[i*(d+1):(i+1)*(d+1)]
			for j := range d {
				to[j] = w[j] * row[j]
			}
			to[d] = 1
		}
		// u·x − ½|x|²: ½|u|² is the same for a whole row and drops out.
		cpublas.Gemm(blas.NoTrans, blas.Trans, q, n, d+1, 1, u, d+1, samples, d+1, 0, k, n)
		for i := range q {
			relativeExp(k[i*n : (i+1)*n])
		}
		cpublas.Gemm(blas.NoTrans, blas.NoTrans, q, cols, n, 1, k, n, b.data, cols, 0, a, cols)
		for i := range q {
			out, from := c.out.row(lo+i), a[i*cols:(i+1)*cols]
			sum := float64(from[cols-1])
			if !(sum > safety) {
				for j := range out {
					out[j] = T(math.NaN())
				}
				continue
			}
			scale := T(1 / sum)
			for j := range out {
				out[j] = from[j] * scale
			}
		}
		return nil
	})
}

// withHalfSquares returns the rows [x, −½|x|²], n×(d+1).
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

// relativeExp overwrites a row by its exponentials, divided by the largest.
func relativeExp[T cpublas.Float](row []T) {
	switch row := any(row).(type) {
	case []float64:
		largest := slices.Max(row)
		for j, v := range row {
			row[j] = math.Exp(v - largest)
		}
	case []float32:
		expRow(row, maxRow(row))
	}
}

func columnNorm[T cpublas.Float](a matrix[T], j int) float64 {
	s := 0.0
	for i := range a.rows {
		v := float64(a.data[i*a.cols+j])
		s += v * v
	}
	return math.Sqrt(s)
}

// RowDistance is the operation (A, B) → d, d_i = ‖a_i − b_i‖ over the columns
// from the given one on: A and B are q×c, d is q×1. A row that is not finite
// has distance +Inf.
func RowDistance(from int) Op {
	d := &definition{name: fmt.Sprintf("RowDistance(from=%d)", from), params: from, in: []int{2, 2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if !in[0].Eq(in[1]) || from < 0 || from >= in[0][1] {
				return nil, fmt.Errorf("rows %v and %v from column %d on", in[0], in[1], from)
			}
			return tensor.Shape{in[0][0], 1}, nil
		}}
	return Op{d.kernels(
		func(c call[float64]) error { return rowDistance(c, from) },
		func(c call[float32]) error { return rowDistance(c, from) })}
}

func rowDistance[T cpublas.Float](c call[T], from int) error {
	a, b := c.in[0], c.in[1]
	return c.pool.For(context.Background(), a.rows, hullTile, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			d := T(math.Sqrt(float64(squaredDistance(a.row(i)[from:], b.row(i)[from:]))))
			if d != d { // NaN
				d = T(math.Inf(1))
			}
			c.out.data[i] = d
		}
		return nil
	})
}
