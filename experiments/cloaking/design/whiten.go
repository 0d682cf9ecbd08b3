package design

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/linalg"
)

// Relative sizes below which singular values count as rounding: the 0.6th power of the machine
// epsilon, so that the kept ones are accurate to six digits in float64 and to three in float32.
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

// Whiten decomposes matrices c (P×N each) at the given rank, or at [FullRank], the number of
// singular values above tolerance times the largest, which no given rank may exceed. The choice
// uses the matrices alone, which depend on public inputs. All are one run of the engine's, or one
// for each size class, in float64; a matrix has the same range alone and among others.
//
// It fails with a *[MatrixError] for a matrix that is empty, zero or not finite, and for a rank
// that it does not have, and with the context's error.
//
// Equal columns are taken together, and so are equal rows. That removes repetitions, which are much
// of a cloaking matrix, and gives equal columns equal coordinates, in every bit.
func Whiten(ctx context.Context, e *engine.Engine, cs []*mat.Dense, rank int, tolerance float64) ([]*Range, error) {
	rows, columns := make([]groups, len(cs)), make([]groups, len(cs))
	distinct := make([]*mat.Dense, len(cs))
	err := e.ParallelFor(ctx, len(cs), 1, func(i, _ int) error {
		if err := checkMatrix(cs[i]); err != nil {
			return &MatrixError{i, len(cs), err}
		}
		rows[i], columns[i] = equalRows(cs[i]), equalColumns(cs[i])
		distinct[i] = weighted(cs[i], rows[i], columns[i])
		return nil
	})
	if err != nil {
		return nil, err
	}
	found, err := linalg.LeftSingular(ctx, e, distinct)
	if err != nil {
		return nil, err
	}
	ranges := make([]*Range, len(cs))
	err = e.ParallelFor(ctx, len(cs), 1, func(i, _ int) error {
		err := found[i].Err
		if err == nil {
			ranges[i], err = whitened(distinct[i], found[i], rows[i], columns[i], rank, tolerance)
		}
		if err != nil {
			return &MatrixError{i, len(cs), err}
		}
		return nil
	})
	return ranges, err
}

// MatrixError is the failure of one of several cloaking matrices, counted from 0.
type MatrixError struct {
	Matrix, Of int
	Err        error
}

// Error implements error.
func (e *MatrixError) Error() string {
	if e.Of == 1 {
		return e.Err.Error()
	}
	return fmt.Sprintf("cloaking matrix %d of %d: %v", e.Matrix+1, e.Of, e.Err)
}

// Unwrap is the error without the number of the matrix.
func (e *MatrixError) Unwrap() error { return e.Err }

// checkMatrix checks the size and the elements of a cloaking matrix.
func checkMatrix(c *mat.Dense) error {
	p, n := c.Dims()
	if p == 0 || n == 0 {
		return fmt.Errorf("the cloaking matrix is empty (%d×%d)", p, n)
	}
	for i := range p {
		for j, v := range c.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("the cloaking matrix is not finite: entry (%d, %d) is %v", i, j, v)
			}
		}
	}
	return nil
}

// whitened returns the range of a matrix with sets of equal rows and columns, from the distinct
// ones, w, and their decomposition.
func whitened(w *mat.Dense, found linalg.Singular, rows, columns groups, rank int, tolerance float64) (*Range, error) {
	p, n := len(rows.of), len(columns.of)
	rank, err := chooseRank(found.Values, rank, tolerance, p, n)
	if err != nil {
		return nil, err
	}
	r := &Range{distinct: columns.first, Scale: found.Values[:rank:rank], U: mat.NewDense(p, rank, nil),
		B: mat.NewDense(rank, n, nil)}
	if rank < len(found.Values) {
		r.Dropped = found.Values[rank]
	}
	var b mat.Dense // of the distinct columns: diag(Scale)⁻¹ Uᵀ W, over the roots of their sizes
	left := found.Left.Slice(0, len(rows.first), 0, rank)
	b.Mul(left.T(), w)
	root := columns.roots()
	for i, s := range r.Scale {
		src, dst := b.RawRowView(i), r.B.RawRowView(i)
		for j, set := range columns.of {
			dst[j] = src[set] / (s * root[set])
		}
	}
	root = rows.roots()
	for i, set := range rows.of {
		dst := r.U.RawRowView(i)
		for j := range dst {
			dst[j] = left.At(set, j) / root[set]
		}
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
	if len(values) == 0 || values[0] <= 0 {
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
func (r *Range) Columns(at []int) *mat.Dense { return SelectColumns(r.B, at) }

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

// vector returns the BLAS vector of contiguous values.
func vector(values []float64) blas64.Vector {
	return blas64.Vector{N: len(values), Inc: 1, Data: values}
}
