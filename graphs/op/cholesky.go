package op

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/kernels"
	"privkern/graphs/parallel"
)

// The operations here read the lower triangle of a symmetric positive definite
// A, which must all the same be stored in full. They fail with a
// *NotPositiveDefiniteError.

// Cholesky is the operation A → L, lower triangular with zeros above the
// diagonal, A = L Lᵀ.
func Cholesky() Op {
	return Op{def: &definition{
		name: "Cholesky", in: []int{2}, out: 2, shape: square,
		run64: choleskyFactor[float64], run32: choleskyFactor[float32],
		launch: func(t Stream) { factorOn(t, t.In(0), kernels.Matrix{}, t.Out()) },
		diff:   []bool{true},
		sym: func(f *formula, _ gorgonia.Nodes, out, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{f.apply(choleskyGradient(), out, grad)}
		},
		cases: func(s *sampler) []Case {
			return []Case{
				applied("Cholesky", Cholesky(), 100, s.definite(big)),
				derived("Cholesky, derivative", Cholesky(), 0, 1000, s.definite(small)),
			}
		},
	}}
}

// choleskyFactor is the CPU kernel of Cholesky: n³/3 operations, in place of a copy of
// the lower triangle.
func choleskyFactor[T cpublas.Float](c call[T]) error {
	return factor(c.pool, c.in[0], c.out.data)
}

// CholeskyShifted is the operation (A, s) → L, lower triangular with zeros above the
// diagonal, A + sI = L Lᵀ, for a symmetric n×n A and a scalar s. It fails with a
// *NotPositiveDefiniteError.
//
// The shift is an operand, not a parameter: a loop over s builds one graph, and the
// shifted matrix is never stored in addition to A.
func CholeskyShifted() Op {
	return Op{def: &definition{
		name: "CholeskyShifted", in: []int{2, 0}, out: 2, shape: square,
		run64: choleskyShifted[float64], run32: choleskyShifted[float32],
		launch: func(t Stream) { factorOn(t, t.In(0), t.In(1), t.Out()) },
		cases: func(s *sampler) []Case {
			return []Case{applied("CholeskyShifted", CholeskyShifted(), 100, s.definite(small), s.scalar(0.5))}
		},
	}}
}

// choleskyShifted is the CPU kernel of CholeskyShifted.
func choleskyShifted[T cpublas.Float](c call[T]) error {
	return factorShifted(c.pool, c.in[0], c.in[1].data[0], c.out.data)
}

// factor writes the Cholesky factor of a to l, with zeros above the diagonal.
func factor[T cpublas.Float](pool *parallel.Pool, a matrix[T], l []T) error {
	return factorShifted(pool, a, 0, l)
}

// factorShifted writes the Cholesky factor of a + shift·I to l, with zeros above
// the diagonal.
// It is a *NotPositiveDefiniteError if a pivot is not positive, infinite or NaN. The
// upper triangle of l is cleared because callers read L as a full matrix.
func factorShifted[T cpublas.Float](pool *parallel.Pool, a matrix[T], shift T, l []T) error {
	n := a.rows
	err := pool.For(context.Background(), n, rowTile, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			copy(l[i*n:i*n+i+1], a.row(i))
			l[i*n+i] += shift
			clear(l[i*n+i+1 : (i+1)*n])
		}
		return nil
	})
	if err != nil {
		return err
	}
	failed, err := dense.Cholesky(pool, n, l, n)
	if err != nil {
		return err
	}
	// OpenBLAS lets a NaN pass.
	for i := 0; failed == 0 && i < n; i++ {
		if d := float64(l[i*n+i]); !(d > 0) || math.IsInf(d, 1) {
			failed = i + 1
		}
	}
	if failed == 0 {
		return nil
	}
	shifted := matrix[T]{n, n, make([]T, n*n)}
	for i := range n {
		copy(shifted.row(i), a.row(i))
		shifted.data[i*n+i] += shift
	}
	// The factorisation has overwritten l: the description starts from A again.
	return notPositiveDefinite(pool, shifted, failed-1)
}

// notPositiveDefinite describes the failure in a row: it eliminates that row
// once more in float64.
// With the leading block A₁₁ = L₁₁L₁₁ᵀ of order row, the pivot is the Schur complement a
// − ‖L₁₁⁻¹a₁‖² of the element a on the diagonal, where a₁ is the row to the left of it.
// Float64 is used also for a float32 matrix, because the difference of two nearly equal numbers
// decides between singular and indefinite.
func notPositiveDefinite[T cpublas.Float](pool *parallel.Pool, a matrix[T], row int) error {
	n := row + 1
	leading := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			leading[i*n+j] = float64(a.data[i*a.cols+j])
		}
	}
	e := &NotPositiveDefiniteError{Order: a.rows, Row: row, Diagonal: leading[n*n-1], Single: isSingle[T]()}
	last := leading[row*n : n*n-1]
	if row > 0 {
		k, err := dense.Cholesky(pool, row, leading, n)
		if err != nil {
			return err
		}
		if k != 0 {
			// A blocked factorisation may notice later than one row by row.
			return notPositiveDefinite(pool, a, k-1)
		}
		// The failure began in the first row that is singular but for rounding: pivots after
		// it are amplified rounding and may have any size.
		for i := range row {
			before := *e
			before.Row, before.Diagonal, before.Pivot = i, float64(a.data[i*a.cols+i]), leading[i*n+i]*leading[i*n+i]
			if before.Singular() {
				return &before
			}
		}
		cpublas.Trsm(blas.Left, blas.Lower, blas.NoTrans, row, 1, 1, leading, n, last, 1)
	}
	e.Pivot = e.Diagonal
	for _, v := range last {
		e.Pivot -= v * v
	}
	return e
}

// factorOn writes the Cholesky factor of a + shift·I to l, with zeros above the
// diagonal; the zero matrix stands for no shift.
// The strict upper triangle is zero before cuSOLVER factors the lower one, which leaves
// it alone. CheckFactor finds a diagonal that is NaN, infinite or not positive, which cuSOLVER
// does not report.
func factorOn(t Stream, a, shift, l kernels.Matrix) {
	n := a.Rows
	t.Launch(kernels.LowerShifted{A: a, Shift: shift, N: n, Out: l})
	failed := t.Failure()
	t.Potrf(l, failed)
	t.Launch(kernels.CheckFactor{L: l, N: n, Failed: failed})
}

// choleskyGradient is the operation (L, G) → ½(S+Sᵀ), S = L⁻ᵀ Φ(LᵀG) L⁻¹, where Φ takes
// the lower triangle and half the diagonal: the derivative by a symmetric A (Murray,
// "Differentiation of the Cholesky decomposition", 2016).
//
// The result is symmetric because A is: a change of a_ij is one of a_ji, too, and half
// of the derivative belongs to each. It costs one product and two triangular solves, 4n³
// operations, and no inverse of L, whose error would be that of L⁻¹ twice.
func choleskyGradient() Op {
	return Op{def: &definition{
		name: "CholeskyGradient", in: []int{2, 2}, out: 2, shape: square,
		run64: choleskyPullback[float64], run32: choleskyPullback[float32],
		launch: func(t Stream) {
			l, n := t.In(0), t.In(0).Rows
			lower := t.Scratch(n, n)
			t.Launch(kernels.LowerShifted{A: t.In(1), N: n, Out: lower})
			t.Gemm(blas.Trans, blas.NoTrans, n, n, n, 1, l, lower, t.Out())
			t.Launch(kernels.HalveDiagonal{A: t.Out(), N: n})
			t.Trsm(blas.Left, blas.Trans, l, t.Out())
			t.Trsm(blas.Right, blas.NoTrans, l, t.Out())
			t.Launch(kernels.Symmetrise{A: t.Out(), N: n})
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("CholeskyGradient", choleskyGradient(), 1000, s.lower(small), s.normal(small, small))}
		},
	}}
}

// choleskyPullback is the CPU kernel of choleskyGradient. L and G are n×n.
func choleskyPullback[T cpublas.Float](c call[T]) error {
	l, g, s := c.in[0].data, c.in[1], c.out.data
	n := c.in[0].rows
	lower := make([]T, n*n) // the derivative by the zeros above the diagonal has no part
	for i := range n {
		copy(lower[i*n:i*n+i+1], g.data[i*n:])
	}
	if err := dense.Gemm(c.pool, blas.Trans, blas.NoTrans, n, n, n, 1, l, n, lower, n, 0, s, n); err != nil {
		return err
	}
	for i := range n {
		s[i*n+i] /= 2
		clear(s[i*n+i+1 : (i+1)*n])
	}
	if err := dense.Trsm(c.pool, blas.Left, blas.Lower, blas.Trans, n, n, l, n, s, n); err != nil {
		return err
	}
	if err := dense.Trsm(c.pool, blas.Right, blas.Lower, blas.NoTrans, n, n, l, n, s, n); err != nil {
		return err
	}
	for i := range n {
		for j := range i {
			v := (s[i*n+j] + s[j*n+i]) / 2
			s[i*n+j], s[j*n+i] = v, v
		}
	}
	return nil
}

// CholeskySolve is the operation (L, B) → X, L Lᵀ X = B. L is n×n, B and X are
// n×m. It has no derivative; Solve has.
// It takes 2n²m operations, against n³/3 of the factor, which is why programs that solve
// repeatedly keep L.
func CholeskySolve() Op {
	return Op{def: &definition{
		name: "CholeskySolve", in: []int{2, 2}, out: 2, shape: solve,
		run64: choleskySolve[float64], run32: choleskySolve[float32],
		launch: func(t Stream) {
			t.Copy(t.Out(), t.In(1))
			substituteOn(t, t.In(0), t.Out())
		},
		cases: func(s *sampler) []Case {
			return []Case{
				applied("CholeskySolve", CholeskySolve(), 1000, s.lower(small), s.normal(small, 5)),
				applied("CholeskySolve, one column", CholeskySolve(), 1000, s.lower(small), s.normal(small, 1)),
			}
		},
	}}
}

// choleskySolve is the CPU kernel of CholeskySolve.
func choleskySolve[T cpublas.Float](c call[T]) error {
	copy(c.out.data, c.in[1].data)
	return substitute(c.pool, c.in[0].data, c.in[0].rows, c.out.data, c.out.cols)
}

// TriangularSolve is the operation (L, B) → X, L X = B. L is lower triangular, n×n, B
// and X are n×m. It takes n²m operations. For A = LLᵀ the quadratic form BᵀA⁻¹B is XᵀX,
// symmetric and without negative diagonal elements, which BᵀX of a CholeskySolve is not
// once A is ill-conditioned.
func TriangularSolve() Op {
	return Op{def: &definition{
		name: "TriangularSolve", in: []int{2, 2}, out: 2, shape: solve,
		run64: triangularSolve[float64], run32: triangularSolve[float32],
		launch: func(t Stream) {
			t.Copy(t.Out(), t.In(1))
			t.Trsm(blas.Left, blas.NoTrans, t.In(0), t.Out())
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("TriangularSolve", TriangularSolve(), 1000, s.lower(small), s.normal(small, 5))}
		},
	}}
}

// triangularSolve is the CPU kernel of TriangularSolve.
func triangularSolve[T cpublas.Float](c call[T]) error {
	copy(c.out.data, c.in[1].data)
	return dense.Trsm(c.pool, blas.Left, blas.Lower, blas.NoTrans, c.in[0].rows, c.out.cols, c.in[0].data, c.in[0].rows,
		c.out.data, c.out.cols)
}

// substitute solves L Lᵀ X = B in place of the n×m B.
func substitute[T cpublas.Float](pool *parallel.Pool, l []T, n int, b []T, m int) error {
	if err := dense.Trsm(pool, blas.Left, blas.Lower, blas.NoTrans, n, m, l, n, b, m); err != nil {
		return err
	}
	return dense.Trsm(pool, blas.Left, blas.Lower, blas.Trans, n, m, l, n, b, m)
}

// CholeskyLogDet is the operation L → log|L Lᵀ|.
//
// It is a sum of logarithms, not the logarithm of a product: the determinant itself
// leaves the range of float64 for a few hundred rows.
func CholeskyLogDet() Op {
	return Op{def: &definition{
		name: "CholeskyLogDet", in: []int{2}, out: 0, shape: squareToScalar,
		run64: choleskyLogDet[float64], run32: choleskyLogDet[float32],
		launch: func(t Stream) { logDetOn(t, t.In(0)) },
		cases: func(s *sampler) []Case {
			return []Case{applied("CholeskyLogDet", CholeskyLogDet(), 10, s.lower(big))}
		},
	}}
}

// choleskyLogDet is the CPU kernel of CholeskyLogDet.
func choleskyLogDet[T cpublas.Float](c call[T]) error {
	c.out.data[0] = T(logDet(c.in[0].data, c.in[0].rows))
	return nil
}

// logDet returns 2 Σ log l_ii in float64, for the n×n lower triangular l.
func logDet[T cpublas.Float](l []T, n int) float64 {
	s := 0.0
	for i := range n {
		s += math.Log(float64(l[i*n+i]))
	}
	return 2 * s
}

// logDetOn is log|L Lᵀ|.
func logDetOn(t Stream, l kernels.Matrix) {
	t.Launch(kernels.SumDiagonal{A: l, N: l.Rows, Logarithms: true, Out: t.Out()})
}

// NotPositiveDefiniteError is returned for a matrix without a Cholesky factor in the precision
// of the computation. The factorisation exists in exact arithmetic for every positive
// definite matrix; in floating point it is sure to run to its end if the smallest
// eigenvalue of the matrix, scaled to a unit diagonal, exceeds about Order² units of
// roundoff (Higham, "Accuracy and Stability of Numerical Algorithms", Theorem 10.7).
// Row, Diagonal and Pivot distinguish a matrix that is indefinite from one that rounding
// makes so.
type NotPositiveDefiniteError struct {
	Order int // the matrix is Order×Order
	// Row is the 0-based row at which the matrix ceases to be positive definite
	// in working precision: the leading Row×Row block is positive definite, the
	// next one is not, or cannot be distinguished from one that is not.
	Row int
	// Diagonal is the matrix's own diagonal element in that row.
	Diagonal float64
	// Pivot is the diagonal element after elimination, the Schur complement
	// a − ‖L₁₁⁻¹a₁‖², computed in float64; it should be positive. Pivot/Diagonal is also
	// about the reciprocal of the condition number where the matrix is
	// singular but for rounding.
	Pivot  float64
	Single bool // the factorisation was in float32
}

// Singular reports whether the pivot is zero but for rounding: the matrix
// cannot be distinguished from a singular one in the precision of the computation.
// Otherwise it is indefinite.
func (e *NotPositiveDefiniteError) Singular() bool {
	eps := 0x1p-52
	if e.Single {
		eps = 0x1p-23
	}
	return math.Abs(e.Pivot) <= 10*float64(e.Order)*eps*math.Abs(e.Diagonal)
}

// Error implements error: indefinite or singular, the row, and the remedy.
func (e *NotPositiveDefiniteError) Error() string {
	why := "the matrix is indefinite"
	if e.Singular() {
		why = "the matrix is singular to working precision; check it for repeated rows, or add jitter to its diagonal"
		if e.Single {
			why += ", or compute in float64"
		}
	}
	return fmt.Sprintf("the %d×%d matrix is not positive definite: in row %d (counted from 0) the pivot is %.3g for a "+
		"diagonal element of %.6g; %s",
		e.Order, e.Order, e.Row, e.Pivot, e.Diagonal, why)
}
