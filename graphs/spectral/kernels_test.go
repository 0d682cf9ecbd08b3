package spectral

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"privkern/graphs/simd"
)

// Every level of vector instructions has the bits of the portable one, for lengths around the
// width of a vector.
func TestKernelsHaveTheSameBitsAtAllLevels(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testKernelBits[float64](t) })
	t.Run("float32", func(t *testing.T) { testKernelBits[float32](t) })
}

func testKernelBits[T Float](t *testing.T) {
	for n := 0; n < 40; n++ {
		var want []T
		for _, level := range simd.Levels() {
			restore := simd.Use(level)
			got := kernelResults[T](n)
			restore()
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("n = %d, %v: other bits than %v", n, level, simd.Levels()[0])
			}
		}
	}
}

// kernelResults returns the results of all kernels for vectors of length n.
func kernelResults[T Float](n int) (all []T) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	ld := n + 3
	a, x := normal[T](rng, max(n, together)*ld+n), normal[T](rng, n)
	c := [together]T(normal[T](rng, together))
	y := normal[T](rng, n)
	m := n &^ (lanes - 1)
	addRows(&c, a, ld, y[:m])
	all = append(all, y...)
	s := dotRows(a, ld, x[:m])
	all = append(all, s[:]...)
	s = addDotRows(&c, a, ld, x[:m], y[:m])
	all = append(append(all, s[:]...), y...)
	for _, up := range []bool{false, true} {
		symv(up, a, ld, x, y)
		all = append(all, y...)
	}
	return all
}

// The product with a symmetric matrix agrees with its definition, and reads only the lower triangle.
func TestSymv(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for n := 0; n < 40; n++ {
		ld := n + 2
		a, x, y := normal[float64](rng, n*ld), normal[float64](rng, n), make([]float64, n)
		for i := range n {
			for j := i + 1; j < ld; j++ {
				a[i*ld+j] = math.NaN()
			}
		}
		for _, up := range []bool{false, true} {
			symv(up, a, ld, x, y)
			for i := range n {
				want := 0.0
				for j := range n {
					want += a[max(i, j)*ld+min(i, j)] * x[j]
				}
				if !(math.Abs(y[i]-want) <= 1e-13) {
					t.Errorf("n = %d, up %v: element %d is %g, want %g", n, up, i, y[i], want)
				}
			}
		}
	}
}

func normal[T Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}
