package kernels

// The parameters of the kernel in random.cu.

// Drop is drop: A / By where an element is Kept, and zero elsewhere.
type Drop struct {
	A    Matrix
	Kept Truth
	By   float64
	Out  Matrix
	N    int
}

// Grid implements [Kernel].
func (k Drop) Grid() Grid { return Each(k.N) }
