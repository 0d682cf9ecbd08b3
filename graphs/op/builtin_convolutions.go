package op

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// convolutions are the operations of convolution nets on images, which are
// batch×channels×height×width (n, c, y, x). A window of h×w elements at the place (i, j) of the
// result covers the pixels
//
//	y = i·strideH − padH + k·dilationH for 0 ≤ k < h,  x = j·strideW − padW + l·dilationW for 0 ≤ l < w;
//
// pixels outside of the image are zero, or for pooling have no part.
func convolutions() []Builtin {
	return []Builtin{imageColumns(), columnsImage(), maxPool(), maxPoolGradient(), averagePool(), averagePoolGradient(),
		imageMeans()}
}

// imagesOn fails for a shape that is not that of images.
func imagesOn(t Stream, shape tensor.Shape) bool {
	ok := len(shape) == 4 && max(shape[2], shape[3]) <= math.MaxInt32
	if !ok {
		t.Fail(fmt.Errorf("shape %v, want images (batch, channels, height, width) with sides below 2³¹", shape))
	}
	return ok
}

// columnsOf reads the size, padding, stride and dilation of windows; sizes of images come from
// the shapes.
func columnsOf(p *parameters) kernels.Columns {
	return kernels.Columns{H: p.integer("h"), W: p.integer("w"), PadH: p.integer("padH"), PadW: p.integer("padW"),
		StrideH: p.integer("strideH"), StrideW: p.integer("strideW"), DilationH: p.integer("dilationH"),
		DilationW: p.integer("dilationW")}
}

// columnsOn adds the sizes of the images and of the columns to the windows.
func columnsOn(c kernels.Columns, images, columns tensor.Shape) kernels.Columns {
	c.Batch, c.Channels, c.Height, c.Width = images[0], images[1], images[2], images[3]
	c.OutHeight, c.OutWidth = columns[1], columns[2]
	return c
}

// imageColumns copies the elements of each window to a row, so that a convolution is a
// product (im2col): row (n, i, j) has the channels·h·w pixels of a window, which the filters,
// filters×channels·h·w, multiply.
func imageColumns() Builtin {
	return Builtin{Name: "columns of windows", kind: "im2colOp", host: columnsOnHost(false),
		queue: func(p *parameters) func(Stream) {
			c := columnsOf(p)
			return func(t Stream) {
				if imagesOn(t, t.Shape(0)) && imagesOn(t, t.OutShape()) {
					t.Launch(kernels.ImageColumns{In: t.In(0), Out: t.Out(), Columns: columnsOn(c, t.Shape(0), t.OutShape())})
				}
			}
		},
		cases: convolutionCases}
}

// columnsImage is the derivative of imageColumns: each pixel gets the sum of the
// derivatives by its copies.
func columnsImage() Builtin {
	return Builtin{Name: "columns of windows, derivative", kind: "col2imOp", host: columnsOnHost(true),
		queue: func(p *parameters) func(Stream) {
			c := columnsOf(p)
			return func(t Stream) {
				if imagesOn(t, t.Shape(0)) && imagesOn(t, t.OutShape()) {
					t.Launch(kernels.ColumnsImage{In: t.In(0), Out: t.Out(), Columns: columnsOn(c, t.OutShape(), t.Shape(0))})
				}
			}
		},
		cases: convolutionCases}
}

// convolutionCases are convolutions and their derivatives.
func convolutionCases(s *sampler) (all []Case) {
	for _, c := range []struct {
		name                  string
		kernel                int
		pad, stride, dilation int
	}{
		{"convolution", 3, 0, 1, 1},
		{"convolution with padding", 3, 1, 1, 1},
		{"convolution in strides", 2, 1, 2, 1},
		{"convolution with gaps", 3, 2, 2, 2},
		{"convolution of one pixel", 1, 0, 1, 1},
	} {
		const batch, channels, height, width, filters = 2, 3, 7, 6, 4
		graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			return gorgonia.Conv2d(shaped(in[0], batch, channels, height, width),
				shaped(in[1], filters, channels, c.kernel, c.kernel), tensor.Shape{c.kernel, c.kernel}, []int{c.pad, c.pad},
				[]int{c.stride, c.stride}, []int{c.dilation, c.dilation})
		}
		in := []Operand{s.normal(batch*channels, height*width), s.normal(filters, channels*c.kernel*c.kernel)}
		all = append(all, built(c.name, 100, in, graph),
			slope(c.name+", derivative by the images", 0, 1e4, in, graph),
			slope(c.name+", derivative by the filters", 1, 1e4, in, graph))
	}
	return append(all, exact("columns of windows", []Operand{s.normal(6, 42)}, func(in gorgonia.Nodes) (*gorgonia.Node,
		error) {
		return gorgonia.Im2Col(shaped(in[0], 2, 3, 7, 6), tensor.Shape{3, 2}, tensor.Shape{1, 0}, tensor.Shape{2, 1},
			tensor.Shape{1, 2})
	}))
}

// poolOf reads the size, padding and stride of windows. Where padding is given for all four
// sides, the host shifts windows by that of the south and of the east.
func poolOf(p *parameters) kernels.Pool {
	k := kernels.Pool{H: p.integer("h"), W: p.integer("w"), PadH: p.integer("padNorth"), PadW: p.integer("padWest"),
		StrideH: p.integer("strideH"), StrideW: p.integer("strideW")}
	if p.truth("explicitPadding") {
		k.PadH, k.PadW = p.integer("padSouth"), p.integer("padEast")
	}
	return k
}

// poolOn adds the sizes of the images and of the pooled images to the windows.
func poolOn(t Stream, k kernels.Pool, images, pooled tensor.Shape) (kernels.Pool, bool) {
	if !imagesOn(t, images) || !imagesOn(t, pooled) {
		return k, false
	}
	k.Planes, k.Height, k.Width = images[0]*images[1], images[2], images[3]
	k.OutHeight, k.OutWidth = pooled[2], pooled[3]
	return k, true
}

// maxPool is the largest element of each window. Its Index, which the derivative needs, is that
// of the first such element in the plane.
func maxPool() Builtin {
	return Builtin{Name: "largest of windows", kind: "maxPoolOp", host: largestOnHost(false),
		queue: func(p *parameters) func(Stream) {
			pool := poolOf(p)
			return func(t Stream) {
				if k, ok := poolOn(t, pool, t.Shape(0), t.OutShape()); ok {
					t.Launch(kernels.MaxPool{In: t.In(0), Out: t.Out(), Index: t.Doubles(t.Out().Size()), Pool: k})
				}
			}
		},
		cases: maxPoolCases}
}

// maxPoolGradient adds the derivative by each window to its largest element. gorgonia keeps the
// positions of these from the computation of the windows; the host and a device find them again,
// so that the result depends on the operands alone.
func maxPoolGradient() Builtin {
	return Builtin{Name: "largest of windows, derivative", kind: "maxPoolDiffOp", host: largestOnHost(true),
		queue: func(p *parameters) func(Stream) {
			pool := poolOf(p)
			return func(t Stream) {
				k, ok := poolOn(t, pool, t.Shape(0), t.Shape(1))
				if !ok {
					return
				}
				n := t.In(1).Size()
				find := kernels.MaxPool{In: t.In(0), Out: t.Scratch(1, n), Index: t.Doubles(n), Pool: k}
				t.Launch(find)
				t.Launch(kernels.MaxPoolGradient{Index: find.Index, G: t.In(2), Out: t.Out(), Pool: k})
			}
		},
		cases: maxPoolCases}
}

// pools are the windows of the cases.
var pools = []struct {
	name        string
	size        int
	pad, stride []int
}{
	{"windows", 2, []int{0, 0}, []int{2, 2}},
	{"windows that overlap", 3, []int{1, 1}, []int{1, 2}},
	{"windows with four paddings", 3, []int{1, 1, 0, 0}, []int{2, 1}},
}

// maxPoolCases are those of pooling by the largest element.
func maxPoolCases(s *sampler) (all []Case) {
	for _, c := range pools {
		graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			return gorgonia.MaxPool2D(shaped(in[0], 2, 3, 7, 6), tensor.Shape{c.size, c.size}, c.pad, c.stride)
		}
		in := []Operand{s.normal(6, 42)}
		all = append(all, exact("largest of "+c.name, in, graph),
			exact("largest of "+c.name+" where NaN is", []Operand{s.holed(6, 42)}, graph),
			slope("largest of "+c.name+", derivative", 0, 10, in, graph))
	}
	return all
}

// averagePool is gorgonia's average of windows: their sums divided by the width of the
// image, where the mean would divide by h·w.
func averagePool() Builtin {
	return Builtin{Name: "average of windows", kind: "avgPoolOp",
		queue: func(p *parameters) func(Stream) {
			pool := poolOf(p)
			return func(t Stream) {
				if k, ok := poolOn(t, pool, t.Shape(0), t.OutShape()); ok {
					t.Launch(kernels.AveragePool{In: t.In(0), Out: t.Out(), Pool: k})
				}
			}
		},
		cases: averagePoolCases}
}

// averagePoolGradient is gorgonia's derivative of averagePool.
func averagePoolGradient() Builtin {
	return Builtin{Name: "average of windows, derivative", kind: "avgPoolDiffOp",
		queue: func(p *parameters) func(Stream) {
			pool := poolOf(p)
			return func(t Stream) {
				if k, ok := poolOn(t, pool, t.Shape(0), t.Shape(1)); ok {
					t.Launch(kernels.AveragePoolGradient{G: t.In(2), Out: t.Out(), Pool: k})
				}
			}
		},
		cases: averagePoolCases}
}

// averagePoolCases are those of averages.
func averagePoolCases(s *sampler) (all []Case) {
	for _, c := range pools {
		graph := func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			return gorgonia.AveragePool2D(shaped(in[0], 2, 3, 7, 6), tensor.Shape{c.size, c.size}, c.pad, c.stride)
		}
		in := []Operand{s.normal(6, 42)}
		all = append(all, built("average of "+c.name, 10, in, graph),
			slope("average of "+c.name+", derivative", 0, 100, in, graph))
	}
	return all
}

// imageMeans is the mean of each plane, batch×channels×1×1, in float64 and rounded once. gorgonia
// has no derivative of it.
func imageMeans() Builtin {
	return Builtin{Name: "mean of images", kind: "globalAveragePoolOp",
		queue: always(func(t Stream) {
			if shape := t.Shape(0); imagesOn(t, shape) {
				l := linesOf(shape, 2, 4)
				t.Launch(kernels.SumRows{A: t.In(0), Rows: l.Outer, Cols: l.Length, Scale: 1 / float64(l.Length), Out: t.Out()})
			}
		}),
		cases: func(s *sampler) []Case {
			return []Case{built("mean of images", 10, []Operand{s.normal(6, 42)},
				func(in gorgonia.Nodes) (*gorgonia.Node, error) {
					return gorgonia.GlobalAveragePool2D(shaped(in[0], 2, 3, 7, 6))
				})}
		}}
}
