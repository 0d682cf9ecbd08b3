package op_test

import (
	"math"
	"testing"

	"privkern/graphs/cpublas"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// BenchmarkEigenpairs is 20 eigenpairs of order 784, leading ones in some steps and, for
// comparison, of the full decomposition.
func BenchmarkEigenpairs(b *testing.B) {
	cpublas.Setup()
	a := matrices(withSpectrum(graphtest.Rand(1), spectrum(784, func(i int) float64 {
		return math.Pow(.9, float64(i)) // as images have them
	})))
	for _, c := range []struct {
		name string
		op   op.Op
	}{
		{"full", op.LargestEigen(20)},
		{"leading, 10 steps", op.LeadingEigen(20, 10)},
		{"leading, 12 steps", op.LeadingEigen(20, 12)},
		{"leading, 16 steps", op.LeadingEigen(20, 16)},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.op.Do(a...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
