package matrix

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/simd"
)

// atLevels runs a test in both precisions at all levels of the processor.
func atLevels(t *testing.T, test64, test32 func(*testing.T)) {
	for _, l := range simd.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer simd.Use(l)()
			t.Run("float64", test64)
			t.Run("float32", test32)
		})
	}
}

var (
	sides  = []blas.Side{blas.Left, blas.Right}
	uplos  = []blas.Uplo{blas.Lower, blas.Upper}
	transs = []blas.Transpose{blas.NoTrans, blas.Trans}
	diags  = []blas.Diag{blas.NonUnit, blas.Unit}
	// Sizes around the edges of tiles, panels and blocks of all levels.
	edges = []int{1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 49, 63, 64, 65, 97}
)

func pick[E any](rng *rand.Rand, s []E) E { return s[rng.IntN(len(s))] }

// guarded returns an r×c matrix at a random offset in a larger slice of numbers.
type guarded[T Float] struct {
	all, d []T
	ld     int
}

func (g guarded[T]) clone() guarded[T] {
	all := slices.Clone(g.all)
	return guarded[T]{all, all[len(all)-len(g.d):], g.ld}
}

func newGuarded[T Float](rng *rand.Rand, r, c int) guarded[T] {
	const guard = 70
	ld, skip := c+rng.IntN(5), guard+rng.IntN(16)
	all := make([]T, skip+r*ld+guard)
	for i := range all {
		all[i] = T(rng.NormFloat64())
	}
	return guarded[T]{all, all[skip:], ld}
}

// triangular returns a matrix whose solutions stay near 1.
func newTriangular[T Float](rng *rand.Rand, n int) guarded[T] {
	g := newGuarded[T](rng, n, n)
	for i := range n {
		for j := range n {
			g.d[i*g.ld+j] /= T(n)
		}
		g.d[i*g.ld+i] += T(1.5)
	}
	return g
}

// newDefinite returns a positive definite matrix.
func newDefinite[T Float](rng *rand.Rand, n int) guarded[T] {
	g := newGuarded[T](rng, n, n)
	for i := range n {
		for j := range n {
			if i != j {
				g.d[i*g.ld+j] /= T(2 * n)
			}
		}
		g.d[i*g.ld+i] = 2 + T(i%3)
	}
	return g
}

func bits[T Float](x T) uint64 {
	if x != x {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(float64(x))
}

// sameBits compares whole slices, including elements outside the matrix.
func sameBits[T Float](t *testing.T, what string, got, want guarded[T]) {
	t.Helper()
	for i := range want.all {
		if bits(got.all[i]) != bits(want.all[i]) {
			at := i - (len(want.all) - len(want.d))
			t.Fatalf("%s: row %d, column %d (distance %d): got %v, want %v", what, at/want.ld, at%want.ld, want.ld,
				got.all[i], want.all[i])
		}
	}
}

// Results have the bits of their definition, and nothing else is written.
func TestBitsOfTheDefinition(t *testing.T) {
	atLevels(t, testBits[float64], testBits[float32])
}

func testBits[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 120 {
		m, n, k := pick(rng, edges), pick(rng, edges), pick(rng, edges)
		switch rng.IntN(12) {
		case 0:
			m += blockM
		case 1:
			k += blockK
		}
		checkProducts[T](t, rng, m, n, k)
		checkTriangles[T](t, rng, min(m, 100), n)
		checkCholesky[T](t, rng, min(m, 100))
	}
	checkProducts[T](t, rng, 3, blockN+5, 3)
	checkSymm[T](t, rng, blockK+40, 5)
	checkCholesky[T](t, rng, 200)
	checkTriangles[T](t, rng, 5, 200)
}

func checkProducts[T Float](t *testing.T, rng *rand.Rand, m, n, k int) {
	t.Helper()
	ta, tb, uplo := pick(rng, transs), pick(rng, transs), pick(rng, uplos)
	alpha, beta := pick(rng, []T{1, -1, 0.3, 0}), pick(rng, []T{0, 1, -1, 0.7})
	what := fmt.Sprintf("%d×%d×%d %c%c%c alpha %v beta %v", m, n, k, ta, tb, uplo, alpha, beta)
	oriented := func(t blas.Transpose, r, c int) guarded[T] {
		if t != blas.NoTrans {
			r, c = c, r
		}
		return newGuarded[T](rng, r, c)
	}
	a, b, c := oriented(ta, m, k), oriented(tb, k, n), newGuarded[T](rng, m, n)
	want := c.clone()
	Gemm(ta, tb, m, n, k, alpha, a.d, a.ld, b.d, b.ld, beta, c.d, c.ld)
	referenceGemm(ta, tb, m, n, k, alpha, a.d, a.ld, b.d, b.ld, beta, want.d, want.ld)
	sameBits(t, "gemm "+what, c, want)

	m = min(m, 130)
	a, b, c = oriented(ta, m, k), oriented(ta, m, k), newGuarded[T](rng, m, m)
	want = c.clone()
	Syrk(uplo, ta, m, k, alpha, a.d, a.ld, beta, c.d, c.ld)
	referenceSyr2k(uplo, ta, m, k, alpha, a.d, a.ld, a.d, a.ld, beta, want.d, want.ld)
	sameBits(t, "syrk "+what, c, want)
	Syr2k(uplo, ta, m, k, alpha, a.d, a.ld, b.d, b.ld, beta, c.d, c.ld)
	referenceSyr2k(uplo, ta, m, k, alpha, a.d, a.ld, b.d, b.ld, beta, want.d, want.ld)
	sameBits(t, "syr2k "+what, c, want)
	checkSymm[T](t, rng, m, min(n, 100))
}

func checkSymm[T Float](t *testing.T, rng *rand.Rand, m, n int) {
	t.Helper()
	side, uplo := pick(rng, sides), pick(rng, uplos)
	alpha, beta := pick(rng, []T{1, 0.3, 0}), pick(rng, []T{0, 1, 0.7})
	if side == blas.Right {
		m, n = n, m
	}
	order := m
	if side == blas.Right {
		order = n
	}
	a, b, c := newGuarded[T](rng, order, order), newGuarded[T](rng, m, n), newGuarded[T](rng, m, n)
	want := c.clone()
	Symm(side, uplo, m, n, alpha, a.d, a.ld, b.d, b.ld, beta, c.d, c.ld)
	referenceSymm(side, uplo, m, n, alpha, a.d, a.ld, b.d, b.ld, beta, want.d, want.ld)
	sameBits(t, fmt.Sprintf("symm %d×%d %c%c alpha %v beta %v", m, n, side, uplo, alpha, beta), c, want)
}

func checkTriangles[T Float](t *testing.T, rng *rand.Rand, m, n int) {
	t.Helper()
	side, uplo, tr, diag := pick(rng, sides), pick(rng, uplos), pick(rng, transs), pick(rng, diags)
	alpha := pick(rng, []T{1, -1, 0.3, 0})
	order := m
	if side == blas.Right {
		order = n
	}
	what := fmt.Sprintf("%d×%d %c%c%c%c alpha %v", m, n, side, uplo, tr, diag, alpha)
	a := newTriangular[T](rng, order)
	for i := range order { // the other triangle is not read
		for j := range order {
			if !within(uplo, i, j) || i == j && diag == blas.Unit {
				a.d[i*a.ld+j] = T(math.NaN())
			}
		}
	}
	b := newGuarded[T](rng, m, n)
	want := b.clone()
	Trsm(side, uplo, tr, diag, m, n, alpha, a.d, a.ld, b.d, b.ld)
	referenceTriangular(true, side, uplo, tr, diag, m, n, alpha, a.d, a.ld, want.d, want.ld)
	sameBits(t, "trsm "+what, b, want)
	Trmm(side, uplo, tr, diag, m, n, alpha, a.d, a.ld, b.d, b.ld)
	referenceTriangular(false, side, uplo, tr, diag, m, n, alpha, a.d, a.ld, want.d, want.ld)
	sameBits(t, "trmm "+what, b, want)
}

func checkCholesky[T Float](t *testing.T, rng *rand.Rand, n int) {
	t.Helper()
	uplo := pick(rng, uplos)
	a := newDefinite[T](rng, n)
	for _, bad := range []int{-1, rng.IntN(n)} {
		if bad >= 0 {
			a = newDefinite[T](rng, n)
			a.d[bad*a.ld+bad] = pick(rng, []T{0, -1, T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1))})
		}
		for i := range n {
			for j := range n {
				if !within(uplo, i, j) {
					a.d[i*a.ld+j] = T(math.NaN())
				}
			}
		}
		want := a.clone()
		order := Cholesky(uplo, n, a.d, a.ld)
		wantOrder := referenceCholesky(n, func(i, j int) *T {
			if uplo == blas.Upper {
				i, j = j, i
			}
			return &want.d[i*want.ld+j]
		})
		if order != wantOrder || order != bad+1 {
			t.Fatalf("cholesky %d %c: %d, want %d, which the reference has as %d", n, uplo, order, bad+1, wantOrder)
		}
		if order == 0 {
			sameBits(t, fmt.Sprintf("cholesky %d %c", n, uplo), a, want)
		}
	}
}

// Infinities, NaN and denormal numbers have the bits of the definition as well.
func TestStrangeNumbers(t *testing.T) {
	atLevels(t, testStrange[float64], testStrange[float32])
}

func testStrange[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var tiny T = 0x1p-1060
	if tiny == 0 {
		tiny = 0x1p-140
	}
	strange := []T{0, T(math.Copysign(0, -1)), T(math.Inf(1)), T(math.Inf(-1)), T(math.NaN()), tiny, -tiny / 3, 1 / tiny}
	for range 60 {
		m, n, k := pick(rng, edges), pick(rng, edges), pick(rng, edges)
		a, b, c := newGuarded[T](rng, m, k), newGuarded[T](rng, k, n), newGuarded[T](rng, m, n)
		for _, g := range []guarded[T]{a, b, c} {
			for range 1 + rng.IntN(4) {
				g.all[rng.IntN(len(g.all))] = pick(rng, strange)
			}
		}
		beta := pick(rng, []T{0, 1})
		want := c.clone()
		Gemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a.d, a.ld, b.d, b.ld, beta, c.d, c.ld)
		referenceGemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a.d, a.ld, b.d, b.ld, beta, want.d, want.ld)
		sameBits(t, fmt.Sprintf("gemm %d×%d×%d beta %v", m, n, k, beta), c, want)

		x, l := newGuarded[T](rng, m, n), newTriangular[T](rng, m)
		x.d[rng.IntN(n)] = pick(rng, strange)
		l.d[(m-1)*l.ld+rng.IntN(m)] = pick(rng, strange)
		want = x.clone()
		Trsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, m, n, 1, l.d, l.ld, x.d, x.ld)
		referenceTriangular(true, blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, m, n, 1, l.d, l.ld, want.d, want.ld)
		sameBits(t, "trsm", x, want)
	}
}

// Empty problems do nothing but scale.
func TestEmpty(t *testing.T) {
	c := []float64{1, 2, math.NaN(), 4}
	Gemm(blas.NoTrans, blas.NoTrans, 2, 2, 0, 1, nil, 1, nil, 2, 0, c, 2)
	if !slices.Equal(c, []float64{0, 0, 0, 0}) {
		t.Errorf("k = 0, beta = 0: %v", c)
	}
	Gemm(blas.NoTrans, blas.NoTrans, 0, 2, 3, 1, nil, 3, make([]float64, 6), 2, 0, nil, 2)
	Symm(blas.Left, blas.Lower, 0, 2, 1, nil, 1, nil, 2, 0, []float64(nil), 2)
	Trsm(blas.Left, blas.Lower, blas.NoTrans, blas.Unit, 0, 2, 1, nil, 1, []float64(nil), 2)
	if k := Cholesky(blas.Lower, 0, []float64(nil), 1); k != 0 {
		t.Errorf("no matrix: breakdown at %d", k)
	}
}
