package kernels

// The parameters of the kernels in laplace.cu.

// LogisticScale is logistic_scale: √(nW) of the logistic likelihood; it fails for a negative count.
type LogisticScale struct {
	F, Count Matrix
	N        int
	Out      Matrix
	Failed   Flag
}

// Grid implements [Kernel].
func (k LogisticScale) Grid() Grid { return Each(k.N) }

// NewtonTarget is newton_target: nWf + (Y + n)/2 − nπ.
type NewtonTarget struct {
	F, Count, Y Matrix
	N, M        int
	Out         Matrix
}

// Grid implements [Kernel].
func (k NewtonTarget) Grid() Grid { return Each(k.N * k.M) }

// IdentityPlusScaled is identity_plus_scaled: I + diag(S) K diag(S).
type IdentityPlusScaled struct {
	K, S Matrix
	N    int
	Out  Matrix
}

// Grid implements [Kernel].
func (k IdentityPlusScaled) Grid() Grid { return Each(k.N * k.N) }
