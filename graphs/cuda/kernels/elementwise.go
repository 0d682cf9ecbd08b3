package kernels

// The parameters of the kernels in elementwise.cu.

// Add is add: A and B, one of which may be a scalar (stride 0): Out = A + B.
type Add struct {
	A   Matrix
	SA  int
	B   Matrix
	SB  int
	Out Matrix
	N   int
}

// Grid implements [Kernel].
func (k Add) Grid() Grid { return Each(k.N) }

// Subtract is subtract: Out = A − B, with strides as in Add.
type Subtract struct {
	A   Matrix
	SA  int
	B   Matrix
	SB  int
	Out Matrix
	N   int
}

// Grid implements [Kernel].
func (k Subtract) Grid() Grid { return Each(k.N) }

// Multiply is multiply: Out = A ∘ B, with strides as in Add.
type Multiply struct {
	A   Matrix
	SA  int
	B   Matrix
	SB  int
	Out Matrix
	N   int
}

// Grid implements [Kernel].
func (k Multiply) Grid() Grid { return Each(k.N) }

// Divide is divide: Out = A / B element by element, with strides as in Add.
type Divide struct {
	A   Matrix
	SA  int
	B   Matrix
	SB  int
	Out Matrix
	N   int
}

// Grid implements [Kernel].
func (k Divide) Grid() Grid { return Each(k.N) }

// Negate is negate: Out = −A.
type Negate struct {
	A, Out Matrix
	N      int
}

// Grid implements [Kernel].
func (k Negate) Grid() Grid { return Each(k.N) }

// Square is square: Out = A ∘ A.
type Square struct {
	A, Out Matrix
	N      int
}

// Grid implements [Kernel].
func (k Square) Grid() Grid { return Each(k.N) }

// Sine is sine: the sine of each element.
type Sine struct {
	A, Out Matrix
	N      int
}

// Grid implements [Kernel].
func (k Sine) Grid() Grid { return Each(k.N) }

// Cosine is cosine: the cosine of each element.
type Cosine struct {
	A, Out Matrix
	N      int
}

// Grid implements [Kernel].
func (k Cosine) Grid() Grid { return Each(k.N) }

// Fill is fill: V in each of N elements.
type Fill struct {
	Out Matrix
	V   float64
	N   int
}

// Grid implements [Kernel].
func (k Fill) Grid() Grid { return Each(k.N) }

// CopyBlock is copy_block: a Rows×Cols part of a matrix of LdIn columns, copied into one of LdOut columns.
type CopyBlock struct {
	In                Matrix
	LdIn              int
	Out               Matrix
	LdOut, Rows, Cols int
}

// Grid implements [Kernel].
func (k CopyBlock) Grid() Grid { return Each(k.Rows * k.Cols) }

// Repeat is repeat: rows repeated ByRow times and columns ByCol times, to Rows×Cols.
type Repeat struct {
	In, Out                  Matrix
	Rows, Cols, ByRow, ByCol int
}

// Grid implements [Kernel].
func (k Repeat) Grid() Grid { return Each(k.Rows * k.Cols) }

// Transpose is transpose: the transpose of a Rows×Cols matrix, by 32×32 tiles.
type Transpose struct {
	In, Out    Matrix
	Rows, Cols int
}

// Grid implements [Kernel].
func (k Transpose) Grid() Grid { return tiles(k.Rows, k.Cols, 32, 32, 8) }

// Scale is scale: diag(S) In, or In diag(S) with ByCol.
type Scale struct {
	In, S, Out Matrix
	Rows, Cols int
	ByCol      bool
}

// Grid implements [Kernel].
func (k Scale) Grid() Grid { return Each(k.Rows * k.Cols) }

// ScaleRoot is scale_root: In diag(√S); it fails for a negative element of S.
type ScaleRoot struct {
	In, S, Out Matrix
	Rows, Cols int
	Failed     Flag
}

// Grid implements [Kernel].
func (k ScaleRoot) Grid() Grid { return Each(k.Rows * k.Cols) }
