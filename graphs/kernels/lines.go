package kernels

import "math"

// The parameters of the kernels in lines.cu.

// Lines are the lines of a tensor along one axis: Outer×Length×Inner elements.
type Lines struct{ Outer, Length, Inner int }

// Count is the number of lines.
func (l Lines) Count() int { return l.Outer * l.Inner }

// Chunks is how a line is divided: the number of elements of a chunk, and the number of
// chunks. In long lines the two are about equal, since one thread does each step.
func (l Lines) Chunks() (length, count int) {
	length = max(64, int(math.Sqrt(float64(l.Length))))
	return length, max(1, (l.Length+length-1)/length)
}

// SumLines is sum_lines: the sum of each chunk of each line.
type SumLines struct {
	In Matrix
	Lines
	Chunk, Chunks int
	Parts         Doubles
}

// Grid implements [Kernel].
func (k SumLines) Grid() Grid { return Each(k.Outer * k.Chunks * k.Inner) }

// SumChunks is sum_chunks: the sum of each line from those of its chunks.
type SumChunks struct {
	Parts                Doubles
	Outer, Chunks, Inner int
	Out                  Matrix
}

// Grid implements [Kernel].
func (k SumChunks) Grid() Grid { return Each(k.Outer * k.Inner) }

// MaxLines is max_lines: the largest number of each chunk of each line, and whether
// it has a NaN.
type MaxLines struct {
	In Matrix
	Lines
	Chunk, Chunks int
	Latest        bool
	Out           Matrix
	Restart       Doubles
}

// Grid implements [Kernel].
func (k MaxLines) Grid() Grid { return Each(k.Outer * k.Chunks * k.Inner) }

// MaxChunks is max_chunks: the largest number of each line from those of its chunks.
type MaxChunks struct {
	In                   Matrix
	Restart              Doubles
	Outer, Chunks, Inner int
	Latest               bool
	Out                  Matrix
}

// Grid implements [Kernel].
func (k MaxChunks) Grid() Grid { return Each(k.Outer * k.Inner) }

// Softmax is softmax: exp x / Σ exp x along each line, or its logarithm.
type Softmax struct {
	In Matrix
	Lines
	Logarithm bool
	Out       Matrix
}

// Grid implements [Kernel].
func (k Softmax) Grid() Grid { return Rows(k.Count()) }

// SoftmaxGradient is softmax_gradient: from the result Y and the derivative G by it.
type SoftmaxGradient struct {
	Y, G Matrix
	Lines
	Logarithm bool
	Out       Matrix
}

// Grid implements [Kernel].
func (k SoftmaxGradient) Grid() Grid { return Rows(k.Count()) }

// Sparsemax is sparsemax: the projection of each row onto the simplex.
type Sparsemax struct {
	In         Matrix
	Rows, Cols int
	Out        Matrix
}

// Grid implements [Kernel].
func (k Sparsemax) Grid() Grid { return Rows(k.Rows) }

// SparsemaxGradient is sparsemax_gradient: from the result Y and the derivative G by it.
type SparsemaxGradient struct {
	Y, G       Matrix
	Rows, Cols int
	Out        Matrix
}

// Grid implements [Kernel].
func (k SparsemaxGradient) Grid() Grid { return Rows(k.Rows) }
