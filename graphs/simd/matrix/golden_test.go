package matrix

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// The bits of results are the same on all processors and in all versions, because they determine
// the results of experiments.
func TestGoldenBits(t *testing.T) {
	atLevels(t,
		func(t *testing.T) { testGolden[float64](t, "bb7234815cce8592") },
		func(t *testing.T) { testGolden[float32](t, "b4952d4a75a58e4d") })
}

func testGolden[T Float](t *testing.T, want string) {
	h := sha256.New()
	rng := rand.New(rand.NewPCG(7, 7))
	for _, s := range [][3]int{{1, 1, 1}, {3, 5, 7}, {8, 8, 9}, {12, 32, 256}, {33, 20, 300}, {70, 65, 64}, {250, 9, 40}} {
		m, n, k := s[0], s[1], s[2]
		a, b, c := uniform[T](rng, m*k), uniform[T](rng, k*n), uniform[T](rng, m*n)
		Gemm(blas.NoTrans, blas.NoTrans, m, n, k, 0.3, a, k, b, n, 0.7, c, n)
		add(h, c)
		Gemm(blas.Trans, blas.Trans, m, n, k, 1, a, m, b, k, 0, c, n)
		add(h, c)
		c = uniform[T](rng, m*m)
		Syrk(blas.Lower, blas.NoTrans, m, k, 1, a, k, 1, c, m)
		Syr2k(blas.Upper, blas.Trans, m, k, -1, a, m, a, m, 0.3, c, m)
		add(h, c)
		c = uniform[T](rng, m*m)
		for i := range m {
			c[i*m+i] = 2 + c[i*m+i]/8
			for j := range m {
				if i != j {
					c[i*m+j] /= T(8 * m)
				}
			}
		}
		x := uniform[T](rng, m*n)
		y := uniform[T](rng, m*n)
		Symm(blas.Left, blas.Lower, m, n, 1, c, m, y, n, 0.5, x, n)
		for _, uplo := range uplos {
			for _, tr := range transs {
				Trsm(blas.Left, uplo, tr, blas.NonUnit, m, n, 0.9, c, m, x, n)
				Trmm(blas.Right, uplo, tr, blas.Unit, n, m, 1.1, c, m, x, m)
				add(h, x)
			}
			l := append([]T(nil), c...)
			if k := Cholesky(uplo, m, l, m); k != 0 {
				t.Fatalf("%d: no factor at %d", m, k)
			}
			add(h, l)
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want {
		t.Errorf("the bits have the hash %s, want %s", got, want)
	}
}

// uniform returns numbers whose bits no arithmetic rounds.
func uniform[T Float](rng *rand.Rand, n int) []T {
	a := make([]T, n)
	for i := range a {
		a[i] = T(int32(rng.Uint32())>>8) / (1 << 23)
	}
	return a
}

func add[T Float](h hash.Hash, a []T) {
	for _, x := range a {
		h.Write(binary.LittleEndian.AppendUint64(nil, bits(x)))
	}
}
