package kernels

// The parameters of the kernels in eigen.cu.

// EigenOrder is the largest order of a [SymmetricEigen].
const EigenOrder = 512

// SymmetricEigen is symmetric_eigen: the eigenvectors of V as rows in its place, and the eigenvalues W in
// ascending order, with N×N numbers to work in. Failed is set, to 0 where it converged.
type SymmetricEigen struct {
	V, W, Work Doubles
	N          int
	Failed     Flag
}

// Grid implements [Kernel].
func (SymmetricEigen) Grid() Grid { return one }

// StartBlock is start_block: N numbers in [−1, 1), which depend on nothing.
type StartBlock struct {
	N   int
	Out Matrix
}

// Grid implements [Kernel].
func (k StartBlock) Grid() Grid { return Each(k.N) }

// LastRows is last_rows: the last K rows of the N×N V in reverse order.
type LastRows struct {
	V    Doubles
	N, K int
	Out  Matrix
}

// Grid implements [Kernel].
func (k LastRows) Grid() Grid { return Each(k.K * k.N) }

// RitzPairs is ritz_pairs: the K largest of M Ritz values W, the bounds of their errors, and their vectors, as
// package op lays out a LeadingEigen.
type RitzPairs struct {
	W                       Doubles
	Vectors, Products, Gram Matrix
	M, N, K                 int
	Out                     Matrix
}

// Grid implements [Kernel].
func (k RitzPairs) Grid() Grid { return Rows(k.K) }
