package kernels

import "fmt"

// The parameters of the kernels in strided.cu.

// View is where the elements of a tensor are: axes from the innermost to the
// outermost, the length of the last of which the number of elements gives.
type View struct {
	Offset, D0, S0, D1, S1, D2, S2, D3, S3, D4, S4, D5, S5, D6, S6, S7 int
}

// maxAxes is the largest number of axes of a view.
const maxAxes = 8

// NewView is a view with the lengths and the strides of its axes, the outermost
// first. Axes whose elements follow one another are one: the error of more than
// eight others is rare.
func NewView(offset int, lengths, strides []int) (View, error) {
	type axis struct{ length, stride int }
	var axes []axis // the innermost first
	for i := len(lengths) - 1; i >= 0; i-- {
		a := axis{lengths[i], strides[i]}
		switch n := len(axes); {
		case a.length == 1:
		case n > 0 && a.stride == axes[n-1].length*axes[n-1].stride:
			axes[n-1].length *= a.length
		default:
			axes = append(axes, a)
		}
	}
	if len(axes) > maxAxes {
		return View{}, fmt.Errorf("a tensor with lengths %v and strides %v: kernels know %d axes", lengths, strides, maxAxes)
	}
	for len(axes) < maxAxes {
		axes = append(axes, axis{1, 0})
	}
	return View{offset, axes[0].length, axes[0].stride, axes[1].length, axes[1].stride, axes[2].length, axes[2].stride,
		axes[3].length, axes[3].stride, axes[4].length, axes[4].stride, axes[5].length, axes[5].stride,
		axes[6].length, axes[6].stride, axes[7].stride}, nil
}

// Gather is gather: the N elements of a view of In, in their order.
type Gather struct {
	In, Out Matrix
	N       int
	View
}

// Grid implements [Kernel].
func (k Gather) Grid() Grid { return Each(k.N) }

// Scatter is scatter: In as the N elements of a view of Out.
type Scatter struct {
	In, Out Matrix
	N       int
	View
}

// Grid implements [Kernel].
func (k Scatter) Grid() Grid { return Each(k.N) }

// GatherIntegers is gather_integers: Gather for integers.
type GatherIntegers struct {
	In, Out Integers
	N       int
	View
}

// Grid implements [Kernel].
func (k GatherIntegers) Grid() Grid { return Each(k.N) }

// ScatterIntegers is scatter_integers: Scatter for integers.
type ScatterIntegers struct {
	In, Out Integers
	N       int
	View
}

// Grid implements [Kernel].
func (k ScatterIntegers) Grid() Grid { return Each(k.N) }

// GatherTruth is gather_truth: Gather for truth values.
type GatherTruth struct {
	In, Out Truth
	N       int
	View
}

// Grid implements [Kernel].
func (k GatherTruth) Grid() Grid { return Each(k.N) }

// ScatterTruth is scatter_truth: Scatter for truth values.
type ScatterTruth struct {
	In, Out Truth
	N       int
	View
}

// Grid implements [Kernel].
func (k ScatterTruth) Grid() Grid { return Each(k.N) }
