package design

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Relative sizes below which singular values count as rounding: the 0.6th power
// of the machine epsilon, so that what is kept is known to six digits in
// float64 and to three in float32.
const (
	Tolerance64 = 4e-10
	Tolerance32 = 7e-5
)

// FullRank stands for the numerical rank in [Whiten].
const FullRank = 0

// Range is a cloaking matrix in the whitened coordinates of its range.
type Range struct {
	// U holds orthonormal columns, P×r; Scale the r singular values, largest
	// first. The released prediction is U·Uᵀ·C·y.
	U     *mat.Dense
	Scale []float64
	// B is r×N: b_i = diag(Scale)⁻¹ Uᵀ c_i.
	B *mat.Dense
	// Dropped is the largest singular value that is left out, 0 for none.
	Dropped float64

	distinct []int // the first of every set of equal columns of C
}

// Whiten decomposes c (P×N) at the given rank, or at [FullRank], the number of
// singular values above tolerance times the largest, which no given rank may
// exceed. The choice uses c alone, which depends on public inputs.
//
// It returns an error for an empty matrix, one that is zero or not finite, and
// for a rank that the matrix does not have.
func Whiten(c *mat.Dense, rank int, tolerance float64) (*Range, error) {
	p, n := c.Dims()
	if p == 0 || n == 0 {
		return nil, fmt.Errorf("the cloaking matrix is empty (%d×%d)", p, n)
	}
	for i := range p {
		for j, v := range c.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("the cloaking matrix is not finite: entry (%d, %d) is %v", i, j, v)
			}
		}
	}
	columns := equalColumns(c)
	u, values, err := leftSingular(c, equalRows(c), columns)
	if err != nil {
		return nil, err
	}
	if rank, err = chooseRank(values, rank, tolerance, p, n); err != nil {
		return nil, err
	}
	r := &Range{distinct: columns.first, U: mat.DenseCopyOf(u.Slice(0, p, 0, rank)), Scale: values[:rank:rank]}
	if rank < len(values) {
		r.Dropped = values[rank]
	}
	r.B = new(mat.Dense)
	r.B.Mul(r.U.T(), c)
	for i, s := range r.Scale {
		blas64.Scal(1/s, blas64.Vector{N: n, Inc: 1, Data: r.B.RawRowView(i)})
	}
	return r, nil
}

// FromSpectrum is [Whiten] for a symmetric positive semidefinite N×N matrix that
// is given by its eigenvalues in descending order and its eigenvectors, the rows
// of the k×N matrix vectors: those are U and B in one. Eigenvalues that are not
// given are zero. B keeps the vectors' columns as they are, so that columns made
// exactly equal share one weight.
func FromSpectrum(values []float64, vectors *mat.Dense, rank int, tolerance float64) (*Range, error) {
	k, n := vectors.Dims()
	if len(values) != k || k > n {
		return nil, fmt.Errorf("%d eigenvalues with %d eigenvectors of length %d", len(values), k, n)
	}
	if math.IsNaN(values[0]) || math.IsInf(values[0], 0) {
		return nil, fmt.Errorf("the cloaking matrix is not finite: its largest eigenvalue is %v", values[0])
	}
	rank, err := chooseRank(values, rank, tolerance, n, n)
	if err != nil {
		return nil, err
	}
	r := &Range{Scale: values[:rank:rank], B: mat.DenseCopyOf(vectors.Slice(0, rank, 0, n))}
	r.U = mat.DenseCopyOf(r.B.T())
	r.distinct = equalColumns(r.B).first
	if rank < k {
		r.Dropped = max(0, values[rank])
	}
	return r, nil
}

// chooseRank returns the rank that is asked for, or the numerical one of a p×n
// matrix with these singular values, largest first.
func chooseRank(values []float64, rank int, tolerance float64, p, n int) (int, error) {
	if values[0] <= 0 {
		return 0, fmt.Errorf("the cloaking matrix is zero: no prediction depends on the data, and nothing needs protection")
	}
	numerical := 0
	for numerical < len(values) && values[numerical] > tolerance*values[0] {
		numerical++
	}
	switch {
	case rank == FullRank:
		return numerical, nil
	case rank < 1 || rank > numerical:
		return 0, fmt.Errorf("rank %d: the cloaking matrix (%d×%d) has numerical rank %d; use 1 to %[4]d or full",
			rank, p, n, numerical)
	}
	return rank, nil
}

// Distinct returns the index of the first of every set of equal columns of C.
// Equal columns share one weight, which this one carries. The caller must not
// change it.
func (r *Range) Distinct() []int { return r.distinct }

// Columns copies the columns of B at the given places, in that order.
func (r *Range) Columns(at []int) *mat.Dense { return selectColumns(r.B, at) }

// Project returns U·Uᵀ·f, the part of the predictions f = Cy (length P) that is
// released.
func (r *Range) Project(f []float64) []float64 {
	_, k := r.U.Dims()
	raw := r.U.RawMatrix()
	coefficients, out := make([]float64, k), make([]float64, len(f))
	blas64.Gemv(blas.Trans, 1, raw, vector(f), 0, vector(coefficients))
	blas64.Gemv(blas.NoTrans, 1, raw, vector(coefficients), 0, vector(out))
	return out
}

// Labels returns Bᵀw for each column w of whitened coordinates (r×D), an N×D
// matrix: where w is By with noise, the training outputs as a release of the range
// shows them. C times it is the released prediction, UUᵀCy and its noise; y's part
// outside of the range is gone, and C does not see it.
//
// The rows of B are orthonormal where B comes from [Whiten].
func (r *Range) Labels(w *mat.Dense) *mat.Dense {
	out := new(mat.Dense)
	out.Mul(r.B.T(), w)
	return out
}

// Predictions returns U·diag(Scale)·w for each column w of whitened coordinates
// (r×D), a P×D matrix: where w is By with noise, the released predictions UUᵀCy
// with their noise.
func (r *Range) Predictions(w *mat.Dense) *mat.Dense {
	scaled := mat.DenseCopyOf(w)
	for i, s := range r.Scale {
		row := scaled.RawRowView(i)
		for j := range row {
			row[j] *= s
		}
	}
	out := new(mat.Dense)
	out.Mul(r.U, scaled)
	return out
}

// Coordinates returns By + e for each column e of noise (r×D).
func (r *Range) Coordinates(y []float64, noise *mat.Dense) *mat.Dense {
	k, draws := noise.Dims()
	by := make([]float64, k)
	blas64.Gemv(blas.NoTrans, 1, r.B.RawMatrix(), vector(y), 0, vector(by))
	w := mat.DenseCopyOf(noise)
	for i, v := range by {
		row := w.RawRowView(i)
		for j := range draws {
			row[j] += v
		}
	}
	return w
}

// vector is what BLAS takes for values that lie side by side.
func vector(values []float64) blas64.Vector {
	return blas64.Vector{N: len(values), Inc: 1, Data: values}
}
