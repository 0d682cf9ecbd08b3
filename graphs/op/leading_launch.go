package op

import (
	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cuda/kernels"
)

// leadingEigenOn queues LeadingEigen: the steps of its CPU kernel.
func leadingEigenOn(t Stream, k, steps int) {
	a, n := t.In(0), t.In(0).Rows
	block, blocks := leadingSpace(n, k, steps)
	m := block * blocks
	failed := t.Failure()
	first, second, least := shifts(t.Single())
	d := &krylovOn{Stream: t, n: n, block: block, failed: failed, least: fillOn(t, least),
		first: fillOn(t, first), second: fillOn(t, second), gram: t.Scratch(block, block), l: t.Scratch(block, block),
		shift: t.Scratch(1, 1)}
	q, aq := t.Scratch(m, n), t.Scratch(m, n)
	t.Send(t.Part(q, 0, block, n), func() (gorgonia.Value, error) {
		if t.Single() {
			return tensor.New(tensor.WithShape(block, n), tensor.WithBacking(startBlock[float32](block*n))), nil
		}
		return tensor.New(tensor.WithShape(block, n), tensor.WithBacking(startBlock[float64](block*n))), nil
	})
	rows := func(of kernels.Matrix, from, to int) kernels.Matrix {
		return t.Part(of, from*block*n, (to-from)*block, n)
	}
	d.orthonormalise(rows(q, 0, 1), d.first)
	d.orthonormalise(rows(q, 0, 1), d.second)
	for j := range blocks {
		product := rows(aq, j, j+1)
		t.Gemm(blas.NoTrans, blas.NoTrans, block, n, n, 1, rows(q, j, j+1), a, product)
		if j+1 == blocks {
			break
		}
		r := rows(q, j+1, j+2)
		d.project(product, rows(q, max(0, j-1), j+1), r)
		d.orthonormalise(r, d.first)
		for range passes {
			d.project(r, rows(q, 0, j+1), r)
			d.orthonormalise(r, d.second)
		}
	}
	d.ritz(q, aq, k, m)
}

// krylovOn is the memory of a Krylov space on a device.
type krylovOn struct {
	Stream
	n, block                    int
	failed                      kernels.Flag
	first, second, least, shift kernels.Matrix // 1×1
	gram, l                     kernels.Matrix
}

// fillOn is a number as a 1×1 matrix.
func fillOn(t Stream, v float64) kernels.Matrix {
	x := t.Scratch(1, 1)
	t.Launch(kernels.Fill{Out: x, V: v, N: 1})
	return x
}

// project writes to r the rows of x less their components along rows q.
func (d *krylovOn) project(x, q, r kernels.Matrix) {
	c, along := d.Scratch(d.block, q.Rows), d.Scratch(d.block, d.n)
	d.Gemm(blas.NoTrans, blas.Trans, d.block, q.Rows, d.n, 1, x, q, c)
	d.Gemm(blas.NoTrans, blas.NoTrans, d.block, d.n, q.Rows, 1, c, q, along)
	d.Launch(kernels.Subtract{Binary: pairOf(x, along, 1, r)})
}

// pairOf are the operands of a function of pairs of elements; a stride of 0 takes b as a scalar.
func pairOf(a, b kernels.Matrix, sb int, out kernels.Matrix) kernels.Binary {
	return kernels.Binary{A: a, SA: 1, B: b, SB: sb, Out: out, N: out.Size()}
}

// orthonormalise is that of the CPU.
func (d *krylovOn) orthonormalise(r, relative kernels.Matrix) {
	d.Syrk(blas.Lower, blas.NoTrans, d.block, d.n, 1, r, d.gram)
	d.Launch(kernels.SumDiagonal{A: d.gram, N: d.block, Out: d.shift})
	d.Launch(kernels.Multiply{Binary: pairOf(d.shift, relative, 1, d.shift)})
	d.Launch(kernels.Add{Binary: pairOf(d.shift, d.least, 1, d.shift)})
	d.Launch(kernels.LowerShifted{A: d.gram, Shift: d.shift, N: d.block, Out: d.l})
	d.Potrf(d.l, d.failed)
	d.Trsm(blas.Left, blas.NoTrans, d.l, r)
}

// ritz is that of the CPU.
func (d *krylovOn) ritz(q, aq kernels.Matrix, k, m int) {
	n, out := d.n, d.Out()
	t := d.Scratch(m, m)
	d.Gemm(blas.NoTrans, blas.Trans, m, m, n, 1, q, aq, t)
	w, v := eigenOn(d, t)
	pairs, theta, weights := d.Scratch(k, m+1), d.Scratch(k, 1), d.Scratch(k, m)
	d.Launch(kernels.PackLargest{W: w, V: v, N: m, K: k, Out: pairs})
	d.Launch(kernels.CopyBlock{In: pairs, LdIn: m + 1, Out: theta, LdOut: 1, Rows: k, Cols: 1})
	d.Launch(kernels.CopyBlock{In: d.Part(pairs, 1, 1, k*(m+1)-1), LdIn: m + 1, Out: weights, LdOut: m, Rows: k, Cols: m})
	vectors, products, scaled := d.Scratch(k, n), d.Scratch(k, n), d.Scratch(k, n)
	d.Gemm(blas.NoTrans, blas.NoTrans, k, n, m, 1, weights, q, vectors)
	d.Gemm(blas.NoTrans, blas.NoTrans, k, n, m, 1, weights, aq, products)
	d.Launch(kernels.Scale{In: vectors, S: theta, Out: scaled, Rows: k, Cols: n})
	bound, defect := d.Scratch(k, 1), d.Scratch(k, 1)
	d.Launch(kernels.RowDistance{A: products, B: scaled, Rows: k, Cols: n, Out: bound})
	gram, unit := d.Scratch(k, k), d.Scratch(k, k)
	d.Gemm(blas.NoTrans, blas.Trans, k, k, n, 1, vectors, vectors, gram)
	d.Launch(kernels.Identity{N: k, Out: unit})
	d.Launch(kernels.RowDistance{A: gram, B: unit, Rows: k, Cols: k, Out: defect})
	largest := d.Scratch(1, 1)
	d.Launch(kernels.Absolute{Unary: kernels.Unary{A: d.Part(theta, 0, 1, 1), Out: largest, N: 1}})
	d.Launch(kernels.Multiply{Binary: pairOf(defect, largest, 0, defect)})
	d.Launch(kernels.Add{Binary: pairOf(bound, defect, 1, bound)})
	cols := n + 2
	for _, part := range []struct {
		of         kernels.Matrix
		from, cols int
	}{{theta, 0, 1}, {bound, 1, 1}, {vectors, 2, n}} {
		d.Launch(kernels.CopyBlock{In: part.of, LdIn: part.cols, Out: d.Part(out, part.from, 1, out.Size()-part.from),
			LdOut: cols, Rows: k, Cols: part.cols})
	}
}
