package kernels

// The parameters of the kernels in reduce.cu.

// SumAll is sum_all: the sum of all N elements, a part for each block.
type SumAll struct {
	A     Matrix
	N     int
	Parts Doubles
}

// Grid implements [Kernel].
func (k SumAll) Grid() Grid { return Each(k.N) }

// SumLowerProducts is sum_lower_products: Σ g_ii p_ii + 2 Σ_{j<i} g_ij p_ij, a part for each block.
type SumLowerProducts struct {
	G, P  Matrix
	N     int
	Parts Doubles
}

// Grid implements [Kernel].
func (k SumLowerProducts) Grid() Grid { return Rows(min(k.N, 1024)) }

// SumRidge is sum_ridge: ‖B' + b Mᵀ‖² for B = [B' b], a part for each block.
type SumRidge struct {
	B, M       Matrix
	Rows, Cols int
	Parts      Doubles
}

// Grid implements [Kernel].
func (k SumRidge) Grid() Grid { return Each(k.Rows * k.Cols) }

// SumParts is sum_parts: the sum of N parts.
type SumParts struct {
	Parts Doubles
	N     int
	Out   Matrix
}

// Grid implements [Kernel].
func (SumParts) Grid() Grid { return one }

// SumDiagonal is sum_diagonal: the trace of an N×N matrix, or 2 Σ log a_ii.
type SumDiagonal struct {
	A          Matrix
	N          int
	Logarithms bool
	Out        Matrix
}

// Grid implements [Kernel].
func (SumDiagonal) Grid() Grid { return one }

// SumRows is sum_rows: the sum of each row, times Scale.
type SumRows struct {
	A          Matrix
	Rows, Cols int
	Scale      float64
	Out        Matrix
}

// Grid implements [Kernel].
func (k SumRows) Grid() Grid { return Rows(k.Rows) }

// SumColumns is sum_columns: the sum of each column, times Scale.
type SumColumns struct {
	A          Matrix
	Rows, Cols int
	Scale      float64
	Out        Matrix
}

// Grid implements [Kernel].
func (k SumColumns) Grid() Grid { return columns(k.Cols) }

// DotColumns is dot_columns: Σ_i a_ij b_ij for each column j.
type DotColumns struct {
	A, B       Matrix
	Rows, Cols int
	Out        Matrix
}

// Grid implements [Kernel].
func (k DotColumns) Grid() Grid { return columns(k.Cols) }

// RowDistance is row_distance: ‖a_i − b_i‖ over the columns from First on.
type RowDistance struct {
	A, B              Matrix
	Rows, Cols, First int
	Out               Matrix
}

// Grid implements [Kernel].
func (k RowDistance) Grid() Grid { return Rows(k.Rows) }

// CentreSymmetric is centre_symmetric: CKC from K and its row means.
type CentreSymmetric struct {
	K, Mean Matrix
	N       int
	Out     Matrix
}

// Grid implements [Kernel].
func (k CentreSymmetric) Grid() Grid { return Rows(k.N) }
