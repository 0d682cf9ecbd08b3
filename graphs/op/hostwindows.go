package op

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/kernels"
	"privkern/graphs/parallel"
)

// The CPU kernels of windows on images take whole images or planes at a time, and copy or add the elements of a row of
// a window in one go, in gorgonia's order, so that results have its bits. gorgonia decides on each element apart.

// inBoth is the kernel of the operands' element type; nil for any other.
func inBoth(in []gorgonia.Value, f64, f32 HostKernel) HostKernel {
	if len(in) == 0 || len(in[0].Shape()) != 4 {
		return nil
	}
	switch in[0].Dtype() {
	case tensor.Float64:
		return f64
	case tensor.Float32:
		return f32
	}
	return nil
}

// columnsOnHost is the host's kernel of columns of windows, or with back of its derivative.
func columnsOnHost(back bool) func(*parameters, []gorgonia.Value) HostKernel {
	return func(p *parameters, in []gorgonia.Value) HostKernel {
		c := columnsOf(p)
		return inBoth(in, windows[float64](c, back, in), windows[float32](c, back, in))
	}
}

// windows returns the kernel that copies images to columns, or with back adds columns to images.
func windows[T cpublas.Float](c kernels.Columns, back bool, in []gorgonia.Value) HostKernel {
	return func(pool *parallel.Pool, out *tensor.Dense) error {
		from, err := elementsOf[T](in[0])
		if err != nil {
			return err
		}
		to, err := elementsOf[T](out)
		if err != nil {
			return err
		}
		images, columns := in[0].Shape(), out.Shape()
		if back {
			images, columns = columns, images
		}
		c := columnsOn(c, images, columns)
		image, column := c.Channels*c.Height*c.Width, c.OutHeight*c.OutWidth*c.Channels*c.H*c.W
		return pool.For(context.Background(), c.Batch, max(1, elementPart/column), func(lo, hi int) error {
			for i := lo; i < hi; i++ {
				if back {
					addWindows(&c, to[i*image:(i+1)*image], from[i*column:(i+1)*column])
				} else {
					copyWindows(&c, to[i*column:(i+1)*column], from[i*image:(i+1)*image])
				}
			}
			return nil
		})
	}
}

// eachRow calls f for the rows of all windows of an image, in the order of the columns: at is the place of a row there,
// [q0, q1) are its elements inside of the image, and the first of these is at the place first of the image. Other
// elements, or all where q0 = q1, are outside.
func eachRow(c *kernels.Columns, f func(at, q0, q1, first int)) {
	at := 0
	for y := range c.OutHeight {
		for x := range c.OutWidth {
			left := x*c.StrideW - c.PadW
			q0, q1 := inside(left, c.DilationW, c.W, c.Width)
			for ch := range c.Channels {
				for p := range c.H {
					if row := y*c.StrideH - c.PadH + p*c.DilationH; row < 0 || row >= c.Height {
						f(at, 0, 0, 0)
					} else {
						f(at, q0, q1, (ch*c.Height+row)*c.Width+left+q0*c.DilationW)
					}
					at += c.W
				}
			}
		}
	}
}

// inside returns the range of the q in [0, n) for which first + q·step is in [0, length).
func inside(first, step, n, length int) (from, to int) {
	for from < n && first+from*step < 0 {
		from++
	}
	to = n
	for to > from && first+(to-1)*step >= length {
		to--
	}
	return from, to
}

// copyWindows copies the windows of an image.
func copyWindows[T cpublas.Float](c *kernels.Columns, columns, image []T) {
	eachRow(c, func(at, q0, q1, first int) {
		row := columns[at : at+c.W]
		if q0 > 0 || q1 < len(row) {
			clear(row)
		}
		if c.DilationW == 1 {
			copy(row[q0:q1], image[first:])
			return
		}
		for q := q0; q < q1; q++ {
			row[q] = image[first+(q-q0)*c.DilationW]
		}
	})
}

// addWindows adds the windows to an image of zeros.
func addWindows[T cpublas.Float](c *kernels.Columns, image, columns []T) {
	clear(image)
	eachRow(c, func(at, q0, q1, first int) {
		for _, v := range columns[at+q0 : at+q1] {
			image[first] += v
			first += c.DilationW
		}
	})
}

// largestOnHost is the host's kernel of the largest of windows, or with back of its derivative. Both look for the
// largest elements, and none is kept in between.
func largestOnHost(back bool) func(*parameters, []gorgonia.Value) HostKernel {
	return func(p *parameters, in []gorgonia.Value) HostKernel {
		k := poolOf(p)
		return inBoth(in, largest[float64](k, back, in), largest[float32](k, back, in))
	}
}

// largest returns the kernel of the largest of windows, or of its derivative for (images, pooled, derivative by these).
func largest[T cpublas.Float](k kernels.Pool, back bool, in []gorgonia.Value) HostKernel {
	return func(pool *parallel.Pool, out *tensor.Dense) error {
		images, pooled := in[0].Shape(), out.Shape()
		if back {
			pooled = in[1].Shape()
		}
		if len(pooled) != 4 {
			return fmt.Errorf("shape %v, want images (batch, channels, height, width)", pooled)
		}
		k := k
		k.Planes, k.Height, k.Width = images[0]*images[1], images[2], images[3]
		k.OutHeight, k.OutWidth = pooled[2], pooled[3]
		from, err := elementsOf[T](in[0])
		if err != nil {
			return err
		}
		to, err := elementsOf[T](out)
		if err != nil {
			return err
		}
		var g []T
		if back {
			if g, err = elementsOf[T](in[2]); err != nil {
				return err
			}
		}
		plane, small := k.Height*k.Width, k.OutHeight*k.OutWidth
		return pool.For(context.Background(), k.Planes, max(1, elementPart/plane), func(lo, hi int) error {
			for i := lo; i < hi; i++ {
				if back {
					giveLargest(&k, to[i*plane:(i+1)*plane], from[i*plane:(i+1)*plane], g[i*small:(i+1)*small])
				} else {
					takeLargest(&k, to[i*small:(i+1)*small], from[i*plane:(i+1)*plane])
				}
			}
			return nil
		})
	}
}

// takeLargest is the largest element of each window of a plane.
func takeLargest[T cpublas.Float](k *kernels.Pool, out, plane []T) {
	if ofFour(k) {
		for y := range k.OutHeight {
			above, below := plane[y*k.Width:(y+1)*k.Width], plane[(y+1)*k.Width:(y+2)*k.Width]
			for x := range out[y*k.OutWidth : (y+1)*k.OutWidth] {
				out[y*k.OutWidth+x], _ = largestOfFour(above[x:x+2], below[x:x+2])
			}
		}
		return
	}
	eachWindow(k, func(at, top, bottom, left, right int) {
		out[at], _ = largestOf(plane, k.Width, top, bottom, left, right)
	})
}

// giveLargest adds the derivative by each window to its largest element.
func giveLargest[T cpublas.Float](k *kernels.Pool, out, plane, g []T) {
	clear(out)
	if ofFour(k) {
		for y := range k.OutHeight {
			at := y * k.Width
			above, below := plane[at:at+k.Width], plane[at+k.Width:at+2*k.Width]
			places := [5]int{-1, at, at + 1, at + k.Width, at + k.Width + 1}
			for x, v := range g[y*k.OutWidth : (y+1)*k.OutWidth] {
				if _, which := largestOfFour(above[x:x+2], below[x:x+2]); which > 0 {
					out[places[which]+x] += v
				}
			}
		}
		return
	}
	eachWindow(k, func(at, top, bottom, left, right int) {
		if _, found := largestOf(plane, k.Width, top, bottom, left, right); found >= 0 {
			out[found] += g[at]
		}
	})
}

// ofFour reports whether all windows are of 2×2 neighbours, one apart.
func ofFour(k *kernels.Pool) bool {
	return k.H == 2 && k.W == 2 && k.StrideH == 1 && k.StrideW == 1 && k.PadH == 0 && k.PadW == 0 &&
		k.OutHeight == k.Height-1 && k.OutWidth == k.Width-1
}

// largestOfFour returns the largest of two pairs, and its number from 1: 0 where none is larger than the smallest
// number.
func largestOfFour[T cpublas.Float](above, below []T) (m T, which int) {
	m = least[T]()
	if v := above[0]; v > m {
		m, which = v, 1
	}
	if v := above[1]; v > m {
		m, which = v, 2
	}
	if v := below[0]; v > m {
		m, which = v, 3
	}
	if v := below[1]; v > m {
		m, which = v, 4
	}
	return m, which
}

// least is the smallest number that is finite.
func least[T cpublas.Float]() T {
	if unsafe.Sizeof(T(0)) == 4 {
		return -T(math.MaxFloat32)
	}
	double := -math.MaxFloat64
	return T(double)
}

// eachWindow calls f for the windows of a plane: the elements from the row top to the one before bottom, and from the
// column left to the one before right.
func eachWindow(k *kernels.Pool, f func(at, top, bottom, left, right int)) {
	for y := range k.OutHeight {
		top := y*k.StrideH - k.PadH
		for x := range k.OutWidth {
			left := x*k.StrideW - k.PadW
			f(y*k.OutWidth+x, max(top, 0), min(top+k.H, k.Height), max(left, 0), min(left+k.W, k.Width))
		}
	}
}

// largestOf returns the largest element of a window and its place in the plane, of equals the first: −1 and the
// smallest number where none is larger than that.
func largestOf[T cpublas.Float](plane []T, width, top, bottom, left, right int) (m T, found int) {
	m, found = least[T](), -1
	for row := top; row < bottom; row++ {
		for col := row*width + left; col < row*width+right; col++ {
			if v := plane[col]; v > m {
				m, found = v, col
			}
		}
	}
	return m, found
}
