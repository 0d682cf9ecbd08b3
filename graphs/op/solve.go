package op

import (
	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/kernels"
)

// Operations on a symmetric positive definite A (n×n) that have derivatives by it. Next to A they take its factor
// L ([Cholesky]), which value and derivative share: gorgonia merges equal nodes, so that a graph factors each A once.
// The derivative by A is exact for that L, and there is none by L.

// Solve is the operation (A, L, B) → X, A X = B; B and X are n×m. It takes 2n²m operations.
func Solve() Op {
	return Op{def: &definition{
		name: "Solve", in: []int{2, 2, 2}, out: 2, shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if _, err := factored(in); err != nil {
				return nil, err
			}
			return solve([]tensor.Shape{in[0], in[2]})
		},
		run64: solveSPD[float64], run32: solveSPD[float32],
		launch: func(t Stream) {
			t.Copy(t.Out(), t.In(2))
			substituteOn(t, t.In(1), t.Out())
		},
		diff: []bool{true, false, true},
		// ∂B = A⁻¹G, ∂A = −∂B Xᵀ.
		sym: func(f *formula, in gorgonia.Nodes, out, grad *gorgonia.Node) gorgonia.Nodes {
			db := f.apply(Solve(), in[0], in[1], grad)
			return gorgonia.Nodes{f.mul(f.neg(db), f.transpose(out)), nil, db}
		},
		cases: func(s *sampler) []Case {
			a, b := s.definite(small), s.normal(small, 4)
			l := lowerOf(a)
			return []Case{applied("Solve", Solve(), 1000, a, l, b),
				derived("Solve, derivative", Solve(), 0, 1e5, a, l, b)}
		},
	}}
}

// solveSPD is the CPU kernel of Solve.
func solveSPD[T cpublas.Float](c call[T]) error {
	copy(c.out.data, c.in[2].data)
	return substitute(c.pool, c.in[1].data, c.in[1].rows, c.out.data, c.out.cols)
}

// LogDet is the operation (A, L) → log|A|.
func LogDet() Op {
	return Op{def: &definition{
		name: "LogDet", in: []int{2, 2}, out: 0, shape: func(in []tensor.Shape) (tensor.Shape, error) {
			if _, err := factored(in); err != nil {
				return nil, err
			}
			return tensor.ScalarShape(), nil
		},
		run64: logDetSPD[float64], run32: logDetSPD[float32],
		launch: func(t Stream) { logDetOn(t, t.In(1)) },
		diff:   []bool{true, false},
		// ∂A = g A⁻¹ for the scalar g.
		sym: func(f *formula, in gorgonia.Nodes, _, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{f.scale(f.apply(Inverse(), in[0], in[1]), grad), nil}
		},
		cases: func(s *sampler) []Case {
			a := s.definite(small)
			l := lowerOf(a)
			return []Case{applied("LogDet", LogDet(), 100, a, l),
				derived("LogDet, derivative", LogDet(), 0, 1e5, a, l)}
		},
	}}
}

// logDetSPD is the CPU kernel of LogDet.
func logDetSPD[T cpublas.Float](c call[T]) error {
	c.out.data[0] = T(logDet(c.in[1].data, c.in[1].rows))
	return nil
}

// AddDiagonal is the operation (A, s) → A + sI for a square A and a scalar s: a covariance
// with noise. Its derivatives are those of A, and the trace by s.
func AddDiagonal() Op {
	return Op{def: &definition{
		name: "AddDiagonal", in: []int{2, 0}, out: 2, shape: square,
		run64: addDiagonal[float64], run32: addDiagonal[float32],
		launch: func(t Stream) {
			t.Copy(t.Out(), t.In(0))
			t.Launch(kernels.AddIdentity{A: t.Out(), Shift: t.In(1), N: t.Out().Rows})
		},
		diff: []bool{true, true},
		sym: func(f *formula, _ gorgonia.Nodes, _, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{grad, f.apply(Trace(), grad)}
		},
		cases: func(s *sampler) []Case {
			a, v := s.normal(small, small), s.scalar(0.5)
			return []Case{applied("AddDiagonal", AddDiagonal(), 1, a, v),
				derived("AddDiagonal, derivative by s", AddDiagonal(), 1, 100, a, v)}
		},
	}}
}

// addDiagonal is the CPU kernel of AddDiagonal.
func addDiagonal[T cpublas.Float](c call[T]) error {
	n, s := c.out.cols, c.in[1].data[0]
	copy(c.out.data, c.in[0].data)
	for i := range n {
		c.out.data[i*n+i] += s
	}
	return nil
}

// Inverse is the operation (A, L) → A⁻¹, exactly symmetric. It serves as the derivative of LogDet; to solve
// equations, use Solve.
func Inverse() Op {
	return Op{def: &definition{
		name: "Inverse", in: []int{2, 2}, out: 2, shape: factored,
		run64: inverseSPD[float64], run32: inverseSPD[float32],
		launch: func(t Stream) {
			n := t.In(1).Rows
			inv := t.Scratch(n, n)
			t.Launch(kernels.Identity{N: n, Out: inv})
			t.Trsm(blas.Left, blas.NoTrans, t.In(1), inv)
			t.Syrk(blas.Upper, blas.Trans, n, n, 1, inv, t.Out())
			mirrorOn(t, t.Out())
		},
		diff: []bool{true, false},
		// ∂A = −A⁻¹ G A⁻¹.
		sym: func(f *formula, _ gorgonia.Nodes, out, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{f.neg(f.mul(f.mul(out, grad), out)), nil}
		},
		cases: func(s *sampler) []Case {
			a := s.definite(small)
			return []Case{applied("Inverse", Inverse(), 1000, a, lowerOf(a))}
		},
	}}
}

// inversePanel is the number of columns of L⁻¹ that are computed together: few enough that little is computed of the
// zeros above the diagonal, and enough for products to be fast.
const inversePanel = 128

// inverseSPD computes A⁻¹ = L⁻ᵀ L⁻¹ by panels of columns, of L⁻¹ from the diagonal on and of A⁻¹ down to it: 2n³/3
// operations, a third of those with full matrices.
// The triangle is mirrored, so that the inverse is exactly symmetric.
func inverseSPD[T cpublas.Float](c call[T]) error {
	l, n := c.in[1].data, c.in[1].rows
	scratch := borrow[T](n * n)
	defer release(scratch)
	inv := *scratch
	clear(inv)
	for at := 0; at < n; at += inversePanel {
		cols := min(inversePanel, n-at)
		for i := range cols {
			inv[(at+i)*n+at+i] = 1
		}
		if err := dense.Trsm(c.pool, blas.Left, blas.Lower, blas.NoTrans, n-at, cols, l[at*n+at:], n, inv[at*n+at:],
			n); err != nil {
			return err
		}
	}
	for at := 0; at < n; at += inversePanel {
		cols := min(inversePanel, n-at)
		if err := dense.Gemm(c.pool, blas.Trans, blas.NoTrans, at+cols, cols, n-at, 1, inv[at*n:], n, inv[at*n+at:], n, 0,
			c.out.data[at:], n); err != nil {
			return err
		}
	}
	return mirror(c.pool, c.out)
}
