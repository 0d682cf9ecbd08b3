package kernels

// The parameters of the kernels in cholesky.cu.

// FactorOrder is the order of the blocks that are in shared memory, panelRows the rows of a block of
// [FactorRows], and joinColumns the columns of a block of [JoinBlocks].
const (
	FactorOrder = 64
	panelRows   = 128
	joinColumns = 16
)

// InverseOrder is the largest order of the diagonal blocks that [JoinBlocks] inverts.
const InverseOrder = 256

// ShiftedInverse is shifted_inverse: L⁻¹ for LLᵀ = A + (Relative·tr A + Least)·I. Work has N×N numbers where N
// is beyond [FactorOrder].
type ShiftedInverse struct {
	A               Matrix
	N               int
	Relative, Least float64
	Work            Doubles
	Out             Matrix
	Failed          Flag
}

// Grid implements [Kernel].
func (ShiftedInverse) Grid() Grid { return one }

// FactorBlock is factor_block: the diagonal block of a Cholesky factor, of an order of [FactorOrder] from the row From
// on, to its rows of Diagonal, N×FactorOrder, with its inverse. Failed is the order of the first leading block without
// a factor, if it was 0.
type FactorBlock struct {
	L        Matrix
	N, From  int
	Diagonal Doubles
	Failed   Flag
}

// Grid implements [Kernel].
func (FactorBlock) Grid() Grid { return one }

// FactorRows is factor_rows: the rows of L below a [FactorBlock], in place of their elements minus the products with
// the columns before.
type FactorRows struct {
	L        Matrix
	N, From  int
	Diagonal Doubles
}

// Grid implements [Kernel].
func (k FactorRows) Grid() Grid {
	return Grid{(max(0, k.N-k.From-FactorOrder) + panelRows - 1) / panelRows, block, 1}
}

// PlaceDiagonal is place_diagonal: the diagonal blocks of a factor L in their places, with zeros above the
// diagonal.
type PlaceDiagonal struct {
	Diagonal Doubles
	N        int
	L        Matrix
}

// Grid implements [Kernel].
func (k PlaceDiagonal) Grid() Grid { return Each(k.N * FactorOrder) }

// InvertBlocks is invert_blocks: the inverses of the diagonal blocks of a triangular L, of an order of FactorOrder,
// within squares of a Size that follow one another.
type InvertBlocks struct {
	L       Matrix
	N, Size int
	Out     Matrix
}

// Grid implements [Kernel].
func (k InvertBlocks) Grid() Grid { return Rows((k.N + FactorOrder - 1) / FactorOrder) }

// JoinBlocks is join_blocks: the inverses of diagonal blocks of twice the order Half, from those of their halves.
type JoinBlocks struct {
	L             Matrix
	N, Size, Half int
	Out           Matrix
}

// Grid implements [Kernel].
func (k JoinBlocks) Grid() Grid {
	return Grid{(k.N + 2*k.Half - 1) / (2 * k.Half) * (k.Half / joinColumns), block, 1}
}
