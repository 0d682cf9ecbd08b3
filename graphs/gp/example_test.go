package gp_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/gp"
	"privkern/graphs/kernel"
)

// A wave that is known up to small errors.
func ExampleMaximise() {
	const n = 40
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		x.Set(i, 0, float64(i)/4)
		y[i] = 3*math.Sin(float64(i)/4) + 0.1*math.Cos(float64(7*i*i))
	}
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	f, err := gp.Maximise(context.Background(), e, x, y, gp.Options{Kernel: kernel.EQ(1, 1)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("lengthscale %.2f, process %.1f, noise %.3f, log-likelihood %.2f, converged %v\n", f.Lengthscales[0],
		f.Variance, f.Noise, f.LogLikelihood, f.Converged)
	// Output:
	// lengthscale 2.10, process 14.4, noise 0.004, log-likelihood 21.36, converged true
}
