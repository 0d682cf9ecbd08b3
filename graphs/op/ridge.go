package op

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/kernels"
	"privkern/graphs/parallel"
)

// Regularised least squares: operations for loops over λ.

// RidgeSolve is the operation (K, λ, T) → B, (K + λI) B = T, for a symmetric
// positive semidefinite n×n K, a scalar λ and an n×m T. It fails with a
// *NotPositiveDefiniteError. It serves loops over λ: K is never copied outside
// of scratch memory.
// It takes n³/3 + 2n²m operations. With λ at or above zero the condition number of the
// system is at most (‖K‖₂ + λ)/λ, however close to singular K is.
func RidgeSolve() Op {
	return Op{def: &definition{
		name: "RidgeSolve", in: []int{2, 0, 2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) { return solve([]tensor.Shape{in[0], in[2]}) },
		run64: ridgeSolve[float64], run32: ridgeSolve[float32],
		launch: func(t Stream) {
			n := t.In(0).Rows
			l := t.Scratch(n, n)
			factorOn(t, t.In(0), t.In(1), l)
			t.Copy(t.Out(), t.In(2))
			substituteOn(t, l, t.Out())
		},
		cases: func(s *sampler) []Case {
			return []Case{
				applied("RidgeSolve", RidgeSolve(), 1000, s.definite(small), s.scalar(0.3), s.normal(small, 300)),
				// On the host by blocks.
				applied("RidgeSolve, many columns", RidgeSolve(), 1000, s.definite(257), s.scalar(9), s.normal(257, 257)),
			}
		},
	}}
}

// ridgeSolve is the CPU kernel of RidgeSolve.
func ridgeSolve[T cpublas.Float](c call[T]) error {
	n := max(leadingBlock(c.in[0], 1), rowsInUse(c.in[2]), 1)
	l, done, err := ridgeFactor(c.pool, c.in[0], n, c.in[1].data[0])
	if err != nil {
		return err
	}
	defer done()
	copy(c.out.data, c.in[2].data)
	return substituteBlocks(c.pool, l, n, c.out.data[:n*c.out.cols], c.out.cols)
}

// substituteBlock is the order of the diagonal blocks of substituteBlocks.
const substituteBlock = 128

// substituteBlocks solves L Lᵀ X = B in place of the n×m B with many columns. It inverts
// the diagonal blocks, so that nearly all work is matrix products, which run at twice
// the speed of the libraries' triangular solves.
//
// With L_ii the diagonal blocks and L_i the rows to the left of one, forward and
// backward substitution are
//
//	X_i = L_ii⁻¹ (B_i − L_i X_<i),   X_i = L_ii⁻ᵀ (B_i − (L_>i,i)ᵀ X_>i).
//
// The inverses cost accuracy only where a diagonal block is itself ill-conditioned: the
// square of its condition number is at most that of K + λI. Blocks are fixed in size, so
// the order of summation depends on n and m alone.
func substituteBlocks[T cpublas.Float](pool *parallel.Pool, l []T, n int, b []T, m int) error {
	if m < 2*substituteBlock || n < 2*substituteBlock {
		return substitute(pool, l, n, b, m)
	}
	return dense.Columns(pool, m, n*n*m, func(at, columns int) { substituteColumns(l, n, b[at:], columns, m) })
}

// substituteColumns is substituteBlocks for m columns of a B whose rows are ld elements apart.
func substituteColumns[T cpublas.Float](l []T, n int, b []T, m, ld int) {
	scratch := borrow[T](substituteBlock * (substituteBlock + m))
	defer release(scratch)
	inverse, x := (*scratch)[:substituteBlock*substituteBlock], (*scratch)[substituteBlock*substituteBlock:]
	// X_i ← L_ii⁻¹ B_i, or L_ii⁻ᵀ B_i, for the k rows from i on.
	solve := func(i, k int, t blas.Transpose) {
		clear(inverse[:k*k])
		for j := range k {
			inverse[j*k+j] = 1
		}
		cpublas.Trsm(blas.Left, blas.Lower, blas.NoTrans, k, k, 1, l[i*n+i:], n, inverse, k)
		cpublas.Gemm(t, blas.NoTrans, k, m, k, 1, inverse, k, b[i*ld:], ld, 0, x, m)
		for j := range k {
			copy(b[(i+j)*ld:(i+j)*ld+m], x[j*m:])
		}
	}
	for i := 0; i < n; i += substituteBlock {
		k := min(substituteBlock, n-i)
		if i > 0 {
			cpublas.Gemm(blas.NoTrans, blas.NoTrans, k, m, i, -1, l[i*n:], n, b, ld, 1, b[i*ld:], ld)
		}
		solve(i, k, blas.NoTrans)
	}
	for i := (n - 1) / substituteBlock * substituteBlock; i >= 0; i -= substituteBlock {
		k := min(substituteBlock, n-i)
		if rest := n - i - k; rest > 0 {
			cpublas.Gemm(blas.Trans, blas.NoTrans, k, m, rest, -1, l[(i+k)*n+i:], n, b[(i+k)*ld:], ld, 1, b[i*ld:], ld)
		}
		solve(i, k, blas.Trans)
	}
}

// ridgeFactor returns the Cholesky factor of the leading block of order n of K + λI in scratch
// memory, which done gives back.
func ridgeFactor[T cpublas.Float](pool *parallel.Pool, k matrix[T], n int, lambda T) (l []T, done func(), err error) {
	scratch := borrow[T](n * n)
	l = *scratch
	if err := factorShifted(pool, matrix[T]{rows: n, cols: k.cols, data: k.data}, lambda, l); err != nil {
		release(scratch)
		return nil, nil, err
	}
	return l, func() { release(scratch) }, nil
}

// RidgeNorm is the operation (B, m) → ‖B' + b mᵀ‖²_F for B = [B' b], n×(p+1),
// and m, 1×p. With B the RidgeSolve of [Y − 1m, 1] it is ‖(K+λI)⁻¹Y‖²_F.
//
// It gives the residual of ridge regression, Y − K(K+λI)⁻¹Y = λ(K+λI)⁻¹Y, without the
// product with K and without the cancellation that the difference suffers for small λ. B
// belongs to centred Y because evaluation wants it so; the mean comes back as b mᵀ.
func RidgeNorm() Op {
	return Op{def: &definition{
		name: "RidgeNorm", in: []int{2, 2}, out: 0,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if in[1][0] != 1 || in[1][1] != in[0][1]-1 {
				return nil, fmt.Errorf("a mean %v for solutions %v, want 1×%d", in[1], in[0], in[0][1]-1)
			}
			return tensor.ScalarShape(), nil
		},
		run64: ridgeNorm[float64], run32: ridgeNorm[float32],
		launch: func(t Stream) {
			sum := kernels.SumRidge{B: t.In(0), M: t.In(1), Rows: t.In(0).Rows, Cols: t.In(0).Cols}
			sum.Parts = t.Doubles(sum.Grid().Blocks)
			t.Launch(sum)
			totalOn(t, sum.Parts, sum.Grid())
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("RidgeNorm", RidgeNorm(), 100, s.normal(small, 9), s.normal(1, 8))}
		},
	}}
}

// ridgeNorm is the CPU kernel of RidgeNorm. A row adds up in the element type, the rows
// in float64.
func ridgeNorm[T cpublas.Float](c call[T]) error {
	b, m := c.in[0], c.in[1].data
	total := 0.0
	for i := range b.rows {
		row := b.row(i)
		last := row[len(m)]
		var s0, s1 T
		j := 0
		for ; j+2 <= len(m); j += 2 {
			v0, v1 := row[j]+last*m[j], row[j+1]+last*m[j+1]
			s0 += v0 * v0
			s1 += v1 * v1
		}
		if j < len(m) {
			v := row[j] + last*m[j]
			s0 += v * v
		}
		total += float64(s0 + s1)
	}
	c.out.data[0] = T(total)
	return nil
}

// RidgeGramNorm is the operation (K, λ, G) → tr(M⁻¹ G M⁻¹), M = K + λI, for
// symmetric n×n K and G. With G = YYᵀ it is ‖M⁻¹Y‖²_F in O(n³) operations
// however many columns Y has. It fails with a *NotPositiveDefiniteError.
// RidgeNorm needs 2n²p operations for B instead, so that this one is the cheaper from p
// of about 2n on.
func RidgeGramNorm() Op {
	return Op{def: &definition{
		name: "RidgeGramNorm", in: []int{2, 0, 2}, out: 0,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if !in[0].Eq(in[2]) {
				return nil, fmt.Errorf("a kernel matrix %v and a Gram matrix %v", in[0], in[2])
			}
			return squareToScalar(in)
		},
		run64: ridgeGramNorm[float64], run32: ridgeGramNorm[float32],
		launch: launchRidgeGramNorm,
		cases: func(s *sampler) []Case {
			return []Case{applied("RidgeGramNorm", RidgeGramNorm(), 1000, s.definite(small), s.scalar(0.3), s.definite(small))}
		},
	}}
}

// ridgeGramNorm uses tr(M⁻¹GM⁻¹) = tr(L⁻ᵀ (L⁻¹ G L⁻ᵀ) L⁻¹) = ⟨L⁻¹GL⁻ᵀ, (LᵀL)⁻¹⟩,
// and (LᵀL)⁻¹ = L⁻¹L⁻ᵀ.
// All its terms are those of the lower triangle, twice off the diagonal.
func ridgeGramNorm[T cpublas.Float](c call[T]) error {
	n := max(leadingBlock(c.in[0], 1), leadingBlock(c.in[2], 0), 1)
	l, done, err := ridgeFactor(c.pool, c.in[0], n, c.in[1].data[0])
	if err != nil {
		return err
	}
	defer done()
	scratch := borrow[T](3 * n * n)
	defer release(scratch)
	g, inv, p := (*scratch)[:n*n], (*scratch)[n*n:2*n*n], (*scratch)[2*n*n:]
	for i := range n {
		copy(g[i*n:(i+1)*n], c.in[2].row(i))
	}
	if err := dense.Trsm(c.pool, blas.Left, blas.Lower, blas.NoTrans, n, n, l, n, g, n); err != nil {
		return err
	}
	if err := dense.Trsm(c.pool, blas.Right, blas.Lower, blas.Trans, n, n, l, n, g, n); err != nil {
		return err
	}
	clear(inv)
	for i := range n {
		inv[i*n+i] = 1
	}
	if err := dense.Trsm(c.pool, blas.Left, blas.Lower, blas.NoTrans, n, n, l, n, inv, n); err != nil {
		return err
	}
	if err := dense.Syrk(c.pool, blas.Lower, blas.NoTrans, n, n, 1, inv, n, 0, p, n); err != nil {
		return err
	}
	total := 0.0
	for i := range n {
		for j := range i {
			total += 2 * float64(g[i*n+j]) * float64(p[i*n+j])
		}
		total += float64(g[i*n+i]) * float64(p[i*n+i])
	}
	c.out.data[0] = T(total)
	return nil
}

// launchRidgeGramNorm is ⟨L⁻¹GL⁻ᵀ, L⁻¹L⁻ᵀ⟩, as on the host.
func launchRidgeGramNorm(t Stream) {
	n := t.In(0).Rows
	l, g, inv, p := t.Scratch(n, n), t.Scratch(n, n), t.Scratch(n, n), t.Scratch(n, n)
	factorOn(t, t.In(0), t.In(1), l)
	t.Copy(g, t.In(2))
	t.Trsm(blas.Left, blas.NoTrans, l, g)
	t.Trsm(blas.Right, blas.Trans, l, g)
	t.Launch(kernels.Identity{N: n, Out: inv})
	t.Trsm(blas.Left, blas.NoTrans, l, inv)
	t.Syrk(blas.Lower, blas.NoTrans, n, n, 1, inv, p)
	sum := kernels.SumLowerProducts{G: g, P: p, N: n}
	sum.Parts = t.Doubles(sum.Grid().Blocks)
	t.Launch(sum)
	totalOn(t, sum.Parts, sum.Grid())
}
