// Package linalg computes solutions and spectra of symmetric matrices, and left singular vectors,
// as graph programs.
package linalg

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/finite"
	"privkern/graphs/op"
)

// NotPositiveDefiniteError is the error of a matrix without a Cholesky factor.
type NotPositiveDefiniteError = op.NotPositiveDefiniteError

// SolveSPD returns X with A X = B, and log|A|, for a symmetric positive definite A (n×n) and B (n×m).
// Otherwise it returns a *NotPositiveDefiniteError.
//
// If the condition number suggests an error above 1 %, a float32 engine solves in float64, and a
// float64 engine gets a warning. The condition number is an estimate of ‖A‖₁‖A⁻¹‖₁; the relative
// error of X is at most about this times the unit of roundoff.
//
// Only the lower triangle of A is used. It takes n³/3 + 2n²m operations.
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
		return nil, 0, fmt.Errorf("SolveSPD: the matrix is %d×%d and the right side %d×%d: the numbers of rows differ", n,
			n, rows, m)
	}
	if err := finite.Matrix("the right side", b); err != nil {
		return nil, 0, fmt.Errorf("SolveSPD: %w", err)
	}
	out, err := solveProgram(e, solveSPDProgram(n, m), n, a, b)
	if err != nil {
		return nil, 0, err
	}
	r := engine.Read(out)
	return r.Dense("x"), r.Scalar("logdet"), r.Err()
}

// solveProgram runs a program that factors "a" (n×n), in float64 if the engine's element type
// does not suffice: after a failed factorisation in float32, which may be due to rounding, and for
// a large condition number.
func solveProgram(e *engine.Engine, p engine.Program, n int, a, b *mat.Dense) (engine.Values, error) {
	out, err := e.Run(context.Background(), p, inputs(e.ElementType(), a, b))
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

// inputs returns the inputs "a" and, unless b is nil, "b".
func inputs(dtype tensor.Dtype, a, b *mat.Dense) engine.Values {
	v := engine.Values{"a": engine.NewMatrix(dtype, a)}
	if b != nil {
		v["b"] = engine.NewMatrix(dtype, b)
	}
	return v
}

// single is the unit of roundoff of float32, rounded up to the documented parity of engines: a
// float32 solution agrees with float64 to 10·cond·1e-7.
const single = 1e-7

// suspect reports whether ten units of roundoff times the condition number exceed 1 %.
func suspect(rcond, unit float64) bool { return rcond < 10*unit/1e-2 || math.IsNaN(rcond) }

// warnCondition warns if the result may have fewer than two correct digits.
func warnCondition(e *engine.Engine, p engine.Program, n int, out engine.Values, unit float64) error {
	rcond, err := engine.Scalar(out["rcond"])
	if err == nil && suspect(rcond, unit) {
		e.Warn("%s, %d×%d: computed but suspect, condition number about %.0e", p.Name, n, n, 1/rcond)
	}
	return err
}

// solveSPDProgram computes "x" (n×m) with A X = B, "logdet", log|A|, and "rcond", the reciprocal
// of the condition number, from "a" (n×n) and "b" (n×m).
func solveSPDProgram(n, m int) engine.Program {
	return engine.Program{Name: "solving with a symmetric matrix", Key: fmt.Sprintf("solve %d %d", n, m),
		Build: func(b *engine.Builder) {
			a, rhs := b.Input("a", n, n), b.Input("b", n, m)
			l := b.Cholesky(a)            // LLᵀ = A
			x := b.CholeskySolve(l, rhs)  // L⁻ᵀL⁻¹B
			logdet := b.CholeskyLogDet(l) // 2 Σ log l_ii
			rcond := b.ReciprocalCondition(a, l)
			b.Output("x", x)
			b.Output("logdet", logdet)
			b.Output("rcond", rcond)
		}}
}

// PSDPart returns the positive semidefinite matrix nearest to a symmetric A (n×n) in the
// Frobenius norm, V max(W, 0) Vᵀ for A = VWVᵀ, exactly symmetric, and the eigenvalues of A in
// ascending order. It takes about 9n³ operations, in float64 on every engine.
//
// Source: Higham, "Computing a nearest symmetric positive semidefinite matrix", Linear Algebra and
// its Applications 103 (1988).
func PSDPart(e *engine.Engine, a *mat.Dense) (part *mat.Dense, eigenvalues []float64, err error) {
	n, err := checkSymmetric("PSDPart", a)
	if err != nil {
		return nil, nil, err
	}
	out, err := e.Run(context.Background(), psdProgram(n), engine.Values{"a": e.Matrix(a)})
	if err != nil {
		return nil, nil, err
	}
	r := engine.Read(out)
	return r.Dense("part"), r.Floats("eigenvalues"), r.Err()
}

// psdProgram computes "part", V max(W, 0) Vᵀ (n×n), and the "eigenvalues" (1×n,
// ascending) of "a" = VWVᵀ (n×n).
func psdProgram(n int) engine.Program {
	return engine.Program{Name: "positive semidefinite part", Key: fmt.Sprintf("psd part %d", n),
		Build: func(b *engine.Builder) {
			a := b.Input("a", n, n)
			eigen := b.Eigen(a)
			b.Output("eigenvalues", b.Eigenvalues(eigen))
			b.Output("part", b.PSDPart(a, eigen))
		}}
}

// Complement is the positive semidefinite part of X Q⁻¹ Xᵀ − C.
type Complement struct {
	Part        *mat.Dense // n×n, exactly symmetric
	Eigenvalues []float64  // n, of X Q⁻¹ Xᵀ − C, ascending
	Inner       []float64  // γ, the eigenvalues of Q, ascending
}

// PSDComplement returns the positive semidefinite part of X Q⁻¹ Xᵀ − C for a symmetric positive
// definite Q (γ×γ), X (n×γ) and a symmetric C (n×n), in float64 on every engine, or a
// *NotPositiveDefiniteError if Q has no Cholesky factor. It takes about 9(n³ + γ³) + γn²
// operations. If the condition number of Q suggests an error above 1 %, the engine gets a
// warning.
func PSDComplement(e *engine.Engine, x, q, c *mat.Dense) (*Complement, error) {
	const what = "PSDComplement"
	g, err := checkSymmetric(what, q)
	if err != nil {
		return nil, err
	}
	n, err := checkSymmetric(what, c)
	if err != nil {
		return nil, err
	}
	if rows, cols := x.Dims(); rows != n || cols != g {
		return nil, fmt.Errorf("%s: X is %d×%d for %d rows and %d columns", what, rows, cols, n, g)
	}
	if err := finite.Matrix("X", x); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	p := complementProgram(n, g)
	out, err := e.RunAs(context.Background(), tensor.Float64, p, engine.Values{"q": engine.NewMatrix(tensor.Float64, q),
		"x": engine.NewMatrix(tensor.Float64, x), "c": engine.NewMatrix(tensor.Float64, c)})
	if err != nil {
		return nil, err
	}
	r := engine.Read(out)
	complement := &Complement{r.Dense("part"), r.Floats("eigenvalues"), r.Floats("inner")}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return complement, warnCondition(e, p, g, out, 0x1p-53)
}

// complementProgram computes "part" (n×n), the "eigenvalues" (1×n) and "inner" (1×γ) of
// [Complement], and "rcond", the reciprocal of the condition number of "q".
func complementProgram(n, g int) engine.Program {
	return engine.Program{Name: "complement and its positive semidefinite part",
		Key: fmt.Sprintf("psd complement %d %d", n, g),
		Build: func(b *engine.Builder) {
			q := b.Input("q", g, g)
			l := b.Cholesky(q)                                         // LLᵀ = Q
			w := b.TriangularSolve(l, b.Transpose(b.Input("x", n, g))) // L⁻¹Xᵀ
			d := b.Sub(b.ColumnGram(1, w), b.Input("c", n, n))         // X Q⁻¹ Xᵀ − C
			eigen := b.Eigen(d)
			b.Output("part", b.PSDPart(d, eigen))
			b.Output("eigenvalues", b.Eigenvalues(eigen))
			b.Output("inner", b.Eigenvalues(b.Eigen(q)))
			b.Output("rcond", b.ReciprocalCondition(q, l))
		}}
}

// Eigen returns the eigenvalues of a symmetric A (n×n) in ascending order, and eigenvectors of
// unit length and arbitrary sign as columns (n×n). It takes about 9n³ operations, in float64 on
// every engine. The error of an eigenvalue is relative to the largest one.
func Eigen(e *engine.Engine, a *mat.Dense) (values []float64, vectors *mat.Dense, err error) {
	n, err := checkSymmetric("Eigen", a)
	if err != nil {
		return nil, nil, err
	}
	out, err := e.RunAs(context.Background(), tensor.Float64, eigenProgram(n), inputs(tensor.Float64, a, nil))
	if err != nil {
		return nil, nil, err
	}
	eigen := engine.Read(out)
	packed := eigen.Dense("eigen")
	if err := eigen.Err(); err != nil {
		return nil, nil, err
	}
	return packed.RawRowView(0), packed.Slice(1, n+1, 0, n).(*mat.Dense), nil
}

// eigenProgram computes "eigen" ((n+1)×n) of "a" (n×n), with the eigenvalues in row 0 and the
// eigenvectors as columns below.
func eigenProgram(n int) engine.Program {
	return engine.Program{Name: "eigen-decomposition", Key: fmt.Sprintf("eigen %d", n),
		Build: func(b *engine.Builder) { b.Output("eigen", b.Eigen(b.Input("a", n, n))) }}
}

// symmetryTolerance bounds |a_ij − a_ji| relative to the largest element, because computed
// matrices carry rounding of that size. The lower triangle is used.
const symmetryTolerance = 1e-10

// checkSymmetric returns the order of a finite symmetric matrix, or an error for any other matrix.
func checkSymmetric(what string, a *mat.Dense) (int, error) {
	if a == nil || a.IsEmpty() {
		return 0, fmt.Errorf("%s: the matrix is empty", what)
	}
	n, c := a.Dims()
	if n != c {
		return 0, fmt.Errorf("%s: the matrix is %d×%d, not square", what, n, c)
	}
	if err := finite.Matrix("the matrix", a); err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
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
				return 0, fmt.Errorf("%s: the matrix is not symmetric: element (%d,%d) is %g and (%d,%d) is %g", what, i, j, l, j,
					i, u)
			}
		}
	}
	return n, nil
}
