package kernels

// The parameters of the kernels in copies.cu.

// CopyBlock is copy_block: a Rows×Cols part of a matrix of LdIn columns, copied into one of LdOut columns.
type CopyBlock struct {
	In                Matrix
	LdIn              int
	Out               Matrix
	LdOut, Rows, Cols int
}

// Grid implements [Kernel].
func (k CopyBlock) Grid() Grid { return Each(k.Rows * k.Cols) }

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
