package kernels

// The parameters of the kernels in padding.cu.

// Leading is leading: A with the rows and columns from Count on replaced by those of a diagonal matrix.
type Leading struct {
	A, Count Matrix
	N        int
	Diagonal float64
	Out      Matrix
}

// Grid implements [Kernel].
func (k Leading) Grid() Grid { return Each(k.N * k.N) }
