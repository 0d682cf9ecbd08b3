package op

import "fmt"

// NotPositiveDefiniteError says that a matrix has no Cholesky factor in the
// precision of the computation.
type NotPositiveDefiniteError struct {
	Order int // the matrix is Order×Order
	// Pivot is the 0-based row at which the factorisation broke down: the
	// leading block up to and with this row is not positive definite.
	Pivot int
	// Diagonal is the matrix's own diagonal element in that row.
	Diagonal float64
	// ConditionBound is a lower bound on the condition number: the matrix
	// cannot be told from a singular one in this precision.
	ConditionBound float64
	Single         bool // computed in float32
}

func (e *NotPositiveDefiniteError) Error() string {
	hint := "check it for repeated rows, or add jitter to its diagonal"
	if e.Single {
		hint += ", or compute in float64"
	}
	return fmt.Sprintf("the %d×%d matrix is not positive definite: the factorisation breaks down in row %d (0-based, diagonal element %.6g, condition number at least %.1g); %s",
		e.Order, e.Order, e.Pivot, e.Diagonal, e.ConditionBound, hint)
}

// NoConvergenceError says that an eigen-decomposition did not converge, which
// happens for matrices that are not finite.
type NoConvergenceError struct{ Order int }

func (e *NoConvergenceError) Error() string {
	return fmt.Sprintf("the eigen-decomposition of a %d×%d matrix did not converge: is it finite?", e.Order, e.Order)
}
