package spectral_test

import (
	"testing"

	"privkern/graphs/cpublas"
	"privkern/graphs/spectral"
)

// BenchmarkEigen is all pairs, and the 20 largest, of order 784.
func BenchmarkEigen(b *testing.B) {
	cpublas.Setup()
	b.Run("float64", benchmarkEigen[float64])
	b.Run("float32", benchmarkEigen[float32])
}

func benchmarkEigen[T spectral.Float](b *testing.B) {
	const n, k = 784, 20
	a := of[T](random(n))
	v, w, rows := make([]T, n*n), make([]T, n), make([]T, k*n)
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"all", func() error { return spectral.Eigen(n, v, n, w) }},
		{"largest", func() error { return spectral.Largest(n, k, v, n, w, rows, n) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				copy(v, a)
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
