package dense

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cpublas"
	"privkern/graphs/parallel"
	"privkern/tests/tier"
)

// everywhere runs a test with the kernels of package matrix, with gonum and with OpenBLAS where it
// is installed, in both types.
func everywhere(t *testing.T, f64 func(t *testing.T), f32 func(t *testing.T)) {
	for _, setting := range []string{"privkern", "gonum", "openblas"} {
		info, restore := cpublas.Force(setting)
		if setting == "openblas" && info.Path == "" {
			t.Run(setting, func(t *testing.T) { t.Skip("OpenBLAS is not installed") })
			restore()
			continue
		}
		for name, f := range map[string]func(*testing.T){" float64": f64, " float32": f32} {
			t.Run(info.Name+name, func(t *testing.T) {
				if setting != "privkern" {
					tier.Sequential(t) // the pool is the same
				}
				f(t)
			})
		}
		restore()
	}
}

// random returns n numbers in (−1, 1).
func random[T cpublas.Float](n int) []T {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	a := make([]T, n)
	for i := range a {
		a[i] = T(2*r.Float64() - 1)
	}
	return a
}

// definite returns a matrix whose diagonal dominates, n×n with rows ld elements apart.
func definite[T cpublas.Float](n, ld int) []T {
	a := random[T](n * ld)
	for i := range n {
		for j := range i {
			a[j*ld+i] = a[i*ld+j]
		}
		a[i*ld+i] = T(n)
	}
	return a
}

// near compares with a tolerance relative to a size of the elements.
func near[T cpublas.Float](t *testing.T, what string, got, want []T, size float64) {
	t.Helper()
	tolerance := 1e-13 * size
	if _, single := any(want).([]float32); single {
		tolerance = 1e-5 * size
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i]-v)) <= tolerance) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], v)
		}
	}
}

// same compares the bits of f with several numbers of workers, and then its results with those
// of whole, one call. f overwrites a copy of to.
func same[T cpublas.Float](t *testing.T, what string, to []T, size float64, whole func(to []T),
	f func(pool *parallel.Pool, to []T) error) {
	t.Helper()
	var first []T
	for _, workers := range []int{1, 2, 3, 8} {
		got := slices.Clone(to)
		if err := f(parallel.NewPool(workers), got); err != nil {
			t.Fatal(what, err)
		}
		if first == nil {
			first = got
		} else if !slices.Equal(got, first) {
			t.Errorf("%s: %d workers compute other bits than one", what, workers)
		}
	}
	want := slices.Clone(to)
	whole(want)
	near(t, what, first, want, size)
}

func TestProducts(t *testing.T) { everywhere(t, testProducts[float64], testProducts[float32]) }

func testProducts[T cpublas.Float](t *testing.T) {
	for _, s := range [][3]int{{1, 1, 1}, {0, 5, 3}, {5, 0, 3}, {5, 3, 0}, {385, 1600, 9}, {801, 17, 30}} {
		m, n, k := s[0], s[1], s[2]
		for _, ta := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tb := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				const gap = 3
				lda, ldb, ldc := k+gap, n+gap, n+gap
				a, b := random[T](m*lda), random[T](k*ldb)
				if ta != blas.NoTrans {
					lda = m + gap
					a = random[T](k * lda)
				}
				if tb != blas.NoTrans {
					ldb = k + gap
					b = random[T](n * ldb)
				}
				same(t, fmt.Sprint("gemm ", s, ta, tb), random[T](m*ldc), float64(k+1),
					func(c []T) { cpublas.Gemm(ta, tb, m, n, k, 2, a, lda, b, ldb, 3, c, ldc) },
					func(pool *parallel.Pool, c []T) error {
						return gemm(pool, ta, tb, m, n, k, 2, a, lda, b, ldb, 3, c, ldc)
					})
			}
		}
	}
}

// The kernels of package matrix compute an element of a product alike in any call: the parts
// have the bits of the whole.
func TestPartsHaveTheBitsOfTheWhole(t *testing.T) {
	_, restore := cpublas.Force("privkern")
	defer restore()
	t.Run("float64", testParts[float64])
	t.Run("float32", testParts[float32])
}

func testParts[T cpublas.Float](t *testing.T) {
	const m, n, k = 801, 1601, 270
	pool := parallel.NewPool(3)
	a, b := random[T](m*k), random[T](k*n)
	one, parts := random[T](m*n), random[T](m*n)
	cpublas.Gemm(blas.NoTrans, blas.NoTrans, m, n, k, 2, a, k, b, n, 3, one, n)
	if err := gemm(pool, blas.NoTrans, blas.NoTrans, m, n, k, 2, a, k, b, n, 3, parts, n); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(one, parts) {
		t.Error("parts of a product have other bits than the whole")
	}
	cpublas.Syrk(blas.Lower, blas.NoTrans, m, k, 1, a, k, 0, one, n)
	if err := syrk(pool, blas.Lower, blas.NoTrans, m, k, 1, a, k, 0, parts, n); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(one, parts) {
		t.Error("parts of a symmetric product have other bits than the whole")
	}
}

func TestSymmetricProducts(t *testing.T) { everywhere(t, testSyrk[float64], testSyrk[float32]) }

func testSyrk[T cpublas.Float](t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {0, 4}, {3, 0}, {50, 7}, {401, 12}, {1700, 3}} {
		n, k := s[0], s[1]
		for _, uplo := range []blas.Uplo{blas.Lower, blas.Upper} {
			for _, trans := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				lda := k + 2
				a := random[T](n * lda)
				if trans != blas.NoTrans {
					lda = n + 2
					a = random[T](k * lda)
				}
				same(t, fmt.Sprint("syrk ", s, uplo, trans), random[T](n*(n+1)), float64(k+1),
					func(c []T) { cpublas.Syrk(uplo, trans, n, k, -1, a, lda, 1, c, n+1) },
					func(pool *parallel.Pool, c []T) error { return syrk(pool, uplo, trans, n, k, -1, a, lda, 1, c, n+1) })
			}
		}
	}
}

func TestTriangularSolves(t *testing.T) { everywhere(t, testTrsm[float64], testTrsm[float32]) }

func testTrsm[T cpublas.Float](t *testing.T) {
	const order = 530
	a := definite[T](order, order)
	for _, other := range []int{1, 40, 515} {
		for _, uplo := range []blas.Uplo{blas.Lower, blas.Upper} {
			for _, trans := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				name := fmt.Sprint(other, uplo, trans)
				b := random[T](order * other)
				same(t, "rows "+name, b, 1,
					func(x []T) { cpublas.Trsm(blas.Right, uplo, trans, other, order, 1, a, order, x, order) },
					func(pool *parallel.Pool, x []T) error {
						return trsmRows(pool, uplo, trans, other, order, a, order, x, order)
					})
				whole := func(x []T) { cpublas.Trsm(blas.Left, uplo, trans, order, other, 1, a, order, x, other) }
				same(t, "blocks "+name, b, 1, whole, func(pool *parallel.Pool, x []T) error {
					return trsmBlocks(pool, uplo, trans, order, other, a, order, x, other)
				})
				same(t, "columns "+name, b, 1, whole, func(pool *parallel.Pool, x []T) error {
					return trsmColumns(pool, uplo, trans, order, other, a, order, x, other)
				})
			}
		}
	}
}

func TestCholesky(t *testing.T) { everywhere(t, testCholesky[float64], testCholesky[float32]) }

func testCholesky[T cpublas.Float](t *testing.T) {
	for _, n := range []int{0, 1, 256, 257, 700} {
		a := definite[T](n, n+1)
		same(t, fmt.Sprint("cholesky ", n), a, float64(n+1),
			func(l []T) { cpublas.Cholesky(n, l, n+1) },
			func(pool *parallel.Pool, l []T) error {
				k, err := cholesky(pool, n, l, n+1)
				if k != 0 {
					t.Errorf("the leading block of order %d is not positive definite", k)
				}
				return err
			})
	}
	const n = 700
	for _, row := range []int{0, 200, 351, 480, n - 1} {
		for _, v := range []float64{-1, math.NaN()} {
			a := definite[T](n, n)
			a[row*n+row] = T(v)
			one := slices.Clone(a)
			want := cpublas.Cholesky(n, one, n)
			for _, workers := range []int{1, 3} {
				l := slices.Clone(a)
				k, err := cholesky(parallel.NewPool(workers), n, l, n)
				if err != nil || k != want && !math.IsNaN(v) {
					t.Errorf("%v in row %d: order %d, want %d; %v", v, row, k, want, err)
				}
				// A library may pass a NaN, which is then the first on the diagonal.
				if first := bad(n, l); k == 0 && first != row {
					t.Errorf("NaN in row %d is in row %d of the factor", row, first)
				}
			}
		}
	}
}

// bad is the first row whose pivot is not positive.
func bad[T cpublas.Float](n int, l []T) int {
	for i := range n {
		if v := float64(l[i*n+i]); v <= 0 || math.IsNaN(v) {
			return i
		}
	}
	return -1
}

// Small problems are one call, and large ones are not.
func TestSizes(t *testing.T) {
	cpublas.Setup()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ended := parallel.NewPool(2).Within(ctx)
	one := make([]float64, 1)
	if err := Gemm(ended, blas.NoTrans, blas.NoTrans, 1, 1, 1, 1, one, 1, one, 1, 0, one, 1); err != nil {
		t.Errorf("a small product: %v", err)
	}
	a := make([]float64, 1024*1024)
	if err := Gemm(ended, blas.NoTrans, blas.NoTrans, 1024, 1024, 1024, 1, a, 1024, a, 1024, 0, a,
		1024); !errors.Is(err, context.Canceled) {
		t.Errorf("a large product: %v", err)
	}
	err := Syrk(ended, blas.Lower, blas.NoTrans, 1024, 1024, 1, a, 1024, 0, a, 1024)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a large symmetric product: %v", err)
	}
	for _, side := range []blas.Side{blas.Left, blas.Right} {
		err := Trsm(ended, side, blas.Lower, blas.NoTrans, 1024, 1024, a, 1024, a, 1024)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a large solve: %v", err)
		}
	}
	l := definite[float64](LargeFactor, LargeFactor)
	if _, err = Cholesky(ended, LargeFactor, l, LargeFactor); !errors.Is(err, context.Canceled) {
		t.Errorf("a large factor: %v", err)
	}
}

// A panic in a part is an error: operands that are too short.
func TestPanic(t *testing.T) {
	cpublas.Setup()
	var p *parallel.PanicError
	err := gemm(parallel.NewPool(3), blas.NoTrans, blas.NoTrans, 800, 10, 10, 1, make([]float64, 790*10), 10,
		make([]float64, 100), 10, 0, make([]float64, 800*10), 10)
	if !errors.As(err, &p) {
		t.Errorf("got %v", err)
	}
}

// Parts of problems that are computed at the same time keep the bound of their pool.
func TestPartsKeepTheBound(t *testing.T) {
	cpublas.Setup()
	const workers, n = 3, 2 * solvePart
	pool := parallel.NewPool(workers)
	var now, most atomic.Int32
	err := pool.For(context.Background(), 4, 1, func(int, int) error {
		return Columns(pool, n, LargeProduct, func(int, int) {
			for c := now.Add(1); ; {
				if m := most.Load(); c <= m || most.CompareAndSwap(m, c) {
					break
				}
			}
			a := make([]float64, 64*64)
			cpublas.Gemm(blas.NoTrans, blas.NoTrans, 64, 64, 64, 1, a, 64, a, 64, 0, make([]float64, 64*64), 64)
			now.Add(-1)
		})
	})
	if err != nil || most.Load() > workers {
		t.Errorf("%d parts at the same time, want at most %d; %v", most.Load(), workers, err)
	}
}

// Columns are divided where the problem is large, and stay together where it is not.
func TestColumns(t *testing.T) {
	const n = 3*solvePart + 5
	for _, c := range []struct{ multiplications, want int }{{LargeProduct - 1, 1}, {LargeProduct, 4}} {
		var calls, columns atomic.Int32
		err := Columns(parallel.NewPool(2), n, c.multiplications, func(_, k int) {
			calls.Add(1)
			columns.Add(int32(k))
		})
		if err != nil || int(calls.Load()) != c.want || columns.Load() != n {
			t.Errorf("%d calls for %d columns, want %d; %v", calls.Load(), columns.Load(), c.want, err)
		}
	}
}

// BenchmarkCholesky compares one call with one, two and four workers.
func BenchmarkCholesky(b *testing.B) {
	cpublas.Setup()
	const n = 5451
	a, l := definite[float64](n, n), make([]float64, n*n)
	for _, workers := range []int{0, 1, 2, 4} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			for b.Loop() {
				copy(l, a)
				if workers == 0 {
					cpublas.Cholesky(n, l, n)
				} else if _, err := Cholesky(parallel.NewPool(workers), n, l, n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The parts cover a problem once, their sizes follow from it, and their number is even.
func TestParts(t *testing.T) {
	for n := 1; n < 5000; n += 7 {
		size := part(n, rowPart)
		spans := split(0, n, size)
		at := 0
		for _, s := range spans {
			if s.at != at || s.n < 1 || s.n > rowPart {
				t.Fatalf("%d elements: a part %v after %d", n, s, at)
			}
			at += s.n
		}
		if at != n || size%align != 0 {
			t.Fatalf("%d elements: %d covered by parts of %d", n, at, size)
		}
	}
}
