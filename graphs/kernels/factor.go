package kernels

// The parameters of the kernels in factor.cu.

// LowerShifted is lower_shifted: the lower triangle of A + shift·I; no Shift stands for zero.
type LowerShifted struct {
	A, Shift Matrix
	N        int
	Out      Matrix
}

// Grid implements [Kernel].
func (k LowerShifted) Grid() Grid { return Each(k.N * k.N) }

// CheckFactor is check_factor: it fails for a factor with a diagonal that is not positive and finite.
type CheckFactor struct {
	L      Matrix
	N      int
	Failed Flag
}

// Grid implements [Kernel].
func (CheckFactor) Grid() Grid { return one }

// Identity is identity: the N×N identity.
type Identity struct {
	N   int
	Out Matrix
}

// Grid implements [Kernel].
func (k Identity) Grid() Grid { return Each(k.N * k.N) }

// AddIdentity is add_identity: A + shift·I in place; no Shift stands for one.
type AddIdentity struct {
	A, Shift Matrix
	N        int
}

// Grid implements [Kernel].
func (k AddIdentity) Grid() Grid { return Each(k.N) }

// HalveDiagonal is halve_diagonal: Φ: the lower triangle and half the diagonal, in place.
type HalveDiagonal struct {
	A Matrix
	N int
}

// Grid implements [Kernel].
func (k HalveDiagonal) Grid() Grid { return Each(k.N * k.N) }

// Symmetrise is symmetrise: ½(A + Aᵀ) in place.
type Symmetrise struct {
	A Matrix
	N int
}

// Grid implements [Kernel].
func (k Symmetrise) Grid() Grid { return Each(k.N * k.N) }

// RowNormParts is row_norm_parts: the largest 1-norm of the rows, a part for each block.
type RowNormParts struct {
	A     Matrix
	N     int
	Parts Doubles
}

// Grid implements [Kernel].
func (k RowNormParts) Grid() Grid { return Rows(min(k.N, 256)) }

// ConditionBegin is condition_begin: the first vector of the search for ‖A⁻¹‖₁.
type ConditionBegin struct {
	X, Signs Matrix
	State    Doubles
	N        int
}

// Grid implements [Kernel].
func (ConditionBegin) Grid() Grid { return one }

// ConditionSigns is condition_signs: the signs of a solution, and whether the search is at its end.
type ConditionSigns struct {
	X, Signs Matrix
	State    Doubles
	N        int
}

// Grid implements [Kernel].
func (ConditionSigns) Grid() Grid { return one }

// ConditionUnit is condition_unit: the unit vector that the search goes on with.
type ConditionUnit struct {
	X     Matrix
	State Doubles
	N     int
}

// Grid implements [Kernel].
func (ConditionUnit) Grid() Grid { return one }

// ConditionAlternate is condition_alternate: the vector of alternating signs that guards the estimate.
type ConditionAlternate struct {
	X Matrix
	N int
}

// Grid implements [Kernel].
func (ConditionAlternate) Grid() Grid { return one }

// ConditionEnd is condition_end: the reciprocal condition number from the search and the Count parts of the norm.
type ConditionEnd struct {
	X            Matrix
	State, Parts Doubles
	Count, N     int
	Out          Matrix
}

// Grid implements [Kernel].
func (ConditionEnd) Grid() Grid { return one }

// WidenFinite is widen_finite: A in double; it fails where an element is not finite.
type WidenFinite struct {
	A      Matrix
	Out    Doubles
	N      int
	Failed Flag
}

// Grid implements [Kernel].
func (k WidenFinite) Grid() Grid { return Each(k.N) }

// PackEigen is pack_eigen: eigenvalues and eigenvectors as package op lays out an Eigen.
type PackEigen struct {
	W, V Doubles
	N    int
	Out  Matrix
}

// Grid implements [Kernel].
func (k PackEigen) Grid() Grid { return Each((k.N + 1) * k.N) }

// PackLargest is pack_largest: the K largest of them as package op lays out a LargestEigen.
type PackLargest struct {
	W, V Doubles
	N, K int
	Out  Matrix
}

// Grid implements [Kernel].
func (k PackLargest) Grid() Grid { return Each(k.K * (k.N + 1)) }

// PositivePart is positive_part: V √max(W, 0) from an Eigen.
type PositivePart struct {
	E   Matrix
	N   int
	Out Matrix
}

// Grid implements [Kernel].
func (k PositivePart) Grid() Grid { return Each(k.N * k.N) }

// DividedDifferences is divided_differences: S times the divided differences of max(·, 0), in place.
type DividedDifferences struct {
	W Matrix
	N int
	S Matrix
}

// Grid implements [Kernel].
func (k DividedDifferences) Grid() Grid { return Each(k.N * k.N) }

// KeepFailure is keep_failure: another failure, taken over.
type KeepFailure struct {
	Other, Failed Flag
}

// Grid implements [Kernel].
func (KeepFailure) Grid() Grid { return one }
