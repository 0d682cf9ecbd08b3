package op

import (
	"fmt"
	"math"
)

// NotPositiveDefiniteError says that a matrix has no Cholesky factor in the
// precision of the computation.
type NotPositiveDefiniteError struct {
	Order int // the matrix is Order×Order
	// Row is the 0-based row at which the matrix ceases to be positive definite
	// in working precision: the leading Row×Row block is positive definite, the
	// next one is not, or cannot be told from one that is not.
	Row int
	// Diagonal is the matrix's own diagonal element in that row.
	Diagonal float64
	// Pivot is what is left of the diagonal element after elimination,
	// computed in float64; it should be positive. Pivot/Diagonal is also
	// about the reciprocal of the condition number where the matrix is
	// singular but for rounding.
	Pivot  float64
	Single bool // the factorisation was in float32
}

// Singular reports whether the pivot is zero but for rounding: the matrix
// cannot be told from a singular one in the precision of the computation.
// Otherwise it is indefinite.
func (e *NotPositiveDefiniteError) Singular() bool {
	eps := 0x1p-52
	if e.Single {
		eps = 0x1p-23
	}
	return math.Abs(e.Pivot) <= 10*float64(e.Order)*eps*math.Abs(e.Diagonal)
}

func (e *NotPositiveDefiniteError) Error() string {
	why := "the matrix is indefinite"
	if e.Singular() {
		why = "the matrix is singular to working precision; check it for repeated rows, or add jitter to its diagonal"
		if e.Single {
			why += ", or compute in float64"
		}
	}
	return fmt.Sprintf("the %d×%d matrix is not positive definite: in row %d (counted from 0) the pivot is %.3g for a diagonal element of %.6g; %s",
		e.Order, e.Order, e.Row, e.Pivot, e.Diagonal, why)
}

// NoConvergenceError says that an eigen-decomposition did not converge, which
// happens for matrices that are not finite.
type NoConvergenceError struct{ Order int }

func (e *NoConvergenceError) Error() string {
	return fmt.Sprintf("the eigen-decomposition of a %d×%d matrix did not converge: is it finite?", e.Order, e.Order)
}
