package op

import (
	"errors"
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/kernels"
)

// reductions are the operations that leave axes out.
func reductions() []Builtin { return []Builtin{summation(), maximum()} }

// reduced returns the axes of a shape that an operation reduces, in ascending order; an empty
// along stands for all of them.
func reduced(shape tensor.Shape, along []int) ([]int, error) {
	axes := slices.Clone(along)
	if len(axes) == 0 {
		for i := range shape {
			axes = append(axes, i)
		}
	}
	slices.Sort(axes)
	axes = slices.Compact(axes)
	if n := len(axes); n > 0 && (axes[0] < 0 || axes[n-1] >= len(shape)) {
		return nil, fmt.Errorf("axes %v of shape %v", along, shape)
	}
	return axes, nil
}

// linesOf returns the lines of a tensor along the axes [from, to).
func linesOf(shape tensor.Shape, from, to int) kernels.Lines {
	return kernels.Lines{Outer: sizeOf(shape[:from]), Length: sizeOf(shape[from:to]), Inner: sizeOf(shape[to:])}
}

// sizeOf returns the number of elements; that of no axes is 1.
func sizeOf(shape tensor.Shape) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// summation is a sum over any axes, in float64 and rounded once for each group of
// axes that are next to each other. A group counts as one axis, along which a tensor
// is outer×length×inner; the sum is y[o, i] = Σ_l x[o, l, i].
func summation() Builtin {
	return Builtin{Name: "sum", kind: "sumOp",
		queue: func(p *parameters) func(Stream) {
			along := p.integers("along")
			return func(t Stream) { sumOn(t, t.In(0), t.Shape(0), along, t.Out()) }
		},
		cases: sumCases}
}

// sumOn queues a sum over axes.
func sumOn(t Stream, in kernels.Matrix, shape tensor.Shape, along []int, out kernels.Matrix) {
	axes, err := reduced(shape, along)
	if err != nil {
		t.Fail(err)
		return
	}
	if len(axes) == 0 { // a scalar
		t.Copy(out, in)
		return
	}
	// From the last group of neighbouring axes to the first, so that the numbers of
	// those before stay.
	for shape := shape.Clone(); len(axes) > 0; {
		to := axes[len(axes)-1] + 1
		from := to
		for len(axes) > 0 && axes[len(axes)-1] == from-1 {
			from, axes = from-1, axes[:len(axes)-1]
		}
		lines, result := linesOf(shape, from, to), out
		if len(axes) > 0 {
			result = t.Scratch(lines.Outer, lines.Inner)
		}
		sumLinesOn(t, in, lines, result)
		in, shape = result, slices.Delete(shape, from, to)
	}
}

// sumLinesOn queues the sum of each line.
func sumLinesOn(t Stream, in kernels.Matrix, l kernels.Lines, out kernels.Matrix) {
	switch {
	case l.Count() == 1:
		sum := kernels.SumAll{A: in, N: l.Length}
		sum.Parts = t.Doubles(sum.Grid().Blocks)
		t.Launch(sum)
		t.Launch(kernels.SumParts{Parts: sum.Parts, N: sum.Grid().Blocks, Out: out})
	case l.Inner == 1:
		t.Launch(kernels.SumRows{A: in, Rows: l.Outer, Cols: l.Length, Scale: 1, Out: out})
	case l.Outer == 1:
		sumColumnsOn(t, kernels.SumColumns{A: kernels.MatrixOf(in.At, l.Length, l.Inner), Divisor: 1, Out: out})
	default:
		chunk, chunks := l.Chunks()
		parts := t.Doubles(l.Outer * chunks * l.Inner)
		t.Launch(kernels.SumLines{In: in, Lines: l, Chunk: chunk, Chunks: chunks, Parts: parts})
		t.Launch(kernels.SumChunks{Parts: parts, Outer: l.Outer, Chunks: chunks, Inner: l.Inner, Out: out})
	}
}

// Do computes one of gorgonia's operations on the host, as its own Do, but right: package
// tensor reduces the wrong elements along an axis between others of four or more.
func Do(o gorgonia.Op, in ...gorgonia.Value) (gorgonia.Value, error) {
	p := parametersOf(o)
	if p.kind != "sumOp" && p.kind != "maxOp" || len(in) != 1 || len(in[0].Shape()) < 4 {
		return o.Do(in...)
	}
	x, ok := in[0].(*tensor.Dense)
	if !ok {
		return o.Do(in...)
	}
	axes, err := reduced(x.Shape(), p.integers("along"))
	if err = errors.Join(err, p.err); err != nil {
		return nil, err
	}
	if len(axes) == x.Dims() {
		return o.Do(in...)
	}
	reduce := (*tensor.Dense).Sum
	if p.kind == "maxOp" {
		reduce = (*tensor.Dense).Max
	}
	// Package tensor reduces three axes to two correctly.
	shape := x.Shape().Clone()
	x = x.Materialize().(*tensor.Dense)
	for i, axis := range axes {
		axis -= i // those before it have been left out
		l := linesOf(shape, axis, axis+1)
		lines, along := tensor.Shape{l.Outer, l.Length, l.Inner}, 1
		switch {
		case axis == 0:
			lines, along = lines[1:], 0
		case axis == len(shape)-1:
			lines = lines[:2]
		}
		x = x.ShallowClone()
		if err := x.Reshape(lines...); err != nil {
			return nil, err
		}
		if x, err = reduce(x, along); err != nil {
			return nil, err
		}
		shape = slices.Delete(shape, axis, axis+1)
	}
	return x, x.Reshape(shape...)
}

// sumCases are those of a sum.
func sumCases(s *sampler) []Case {
	along := func(shape []int, axes ...int) func(in gorgonia.Nodes) (*gorgonia.Node, error) {
		return func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			x := in[0]
			if shape != nil {
				x = shaped(x, shape...)
			}
			return gorgonia.Sum(x, axes...)
		}
	}
	x, long := []Operand{s.normal(70, 41)}, []Operand{s.normal(15, 560)}
	small := []Operand{s.normal(6, 20)}
	return []Case{
		built("sum", 100, x, along(nil)),
		built("sum of columns", 100, x, along(nil, 0)),
		built("sum of rows", 100, x, along(nil, 1)),
		built("sum of a row", 100, []Operand{s.normal(1, 37)}, along(nil, 1)),
		built("sum of a column", 100, []Operand{s.normal(37, 1)}, along(nil, 0)),
		built("sum of one number", 100, []Operand{s.normal(1, 1)}, along(nil)),
		built("sum of a vector", 100, x, func(in gorgonia.Nodes) (*gorgonia.Node, error) {
			return gorgonia.Sum(gorgonia.Must(gorgonia.Sum(in[0], 1)))
		}),
		built("sum along the middle of three axes", 100, long, along([]int{15, 280, 2}, 1)),
		built("sum along the first of three axes", 100, long, along([]int{15, 280, 2}, 0)),
		built("sum along the first and the last axis", 100, long, along([]int{15, 280, 2}, 0, 2)),
		built("sum along the two last axes", 100, long, along([]int{15, 280, 2}, 1, 2)),
		built("sum along all axes", 100, long, along([]int{15, 280, 2}, 0, 1, 2)),
		built("sum along all but the second of four axes", 100, small, along([]int{2, 3, 4, 5}, 0, 2, 3)),
		built("sum along the third of four axes", 100, small, along([]int{2, 3, 4, 5}, 2)),
		built("sum along the second and the fourth of four axes", 100, small, along([]int{2, 3, 4, 5}, 1, 3)),
		slope("sum along the two last of four axes, derivative", 0, 100, small, along([]int{2, 3, 4, 5}, 2, 3)),
		slope("sum along the middle of three axes, derivative", 0, 100, small, along([]int{2, 3, 20}, 1)),
		slope("sum along all but the second of four axes, derivative", 0, 100, small, along([]int{2, 3, 4, 5}, 0, 2, 3)),
		slope("sum of a row, derivative", 0, 100, []Operand{s.normal(1, 7)}, along(nil, 1)),
	}
}

// maximum is the largest number along axes. NaN is where the host has it, which takes
// one axis after another.
func maximum() Builtin {
	return Builtin{Name: "maximum", kind: "maxOp",
		queue: func(p *parameters) func(Stream) {
			along := p.integers("along")
			return func(t Stream) { maxOn(t, along) }
		},
		cases: func(s *sampler) []Case {
			along := func(shape []int, axes ...int) func(in gorgonia.Nodes) (*gorgonia.Node, error) {
				return func(in gorgonia.Nodes) (*gorgonia.Node, error) { return gorgonia.Max(shaped(in[0], shape...), axes...) }
			}
			long, holed := []Operand{s.normal(15, 560)}, []Operand{s.holed(15, 560)}
			return []Case{
				exact("maximum where NaN is", holed, along([]int{15, 560})),
				exact("maximum of columns where NaN is", holed, along([]int{15, 560}, 0)),
				exact("maximum of long columns where NaN is", holed, along([]int{560, 15}, 0)),
				exact("maximum of rows where NaN is", holed, along([]int{15, 560}, 1)),
				exact("maximum of short rows where NaN is", holed, along([]int{2100, 4}, 1)),
				exact("maximum along the middle of three axes where NaN is", holed, along([]int{2, 600, 7}, 1)),
				exact("maximum along the first and the last axis where NaN is", holed, along([]int{10, 60, 14}, 0, 2)),
				exact("maximum", long, along([]int{15, 560})),
				exact("maximum of columns", long, along([]int{15, 560}, 0)),
				exact("maximum of rows", long, along([]int{15, 560}, 1)),
				exact("maximum of a vector", long, along([]int{8400}, 0)),
				exact("maximum of a long vector", []Operand{s.holed(280, 283)}, along([]int{280 * 283}, 0)),
				exact("maximum of long columns", []Operand{s.holed(280, 566)}, along([]int{280 * 283, 2}, 0)),
				exact("maximum along the middle of three axes", long, along([]int{15, 280, 2}, 1)),
				exact("maximum along the first and the last axis", long, along([]int{15, 280, 2}, 0, 2)),
				exact("maximum along the third of four axes", long, along([]int{15, 4, 70, 2}, 2)),
				slope("maximum of rows, derivative", 0, 1, []Operand{s.normal(7, 5)}, along([]int{7, 5}, 1)),
				slope("maximum of columns, derivative", 0, 1, []Operand{s.normal(7, 5)}, along([]int{7, 5}, 0)),
			}
		}}
}

// maxOn queues the largest number along axes.
func maxOn(t Stream, along []int) {
	in, shape := t.In(0), t.Shape(0).Clone()
	axes, err := reduced(shape, along)
	if err != nil {
		t.Fail(err)
		return
	}
	if len(axes) == 0 { // a scalar
		t.Copy(t.Out(), in)
		return
	}
	if len(axes) == len(shape) {
		maxLinesOn(t, in, linesOf(shape, 0, len(shape)), true, t.Out())
		return
	}
	for i, axis := range axes {
		axis -= i // those before it have been left out
		lines, out := linesOf(shape, axis, axis+1), t.Out()
		if i < len(axes)-1 {
			out = t.Scratch(lines.Outer, lines.Inner)
		}
		maxLinesOn(t, in, lines, axis > 0, out)
		in, shape = out, slices.Delete(shape, axis, axis+1)
	}
}

// maxLinesOn queues the largest number of each line; latest is the host's order of
// comparison along all axes but the first.
func maxLinesOn(t Stream, in kernels.Matrix, l kernels.Lines, latest bool, out kernels.Matrix) {
	chunk, chunks := l.Chunks()
	largest := t.Scratch(l.Outer*chunks, l.Inner)
	restart := t.Doubles(l.Outer * chunks * l.Inner)
	t.Launch(kernels.MaxLines{In: in, Lines: l, Chunk: chunk, Chunks: chunks, Latest: latest, Out: largest,
		Restart: restart})
	t.Launch(kernels.MaxChunks{In: largest, Restart: restart, Outer: l.Outer, Chunks: chunks, Inner: l.Inner,
		Latest: latest, Out: out})
}
