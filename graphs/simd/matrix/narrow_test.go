package matrix

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// Products and solves with few columns have the bits of the definition, for any orientation of
// their operands.
func TestNarrowBits(t *testing.T) {
	atLevels(t, testNarrow[float64], testNarrow[float32])
}

func testNarrow[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 5))
	long := []int{130, 159, 160, narrowChunk - 1, narrowChunk + 33}
	deep := []int{33, 63, 64, blockK, blockK + 1, blockK + 67}
	for range 25 {
		m, n, k := pick(rng, long), 1+rng.IntN(17), pick(rng, deep)
		checkNarrow[T](t, rng, m, n, k)
		checkNarrow[T](t, rng, n, m, k)
	}
	for range 8 {
		n := 1 + rng.IntN(17)
		checkTriangles[T](t, rng, 200+rng.IntN(60), n)
		checkTriangles[T](t, rng, n, 200+rng.IntN(60))
	}
}

func checkNarrow[T Float](t *testing.T, rng *rand.Rand, m, n, k int) {
	t.Helper()
	ta, tb, beta := pick(rng, transs), pick(rng, transs), pick(rng, []T{0, 1, 0.7})
	oriented := func(t blas.Transpose, r, c int) guarded[T] {
		if t != blas.NoTrans {
			r, c = c, r
		}
		return newGuarded[T](rng, r, c)
	}
	a, b, c := oriented(ta, m, k), oriented(tb, k, n), newGuarded[T](rng, m, n)
	want := c.clone()
	Gemm(ta, tb, m, n, k, -0.3, a.d, a.ld, b.d, b.ld, beta, c.d, c.ld)
	referenceGemm(ta, tb, m, n, k, -0.3, a.d, a.ld, b.d, b.ld, beta, want.d, want.ld)
	sameBits(t, fmt.Sprintf("gemm %d×%d×%d %c%c beta %v", m, n, k, ta, tb, beta), c, want)
}
