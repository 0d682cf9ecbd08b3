package op

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
)

// RidgeSolve is the operation (K, λ, T) → B, (K + λI) B = T, for a symmetric
// positive semidefinite n×n K, a scalar λ and an n×m T. It fails with a
// *NotPositiveDefiniteError. It serves loops over λ: K is never copied outside
// of scratch memory.
func RidgeSolve() Op {
	d := &definition{name: "RidgeSolve", in: []int{2, 0, 2}, out: 2,
		shape: func(in []tensor.Shape) (tensor.Shape, error) { return solve([]tensor.Shape{in[0], in[2]}) }}
	return Op{d.kernels(ridgeSolve[float64], ridgeSolve[float32])}
}

func ridgeSolve[T cpublas.Float](c call[T]) error {
	n := c.in[0].rows
	l, done, err := ridgeFactor(c.in[0], c.in[1].data[0])
	if err != nil {
		return err
	}
	defer done()
	copy(c.out.data, c.in[2].data)
	substituteBlocks(l, n, c.out.data, c.out.cols)
	return nil
}

// substituteBlock is the order of the diagonal blocks of substituteBlocks.
const substituteBlock = 128

// substituteBlocks solves L Lᵀ X = B in place of the n×m B with many columns.
// It inverts the diagonal blocks, so that nearly all work is matrix products,
// which run at twice the speed of the libraries' triangular solves.
func substituteBlocks[T cpublas.Float](l []T, n int, b []T, m int) {
	if m < 2*substituteBlock || n < 2*substituteBlock {
		substitute(l, n, b, m)
		return
	}
	scratch := borrow[T](substituteBlock * (substituteBlock + m))
	defer release(scratch)
	inverse, x := (*scratch)[:substituteBlock*substituteBlock], (*scratch)[substituteBlock*substituteBlock:]
	solve := func(i, k int, t blas.Transpose) {
		clear(inverse[:k*k])
		for j := range k {
			inverse[j*k+j] = 1
		}
		cpublas.Trsm(blas.Left, blas.Lower, blas.NoTrans, k, k, 1, l[i*n+i:], n, inverse, k)
		cpublas.Gemm(t, blas.NoTrans, k, m, k, 1, inverse, k, b[i*m:], m, 0, x, m)
		copy(b[i*m:(i+k)*m], x[:k*m])
	}
	for i := 0; i < n; i += substituteBlock {
		k := min(substituteBlock, n-i)
		if i > 0 {
			cpublas.Gemm(blas.NoTrans, blas.NoTrans, k, m, i, -1, l[i*n:], n, b, m, 1, b[i*m:], m)
		}
		solve(i, k, blas.NoTrans)
	}
	for i := (n - 1) / substituteBlock * substituteBlock; i >= 0; i -= substituteBlock {
		k := min(substituteBlock, n-i)
		if rest := n - i - k; rest > 0 {
			cpublas.Gemm(blas.Trans, blas.NoTrans, k, m, rest, -1, l[(i+k)*n+i:], n, b[(i+k)*m:], m, 1, b[i*m:], m)
		}
		solve(i, k, blas.Trans)
	}
}

// ridgeFactor returns the Cholesky factor of K + λI in scratch memory, which
// done gives back.
func ridgeFactor[T cpublas.Float](k matrix[T], lambda T) (l []T, done func(), err error) {
	n := k.rows
	scratch := borrow[T](n * n)
	l = *scratch
	if err := factorShifted(k, lambda, l); err != nil {
		release(scratch)
		return nil, nil, err
	}
	return l, func() { release(scratch) }, nil
}

// RidgeNorm is the operation (B, m) → ‖B' + b mᵀ‖²_F for B = [B' b], n×(p+1),
// and m, 1×p. With B the RidgeSolve of [Y − 1m, 1] it is ‖(K+λI)⁻¹Y‖²_F.
func RidgeNorm() Op {
	d := &definition{name: "RidgeNorm", in: []int{2, 2}, out: 0,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if in[1][0] != 1 || in[1][1] != in[0][1]-1 {
				return nil, fmt.Errorf("a mean %v for solutions %v, want 1×%d", in[1], in[0], in[0][1]-1)
			}
			return tensor.ScalarShape(), nil
		}}
	return Op{d.kernels(ridgeNorm[float64], ridgeNorm[float32])}
}

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
func RidgeGramNorm() Op {
	d := &definition{name: "RidgeGramNorm", in: []int{2, 0, 2}, out: 0,
		shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if !in[0].Eq(in[2]) {
				return nil, fmt.Errorf("a kernel matrix %v and a Gram matrix %v", in[0], in[2])
			}
			return squareToScalar(in)
		}}
	return Op{d.kernels(ridgeGramNorm[float64], ridgeGramNorm[float32])}
}

// ridgeGramNorm uses tr(M⁻¹GM⁻¹) = tr(L⁻ᵀ (L⁻¹ G L⁻ᵀ) L⁻¹) = ⟨L⁻¹GL⁻ᵀ, (LᵀL)⁻¹⟩,
// and (LᵀL)⁻¹ = L⁻¹L⁻ᵀ.
func ridgeGramNorm[T cpublas.Float](c call[T]) error {
	n := c.in[0].rows
	l, done, err := ridgeFactor(c.in[0], c.in[1].data[0])
	if err != nil {
		return err
	}
	defer done()
	scratch := borrow[T](3 * n * n)
	defer release(scratch)
	g, inv, p := (*scratch)[:n*n], (*scratch)[n*n:2*n*n], (*scratch)[2*n*n:]
	copy(g, c.in[2].data)
	cpublas.Trsm(blas.Left, blas.Lower, blas.NoTrans, n, n, 1, l, n, g, n)
	cpublas.Trsm(blas.Right, blas.Lower, blas.Trans, n, n, 1, l, n, g, n)
	clear(inv)
	for i := range n {
		inv[i*n+i] = 1
	}
	cpublas.Trsm(blas.Left, blas.Lower, blas.NoTrans, n, n, 1, l, n, inv, n)
	cpublas.Syrk(blas.Lower, blas.NoTrans, n, n, 1, inv, n, 0, p, n)
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
