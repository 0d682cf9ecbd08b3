// Package linalg solves with symmetric matrices as graph programs.
package linalg

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// NotPositiveDefiniteError says that a matrix has no Cholesky factor.
type NotPositiveDefiniteError = op.NotPositiveDefiniteError

// SolveSPD returns X, A X = B, and log|A|, for a symmetric positive definite
// n×n A and an n×m B. It fails with a *NotPositiveDefiniteError.
//
// Where the condition number lets an error above 1 % be expected, the engine
// gets a warning; a float32 engine then solves in float64.
func SolveSPD(e *engine.Engine, a, b *mat.Dense) (x *mat.Dense, logdet float64, err error) {
	n, err := checkSymmetric("SolveSPD", a)
	if err != nil {
		return nil, 0, err
	}
	if b == nil || b.IsEmpty() {
		return nil, 0, errors.New("SolveSPD: the right side is empty")
	}
	rows, m := b.Dims()
	if rows != n {
		return nil, 0, fmt.Errorf("SolveSPD: the matrix is %d×%d and the right side %d×%d: the numbers of rows differ", n, n, rows, m)
	}
	if err := checkFinite("SolveSPD", "the right side", b); err != nil {
		return nil, 0, err
	}
	out, err := solveProgram(e, solveSPDProgram(n, m), n, a, b)
	if err != nil {
		return nil, 0, err
	}
	if logdet, err = engine.Scalar(out["logdet"]); err != nil {
		return nil, 0, err
	}
	x, err = engine.Dense(out["x"])
	return x, logdet, err
}

// solveProgram runs a program that factors "a", in float64 where the engine's
// own element type does not resolve it.
func solveProgram(e *engine.Engine, p engine.Program, n int, a, b *mat.Dense) (engine.Values, error) {
	out, err := e.Run(context.Background(), p, inputs(tensorType(e), a, b))
	if e.DType() == "float64" {
		if err == nil {
			err = warnCondition(e, p, n, out, 0x1p-53)
		}
		return out, err
	}
	var notPD *NotPositiveDefiniteError
	if err != nil && !errors.As(err, &notPD) {
		return nil, err
	}
	if err == nil {
		rcond, err := engine.Scalar(out["rcond"])
		if err != nil || !suspect(rcond, single) {
			return out, err
		}
	}
	e.Warn("%s, %d×%d: too ill-conditioned for float32, computed in float64", p.Name, n, n)
	if out, err = e.RunAs(context.Background(), tensor.Float64, p, inputs(tensor.Float64, a, b)); err != nil {
		return nil, err
	}
	return out, warnCondition(e, p, n, out, 0x1p-53)
}

func inputs(dtype tensor.Dtype, a, b *mat.Dense) engine.Values {
	v := engine.Values{"a": engine.NewMatrix(dtype, a)}
	if b != nil {
		v["b"] = engine.NewMatrix(dtype, b)
	}
	return v
}

func tensorType(e *engine.Engine) tensor.Dtype {
	if e.DType() == "float32" {
		return tensor.Float32
	}
	return tensor.Float64
}

// single is the unit of roundoff of float32, rounded up to the parity that the
// engines promise: a float32 solve agrees with float64 to 10·cond·1e-7.
const single = 1e-7

// suspect reports whether an error above 1 % is to be expected, at ten units of
// roundoff times the condition number.
func suspect(rcond, unit float64) bool { return rcond < 10*unit/1e-2 || math.IsNaN(rcond) }

func warnCondition(e *engine.Engine, p engine.Program, n int, out engine.Values, unit float64) error {
	rcond, err := engine.Scalar(out["rcond"])
	if err == nil && suspect(rcond, unit) {
		e.Warn("%s, %d×%d: computed but suspect, condition number about %.0e", p.Name, n, n, 1/rcond)
	}
	return err
}

func solveSPDProgram(n, m int) engine.Program {
	return engine.Program{Name: "solving with a symmetric matrix", Key: fmt.Sprintf("solve %d %d", n, m),
		Build: func(b *engine.Builder) error {
			a, rhs := b.Input("a", n, n), b.Input("b", n, m)
			l, err := op.Cholesky().Apply(a)
			if err != nil {
				return err
			}
			x, err := op.CholeskySolve().Apply(l, rhs)
			if err != nil {
				return err
			}
			logdet, err := op.CholeskyLogDet().Apply(l)
			if err != nil {
				return err
			}
			rcond, err := op.ReciprocalCondition().Apply(a, l)
			b.Output("x", x)
			b.Output("logdet", logdet)
			b.Output("rcond", rcond)
			return err
		}}
}

// PSDPart returns the nearest positive semidefinite matrix (in the Frobenius
// norm) to a symmetric n×n A, exactly symmetric, and A's eigenvalues in
// ascending order.
func PSDPart(e *engine.Engine, a *mat.Dense) (part *mat.Dense, eigenvalues []float64, err error) {
	n, err := checkSymmetric("PSDPart", a)
	if err != nil {
		return nil, nil, err
	}
	out, err := e.Run(context.Background(), psdProgram(n), engine.Values{"a": e.Matrix(a)})
	if err != nil {
		return nil, nil, err
	}
	if eigenvalues, err = engine.Floats(out["eigenvalues"]); err != nil {
		return nil, nil, err
	}
	part, err = engine.Dense(out["part"])
	return part, eigenvalues, err
}

func psdProgram(n int) engine.Program {
	return engine.Program{Name: "positive semidefinite part", Key: fmt.Sprintf("psd part %d", n),
		Build: func(b *engine.Builder) error {
			a := b.Input("a", n, n)
			eigen, err := op.Eigen().Apply(a)
			if err != nil {
				return err
			}
			values, err := op.Eigenvalues().Apply(eigen)
			if err != nil {
				return err
			}
			part, err := op.PSDPart().Apply(a, eigen)
			b.Output("eigenvalues", values)
			b.Output("part", part)
			return err
		}}
}

// symmetryTolerance is how far two mirrored elements may differ, relative to
// the largest element. The lower triangle of what passes is used.
const symmetryTolerance = 1e-10

// checkSymmetric returns the order of a square, finite, symmetric matrix.
func checkSymmetric(what string, a *mat.Dense) (int, error) {
	if a == nil || a.IsEmpty() {
		return 0, fmt.Errorf("%s: the matrix is empty", what)
	}
	n, c := a.Dims()
	if n != c {
		return 0, fmt.Errorf("%s: the matrix is %d×%d, not square", what, n, c)
	}
	if err := checkFinite(what, "the matrix", a); err != nil {
		return 0, err
	}
	largest := 0.0
	for i := range n {
		for _, v := range a.RawRowView(i) {
			largest = max(largest, math.Abs(v))
		}
	}
	raw := a.RawMatrix()
	for i := range n {
		for j := range i {
			if u, l := raw.Data[j*raw.Stride+i], raw.Data[i*raw.Stride+j]; math.Abs(u-l) > symmetryTolerance*largest {
				return 0, fmt.Errorf("%s: the matrix is not symmetric: element (%d,%d) is %g and (%d,%d) is %g", what, i, j, l, j, i, u)
			}
		}
	}
	return n, nil
}

func checkFinite(what, name string, a *mat.Dense) error {
	r, _ := a.Dims()
	for i := range r {
		for j, v := range a.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: %s has %g in row %d, column %d (counted from 0)", what, name, v, i, j)
			}
		}
	}
	return nil
}
