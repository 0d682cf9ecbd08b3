package linalg_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/linalg"
)

// BenchmarkPSDPart projects a 256×256 matrix onto the positive semidefinite cone.
func BenchmarkPSDPart(b *testing.B) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	const n = 256
	indefinite := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n { // without a structure that a library could exploit
			indefinite.Set(i, j, math.Sin(float64(i*n+j+1)*12.9898)+math.Sin(float64(j*n+i+1)*12.9898))
		}
	}
	for b.Loop() {
		if _, _, err := linalg.PSDPart(e, indefinite); err != nil {
			b.Fatal(err)
		}
	}
}
