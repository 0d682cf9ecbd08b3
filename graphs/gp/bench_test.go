package gp

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/kernel"
)

// BenchmarkMaximise is a search over ten hyper-parameters and the mean.
func BenchmarkMaximise(b *testing.B) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	const n = 200
	x := graphtest.Normal(graphtest.Rand(1), n, 8)
	y := mat.Col(nil, 0, graphtest.Normal(graphtest.Rand(2), n, 1))
	for i := range y {
		y[i] = 0.1*y[i] + x.At(i, 0)*x.At(i, 1)
	}
	for b.Loop() {
		f, err := Maximise(context.Background(), e, x, y, Options{Kernel: kernel.EQ(1, 1), Mean: true})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(f.Evaluations), "evaluations")
	}
}

// BenchmarkEvaluate is one likelihood with its derivatives.
func BenchmarkEvaluate(b *testing.B) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	const n = 1000
	x := graphtest.Normal(graphtest.Rand(1), n, 8)
	y := mat.Col(nil, 0, graphtest.Normal(graphtest.Rand(2), n, 1))
	h := Hyperparameters{Lengthscales: []float64{1, 1, 1, 1, 1, 1, 1, 1}, Variance: 1, Noise: 0.1}
	for b.Loop() {
		if _, _, err := Evaluate(context.Background(), e, x, y, kernel.EQ(1, 1), h); err != nil {
			b.Fatal(err)
		}
	}
}
