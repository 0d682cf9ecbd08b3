package kernels

// The parameters of the kernels in members.cu.

// Invalidate is invalidate: N elements of NaN where Failed is not 0.
type Invalidate struct {
	Failed Flag
	N      int
	Out    Matrix
}

// Grid implements [Kernel].
func (k Invalidate) Grid() Grid { return Each(k.N) }
