package cpublas

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	gonumblas "gonum.org/v1/gonum/blas/gonum"
)

// vectors are the routines of one implementation in one precision that package vector has.
type vectors[T Float] struct {
	dot        func(n int, x []T, incX int, y []T, incY int) T
	nrm2, asum func(n int, x []T, incX int) T
	axpy       func(n int, alpha T, x []T, incX int, y []T, incY int)
	scal       func(n int, alpha T, x []T, incX int)
	gemv       func(t blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int)
	ger        func(m, n int, alpha T, x []T, incX int, y []T, incY int, a []T, lda int)
	symv       func(uplo blas.Uplo, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int)
	trmv, trsv func(uplo blas.Uplo, t blas.Transpose, d blas.Diag, n int, a []T, lda int, x []T, incX int)
}

func vectorsOf64(b blas.Float64) vectors[float64] {
	return vectors[float64]{b.Ddot, b.Dnrm2, b.Dasum, b.Daxpy, b.Dscal, b.Dgemv, b.Dger, b.Dsymv, b.Dtrmv, b.Dtrsv}
}

func vectorsOf32(b blas.Float32) vectors[float32] {
	return vectors[float32]{b.Sdot, b.Snrm2, b.Sasum, b.Saxpy, b.Sscal, b.Sgemv, b.Sger, b.Ssymv, b.Strmv, b.Strsv}
}

// Every routine of levels 1 and 2 is gonum's but for rounding, in both precisions.
func TestVectorsAgainstGonum(t *testing.T) {
	t.Run("float64", func(t *testing.T) {
		testVectors(t, vectorsOf64(Kernels{}), vectorsOf64(gonumblas.Implementation{}), 1e-13)
	})
	t.Run("float32", func(t *testing.T) {
		testVectors(t, vectorsOf32(Kernels{}), vectorsOf32(gonumblas.Implementation{}), 1e-4)
	})
}

// vectorCalls are calls that write to a slice, by name.
func vectorCalls[T Float](m, n, incX, incY, ld int, a, x []T) map[string]func(v vectors[T], to []T) {
	calls := map[string]func(v vectors[T], to []T){
		"dot":  func(v vectors[T], to []T) { to[0] = v.dot(n, x, incX, to, incY) },
		"nrm2": func(v vectors[T], to []T) { to[0] = v.nrm2(n, x, max(incX, -incX)) },
		"asum": func(v vectors[T], to []T) { to[0] = v.asum(n, x, max(incX, -incX)) },
		"axpy": func(v vectors[T], to []T) { v.axpy(n, 3, x, incX, to, incY) },
		"scal": func(v vectors[T], to []T) { v.scal(n, 3, to, max(incY, -incY)) },
		// gonum is wrong on amd64 for negative steps.
		"ger": func(v vectors[T], to []T) { v.ger(m, n, 3, x, max(incX, -incX), a, max(incY, -incY), to, ld) },
	}
	for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
		calls[fmt.Sprintf("symv %c", uplo)] = func(v vectors[T], to []T) { v.symv(uplo, n, 3, a, ld, x, incX, 2, to, incY) }
		for _, tr := range []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans} {
			calls[fmt.Sprintf("gemv %c", tr)] = func(v vectors[T], to []T) {
				v.gemv(tr, m, n, 3, a, ld, x, incX, 2, to, incY)
			}
			for _, d := range []blas.Diag{blas.Unit, blas.NonUnit} {
				name := fmt.Sprintf("v %c %c %c", uplo, tr, d)
				calls["trm"+name] = func(v vectors[T], to []T) { v.trmv(uplo, tr, d, n, a, ld, to, incY) }
				calls["trs"+name] = func(v vectors[T], to []T) { v.trsv(uplo, tr, d, n, a, ld, to, incY) }
			}
		}
	}
	return calls
}

func testVectors[T Float](t *testing.T, ours, gonums vectors[T], tol float64) {
	rng := rand.New(rand.NewPCG(10, 10))
	const ld = 23
	for _, s := range [][4]int{{1, 1, 1, 1}, {5, 20, 1, 1}, {20, 7, 2, -3}, {11, 11, -1, 2}} {
		a, x, y := random[T](rng, ld*ld), random[T](rng, 3*ld), random[T](rng, ld*ld)
		for i := range a {
			a[i] /= ld // the inverse of a unit triangle stays small
		}
		for i := range ld {
			a[i*ld+i] += 2
		}
		for name, call := range vectorCalls(s[0], s[1], s[2], s[3], ld, a, x) {
			got, want := clone(y), clone(y)
			call(ours, got)
			call(gonums, want)
			compare(t, fmt.Sprint(name, s), got, want, tol)
			if slices.Equal(got, y) && (s[1] > 1 || name[:2] != "tr") {
				t.Errorf("%s %v: nothing is computed", name, s)
			}
		}
	}
}

// Wrong arguments panic with gonum's words, and what gonum does nothing for stays as it is.
func TestArgumentsOfVectors(t *testing.T) {
	ours, gonums := vectorsOf64(Kernels{}), vectorsOf64(gonumblas.Implementation{})
	const n = 4
	x, a := make([]float64, n), make([]float64, n*n)
	for name, call := range map[string]func(vectors[float64]){
		"dot, short":       func(v vectors[float64]) { v.dot(n, x, 2, x, 1) },
		"dot, no step":     func(v vectors[float64]) { v.dot(n, x, 1, x, 0) },
		"dot, negative":    func(v vectors[float64]) { v.dot(-1, x, 1, x, 1) },
		"nrm2, short":      func(v vectors[float64]) { v.nrm2(n+1, x, 1) },
		"asum, short":      func(v vectors[float64]) { v.asum(n+1, x, 1) },
		"axpy, short":      func(v vectors[float64]) { v.axpy(n, 1, x, 1, x, -2) },
		"scal, no step":    func(v vectors[float64]) { v.scal(n, 2, x, 0) },
		"gemv, transpose":  func(v vectors[float64]) { v.gemv('X', n, n, 1, a, n, x, 1, 0, x, 1) },
		"gemv, short a":    func(v vectors[float64]) { v.gemv('N', n+1, n, 1, a, n, x, 1, 0, a, 1) },
		"gemv, short x":    func(v vectors[float64]) { v.gemv('T', n, 2, 1, a, n, x[:3], 1, 0, a, 1) },
		"ger, short y":     func(v vectors[float64]) { v.ger(n, n, 1, x, 1, x[:3], 1, a, n) },
		"ger, stride":      func(v vectors[float64]) { v.ger(n, n, 1, x, 1, x, 1, a, n-1) },
		"symv, triangle":   func(v vectors[float64]) { v.symv('X', n, 1, a, n, x, 1, 0, x, 1) },
		"trmv, diagonal":   func(v vectors[float64]) { v.trmv('U', 'N', 'X', n, a, n, x, 1) },
		"trsv, short":      func(v vectors[float64]) { v.trsv('U', 'N', 'N', n, a, n, x[:3], 1) },
		"trsv, transposed": func(v vectors[float64]) { v.trsv('U', 'X', 'N', n, a, n, x, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			got, want := panicOf(func() { call(ours) }), panicOf(func() { call(gonums) })
			if want == nil || got != want {
				t.Errorf("panic %v, gonum's is %v", got, want)
			}
		})
	}
	y := []float64{1, 2}
	ours.scal(2, 3, y, -1)
	if ours.nrm2(2, y, -1) != 0 || ours.asum(0, nil, 1) != 0 || !slices.Equal(y, []float64{1, 2}) {
		t.Errorf("a negative step scales or has a norm: %v", y)
	}
}
