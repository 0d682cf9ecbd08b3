package op

import (
	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"

	"privkern/graphs/cpublas"
)

// Solve is the operation (A, B) → X, A X = B for symmetric positive definite
// A. A is n×n, B and X are n×m. It fails with a *NotPositiveDefiniteError. Unlike
// CholeskySolve it has a derivative, which objectives with A⁻¹b in them need.
func Solve() Op {
	d := &definition{name: "Solve", in: []int{2, 2}, out: 2, shape: solve, diff: []bool{true, true},
		sym: func(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			db, err := Solve().Apply(in[0], grad)
			if err != nil {
				return nil, err
			}
			xT, err := gorgonia.Transpose(out)
			if err != nil {
				return nil, err
			}
			da, err := gorgonia.Mul(db, xT)
			if err != nil {
				return nil, err
			}
			da, err = gorgonia.Neg(da)
			return gorgonia.Nodes{da, db}, err
		}}
	return Op{d.kernels(solveSPD[float64], solveSPD[float32])}
}

func solveSPD[T cpublas.Float](c call[T]) error {
	n := c.in[0].rows
	scratch := borrow[T](n * n)
	defer release(scratch)
	l := *scratch
	if err := factor(c.in[0], l); err != nil {
		return err
	}
	copy(c.out.data, c.in[1].data)
	substitute(l, n, c.out.data, c.out.cols)
	return nil
}

// LogDet is the operation A → log|A| for symmetric positive definite A. It
// fails with a *NotPositiveDefiniteError.
func LogDet() Op {
	d := &definition{name: "LogDet", in: []int{2}, out: 0, shape: squareToScalar, diff: []bool{true},
		sym: func(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			inv, err := Inverse().Apply(in[0])
			if err != nil {
				return nil, err
			}
			da, err := gorgonia.HadamardProd(inv, grad)
			return gorgonia.Nodes{da}, err
		}}
	return Op{d.kernels(logDetSPD[float64], logDetSPD[float32])}
}

func logDetSPD[T cpublas.Float](c call[T]) error {
	n := c.in[0].rows
	scratch := borrow[T](n * n)
	defer release(scratch)
	l := *scratch
	if err := factor(c.in[0], l); err != nil {
		return err
	}
	c.out.data[0] = T(logDet(l, n))
	return nil
}

// Inverse is the operation A → A⁻¹, exactly symmetric, for symmetric positive
// definite A. It serves as the derivative of LogDet; to solve equations, use
// Solve. It fails with a *NotPositiveDefiniteError.
func Inverse() Op {
	d := &definition{name: "Inverse", in: []int{2}, out: 2, shape: square, diff: []bool{true},
		sym: func(_ gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			da, err := gorgonia.Mul(out, grad)
			if err != nil {
				return nil, err
			}
			if da, err = gorgonia.Mul(da, out); err != nil {
				return nil, err
			}
			da, err = gorgonia.Neg(da)
			return gorgonia.Nodes{da}, err
		}}
	return Op{d.kernels(inverseSPD[float64], inverseSPD[float32])}
}

// inverseSPD computes A⁻¹ = L⁻ᵀ L⁻¹.
func inverseSPD[T cpublas.Float](c call[T]) error {
	n := c.in[0].rows
	scratch := borrow[T](2 * n * n)
	defer release(scratch)
	l, inv := (*scratch)[:n*n], (*scratch)[n*n:]
	if err := factor(c.in[0], l); err != nil {
		return err
	}
	clear(inv)
	for i := range n {
		inv[i*n+i] = 1
	}
	cpublas.Trsm(blas.Left, blas.Lower, blas.NoTrans, n, n, 1, l, n, inv, n)
	cpublas.Syrk(blas.Upper, blas.Trans, n, n, 1, inv, n, 0, c.out.data, n)
	return mirror(nil, c.out)
}
