package kernels

// The parameters of the kernels in hull.cu.

// HullQueries is hull_queries: the first D of C columns of Z, each times its scale.
type HullQueries struct {
	Z, W       Matrix
	Rows, C, D int
	Out        Matrix
}

// Grid implements [Kernel].
func (k HullQueries) Grid() Grid { return Each(k.Rows * k.D) }

// HalfSquares is half_squares: −½|x|² of each row.
type HalfSquares struct {
	X          Matrix
	Rows, Cols int
	Out        Matrix
}

// Grid implements [Kernel].
func (k HalfSquares) Grid() Grid { return Rows(k.Rows) }

// HullExponentials is hull_exponentials: exponentials of K + Half relative to the largest of the row, in place.
type HullExponentials struct {
	K, Half Matrix
	Rows, N int
}

// Grid implements [Kernel].
func (k HullExponentials) Grid() Grid { return Rows(k.Rows) }

// HullSafety is hull_safety: Share·√N times the norm of the last column of B.
type HullSafety struct {
	B       Matrix
	N, Cols int
	Share   float64
	Out     Doubles
}

// Grid implements [Kernel].
func (HullSafety) Grid() Grid { return one }

// HullNormalise is hull_normalise: the first C of C+1 columns over the last, NaN where that is not above Safety.
type HullNormalise struct {
	A       Matrix
	Safety  Doubles
	Rows, C int
	Out     Matrix
}

// Grid implements [Kernel].
func (k HullNormalise) Grid() Grid { return Each(k.Rows * k.C) }
