package engine

import (
	"context"
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Terms of a sum that nothing connects are not held together for one kernel's sake, whether
// it runs or not. Small ones are.
func TestFusionTakesNoMemory(t *testing.T) {
	const terms = 6
	for _, c := range []struct {
		name        string
		order, most int // buffers beyond those one by one
	}{{"large", 1200, 0}, {"small", 10, terms}} {
		t.Run(c.name, func(t *testing.T) {
			p := Program{Name: "terms", Key: "terms", Build: func(b *Builder) {
				x := b.Input("x", c.order, c.order)
				var total *gorgonia.Node
				for i := range terms {
					term := b.Sum(b.Square(b.Hadamard(b.Scalar(fmt.Sprint("c", i)), x)))
					if total = term; i > 0 {
						b.Output(fmt.Sprint("total ", i), term)
					}
				}
				b.Output("total", total)
			}}
			in := Values{"x": NewMatrix(tensor.Float64, mat.NewDense(c.order, c.order, nil))}
			for i := range terms {
				in[fmt.Sprint("c", i)] = gorgonia.NewF64(float64(i))
			}
			peaks := map[string]int{}
			run := func(name string, d Device, f *fakeDevice) {
				x := newExecutor(t, p, d, nil)
				defer x.Close()
				if _, err := x.Run(context.Background(), in); err != nil {
					t.Fatal(err)
				}
				peaks[name] = f.peak
			}
			plain := newFake(t)
			run("one by one", plain, plain)
			fuser, unready := newFuser(t), newFuser(t)
			unready.ready = func() (bool, error) { return false, nil }
			run("fused", fuser, fuser.fakeDevice)
			run("not yet", unready, unready.fakeDevice)
			for _, name := range []string{"fused", "not yet"} {
				if peaks[name] > peaks["one by one"]+c.most {
					t.Errorf("%s: %d buffers at once, %d one by one", name, peaks[name], peaks["one by one"])
				}
			}
			if fuser.fused == 0 {
				t.Error("nothing is fused")
			}
		})
	}
}
