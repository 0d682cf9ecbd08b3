package vector

import "privkern/graphs/simd/internal/fma"

// Rotate replaces a by c·a − s·b and b by s·a + c·b for each element of a. The product with b is
// rounded, and the one with a is fused with the addition.
func Rotate(a, b []float64, c, s float64) {
	b = b[:len(a)]
	n := len(a) &^ (block[float64]() - 1)
	if n > 0 && !vectorRotate(a[:n], b[:n], c, s) {
		n = 0
	}
	for i, x := range a[n:] {
		y := b[n+i]
		a[n+i], b[n+i] = fma.FMA(c, x, Product(-s, y)), fma.FMA(s, x, Product(c, y))
	}
}

// Axpy adds alpha·x[i] to y[i] for each element of x, with fused multiply-adds.
func Axpy(alpha float64, x, y []float64) {
	y = y[:len(x)]
	n := len(x) &^ (block[float64]() - 1)
	if n > 0 && !vectorAxpy(alpha, x[:n], y[:n]) {
		n = 0
	}
	for i, v := range x[n:] {
		y[n+i] = fma.FMA(alpha, v, y[n+i])
	}
}
