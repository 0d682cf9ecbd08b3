package op_test

import (
	"maps"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// Derivatives of batches are those of their members; that by a shared operand is the sum
// over them. Finite differences, as for one.
func TestGradientsOfBatches(t *testing.T) {
	rng := graphtest.Rand(4)
	const members = 3
	spd := mat.NewDense(members*4, 4, nil)
	for i := range members {
		spd.Slice(4*i, 4*i+4, 0, 4).(*mat.Dense).Copy(graphtest.Definite(rng, 4))
	}
	weights := mat.NewDense(members*6, 1, nil)
	weights.Apply(func(i, _ int, _ float64) float64 { return 0.3 + float64(i)/10 }, weights)
	// Members are stacked as rows.
	stacked := func(rows, cols int) func(x *gorgonia.Node) *gorgonia.Node {
		return func(x *gorgonia.Node) *gorgonia.Node {
			return gorgonia.Must(gorgonia.Reshape(x, tensor.Shape{members, rows, cols}))
		}
	}
	symmetric := func(b *engine.Builder, x *gorgonia.Node) *gorgonia.Node {
		a := stacked(4, 4)(x)
		return b.Hadamard(b.Constant(0.5), b.Add(a, gorgonia.Must(gorgonia.Transpose(a, 0, 2, 1))))
	}
	profile := op.Profile{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: 0.3}
	for name, c := range map[string]struct {
		in graphtest.Inputs
		f  func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node
	}{
		"Cholesky": {graphtest.Inputs{"a": spd}, func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return b.Cholesky(symmetric(b, in[0]))
		}},
		"Solve": {graphtest.Inputs{"a": spd, "b": graphtest.Normal(rng, members*4, 2)},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return b.Solve(symmetric(b, in[0]), stacked(4, 2)(in[1]))
			}},
		"Solve, shared right side": {graphtest.Inputs{"a": spd, "b": graphtest.Normal(rng, 4, 2)},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return b.Solve(symmetric(b, in[0]), in[1])
			}},
		"Solve, shared matrix": {graphtest.Inputs{"a": graphtest.Definite(rng, 4), "b": graphtest.Normal(rng, members*4, 2)},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return b.Solve(symmetrise(b, in[0]), stacked(4, 2)(in[1]))
			}},
		"Solve, several leading dimensions": {graphtest.Inputs{"a": spd, "b": graphtest.Normal(rng, 4, 2)},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				a := gorgonia.Must(gorgonia.Reshape(symmetric(b, in[0]), tensor.Shape{1, members, 4, 4}))
				return b.Solve(a, in[1])
			}},
		"LogDet": {graphtest.Inputs{"a": spd}, func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return b.LogDet(symmetric(b, in[0]))
		}},
		"Inverse": {graphtest.Inputs{"a": spd}, func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return b.Inverse(symmetric(b, in[0]))
		}},
		"Kernel": {graphtest.Inputs{"x": graphtest.Normal(rng, members*4, 3), "y": graphtest.Normal(rng, members*5, 3)},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return b.Apply(op.Kernel(profile), stacked(4, 3)(in[0]), stacked(5, 3)(in[1]))
			}},
		"Kernel, shared points": {
			graphtest.Inputs{"x": graphtest.Normal(rng, members*4, 3), "y": graphtest.Normal(rng, 5, 3)},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return b.Apply(op.Kernel(profile), stacked(4, 3)(in[0]), in[1])
			}},
		"KernelSymmetric": {graphtest.Inputs{"x": graphtest.Normal(rng, members*4, 3)},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return b.Apply(op.KernelSymmetric(profile), stacked(4, 3)(in[0]))
			}},
		"WeightedGram": {graphtest.Inputs{"c": graphtest.Normal(rng, 3, 6), "w": weights},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return b.WeightedGram(in[0], stacked(6, 1)(in[1]))
			}},
		"Gibbs": {graphtest.Inputs{"x": graphtest.Normal(rng, members*4, 1), "y": weights},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				y := stacked(6, 1)(in[1])
				return b.Apply(op.Gibbs(2), stacked(4, 1)(in[0]), y, b.Square(b.Add(stacked(4, 1)(in[0]), b.Constant(4))), y)
			}},
		"PSDPart": {graphtest.Inputs{"a": spd}, func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			a := symmetric(b, in[0])
			return b.PSDPart(a, b.Eigen(a))
		}},
		"Leading": {graphtest.Inputs{"a": spd}, func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return b.LogDet(b.Leading(1, symmetric(b, in[0]), b.Constant(3)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			names := slices.Sorted(maps.Keys(c.in))
			graphtest.Differences(t, names, c.in, func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return graphtest.Weigh(b, c.f(b, in))
			})
		})
	}
}
