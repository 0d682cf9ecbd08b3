package kernels

// The parameters of the kernels in index.cu.

// ToIntegers is to_integers: N numbers truncated towards zero.
type ToIntegers struct {
	A   Matrix
	Out Integers
	N   int
}

// Grid implements [Kernel].
func (k ToIntegers) Grid() Grid { return Each(k.N) }

// FromIntegers is from_integers: N integers as numbers.
type FromIntegers struct {
	A   Integers
	Out Matrix
	N   int
}

// Grid implements [Kernel].
func (k FromIntegers) Grid() Grid { return Each(k.N) }

// Pick is pick: the elements of Count indices of each line.
type Pick struct {
	In    Matrix
	Index Integers
	Lines
	Count int
	Out   Matrix
}

// Grid implements [Kernel].
func (k Pick) Grid() Grid { return Each(k.Outer * k.Count * k.Inner) }

// PickGradient is pick_gradient: the derivative of Pick, from the derivative G by its
// result.
type PickGradient struct {
	G     Matrix
	Index Integers
	Lines
	Count int
	Out   Matrix
}

// Grid implements [Kernel].
func (k PickGradient) Grid() Grid { return Each(k.Outer * k.Length * k.Inner) }
