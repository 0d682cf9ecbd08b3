package op_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// Each derivative is checked through a scalar that weights all elements
// differently: Σ sin(X)∘X, or a sum after a symmetrisation where an operation
// takes symmetric matrices, so that one element may be moved alone.
func TestGradients(t *testing.T) {
	rng := graphtest.Rand(1)
	x, y := graphtest.Normal(rng, 5, 3), graphtest.Normal(rng, 4, 3)
	spd := graphtest.Definite(rng, 5)
	indefinite := mat.NewDense(4, 4, []float64{2, 1, 0, .5, 1, -1, .3, 0, 0, .3, 1, 2, .5, 0, 2, -2})
	weights := mat.NewDense(6, 1, []float64{.5, 1.2, .3, .8, .9, .4})
	columns := graphtest.Normal(rng, 3, 6)
	rhs := graphtest.Normal(rng, 5, 2)

	for _, c := range []struct {
		name  string
		names []string
		in    graphtest.Inputs
		f     func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node
	}{
		{"SquaredEuclidean", []string{"x", "y"}, graphtest.Inputs{"x": x, "y": y},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return graphtest.Weigh(b, b.Apply(op.Kernel(bare(op.SquaredEuclidean)), in...))
			}},
		{"Manhattan", []string{"x", "y"}, graphtest.Inputs{"x": x, "y": y},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return graphtest.Weigh(b, b.Apply(op.Kernel(bare(op.Manhattan)), in...))
			}},
		{"InnerProduct", []string{"x", "y"}, graphtest.Inputs{"x": x, "y": y},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return graphtest.Weigh(b, b.Apply(op.Kernel(bare(op.InnerProduct)), in...))
			}},
		{"Cholesky", []string{"a"}, graphtest.Inputs{"a": spd},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return graphtest.Weigh(b, b.Cholesky(symmetrise(b, in[0])))
			}},
		{"Solve", []string{"a", "b"}, graphtest.Inputs{"a": spd, "b": rhs},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return graphtest.Weigh(b, b.Solve(symmetrise(b, in[0]), in[1]))
			}},
		{"LogDet", []string{"a"}, graphtest.Inputs{"a": spd},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return b.LogDet(symmetrise(b, in[0]))
			}},
		{"Inverse", []string{"a"}, graphtest.Inputs{"a": spd},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return graphtest.Weigh(b, b.Inverse(symmetrise(b, in[0])))
			}},
		{"WeightedGram", []string{"c", "w"}, graphtest.Inputs{"c": columns, "w": weights},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return graphtest.Weigh(b, b.WeightedGram(in[0], in[1]))
			}},
		{"cloaking objective", []string{"c", "w"}, graphtest.Inputs{"c": columns, "w": weights},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return b.Sub(b.Sum(in[1]), b.LogDet(b.WeightedGram(in[0], in[1])))
			}},
		{"PSDPart", []string{"a"}, graphtest.Inputs{"a": indefinite},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				a := symmetrise(b, in[0])
				return graphtest.Weigh(b, b.PSDPart(a, b.Eigen(a)))
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			graphtest.EachBLAS(t, func(t *testing.T) { graphtest.Gradient(t, c.names, c.in, c.f) })
		})
	}
}

// symmetrise is ½(A+Aᵀ).
func symmetrise(b *engine.Builder, a *gorgonia.Node) *gorgonia.Node {
	return b.Hadamard(b.Constant(0.5), b.Add(a, b.Transpose(a)))
}
