//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// seeded gives a dropout, whose generator gorgonia seeds by the clock, one that can be
// repeated.
func seeded(dropout *gorgonia.Node) *gorgonia.Node {
	field := reflect.ValueOf(dropout.Op()).Elem().FieldByName("rndGen")
	generator := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
	generator.Set(reflect.ValueOf(rand.New(rand.NewPCG(3, 3)).Float64).Convert(field.Type()))
	return dropout
}

// A dropout in training drops the same elements on the device as on the host with the same
// generator, run after run, and so does its derivative.
func TestDropoutDrawsTheHostsNumbers(t *testing.T) {
	const rows, cols = 300, 700 // more than one piece of page-locked memory of float64
	p := engine.Program{Name: "dropout", Key: "dropout", Draws: true, Build: func(b *engine.Builder) {
		x := b.Input("x", rows, cols)
		dropped, err := gorgonia.Dropout(x, 0.3)
		b.Fail(err)
		b.Output("out", seeded(dropped))
		b.Output("slope", b.Gradient(b.Sum(b.Square(dropped)), x)[0])
	}}
	a := mat.NewDense(rows, cols, nil)
	rng := rand.New(rand.NewPCG(7, 1))
	a.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, a)
	for _, dtype := range []string{"float64", "float32"} {
		t.Run(dtype, func(t *testing.T) {
			host, device := engines(t, dtype)
			var before []float64
			for run := range 3 {
				want, err := host.Run(context.Background(), p, engine.Values{"x": host.Matrix(a)})
				if err != nil {
					t.Fatal(err)
				}
				got, err := device.Run(context.Background(), p, engine.Values{"x": device.Matrix(a)})
				if err != nil {
					t.Fatal(err)
				}
				for name := range want {
					near(t, fmt.Sprint(name, " of run ", run), got[name], want[name], 0)
				}
				out, dropped := numbers(t, got["out"]), 0
				for _, v := range out {
					if v == 0 {
						dropped++
					}
				}
				if share := float64(dropped) / (rows * cols); share < 0.29 || share > 0.31 {
					t.Errorf("%.3f of the elements are dropped, want 0.3", share)
				}
				if slices.Equal(out, before) {
					t.Error("two runs drop the same")
				}
				before = out
			}
			if w := device.Warnings(); len(w) > 0 {
				t.Errorf("warnings: %v", w)
			}
		})
	}
}

// Random nodes draw in every run, on the device too, and nothing falls back.
func TestRandomNodes(t *testing.T) {
	for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
		t.Run(dtype.String(), func(t *testing.T) {
			_, device := engines(t, dtype.String())
			p := engine.Program{Name: "random", Key: "random", Draws: true, Build: func(b *engine.Builder) {
				g := b.Input("x", 1, 1).Graph()
				b.Output("uniform", gorgonia.UniformRandomNode(g, dtype, 2, 3, 50, 40))
				b.Output("normal", gorgonia.GaussianRandomNode(g, dtype, 5, 0.1, 2000))
				b.Output("counts", gorgonia.BinomialRandomNode(g, dtype, 4, 0.5, 20, 10, 10))
				b.Output("one", gorgonia.UniformRandomNode(g, dtype, 2, 3))
			}}
			means := map[string]float64{"uniform": 2.5, "normal": 5, "counts": 2}
			var before engine.Values
			for range 2 {
				out, err := device.Run(context.Background(), p, nil)
				if err != nil {
					t.Fatal(err)
				}
				for name, want := range means {
					sum := 0.0
					for _, v := range numbers(t, out[name]) {
						sum += v
					}
					if mean := sum / 2000; mean < want-0.2 || mean > want+0.2 { // more than 8 standard errors
						t.Errorf("%s: the mean is %g, want %g", name, mean, want)
					}
				}
				for name, v := range before {
					if slices.Equal(numbers(t, v), numbers(t, out[name])) {
						t.Errorf("%s: two runs draw the same", name)
					}
				}
				before = out
			}
			if w := device.Warnings(); len(w) > 0 {
				t.Errorf("warnings: %v", w)
			}
		})
	}
}
