package engine

import (
	"context"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The derivative of a sum is one for each element, however they are computed: their number alone
// is needed.
func TestOperandsOfLengthsAreNotComputed(t *testing.T) {
	device := newFake(t)
	x := newExecutor(t, Program{Name: "gradient of a sum", Key: "gradient of a sum", Build: func(b *Builder) {
		in := b.Input("x", 2, 3)
		sum := b.Sum(gorgonia.Must(gorgonia.Exp(b.Hadamard(in, in))))
		b.Output("gradient", b.Gradient(b.Sum(b.Hadamard(in, b.Input("w", 2, 3))), in)[0])
		b.Output("sum", sum)
	}}, device, nil)
	defer x.Close()
	w := []float64{1, 2, 3, 4, 5, 6}
	values := Values{"x": NewMatrix(tensor.Float64, mat.NewDense(2, 3, slices.Repeat([]float64{7}, 6))),
		"w": NewMatrix(tensor.Float64, mat.NewDense(2, 3, w))}
	out, err := x.Run(context.Background(), values)
	if err != nil {
		t.Fatal(err)
	}
	if got := numbersOf(out["gradient"]); !slices.Equal(got, w) {
		t.Errorf("the gradient is %v, want %v", got, w)
	}
	products := 0
	for _, s := range x.steps {
		if s.op.String() == "⊙ false" {
			products++
		}
	}
	// x∘x, and the weights times one. The product with the weights has no reader but its lengths.
	if products != 2 {
		t.Errorf("%d products are computed, want 2", products)
	}
}
