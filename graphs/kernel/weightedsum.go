package kernel

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
)

// WeightedSumMatrix returns the n×m covariance of w(x)·f(x) + (1 − w(x))·g(x) between the rows of
// x (n×d) and of y (m×d), for independent functions with the kernels f and g (Section 5.3 of
// Smith, Álvarez and Lawrence, after Herlands et al. 2016):
//
//	w(x)·k_f(x, y)·w(y) + (1 − w(x))·k_g(x, y)·(1 − w(y))
//
// where wx (n) and wy (m) are the weights at x and at y, from 0 to 1. The variance differs from
// those of f and g: with w = ½ it is half their mean. Where y and wy equal x and wx, the result
// is exactly symmetric.
func WeightedSumMatrix(e *engine.Engine, f, g Kernel, x, y *mat.Dense, wx, wy []float64) (*mat.Dense, error) {
	for _, k := range []Kernel{f, g} {
		if err := k.Validate(); err != nil {
			return nil, err
		}
	}
	if err := checkPoints("weighted sum", x, y); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	m, _ := y.Dims()
	if err := checkWeights("wx", wx, n); err != nil {
		return nil, err
	}
	if err := checkWeights("wy", wy, m); err != nil {
		return nil, err
	}
	in := engine.Values{"x": e.Matrix(x), "wx": e.Matrix(mat.NewDense(n, 1, slices.Clone(wx)))}
	same := mat.Equal(x, y) && slices.Equal(wx, wy)
	if !same {
		in["y"], in["wy"] = e.Matrix(y), e.Matrix(mat.NewDense(m, 1, slices.Clone(wy)))
	}
	return run(context.Background(), e, e.ElementType(), weightedSumProgram(f, g, n, m, d, same), in)
}

// checkWeights returns an error unless w has a weight from 0 to 1 for each point.
func checkWeights(name string, w []float64, points int) error {
	if len(w) != points {
		return fmt.Errorf("kernel weighted sum: %s has %d weights for %d points", name, len(w), points)
	}
	for i, v := range w {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("kernel weighted sum: %s is %g in row %d (counted from 0); weights lie between 0 and 1",
				name, v, i)
		}
	}
	return nil
}

// weightedSumProgram computes "k", the n×m matrix of [WeightedSumMatrix] between the inputs "x"
// (n×d) and "y" (m×d) with the weights "wx" (n×1) and "wy" (m×1); if same is set, between "x" and
// itself, n×n.
func weightedSumProgram(f, g Kernel, n, m, d int, same bool) engine.Program {
	return engine.Program{
		Name: "weighted sum of " + f.String() + " and " + g.String(),
		Key:  fmt.Sprintf("weighted sum %s %s %d %d %d %t", f.Key(), g.Key(), n, m, d, same),
		Build: func(b *engine.Builder) {
			x, wx := b.Input("x", n, d), b.Input("wx", n, 1)
			covariance := func(k Kernel) *gorgonia.Node { return k.Symmetric(b, x) }
			wy := wx
			if !same {
				y := b.Input("y", m, d)
				wy = b.Input("wy", m, 1)
				covariance = func(k Kernel) *gorgonia.Node { return k.Cross(b, x, y) }
			}
			one := b.Constant(1)
			// part is u·k·v. The product of the weights comes first, because it is exactly symmetric.
			part := func(k Kernel, u, v *gorgonia.Node) *gorgonia.Node {
				return b.Hadamard(b.Mul(u, b.Transpose(v)), covariance(k))
			}
			b.Output("k", b.Add(part(f, wx, wy), part(g, b.Sub(one, wx), b.Sub(one, wy))))
		},
	}
}
