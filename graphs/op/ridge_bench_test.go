package op

import (
	"testing"

	"privkern/graphs/cpublas"
)

func benchmarkSubstitute[T cpublas.Float](b *testing.B, solve func([]T, int, []T, int)) {
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
		solve(l, n, x, m)
	}
}

func BenchmarkSubstituteLibrary(b *testing.B)  { benchmarkSubstitute(b, substitute[float64]) }
func BenchmarkSubstituteBlocks(b *testing.B)   { benchmarkSubstitute(b, substituteBlocks[float64]) }
func BenchmarkSubstituteBlocks32(b *testing.B) { benchmarkSubstitute(b, substituteBlocks[float32]) }
