package matrix

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	lapack "gonum.org/v1/gonum/lapack/gonum"
)

// Results agree with gonum in float64, within the bound of a sum's rounding.
func TestAgainstGonum(t *testing.T) {
	atLevels(t,
		func(t *testing.T) { testAgainstGonum[float64](t, 0x1p-52) },
		func(t *testing.T) { testAgainstGonum[float32](t, 0x1p-23) })
}

func testAgainstGonum[T Float](t *testing.T, eps float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	peer := gonum.Implementation{}
	for range 15 {
		m, n, k := pick(rng, edges), pick(rng, edges), pick(rng, edges)
		a, b, c, s := random[T](rng, m*m), random[T](rng, m*n), random[T](rng, m*n), random[T](rng, m*m)
		for i := range m {
			a[i*m+i] += T(2 * m)
		}
		want := wide(c)
		peer.Dgemm(blas.Trans, blas.NoTrans, m, n, m, 0.5, wide(a), m, wide(b), n, 2, want, n)
		Gemm(blas.Trans, blas.NoTrans, m, n, m, 0.5, a, m, b, n, 2, c, n)
		near(t, "gemm", c, want, eps*float64(8*m))
		for _, uplo := range uplos {
			want = wide(s)
			peer.Dsyrk(uplo, blas.Trans, m, n, 1, wide(b), m, -1, want, m)
			peer.Dsyr2k(uplo, blas.NoTrans, m, n, 1, wide(b), n, wide(c), n, 0.5, want, m)
			Syrk(uplo, blas.Trans, m, n, 1, b, m, -1, s, m)
			Syr2k(uplo, blas.NoTrans, m, n, 1, b, n, c, n, 0.5, s, m)
			near(t, "syrk and syr2k", s, want, eps*float64(40*(n+m)))
			for _, tr := range transs {
				for _, diag := range diags {
					checkSides(t, rng, uplo, tr, diag, m, min(n, k), a, eps)
				}
			}
			definite, other := make([]T, m*m), make([]float64, m*m)
			for i := range m {
				for j := range m {
					definite[i*m+j] = 1 / T(1+(i-j)*(i-j))
					other[i*m+j] = float64(definite[i*m+j])
				}
			}
			if Cholesky(uplo, m, definite, m) != 0 || !(lapack.Implementation{}).Dpotrf(uplo, m, other, m) {
				t.Fatal("no factor")
			}
			near(t, "cholesky", definite, other, eps*float64(20*m))
		}
	}
}

func checkSides[T Float](t *testing.T, rng *rand.Rand, uplo blas.Uplo, tr blas.Transpose, diag blas.Diag, m, n int,
	a []T, eps float64) {
	t.Helper()
	peer := gonum.Implementation{}
	scaled := append([]T(nil), a...) // also where the diagonal is not used, solves stay near 1
	for i := range scaled {
		scaled[i] /= T(2 * m)
	}
	for _, side := range sides {
		r, c := m, n
		if side == blas.Right {
			r, c = n, m
		}
		x, z := random[T](rng, r*c), random[T](rng, r*c)
		solved, product, symmetric := wide(x), wide(x), wide(z)
		peer.Dtrsm(side, uplo, tr, diag, r, c, 0.5, wide(scaled), m, solved, c)
		peer.Dtrmm(side, uplo, tr, diag, r, c, 0.5, wide(scaled), m, product, c)
		peer.Dsymm(side, uplo, r, c, 0.5, wide(scaled), m, wide(x), c, 2, symmetric, c)
		y := append([]T(nil), x...)
		Symm(side, uplo, r, c, 0.5, scaled, m, x, c, 2, z, c)
		Trsm(side, uplo, tr, diag, r, c, 0.5, scaled, m, x, c)
		Trmm(side, uplo, tr, diag, r, c, 0.5, scaled, m, y, c)
		near(t, "trsm", x, solved, eps*float64(20*m))
		near(t, "trmm", y, product, eps*float64(20*m))
		near(t, "symm", z, symmetric, eps*float64(20*m))
	}
}

func random[T Float](rng *rand.Rand, n int) []T {
	a := make([]T, n)
	for i := range a {
		a[i] = T(rng.NormFloat64())
	}
	return a
}

func wide[T Float](a []T) []float64 {
	w := make([]float64, len(a))
	for i, x := range a {
		w[i] = float64(x)
	}
	return w
}

func near[T Float](t *testing.T, what string, got []T, want []float64, tol float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(float64(got[i])-w) <= tol*(1+math.Abs(w))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], w)
		}
	}
}

// FuzzShapes compares with the definition for any sizes.
func FuzzShapes(f *testing.F) {
	f.Add(uint16(1), uint16(1), uint16(1), uint64(1))
	f.Add(uint16(13), uint16(33), uint16(257), uint64(2))
	f.Add(uint16(97), uint16(2), uint16(5), uint64(3))
	f.Fuzz(func(t *testing.T, m, n, k uint16, seed uint64) {
		atLevels(t,
			func(t *testing.T) { fuzzShape[float64](t, m, n, k, seed) },
			func(t *testing.T) { fuzzShape[float32](t, m, n, k, seed) })
	})
}

func fuzzShape[T Float](t *testing.T, m, n, k uint16, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	a, b, c := 1+int(m)%150, 1+int(n)%150, 1+int(k)%600
	checkProducts[T](t, rng, a, b, c)
	checkTriangles[T](t, rng, a, b)
	checkCholesky[T](t, rng, a)
}
