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
	c := graphtest.Normal(rng, 3, 6)

	for _, test := range []struct {
		name  string
		names []string
		in    graphtest.Inputs
		f     func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node
	}{
		{"SquaredEuclidean", []string{"x", "y"}, graphtest.Inputs{"x": x, "y": y}, func(_ *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return weigh(apply(op.Kernel(bare(op.SquaredEuclidean)), in...))
		}},
		{"Manhattan", []string{"x", "y"}, graphtest.Inputs{"x": x, "y": y}, func(_ *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return weigh(apply(op.Kernel(bare(op.Manhattan)), in...))
		}},
		{"InnerProduct", []string{"x", "y"}, graphtest.Inputs{"x": x, "y": y}, func(_ *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return weigh(apply(op.Kernel(bare(op.InnerProduct)), in...))
		}},
		{"Cholesky", []string{"a"}, graphtest.Inputs{"a": spd}, func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return weigh(apply(op.Cholesky(), symmetrise(b, in[0])))
		}},
		{"Solve", []string{"a", "b"}, graphtest.Inputs{"a": spd, "b": graphtest.Normal(rng, 5, 2)}, func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return weigh(apply(op.Solve(), symmetrise(b, in[0]), in[1]))
		}},
		{"LogDet", []string{"a"}, graphtest.Inputs{"a": spd}, func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return apply(op.LogDet(), symmetrise(b, in[0]))
		}},
		{"Inverse", []string{"a"}, graphtest.Inputs{"a": spd}, func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return weigh(apply(op.Inverse(), symmetrise(b, in[0])))
		}},
		{"WeightedGram", []string{"c", "w"}, graphtest.Inputs{"c": c, "w": weights}, func(_ *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			return weigh(apply(op.WeightedGram(), in...))
		}},
		{"cloaking objective", []string{"c", "w"}, graphtest.Inputs{"c": c, "w": weights}, func(_ *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			logdet := apply(op.LogDet(), apply(op.WeightedGram(), in...))
			return gorgonia.Must(gorgonia.Sub(gorgonia.Must(gorgonia.Sum(in[1])), logdet))
		}},
		{"PSDPart", []string{"a"}, graphtest.Inputs{"a": indefinite}, func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
			a := symmetrise(b, in[0])
			return weigh(apply(op.PSDPart(), a, apply(op.Eigen(), a)))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			graphtest.EachBLAS(t, func(t *testing.T) { graphtest.Gradient(t, test.names, test.in, test.f) })
		})
	}
}

func apply(o op.Op, in ...*gorgonia.Node) *gorgonia.Node { return gorgonia.Must(o.Apply(in...)) }

// weigh is Σ sin(X)∘X.
func weigh(x *gorgonia.Node) *gorgonia.Node {
	s := gorgonia.Must(gorgonia.Sin(x))
	return gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(s, x))))
}

// symmetrise is ½(A+Aᵀ).
func symmetrise(b *engine.Builder, a *gorgonia.Node) *gorgonia.Node {
	s := gorgonia.Must(gorgonia.Add(a, gorgonia.Must(gorgonia.Transpose(a))))
	return gorgonia.Must(gorgonia.HadamardProd(b.Constant(0.5), s))
}
