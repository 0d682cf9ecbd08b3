package process

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/linalg"
)

// rangeTolerance is the factor in the threshold of the numerical range of a positive semi-definite
// n×n matrix: an eigenvalue belongs to it if it exceeds rangeTolerance · n · ε · the largest
// eigenvalue, with ε the spacing of the numbers at 1. Smaller ones are rounding.
const rangeTolerance = 10

// numericalRange is U diag(λ) Uᵀ, a positive semi-definite matrix restricted to its numerical
// range.
type numericalRange struct {
	engine *engine.Engine
	u      *mat.Dense // n×r, orthonormal columns; nil for r = 0
	values []float64  // r, λ
}

// rangeOf returns the numerical range of a symmetric matrix. The eigenvectors of
// eigenvalues beyond rounding; it takes about 9n³ operations.
func rangeOf(e *engine.Engine, a *mat.Dense, epsilon float64) (*numericalRange, error) {
	values, vectors, err := spectrum(e, a)
	if err != nil {
		return nil, err
	}
	return rangeOfSpectrum(e, values, vectors, epsilon), nil
}

// spectrum returns the eigenvalues, ascending, and the eigenvectors as columns.
func spectrum(e *engine.Engine, a *mat.Dense) (values []float64, vectors *mat.Dense, err error) {
	if values, vectors, err = linalg.Eigen(e, mat.DenseCopyOf(Symmetric(a))); err != nil {
		return nil, nil, fmt.Errorf("eigen-decomposition of a covariance: %w", err)
	}
	return values, vectors, nil
}

// rangeOfSpectrum is the range of the matrix with these eigenvalues, ascending, and
// eigenvectors.
func rangeOfSpectrum(e *engine.Engine, values []float64, vectors *mat.Dense, epsilon float64) *numericalRange {
	n := len(values)
	r := rank(values, epsilon)
	if r == 0 {
		return &numericalRange{engine: e}
	}
	return &numericalRange{e, mat.DenseCopyOf(vectors.Slice(0, n, n-r, n)), values[n-r:]}
}

// root is the upper triangular R, r×r, with RᵀR = diag(λ) + UᵀΣU, for a positive semi-definite Σ
// (nil: none): the covariance of the released data in the range. It is computed of square roots of
// both terms, so that directions without noise keep their digits next to directions with much. Σ is
// restricted to its numerical range, too.
//
// It is the R of a QR factorisation of diag(√λ) above Σ^½U: forming RᵀR and its Cholesky factor
// would square the condition number, and directions with a variance below epsilon of the largest
// would be lost.
func (s *numericalRange) root(sigma mat.Matrix, epsilon float64) (mat.Triangular, error) {
	r := len(s.values)
	rows := mat.NewDense(r, r, nil)
	for i, v := range s.values {
		rows.Set(i, i, math.Sqrt(v))
	}
	if sigma != nil {
		noise, err := rangeOf(s.engine, mat.DenseCopyOf(sigma), epsilon)
		if err != nil {
			return nil, err
		}
		if k := len(noise.values); k > 0 {
			var b mat.Dense // k×r
			b.Mul(noise.u.T(), s.u)
			for i, v := range noise.values {
				floats.Scale(math.Sqrt(v), b.RawRowView(i))
			}
			var both mat.Dense
			both.Stack(rows, &b)
			rows = &both
		}
	}
	var qr mat.QR
	qr.Factorize(rows)
	var upper mat.Dense
	qr.RTo(&upper)
	t := mat.NewTriDense(r, mat.Upper, nil)
	for i := range r {
		for j := i; j < r; j++ {
			t.SetTri(i, j, upper.At(i, j))
		}
	}
	return t, nil
}

// solve returns (U diag(λ) Uᵀ + Σ)⁺ b in the range. b is n×m. With U = s.u it is U
// R⁻¹R⁻ᵀ Uᵀ b.
func (s *numericalRange) solve(sigma mat.Matrix, b *mat.Dense, epsilon float64) (*mat.Dense, error) {
	root, err := s.root(sigma, epsilon)
	if err != nil {
		return nil, err
	}
	var x, y, z, out mat.Dense
	x.Mul(s.u.T(), b)
	if err := y.Solve(root.T(), &x); err != nil && !isCondition(err) {
		return nil, err
	}
	if err := z.Solve(root, &y); err != nil && !isCondition(err) {
		return nil, err
	}
	out.Mul(s.u, &z)
	return &out, nil
}

// explained returns the squares |R⁻ᵀUᵀk|² of the columns k of cross: the prior variances
// less these are the predictive ones. As a sum of squares it is never negative.
func (s *numericalRange) explained(sigma mat.Matrix, cross *mat.Dense, epsilon float64) ([]float64, error) {
	root, err := s.root(sigma, epsilon)
	if err != nil {
		return nil, err
	}
	var x, y mat.Dense
	x.Mul(s.u.T(), cross)
	if err := y.Solve(root.T(), &x); err != nil && !isCondition(err) {
		return nil, err
	}
	_, m := cross.Dims()
	out := make([]float64, m)
	for j := range out {
		c := y.ColView(j)
		out[j] = mat.Dot(c, c)
	}
	return out, nil
}

// isCondition reports whether gonum only warns of a large condition number, which
// triangles of square roots have by design.
func isCondition(err error) bool {
	var c mat.Condition
	return errors.As(err, &c)
}
