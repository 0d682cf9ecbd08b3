package op_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

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
		{"AddDiagonal", []string{"a", "b"}, graphtest.Inputs{"a": spd, "b": mat.NewDense(1, 1, []float64{0.7})},
			func(b *engine.Builder, in gorgonia.Nodes) *gorgonia.Node {
				return graphtest.Weigh(b, b.AddDiagonal(in[0], b.Sum(in[1])))
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

// The gradient as a product keeps to its bound where the direct formula, in float64, is exact
// to many more digits: for points far from the origin and close together.
func TestGradientOfCloseAndDistantPoints(t *testing.T) {
	const n, m, d, offset = 37, 300, 20, 1e3
	for _, spread := range []float64{1, 1e-3, 1e-6} {
		rng := graphtest.Rand(3)
		x, y, w := graphtest.Normal(rng, n, d), graphtest.Normal(rng, m, d), graphtest.Normal(rng, n, m)
		for _, a := range []*mat.Dense{x, y} {
			a.Apply(func(_, _ int, v float64) float64 { return float64(float32(offset + spread*v)) }, a)
		}
		w.Apply(func(_, _ int, v float64) float64 { return float64(float32(v)) }, w)
		graphtest.EachBLAS(t, func(t *testing.T) {
			for dtype, unit := range map[tensor.Dtype]float64{tensor.Float64: 0x1p-53, tensor.Float32: 0x1p-24} {
				got := metricGradientOf(t, dtype, x, y, w)
				for i := range n {
					for k := range d {
						want, bound := directGradient(x, y, w, i, k)
						if err := math.Abs(got.At(i, k) - want); !(err <= 2*(m+4)*unit*bound) {
							t.Fatalf("%v, spread %g: element (%d,%d) is %g, directly %g; the bound is %g", dtype, spread, i, k,
								got.At(i, k), want, 2*(m+4)*unit*bound)
						}
					}
				}
			}
		})
	}
}

// metricGradientOf is the derivative of Σ W∘S by X, for squared distances S.
func metricGradientOf(t *testing.T, dtype tensor.Dtype, x, y, w *mat.Dense) *mat.Dense {
	t.Helper()
	for _, o := range op.All() {
		if o.Name() == "MetricGradient" && strings.Contains(o.String(), "SquaredEuclidean") {
			v, err := o.Do(values(dtype, []op.Operand{{Dense: x}, {Dense: y}, {Dense: w}})...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := engine.Dense(v)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
	}
	t.Fatal("there is no gradient of squared distances")
	return nil
}

// directGradient is element (i, k) of the gradient by differences of single points, and
// Σ_j |w_ij| (|x_ik − c_k| + |y_jk − c_k|) with the mean c of Y.
func directGradient(x, y, w *mat.Dense, i, k int) (gradient, size float64) {
	m, _ := y.Dims()
	mean := mat.Sum(y.ColView(k)) / float64(m)
	for j := range m {
		gradient += 2 * w.At(i, j) * (x.At(i, k) - y.At(j, k))
		size += math.Abs(w.At(i, j)) * (math.Abs(x.At(i, k)-mean) + math.Abs(y.At(j, k)-mean))
	}
	return gradient, size
}
