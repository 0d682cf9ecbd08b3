package experiments

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/gp"
	"privkern/graphs/kernel"
	"privkern/graphs/op"
)

// gradient is the derivative of Σ G∘K by X, for the kernel matrix K of X and Y and given
// weights G: distances and slopes of all pairs, and the product of the slopes with the points.
func (d *devices) gradient(ctx context.Context, s setting) error {
	n, dims := d.sizes.pairs, d.sizes.directed
	y := normalMatrix(n, dims)
	y.Apply(func(_, _ int, v float64) float64 { return v + 0.1 }, y)
	return s.measure(ctx, "kernel gradient", 4*n*n*dims, 3*n*dims+2*n*n,
		map[string]*mat.Dense{"x": normalMatrix(n, dims), "y": y, "g": normalMatrix(n, n)},
		func(b *engine.Builder, in map[string]*gorgonia.Node) *gorgonia.Node {
			eq := op.Kernel(op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: 1 / float64(dims)})
			k := b.Apply(eq, in["x"], in["y"])
			derivatives, err := eq.SymDiff(gorgonia.Nodes{in["x"], in["y"]}, k, in["g"])
			if err != nil {
				b.Fail(err)
				return k
			}
			return derivatives[0]
		})
}

// likelihood measures one value with its gradient, and a whole search. Both are in
// float64 for any element type of the engine, and measured once.
func (d *devices) likelihood(ctx context.Context, s setting) error {
	if s.size < 8 {
		return nil
	}
	dims := d.sizes.inputs
	observations := func(n int) (x *mat.Dense, y []float64) {
		x, y = normalMatrix(n, dims), mat.Col(nil, 0, normalMatrix(n, 1))
		for i := range y {
			y[i] = math.Sin(2*x.At(i, 0)) + x.At(i, 1) + 0.1*y[i]
		}
		return x, y
	}
	x, y := observations(d.sizes.pairs)
	h := gp.Hyperparameters{Lengthscales: make([]float64, dims), Variance: 1, Noise: 0.1}
	for k := range h.Lengthscales {
		h.Lengthscales[k] = 1
	}
	n := d.sizes.pairs
	err := s.rate(ctx, 10*n*n*n/3, 10*n*n, func() error {
		_, _, err := gp.Evaluate(ctx, s.e, x, y, kernel.EQ(1, 1), h)
		return err
	})
	if err != nil {
		return err
	}
	x, y = observations(d.sizes.fitted)
	return s.as("maximum").rate(ctx, 0, 0, func() error {
		_, err := gp.Maximise(ctx, s.e, x, y, gp.Options{Kernel: kernel.EQ(1, 1), Mean: true})
		return err
	})
}
