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

// RowChunk is the number of rows of a chunk of [SumColumns], by the number of all rows alone: 128, or as many as make
// 256 chunks, a multiple of the eight rows that a block reads at a time.
func RowChunk(rows int) int { return max(128, ((rows+255)/256+7)/8*8) }

// SumColumns is sum_columns: Σ_i a_ij, or Σ_i a_ij b_ij where there is a B, over Divisor, for each column j and each
// Chunk of rows. It leaves a row of Parts for each chunk, or without Parts of a single one the result in Out.
type SumColumns struct {
	A, B              Matrix
	Rows, Cols, Chunk int
	Divisor           float64
	Parts             Doubles
	Out               Matrix
}

// Chunks is the number of rows of Parts.
func (k SumColumns) Chunks() int { return max(1, (k.Rows+k.Chunk-1)/k.Chunk) }

// Grid implements [Kernel].
func (k SumColumns) Grid() Grid { return columns(k.Cols, k.Chunks()) }

// AddParts is add_parts: the sum of each column of A over Divisor, in Parts if there are any, else in Out.
type AddParts struct {
	A          Doubles
	Rows, Cols int
	Divisor    float64
	Parts      Doubles
	Out        Matrix
}

// Grid implements [Kernel].
func (k AddParts) Grid() Grid { return columns(k.Cols, 1) }

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
