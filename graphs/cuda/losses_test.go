//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
)

// temporalProgram has the loss of 3 sequences of up to 6 steps and of 5 classes, or its
// derivative alone.
func temporalProgram(derivative bool) engine.Program {
	name := fmt.Sprint("temporal classification ", derivative)
	return engine.Program{Name: name, Key: name, Build: func(b *engine.Builder) {
		integers := func(name string, shape ...int) *gorgonia.Node {
			return gorgonia.Must(gorgonia.ConvType(b.Tensor(name, shape...), b.DType(), tensor.Int))
		}
		x := b.Tensor("x", 6, 3, 5)
		loss := gorgonia.Must(gorgonia.CTCLoss(x, integers("labels", 3, 4), integers("lengths", 3), integers("counts", 3),
			gorgonia.ReductionSum))
		if derivative {
			b.Output("out", b.Gradient(loss, x)[0])
		} else {
			b.Output("out", loss)
		}
	}}
}

// Labels and lengths that are not there are refused, by the device with the host's words;
// gorgonia alone ends the process. The derivative does not need the value.
func TestTemporalClassificationRefusesOperands(t *testing.T) {
	host, device := engines(t, "float64")
	row := func(v ...float64) gorgonia.Value { return engine.TensorOf(v, len(v)) }
	rng := rand.New(rand.NewPCG(1, 9))
	x := make([]float64, 6*3*5)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for _, c := range []struct {
		name            string
		label           float64
		lengths, counts gorgonia.Value
		want            string
	}{
		{"right operands", 4, row(6, 4, 5), row(4, 1, 2), ""},
		{"more steps than there are", 4, row(6, 7, 5), row(4, 1, 2), "member 1 of the batch takes 7 steps of 6"},
		{"no steps", 4, row(6, 4, 0), row(4, 1, 2), "member 2 of the batch takes 0 steps of 6"},
		{"more labels than there are", 4, row(6, 4, 5), row(4, 1, 5), "member 2 of the batch has 5 labels"},
		{"a negative number of labels", 4, row(6, 4, 5), row(-1, 1, 2), "member 0 of the batch has -1 labels"},
		{"a label that is no class", 5, row(6, 4, 5), row(4, 1, 2), "member 0 of the batch has the label 5 of 5"},
		{"a negative label", -1, row(6, 4, 5), row(4, 1, 2), "member 0 of the batch has the label -1 of 5"},
	} {
		for _, derivative := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, "/", derivative), func(t *testing.T) {
				labels := mat.NewDense(3, 4, []float64{1, 2, 2, c.label, 3, 1, 1, 1, 1, 2, 3, 4})
				in := engine.Values{"x": engine.TensorOf(x, 6, 3, 5), "lengths": c.lengths, "counts": c.counts,
					"labels": device.Matrix(labels)}
				want, err := host.Run(context.Background(), temporalProgram(derivative), in)
				got, err2 := device.Run(context.Background(), temporalProgram(derivative), in)
				if c.want == "" {
					if err != nil || err2 != nil {
						t.Fatal(err, err2)
					}
					near(t, "out", got["out"], want["out"], 1e-11)
					return
				}
				for name, err := range map[string]error{"host": err, "device": err2} {
					if err == nil || !strings.Contains(err.Error(), c.want) {
						t.Errorf("%s: got %v, want %q", name, err, c.want)
					}
				}
			})
		}
	}
	if w := device.Warnings(); len(w) > 0 {
		t.Errorf("warnings: %v", w)
	}
}
