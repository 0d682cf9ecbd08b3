package op

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
)

// The operations here read the lower triangle of a symmetric positive definite
// A, which must all the same be stored in full. They fail with a
// *NotPositiveDefiniteError.

// Cholesky is the operation A → L, lower triangular with zeros above the
// diagonal, A = L Lᵀ.
func Cholesky() Op {
	d := &definition{name: "Cholesky", in: []int{2}, out: 2, shape: square, diff: []bool{true},
		sym: func(_ gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			da, err := choleskyGradient().Apply(out, grad)
			return gorgonia.Nodes{da}, err
		}}
	return Op{d.kernels(choleskyFactor[float64], choleskyFactor[float32])}
}

func choleskyFactor[T cpublas.Float](c call[T]) error {
	return factor(c.in[0], c.out.data)
}

// factor writes the Cholesky factor of a to l, with zeros above the diagonal.
func factor[T cpublas.Float](a matrix[T], l []T) error { return factorShifted(a, 0, l) }

// factorShifted writes the Cholesky factor of a + shift·I to l, with zeros above
// the diagonal.
func factorShifted[T cpublas.Float](a matrix[T], shift T, l []T) error {
	n := a.rows
	for i := range n {
		copy(l[i*n:i*n+i+1], a.data[i*n:i*n+i+1])
		l[i*n+i] += shift
		clear(l[i*n+i+1 : (i+1)*n])
	}
	failed := cpublas.Cholesky(n, l, n)
	// OpenBLAS lets a NaN pass.
	for i := 0; failed == 0 && i < n; i++ {
		if d := float64(l[i*n+i]); !(d > 0) || math.IsInf(d, 1) {
			failed = i + 1
		}
	}
	if failed == 0 {
		return nil
	}
	shifted := matrix[T]{n, n, slices.Clone(a.data)}
	for i := range n {
		shifted.data[i*n+i] += shift
	}
	return notPositiveDefinite(shifted, failed-1)
}

// notPositiveDefinite describes the failure in a row: it eliminates that row
// once more in float64.
func notPositiveDefinite[T cpublas.Float](a matrix[T], row int) error {
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
		if k := cpublas.Cholesky(row, leading, n); k != 0 {
			// A blocked factorisation may notice later than one row by row.
			return notPositiveDefinite(a, k-1)
		}
		// A row before that is singular but for rounding is where it began:
		// what comes after it is amplified rounding and may have any size.
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

// choleskyGradient is the operation (L, G) → ½(S+Sᵀ), S = L⁻ᵀ Φ(LᵀG) L⁻¹, where
// Φ takes the lower triangle and half the diagonal: the derivative by a
// symmetric A (Murray, "Differentiation of the Cholesky decomposition", 2016).
func choleskyGradient() Op {
	d := &definition{name: "CholeskyGradient", in: []int{2, 2}, out: 2, shape: square}
	return Op{d.kernels(choleskyPullback[float64], choleskyPullback[float32])}
}

func choleskyPullback[T cpublas.Float](c call[T]) error {
	l, g, s := c.in[0].data, c.in[1], c.out.data
	n := c.in[0].rows
	lower := make([]T, n*n) // what is above the diagonal of L is constant zero
	for i := range n {
		copy(lower[i*n:i*n+i+1], g.data[i*n:])
	}
	cpublas.Gemm(blas.Trans, blas.NoTrans, n, n, n, 1, l, n, lower, n, 0, s, n)
	for i := range n {
		s[i*n+i] /= 2
		clear(s[i*n+i+1 : (i+1)*n])
	}
	cpublas.Trsm(blas.Left, blas.Lower, blas.Trans, n, n, 1, l, n, s, n)
	cpublas.Trsm(blas.Right, blas.Lower, blas.NoTrans, n, n, 1, l, n, s, n)
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
func CholeskySolve() Op {
	d := &definition{name: "CholeskySolve", in: []int{2, 2}, out: 2, shape: solve}
	return Op{d.kernels(choleskySolve[float64], choleskySolve[float32])}
}

func choleskySolve[T cpublas.Float](c call[T]) error {
	copy(c.out.data, c.in[1].data)
	substitute(c.in[0].data, c.in[0].rows, c.out.data, c.out.cols)
	return nil
}

// TriangularSolve is the operation (L, B) → X, L X = B. L is lower triangular,
// n×n, B and X are n×m.
func TriangularSolve() Op {
	d := &definition{name: "TriangularSolve", in: []int{2, 2}, out: 2, shape: solve}
	return Op{d.kernels(triangularSolve[float64], triangularSolve[float32])}
}

func triangularSolve[T cpublas.Float](c call[T]) error {
	copy(c.out.data, c.in[1].data)
	cpublas.Trsm(blas.Left, blas.Lower, blas.NoTrans, c.in[0].rows, c.out.cols, 1, c.in[0].data, c.in[0].rows, c.out.data, c.out.cols)
	return nil
}

// substitute solves L Lᵀ X = B in place of the n×m B.
func substitute[T cpublas.Float](l []T, n int, b []T, m int) {
	cpublas.Trsm(blas.Left, blas.Lower, blas.NoTrans, n, m, 1, l, n, b, m)
	cpublas.Trsm(blas.Left, blas.Lower, blas.Trans, n, m, 1, l, n, b, m)
}

// CholeskyLogDet is the operation L → log|L Lᵀ|.
func CholeskyLogDet() Op {
	d := &definition{name: "CholeskyLogDet", in: []int{2}, out: 0, shape: squareToScalar}
	return Op{d.kernels(choleskyLogDet[float64], choleskyLogDet[float32])}
}

func choleskyLogDet[T cpublas.Float](c call[T]) error {
	c.out.data[0] = T(logDet(c.in[0].data, c.in[0].rows))
	return nil
}

func logDet[T cpublas.Float](l []T, n int) float64 {
	s := 0.0
	for i := range n {
		s += math.Log(float64(l[i*n+i]))
	}
	return 2 * s
}

// ReciprocalCondition is the operation (A, L) → an estimate of
// 1/(‖A‖₁ ‖A⁻¹‖₁) for A = L Lᵀ, in O(n²) operations (LAPACK's pocon).
func ReciprocalCondition() Op {
	d := &definition{name: "ReciprocalCondition", in: []int{2, 2}, out: 0, shape: func(in []tensor.Shape) (tensor.Shape, error) {
		if _, err := solve(in); err != nil {
			return nil, err
		}
		return squareToScalar(in)
	}}
	return Op{d.kernels(reciprocalCondition[float64], reciprocalCondition[float32])}
}

func reciprocalCondition[T cpublas.Float](c call[T]) error {
	n := c.in[0].rows
	norm := 0.0
	for i := range n {
		s := 0.0
		for _, v := range c.in[0].row(i) {
			s += math.Abs(float64(v))
		}
		norm = max(norm, s)
	}
	l := blas64.Symmetric{N: n, Stride: n, Uplo: blas.Lower, Data: toFloat64(c.in[1].data)}
	c.out.data[0] = T(lapack64.Pocon(l, norm, make([]float64, 3*n), make([]int, n)))
	return nil
}
