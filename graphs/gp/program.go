package gp

import (
	"context"
	"fmt"
	"maps"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// likelihoodProgram computes "value", −log p(y|X), from "x" (n×d), "y" (n×1), the logarithms "lengthscales"
// (1×d, or 1×1 if isotropic), "variance" and "noise", and the "mean", scalars. The derivatives
// with respect to the last four are outputs of the same names.
func likelihoodProgram(k kernel.Kernel, n, d int, isotropic bool) engine.Program {
	lengthscales := d
	if isotropic {
		lengthscales = 1
	}
	return engine.Program{
		Name: "likelihood of a Gaussian process with the kernel " + k.String(),
		Key:  fmt.Sprintf("gp likelihood %s %d %d %v", k.Key(), n, d, isotropic),
		Build: func(b *engine.Builder) {
			x, y := b.Input("x", n, d), b.Input("y", n, 1)
			theta := gorgonia.Nodes{b.Input("lengthscales", 1, lengthscales), b.Scalar("variance"), b.Scalar("noise"),
				b.Scalar("mean")}
			rates := b.Exp(b.Neg(theta[0])) // 1/ℓ
			var scaled *gorgonia.Node
			if isotropic {
				scaled = b.Hadamard(x, b.Sum(rates))
			} else {
				scaled = b.ScaleColumns(x, rates)
			}
			prior := b.Hadamard(k.Symmetric(b, scaled), b.Exp(theta[1]))
			cov := b.AddDiagonal(prior, b.Exp(theta[2])) // K = σ²k(X/ℓ) + νI, n×n
			r := b.Sub(y, theta[3])
			fit := b.Sum(b.Hadamard(r, b.Solve(cov, r))) // rᵀK⁻¹r
			twice := b.Add(b.Add(fit, b.LogDet(cov)), b.Constant(float64(n)*math.Log(2*math.Pi)))
			value := b.Hadamard(b.Constant(0.5), twice)
			b.Output("value", value)
			for i, g := range b.Gradient(value, theta...) {
				b.Output([]string{"lengthscales", "variance", "noise", "mean"}[i], g)
			}
		},
	}
}

// likelihood evaluates the objective for fixed data.
type likelihood struct {
	e       *engine.Engine
	program engine.Program
	data    engine.Values
	lengths int // number of lengthscales
}

// newLikelihood returns the objective of the inputs x (n×d) and the outputs y (n).
func newLikelihood(e *engine.Engine, x *mat.Dense, y []float64, o Options) *likelihood {
	n, d := x.Dims()
	l := &likelihood{e: e, program: likelihoodProgram(o.Kernel, n, d, o.Isotropic), lengths: d,
		data: engine.Values{"x": engine.NewMatrix(tensor.Float64, x),
			"y": engine.NewMatrix(tensor.Float64, mat.NewDense(n, 1, y))}}
	if o.Isotropic {
		l.lengths = 1
	}
	return l
}

// at returns −log p(y|X) and its gradient at theta, which holds the logarithms of lengthscales,
// variance and noise, and the mean.
func (l *likelihood) at(ctx context.Context, theta []float64) (value float64, gradient []float64, err error) {
	in := engine.Values{"lengthscales": engine.NewMatrix(tensor.Float64, mat.NewDense(1, l.lengths, theta[:l.lengths]))}
	maps.Copy(in, l.data)
	scalars := []string{"variance", "noise", "mean"}
	for i, name := range scalars {
		in[name] = engine.NewScalar(tensor.Float64, theta[l.lengths+i])
	}
	out, err := l.e.RunAs(ctx, tensor.Float64, l.program, in)
	if err != nil {
		return 0, nil, err
	}
	r := engine.Read(out)
	value, gradient = r.Scalar("value"), r.Floats("lengthscales")
	for _, name := range scalars {
		gradient = append(gradient, r.Scalar(name))
	}
	return value, gradient, r.Err()
}
