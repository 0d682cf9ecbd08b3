// Package kernel computes kernel matrices as graph programs.
//
// Points are the rows of a matrix. The matrix of a set of points with itself is exactly
// symmetric, and has an exact diagonal where the kernel depends on a distance. Distances are
// computed from centred data, so that a common offset costs no accuracy.
//
// A [Kernel] is a family with its parameters in the notation of papers; package op has the general
// forms ([op.Profile]), of which several families are special cases. Programs take a kernel as an
// argument, add its matrix with [Kernel.Symmetric] or [Kernel.Cross], and include its key in theirs.
//
// A matrix between n and m points of d dimensions takes 2nmd operations, by a product for the
// squared Euclidean distance |x|² + |y|² − 2xᵀy and for inner products, and nm exponentials. Pairs
// for which the distance cancels are computed again from differences. The entries of kernels of
// distances agree between backends to 1e-12 in float64, relative to the variance, and between
// float32 and float64 to 5e-6.
package kernel

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/finite"
	"privkern/graphs/op"
)

// Kernel is a kernel with its parameters. The constructors accept any numbers; Validate and Matrix
// return an error for invalid ones.
type Kernel struct {
	family  string
	params  []param
	profile op.Profile // the parameters of the operation
}

type param struct {
	name  string
	value float64
	in    domain
}

// domain is the set of valid values of a parameter, all of them finite.
type domain int

const (
	positive domain = iota
	nonNegative
	anyFinite
)

// EQ returns the exponentiated quadratic (RBF, Gaussian) kernel
//
//	k(x, y) = variance·exp(−|x−y|² / (2·lengthscale²)).
//
// It is infinitely differentiable, so that the eigenvalues of its matrices decay faster than
// exponentially, and matrices of dense points are singular in floating point.
func EQ(lengthscale, variance float64) Kernel {
	return Kernel{"EQ", []param{{"lengthscale", lengthscale, positive}, {"variance", variance, positive}},
		op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: variance,
			Rate: 1 / (2 * lengthscale * lengthscale)}}
}

// RBF returns exp(−gamma·|x−y|²), the EQ kernel of variance 1 with gamma = 1/(2·lengthscale²).
func RBF(gamma float64) Kernel {
	return Kernel{"RBF", []param{{"gamma", gamma, positive}},
		op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: gamma}}
}

// Laplacian returns variance·exp(−gamma·Σ_k|x_k−y_k|). The exponent is a Manhattan distance,
// which is not invariant under rotation.
func Laplacian(gamma, variance float64) Kernel {
	return Kernel{"Laplacian", []param{{"gamma", gamma, positive}, {"variance", variance, positive}},
		op.Profile{Metric: op.Manhattan, Form: op.Exponential, Scale: variance, Rate: gamma}}
}

// Matern returns the Matérn kernel (Rasmussen and Williams, "Gaussian processes for machine
// learning", 2006, Eq. 4.17) for nu = 0.5, 1.5 or 2.5: variance times, with
// r = |x−y|/lengthscale,
//
//	exp(−r),  (1+√3r)·exp(−√3r),  (1+√5r+5r²/3)·exp(−√5r).
//
// A process with it is ⌈nu⌉−1 times differentiable. Validate returns an error for other values of nu.
func Matern(nu, lengthscale, variance float64) Kernel {
	k := Kernel{"Matern", []param{{"nu", nu, positive}, {"lengthscale", lengthscale, positive},
		{"variance", variance, positive}},
		op.Profile{Metric: op.SquaredEuclidean, Scale: variance, Rate: math.Sqrt(2*nu) / lengthscale}}
	switch nu {
	case 0.5:
		k.profile.Form = op.Matern12
	case 1.5:
		k.profile.Form = op.Matern32
	case 2.5:
		k.profile.Form = op.Matern52
	}
	return k
}

// Polynomial returns (gamma·xᵀy + c0)^degree for degree ≥ 1. It is positive semidefinite for c0 ≥ 0.
func Polynomial(gamma float64, degree int, c0 float64) Kernel {
	return Kernel{"Polynomial", []param{{"gamma", gamma, positive}, {"degree", float64(degree), positive},
		{"c0", c0, nonNegative}},
		op.Profile{Metric: op.InnerProduct, Form: op.Power, Scale: 1, Rate: gamma, Offset: c0, Degree: degree}}
}

// Sigmoid returns tanh(gamma·xᵀy + c0). It is not positive semidefinite in general.
func Sigmoid(gamma, c0 float64) Kernel {
	return Kernel{"Sigmoid", []param{{"gamma", gamma, positive}, {"c0", c0, anyFinite}},
		op.Profile{Metric: op.InnerProduct, Form: op.Tanh, Scale: 1, Rate: gamma, Offset: c0}}
}

// Linear returns variance·xᵀy.
func Linear(variance float64) Kernel {
	return Kernel{"Linear", []param{{"variance", variance, positive}},
		op.Profile{Metric: op.InnerProduct, Form: op.Power, Scale: variance, Rate: 1, Degree: 1}}
}

// String returns the kernel with its parameters, such as "EQ(lengthscale=2, variance=1)".
func (k Kernel) String() string {
	s := k.family + "("
	for i, p := range k.params {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%s=%g", p.name, p.value)
	}
	return s + ")"
}

// Validate returns an error if a parameter is outside of its domain.
func (k Kernel) Validate() error {
	if k.family == "" {
		return fmt.Errorf("a kernel without a family: use one of the constructors of package kernel")
	}
	for _, p := range k.params {
		want := ""
		switch {
		case math.IsNaN(p.value) || math.IsInf(p.value, 0):
			want = "finite"
		case p.in == positive && p.value <= 0:
			want = "positive"
		case p.in == nonNegative && p.value < 0:
			want = "zero or positive"
		case p.name == "nu" && p.value != 0.5 && p.value != 1.5 && p.value != 2.5:
			want = "0.5, 1.5 or 2.5"
		}
		if want != "" {
			return fmt.Errorf("kernel %s: %s is %g; it must be %s", k.family, p.name, p.value, want)
		}
	}
	if r := k.profile.Rate; r == 0 || math.IsInf(r, 0) {
		return fmt.Errorf("kernel %v: the parameters are too large or too small to compute with", k)
	}
	return nil
}

// Matrix returns the n×m matrix k(x_i, y_j) of the rows of x (n×d) and of y (m×d). Where y equals
// x, the result is exactly symmetric.
func (k Kernel) Matrix(e *engine.Engine, x, y *mat.Dense) (*mat.Dense, error) {
	return k.matrix(context.Background(), e, e.ElementType(), x, y)
}

// Matrix64 is Matrix in float64 on every engine.
func (k Kernel) Matrix64(ctx context.Context, e *engine.Engine, x, y *mat.Dense) (*mat.Dense, error) {
	return k.matrix(ctx, e, tensor.Float64, x, y)
}

// matrix is Matrix in the given element type.
func (k Kernel) matrix(ctx context.Context, e *engine.Engine, dtype tensor.Dtype, x, y *mat.Dense) (*mat.Dense, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	if err := checkPoints(k.family, x, y); err != nil {
		return nil, err
	}
	inputs := engine.Values{"x": engine.NewMatrix(dtype, x)}
	var p engine.Program
	n, d := x.Dims()
	if x == y || mat.Equal(x, y) {
		p = symmetricProgram(k, n, d)
	} else {
		m, _ := y.Dims()
		p = crossProgram(k, n, m, d)
		inputs["y"] = engine.NewMatrix(dtype, y)
	}
	return run(ctx, e, dtype, p, inputs)
}

// Key identifies the kernel and its exact parameters in the key of a program.
func (k Kernel) Key() string { return k.profile.String() }

// Stationary returns k(x, x), and reports whether it is the same at all x because the kernel
// depends on a distance.
func (k Kernel) Stationary() (variance float64, ok bool) {
	return k.profile.Scale, k.family != "" && k.profile.Metric != op.InnerProduct
}

// Cross adds the n×m matrix between the rows of x (n×d) and of y (m×d).
func (k Kernel) Cross(b *engine.Builder, x, y *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.Kernel(k.profile), x, y)
}

// Symmetric adds the n×n matrix of the rows of x (n×d) with themselves. It is exactly symmetric, and
// may be a batch of m matrices (m×n×d to m×n×n), as may Cross.
func (k Kernel) Symmetric(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node {
	return b.Apply(op.KernelSymmetric(k.profile), x)
}

// crossProgram computes "k", the n×m matrix between the inputs "x" (n×d) and "y" (m×d).
func crossProgram(k Kernel, n, m, d int) engine.Program {
	return engine.Program{
		Name: "kernel matrix " + k.String(),
		Key:  fmt.Sprintf("kernel %v %d %d %d", k.profile, n, m, d),
		Build: func(b *engine.Builder) {
			b.Output("k", k.Cross(b, b.Input("x", n, d), b.Input("y", m, d)))
		},
	}
}

// symmetricProgram computes "k", the n×n matrix of the input "x" (n×d) with itself.
func symmetricProgram(k Kernel, n, d int) engine.Program {
	return engine.Program{
		Name:  "symmetric kernel matrix " + k.String(),
		Key:   fmt.Sprintf("symmetric kernel %v %d %d", k.profile, n, d),
		Build: func(b *engine.Builder) { b.Output("k", k.Symmetric(b, b.Input("x", n, d))) },
	}
}

// run returns the output "k" of a program.
func run(ctx context.Context, e *engine.Engine, dtype tensor.Dtype, p engine.Program,
	inputs engine.Values) (*mat.Dense, error) {
	out, err := e.RunAs(ctx, dtype, p, inputs)
	if err != nil {
		return nil, err
	}
	return engine.Dense(out["k"])
}

// checkPoints returns an error for points that are empty, not finite, or of different dimensions.
func checkPoints(kernel string, x, y *mat.Dense) error {
	for _, a := range []struct {
		name string
		m    *mat.Dense
	}{{"x", x}, {"y", y}} {
		if err := checkMatrix(kernel, a.name, a.m); err != nil {
			return err
		}
	}
	_, d := x.Dims()
	if _, dy := y.Dims(); d != dy {
		return fmt.Errorf("kernel %s: the points of x have %d dimensions, those of y %d", kernel, d, dy)
	}
	return nil
}

// checkMatrix returns an error for a set of points (n×d) that is empty or not finite.
func checkMatrix(kernel, name string, a *mat.Dense) error {
	if a == nil || a.IsEmpty() {
		return fmt.Errorf("kernel %s: %s has no points", kernel, name)
	}
	if err := finite.Matrix(name, a); err != nil {
		return fmt.Errorf("kernel %s: %w", kernel, err)
	}
	return nil
}
