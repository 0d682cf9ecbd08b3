package op

import (
	"fmt"
	"math"
	"testing"

	"privkern/graphs/cpublas"
)

// benchmarkGradient is the gradient of Σ G∘K by X, n×d, for the EQ kernel K of X and Y, n×d each.
func benchmarkGradient[T cpublas.Float](b *testing.B, m Metric) {
	cpublas.Setup()
	const n, d = 1000, 64
	random := func(cols int) matrix[T] {
		a := matrix[T]{n, cols, make([]T, n*cols)}
		for i := range a.data {
			a.data[i] = T(math.Sin(float64(i*i%9973) + float64(cols)))
		}
		return a
	}
	x, y, g := random(d), random(d), random(n)
	y.data[0]++
	w, out := random(n), random(d)
	p := Profile{Metric: m, Form: Exponential, Scale: 1, Rate: 1. / d}
	b.Run(fmt.Sprintf("slope %v", m), func(b *testing.B) {
		for b.Loop() {
			if err := slopeMatrix(call[T]{in: []matrix[T]{x, y, g}, out: w}, p); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run(fmt.Sprintf("pullback %v", m), func(b *testing.B) {
		for b.Loop() {
			if err := metricPullback(call[T]{in: []matrix[T]{x, y, w}, out: out}, m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkGradient64(b *testing.B)  { benchmarkGradient[float64](b, SquaredEuclidean) }
func BenchmarkGradient32(b *testing.B)  { benchmarkGradient[float32](b, SquaredEuclidean) }
func BenchmarkManhattan64(b *testing.B) { benchmarkGradient[float64](b, Manhattan) }
func BenchmarkManhattan32(b *testing.B) { benchmarkGradient[float32](b, Manhattan) }
