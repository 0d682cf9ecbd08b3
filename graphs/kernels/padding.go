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

// LeadingRows is leading_rows: X with all rows from Count on replaced by a value.
type LeadingRows struct {
	X, Count   Matrix
	Rows, Cols int
	Value      float64
	Out        Matrix
}

// Grid implements [Kernel].
func (k LeadingRows) Grid() Grid { return Each(k.Rows * k.Cols) }
