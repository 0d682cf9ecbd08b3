//go:build linux && (amd64 || arm64)

package cuda

import (
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// A convolution net that gorgonia built, with classes that are a tensor constant, takes the steps of a solver
// on the device as on the host.
func TestFromGraphTrainsLikeTheHost(t *testing.T) {
	for dtype, tolerance := range map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 1e-5} {
		t.Run(dtype.String(), func(t *testing.T) {
			host, device := engines(t, dtype.String())
			want, got := convolutionSteps(t, host, dtype), convolutionSteps(t, device, dtype)
			for i, name := range []string{"the cost", "filters", "weights"} {
				near(t, name, got[i], want[i], tolerance)
			}
			if w := device.Warnings(); len(w) > 0 {
				t.Errorf("warnings: %v", w)
			}
		})
	}
}

// convolutionSteps returns the cost and the parameters after three steps.
func convolutionSteps(t *testing.T, e *engine.Engine, dtype tensor.Dtype) []gorgonia.Value {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 1))
	g := gorgonia.NewGraph()
	draw := func(shape ...int) *tensor.Dense {
		v := tensor.New(tensor.Of(dtype), tensor.WithShape(shape...))
		for i := range v.DataSize() {
			v.Set(i, map[tensor.Dtype]any{tensor.Float64: rng.NormFloat64() / 4, tensor.Float32: float32(rng.NormFloat64() / 4)}[dtype])
		}
		return v
	}
	input := func(name string, shape ...int) *gorgonia.Node {
		return gorgonia.NewTensor(g, dtype, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name),
			gorgonia.WithValue(draw(shape...)))
	}
	must := gorgonia.Must
	images, filters, weights := input("images", 5, 1, 8, 8), input("filters", 3, 1, 3, 3), input("weights", 48, 4)
	one := []int{1, 1}
	layer := must(gorgonia.Rectify(must(gorgonia.Conv2d(images, filters, tensor.Shape{3, 3}, one, one, one))))
	pooled := must(gorgonia.MaxPool2D(layer, tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
	out := must(gorgonia.SoftMax(must(gorgonia.Mul(must(gorgonia.Reshape(pooled, tensor.Shape{5, 48})), weights)), 1))
	cost := must(gorgonia.Mean(must(gorgonia.HadamardProd(must(gorgonia.Log(out)), gorgonia.NewConstant(draw(5, 4))))))
	if _, err := gorgonia.Grad(cost, filters, weights); err != nil {
		t.Fatal(err)
	}
	learned := gorgonia.Nodes{filters, weights}
	vm, err := engine.FromGraph(g, e, engine.BindDualValues(learned...))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = vm.Close() }()
	solver := gorgonia.NewMomentum(gorgonia.WithLearnRate(.1))
	for range 3 {
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		if err := solver.Step(gorgonia.NodesToValueGrads(learned)); err != nil {
			t.Fatal(err)
		}
	}
	return []gorgonia.Value{cost.Value(), filters.Value(), weights.Value()}
}
