package kernels

// The parameters of the kernels in singular.cu.

// LeftSingular is left_singular: the singular values of the M×N W, which it overwrites, and the left vectors, as
// package op lays out a LeftSingular. T has min(M, N)×M numbers and Work 2M+N to work in.
type LeftSingular struct {
	W, T, Work Doubles
	M, N       int
	Out        Matrix
	Failed     Flag
}

// Grid implements [Kernel].
func (LeftSingular) Grid() Grid { return one }
