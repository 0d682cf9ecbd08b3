// Package jacobi computes singular values with an error relative to each of them, not to the
// largest, for every matrix DA with a diagonal D and a well-conditioned A. A Gram matrix loses
// singular values below √ε of the largest, and methods with a bidiagonal matrix lose those below
// ε of the largest.
package jacobi

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"privkern/graphs/simd/vector"
)

// ErrNotFinite is returned for a matrix with NaN or infinities.
var ErrNotFinite = errors.New("the matrix is not finite")

// ErrNoConvergence is returned where rows are not orthogonal after maxSweeps sweeps.
var ErrNoConvergence = errors.New("the singular value decomposition did not converge")

const (
	// negligible is the norm of a remainder, relative to the largest row, below which it is
	// rounding: all remainders of m rows together change a singular value by at most m·2⁻⁵⁶ of the
	// largest.
	negligible = 0x1p-56
	// maxSweeps bounds the sweeps of Jacobi's method, which takes five to ten.
	maxSweeps = 60
	// lanes is the number of elements to a multiple of which rows are padded by zeros, so that vector
	// kernels have no remainder.
	lanes = 32
)

// Left writes the singular values of the row-major m×n matrix a, largest first, to values, of
// length min(m, n), and the left singular vectors to the rows of vectors, min(m, n)×m. It returns
// the rank, the number of singular values that are not rounding; later values and vectors are
// zero. The first of the largest elements of a vector is positive.
//
// The factor L (m×k) of a pivoted A = LV, with orthonormal rows of V, has the singular values and
// left vectors of A. Jacobi's rotations of the columns of L converge to UΣ. Pivoting grades the
// columns; then the method is accurate for small singular values as well, and takes few sweeps
// (Drmač and Veselić, "New fast and accurate Jacobi SVD algorithm", SIAM Journal on Matrix
// Analysis and Applications 29, 2008). The factor takes up to 3mnk operations, and each of five
// to ten sweeps up to 4mk².
//
// Left calls ended before every sweep and every few rows, and returns its error.
func Left(m, n int, a []float64, values, vectors []float64, ended func() error) (rank int, err error) {
	clear(values)
	clear(vectors)
	w, exponent, err := scaled(m, n, a)
	if err != nil || w == nil {
		return 0, err
	}
	t, err := pivoted(w, min(m, n), ended)
	if err != nil {
		return 0, err
	}
	if err := orthogonalise(t, m, ended); err != nil {
		return 0, err
	}
	lengths, order := make([]float64, t.rows), make([]int, t.rows)
	for i := range order {
		order[i], lengths[i] = i, math.Sqrt(vector.Dot(t.row(i), t.row(i)))
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(lengths[j], lengths[i]) })
	for i, from := range order {
		values[i] = math.Ldexp(lengths[from], exponent)
		row := t.row(from)[:m]
		length := math.Copysign(lengths[from], leading(row))
		for j, v := range row {
			vectors[i*m+j] = v / length
		}
	}
	return t.rows, nil
}

// leading returns the first element whose absolute value is the largest to six digits, so that
// signs do not depend on rounding.
func leading(v []float64) float64 {
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(x))
	}
	return v[slices.IndexFunc(v, func(x float64) bool { return math.Abs(x) >= largest*(1-1e-6) })]
}

// rows is a row-major matrix whose rows are padded by zeros to a multiple of lanes.
type rows struct {
	rows, stride int
	data         []float64
}

func newRows(n, length int) rows {
	stride := (length + lanes - 1) / lanes * lanes
	return rows{rows: n, stride: stride, data: make([]float64, n*stride)}
}

func (r *rows) row(i int) []float64 { return r.data[i*r.stride : (i+1)*r.stride] }

// scaled returns a·2^−exponent with elements of at most 1 in absolute value, so that squares neither
// overflow nor vanish; nil for a matrix of zeros.
func scaled(m, n int, a []float64) (w *rows, exponent int, err error) {
	largest := 0.0
	for _, v := range a[:m*n] {
		if math.IsNaN(v) {
			return nil, 0, ErrNotFinite
		}
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return nil, 0, nil
	}
	if math.IsInf(largest, 0) {
		return nil, 0, ErrNotFinite
	}
	_, exponent = math.Frexp(largest)
	exponent = max(exponent, -1000) // 2¹⁰⁰⁰ is finite
	all := newRows(m, n)
	for i := range m {
		vector.Scal(all.row(i), math.Ldexp(1, -exponent), a[i*n:(i+1)*n])
	}
	return &all, exponent, nil
}
