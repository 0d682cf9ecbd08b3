package op_test

import (
	"fmt"
	"testing"

	"gorgonia.org/tensor"

	"privkern/graphs/cpublas"
	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// BenchmarkKernelMatrix is the matrix of 3,000 points with themselves, on one goroutine.
func BenchmarkKernelMatrix(b *testing.B) {
	cpublas.Setup()
	for _, d := range []int{784, 64} {
		x := graphtest.Normal(graphtest.Rand(1), 3000, d)
		for _, p := range []op.Profile{
			{Metric: op.SquaredEuclidean, Form: op.Exponential, Scale: 1, Rate: 1 / float64(d)},
			{Metric: op.Manhattan, Form: op.Exponential, Scale: 1, Rate: 1 / float64(d)},
			{Metric: op.SquaredEuclidean, Form: op.Matern52, Scale: 1, Rate: .2},
			{Metric: op.InnerProduct, Form: op.Tanh, Scale: 1, Rate: 1 / float64(d)},
		} {
			for _, dtype := range []tensor.Dtype{tensor.Float64, tensor.Float32} {
				in := engine.NewMatrix(dtype, x)
				b.Run(fmt.Sprintf("%v/%v/%d/%v", p.Metric, p.Form, d, dtype), func(b *testing.B) {
					symmetric := op.KernelSymmetric(p)
					out := engine.NewMatrix(dtype, graphtest.Normal(graphtest.Rand(1), 3000, 3000))
					for b.Loop() {
						if _, err := symmetric.UsePreallocDo(out, in); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
