package kernels

// The parameters of the kernels in condition.cu.

// ConditionOrder is the largest order of an [EstimateCondition].
const ConditionOrder = 512

// EstimateCondition is estimate_condition: the reciprocal condition number of A = L Lᵀ, by at most Searches steps
// of the search for ‖A⁻¹‖₁.
type EstimateCondition struct {
	A, L        Matrix
	N, Searches int
	Out         Matrix
}

// Grid implements [Kernel].
func (EstimateCondition) Grid() Grid { return one }
