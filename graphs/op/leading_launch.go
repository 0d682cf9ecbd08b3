package op

import (
	"gonum.org/v1/gonum/blas"

	"privkern/graphs/kernels"
)

// leadingEigenOn queues LeadingEigen: the steps of its CPU kernel, with products by the
// inverse of a block's factor in place of triangular solutions.
func leadingEigenOn(t Stream, k, steps int) {
	a, n := t.In(0), t.In(0).Rows
	block, blocks := leadingSpace(n, k, steps)
	m := block * blocks
	work := 1
	if block > kernels.FactorOrder {
		work = block * block
	}
	d := &krylovOn{Stream: t, n: n, block: block, failed: t.Failure(), gram: t.Scratch(block, block),
		inverse: t.Scratch(block, block), work: t.Doubles(work), along: t.Scratch(block, m)}
	d.first, d.second, d.least = shifts(t.Single())
	q, aq := t.Scratch(m, n), t.Scratch(m, n)
	rows := func(of kernels.Matrix, from, to int) kernels.Matrix {
		return t.Part(of, from*block*n, (to-from)*block, n)
	}
	r, s := t.Scratch(block, n), t.Scratch(block, n)
	t.Launch(kernels.StartBlock{N: block * n, Out: r})
	d.orthonormalise(r, d.first, s)
	d.orthonormalise(s, d.second, rows(q, 0, 1))
	for j := range blocks {
		product := rows(aq, j, j+1)
		t.Gemm(blas.NoTrans, blas.NoTrans, block, n, n, 1, rows(q, j, j+1), a, product)
		if j+1 == blocks {
			break
		}
		t.Copy(r, product)
		d.project(r, rows(q, max(0, j-1), j+1))
		d.orthonormalise(r, d.first, s)
		from, to := s, r
		for pass := range passes {
			if pass == passes-1 {
				to = rows(q, j+1, j+2)
			}
			d.project(from, rows(q, 0, j+1))
			d.orthonormalise(from, d.second, to)
			from, to = to, from
		}
	}
	d.ritz(q, aq, k, m)
}

// krylovOn is the memory of a Krylov space on a device.
type krylovOn struct {
	Stream
	n, block             int
	failed               kernels.Flag
	first, second, least float64
	gram, inverse, along kernels.Matrix
	work                 kernels.Doubles
}

// project takes the components along rows q off the rows of r.
func (d *krylovOn) project(r, q kernels.Matrix) {
	c := d.Part(d.along, 0, d.block, q.Rows)
	d.Gemm(blas.NoTrans, blas.Trans, d.block, q.Rows, d.n, 1, r, q, c)
	d.AddGemm(blas.NoTrans, blas.NoTrans, d.block, d.n, q.Rows, -1, c, q, r)
}

// orthonormalise writes L⁻¹R to another matrix, LLᵀ = RRᵀ + shift, as the CPU.
func (d *krylovOn) orthonormalise(r kernels.Matrix, relative float64, to kernels.Matrix) {
	d.Gemm(blas.NoTrans, blas.Trans, d.block, d.block, d.n, 1, r, r, d.gram)
	d.Launch(kernels.ShiftedInverse{A: d.gram, N: d.block, Relative: relative, Least: d.least, Work: d.work,
		Out: d.inverse, Failed: d.failed})
	d.Gemm(blas.NoTrans, blas.NoTrans, d.block, d.n, d.block, 1, d.inverse, r, to)
}

// ritz queues the pairs of the space and their bounds, as the CPU computes them.
func (d *krylovOn) ritz(q, aq kernels.Matrix, k, m int) {
	n := d.n
	t, weights := d.Scratch(m, m), d.Scratch(k, m)
	d.Gemm(blas.NoTrans, blas.Trans, m, m, n, 1, q, aq, t)
	w, v := eigenOn(d, t)
	d.Launch(kernels.LastRows{V: v, N: m, K: k, Out: weights})
	vectors, products, gram := d.Scratch(k, n), d.Scratch(k, n), d.Scratch(k, k)
	d.Gemm(blas.NoTrans, blas.NoTrans, k, n, m, 1, weights, q, vectors)
	d.Gemm(blas.NoTrans, blas.NoTrans, k, n, m, 1, weights, aq, products)
	d.Gemm(blas.NoTrans, blas.Trans, k, k, n, 1, vectors, vectors, gram)
	d.Launch(kernels.RitzPairs{W: w, Vectors: vectors, Products: products, Gram: gram, M: m, N: n, K: k, Out: d.Out()})
}
