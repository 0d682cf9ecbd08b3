package op

import (
	"testing"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
)

func benchmarkSubstitute[T cpublas.Float](b *testing.B, solve func(*parallel.Pool, []T, int, []T, int) error) {
	cpublas.Setup()
	const n, m = 1000, 785
	l, x := make([]T, n*n), make([]T, n*m)
	for i := range n {
		for j := range i {
			l[i*n+j] = T(i-j) / (1 + T(i)*T(i))
		}
		l[i*n+i] = 1
	}
	for i := range x {
		x[i] = T(i % 17)
	}
	for b.Loop() {
		if err := solve(nil, l, n, x, m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSubstituteLibrary(b *testing.B)  { benchmarkSubstitute(b, substitute[float64]) }
func BenchmarkSubstituteBlocks(b *testing.B)   { benchmarkSubstitute(b, substituteBlocks[float64]) }
func BenchmarkSubstituteBlocks32(b *testing.B) { benchmarkSubstitute(b, substituteBlocks[float32]) }
