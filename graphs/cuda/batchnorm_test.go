//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// A normalisation of batches moves its averages after every run in training, and
// computes with them out of training, as it does on the host.
func TestBatchNormKeepsAverages(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	normal := func(spread float64) gorgonia.Value {
		a := mat.NewDense(8, 5, nil)
		a.Apply(func(_, j int, _ float64) float64 { return 1 + float64(j)*spread*(1+rng.NormFloat64()) }, a)
		return engine.NewMatrix(tensor.Float64, a)
	}
	var batches []engine.Values
	for range 3 {
		batches = append(batches, engine.Values{"x": normal(3), "scale": normal(1), "bias": normal(1)})
	}
	host, device := engines(t, "float64")
	results := map[string][]gorgonia.Value{}
	for name, e := range map[string]*engine.Engine{"host": host, "device": device} {
		var normalisation *gorgonia.BatchNormOp
		p := engine.Program{Name: "batches", Key: "batches", Build: func(b *engine.Builder) {
			x, scale, bias := b.Input("x", 8, 5), b.Input("scale", 8, 5), b.Input("bias", 8, 5)
			out, _, _, o, err := gorgonia.BatchNorm(x, scale, bias, 0.25, 0.01)
			normalisation = o
			b.Fail(err)
			b.Output("out", out)
		}}
		for i, in := range batches {
			if i == len(batches)-1 {
				if err := normalisation.SetTraining(false); err != nil {
					t.Fatal(err)
				}
			}
			out, err := e.Run(context.Background(), p, in)
			if err != nil {
				t.Fatal(err)
			}
			mean, variance := normalisation.Stats()
			results[name] = append(results[name], out["out"], mean.Clone().(*tensor.Dense), variance.Clone().(*tensor.Dense))
		}
		if w := e.Warnings(); len(w) > 0 {
			t.Errorf("warnings: %v", w)
		}
	}
	for i, want := range results["host"] {
		near(t, fmt.Sprintf("result %d", i), results["device"][i], want, 1e-11)
	}
	if first, last := numbers(t, results["host"][1]), numbers(t, results["host"][4]); first[4] == last[4] {
		t.Error("the averages did not move")
	}
}
