package engine_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"

	"privkern/graphs/engine"
)

// Power iteration: the matrix is copied to the device once, the vector stays there from step
// to step, and only the eigenvalue comes to the host.
func ExampleStay() {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	step := engine.Program{Name: "power iteration", Key: "power iteration 2", Build: func(b *engine.Builder) {
		y := b.Mul(b.Input("a", 2, 2), b.Input("x", 2, 1))
		norm := gorgonia.Must(gorgonia.Sqrt(b.Sum(b.Square(y))))
		b.Output("x", b.Divide(y, norm))
		b.Output("norm", norm)
	}}
	ctx := context.Background()
	s, err := e.Session(step)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := s.Pin("a", e.Matrix(mat.NewDense(2, 2, []float64{2, 1, 1, 2}))); err != nil {
		log.Fatal(err)
	}
	state := engine.Values{"x": e.Column([]float64{1, 0})}
	for range 40 {
		next, err := s.Run(ctx, state, engine.Stay("x", "norm")) // does not wait
		if err != nil {
			log.Fatal(err)
		}
		state.Close()
		next["norm"].(*engine.Resident).Close()
		state = engine.Values{"x": next["x"]}
	}
	out, err := s.Run(ctx, state, engine.Stay("x"))
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	state.Close()
	eigenvalue, err := engine.Scalar(out["norm"])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.6f\n", eigenvalue)
	// Output: 3.000000
}
