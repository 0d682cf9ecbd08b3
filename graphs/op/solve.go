package op

import (
	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/kernels"
)

// Operations on a symmetric positive definite matrix that factor it themselves.
// Unlike those on its factor they have derivatives.

// Solve is the operation (A, B) → X, A X = B for symmetric positive definite
// A. A is n×n, B and X are n×m. It fails with a *NotPositiveDefiniteError. Unlike
// CholeskySolve it has a derivative, which objectives with A⁻¹b in them need.
//
// The factor is not kept: the derivative factors A once more, n³/3 operations, and a
// graph that needs several solves with one A should use Cholesky and CholeskySolve.
func Solve() Op {
	return Op{def: &definition{
		name: "Solve", in: []int{2, 2}, out: 2, shape: solve,
		run64: solveSPD[float64], run32: solveSPD[float32],
		launch: func(t Stream) {
			l := t.Scratch(t.In(0).Rows, t.In(0).Rows)
			factorOn(t, t.In(0), kernels.Matrix{}, l)
			t.Copy(t.Out(), t.In(1))
			substituteOn(t, l, t.Out())
		},
		diff: []bool{true, true},
		// ∂B = A⁻¹G, ∂A = −∂B Xᵀ.
		sym: func(f *formula, in gorgonia.Nodes, out, grad *gorgonia.Node) gorgonia.Nodes {
			db := f.apply(Solve(), in[0], grad)
			return gorgonia.Nodes{f.neg(f.mul(db, f.transpose(out))), db}
		},
		cases: func(s *sampler) []Case {
			a, b := s.definite(small), s.normal(small, 4)
			return []Case{applied("Solve", Solve(), 1000, a, b), derived("Solve, derivative", Solve(), 0, 1e5, a, b)}
		},
	}}
}

// solveSPD is the CPU kernel of Solve.
func solveSPD[T cpublas.Float](c call[T]) error {
	n := c.in[0].rows
	scratch := borrow[T](n * n)
	defer release(scratch)
	l := *scratch
	if err := factor(c.pool, c.in[0], l); err != nil {
		return err
	}
	copy(c.out.data, c.in[1].data)
	return substitute(c.pool, l, n, c.out.data, c.out.cols)
}

// LogDet is the operation A → log|A| for symmetric positive definite A. It
// fails with a *NotPositiveDefiniteError.
func LogDet() Op {
	return Op{def: &definition{
		name: "LogDet", in: []int{2}, out: 0, shape: squareToScalar,
		run64: logDetSPD[float64], run32: logDetSPD[float32],
		launch: func(t Stream) {
			l := t.Scratch(t.In(0).Rows, t.In(0).Rows)
			factorOn(t, t.In(0), kernels.Matrix{}, l)
			logDetOn(t, l)
		},
		diff: []bool{true},
		// ∂A = g A⁻¹ for the scalar g.
		sym: func(f *formula, in gorgonia.Nodes, _, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{f.scale(f.apply(Inverse(), in[0]), grad)}
		},
		cases: func(s *sampler) []Case {
			a := s.definite(small)
			return []Case{applied("LogDet", LogDet(), 100, a), derived("LogDet, derivative", LogDet(), 0, 1e5, a)}
		},
	}}
}

// logDetSPD is the CPU kernel of LogDet: n³/3 operations.
func logDetSPD[T cpublas.Float](c call[T]) error {
	n := c.in[0].rows
	scratch := borrow[T](n * n)
	defer release(scratch)
	l := *scratch
	if err := factor(c.pool, c.in[0], l); err != nil {
		return err
	}
	c.out.data[0] = T(logDet(l, n))
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

// Inverse is the operation A → A⁻¹, exactly symmetric, for symmetric positive
// definite A. It serves as the derivative of LogDet; to solve equations, use
// Solve. It fails with a *NotPositiveDefiniteError.
func Inverse() Op {
	return Op{def: &definition{
		name: "Inverse", in: []int{2}, out: 2, shape: square,
		run64: inverseSPD[float64], run32: inverseSPD[float32],
		launch: func(t Stream) {
			n := t.In(0).Rows
			l, inv := t.Scratch(n, n), t.Scratch(n, n)
			factorOn(t, t.In(0), kernels.Matrix{}, l)
			t.Launch(kernels.Identity{N: n, Out: inv})
			t.Trsm(blas.Left, blas.NoTrans, l, inv)
			t.Syrk(blas.Upper, blas.Trans, n, n, 1, inv, t.Out())
			mirrorOn(t, t.Out())
		},
		diff: []bool{true},
		// ∂A = −A⁻¹ G A⁻¹.
		sym: func(f *formula, _ gorgonia.Nodes, out, grad *gorgonia.Node) gorgonia.Nodes {
			return gorgonia.Nodes{f.neg(f.mul(f.mul(out, grad), out))}
		},
		cases: func(s *sampler) []Case {
			return []Case{applied("Inverse", Inverse(), 1000, s.definite(small))}
		},
	}}
}

// inverseSPD computes A⁻¹ = L⁻ᵀ L⁻¹.
// The product of one triangle is mirrored, so that the inverse is exactly symmetric and
// positive semidefinite but for rounding.
func inverseSPD[T cpublas.Float](c call[T]) error {
	n := c.in[0].rows
	scratch := borrow[T](2 * n * n)
	defer release(scratch)
	l, inv := (*scratch)[:n*n], (*scratch)[n*n:]
	if err := factor(c.pool, c.in[0], l); err != nil {
		return err
	}
	clear(inv)
	for i := range n {
		inv[i*n+i] = 1
	}
	if err := dense.Trsm(c.pool, blas.Left, blas.Lower, blas.NoTrans, n, n, l, n, inv, n); err != nil {
		return err
	}
	if err := dense.Syrk(c.pool, blas.Upper, blas.Trans, n, n, 1, inv, n, 0, c.out.data, n); err != nil {
		return err
	}
	return mirror(c.pool, c.out)
}
