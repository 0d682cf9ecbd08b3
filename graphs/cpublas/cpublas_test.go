package cpublas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	gonumblas "gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/lapack"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"
)

// installed returns a library, or skips the test.
func installed(t testing.TB) *library {
	t.Helper()
	var missing []string
	for _, setting := range []string{"openblas", "mkl"} {
		p, info := choose(setting)
		if p.lib != nil {
			return p.lib
		}
		missing = append(missing, info.Err)
	}
	t.Skipf("no OpenBLAS or MKL: %s", strings.Join(missing, "; "))
	return nil
}

func TestInfoString(t *testing.T) {
	for _, c := range []struct {
		info Info
		want string
	}{
		{Info{Name: "gonum"}, "gonum (pure Go)"},
		{Info{Name: "privkern", CoreType: "avx512"}, "privkern (avx512)"},
		{Info{Name: "privkern", CoreType: "portable", NoFMA: true}, "privkern (portable) without FMA"},
		{Info{Name: "gonum", NoFMA: true}, "gonum (pure Go) without FMA"},
		{Info{Name: "OpenBLAS", Version: "0.3.21", CoreType: "SKYLAKEX", Path: "libopenblas.so.0"},
			"OpenBLAS 0.3.21 (SKYLAKEX, libopenblas.so.0)"},
		{Info{Name: "MKL", Version: "2024.2", Path: "libmkl_rt.so.2"}, "MKL 2024.2 (libmkl_rt.so.2)"},
		{Info{Name: "BLAS", Path: "/opt/libblas.so"}, "BLAS (/opt/libblas.so)"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := c.info.String(); got != c.want {
				t.Errorf("%+v: got %q, want %q", c.info, got, c.want)
			}
		})
	}
}

func TestMKLVersion(t *testing.T) {
	s := "Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel(R) 64 architecture " +
		"applications"
	if got := mklVersion(s); got != "2024.2" {
		t.Errorf("got %q", got)
	}
}

func TestSettingGonumLoadsNothing(t *testing.T) {
	p, info := choose("gonum")
	if p != (provider{}) || info.Err != "" || info.Name != "gonum" {
		t.Errorf("got %v, %+v", p, info)
	}
}

// A named library that cannot be loaded is an error.
func TestNamedLibraryThatCannotBeUsed(t *testing.T) {
	notALibrary := filepath.Join(t.TempDir(), "libopenblas.so.0")
	if err := os.WriteFile(notALibrary, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"/nowhere/libopenblas.so.0", notALibrary, "libm.so.6"} {
		p, info := choose(setting)
		if p != (provider{}) {
			t.Errorf("%s: it was loaded", setting)
		}
		if !strings.Contains(info.Err, EnvVar+"="+setting) || !strings.Contains(info.Err, "set "+EnvVar+" to") {
			t.Errorf("%s: the error %q does not name the setting and the remedy", setting, info.Err)
		}
	}
}

func TestForceIsUndone(t *testing.T) {
	Setup()
	before := active
	_, restore := Force("gonum")
	if active != (provider{}) {
		t.Error("gonum is not in use")
	}
	restore()
	if active != before {
		t.Error("the BLAS of Setup is not in use again")
	}
}

func TestLibraryIsOpenBLASOnTheRightCores(t *testing.T) {
	lib := installed(t)
	t.Log(lib.info)
	if lib.info.Name == "OpenBLAS" && avx512() && os.Getenv("OPENBLAS_CORETYPE") == "" && lib.info.CoreType != "SKYLAKEX" {
		t.Errorf("core type %s on a processor with AVX-512", lib.info.CoreType)
	}
	if v, set := os.LookupEnv("MKL_INTERFACE_LAYER"); set {
		t.Errorf("loading left MKL_INTERFACE_LAYER=%s in the environment", v)
	}
}

// Sizes on both sides of the thresholds, and strides larger than the rows.
var sizes = []int{1, 7, 12, 33, 65}

func TestLevel3AgainstGonum(t *testing.T) {
	lib := installed(t)
	t.Run("float64", func(t *testing.T) { testLevel3[float64](t, lib, 1e-13) })
	t.Run("float32", func(t *testing.T) { testLevel3[float32](t, lib, 1e-4) })
}

// level3 holds the routines of one implementation in one precision.
type level3[T Float] struct {
	gemm func(ta, tb blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	syrk func(uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int)
	trsm func(side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n int, alpha T, a []T, lda int, b []T,
		ldb int)
}

func level3Of[T Float](lib *library) (ours, gonums level3[T]) {
	o, g := libraryBLAS{lib: lib}, gonumblas.Implementation{}
	var zero T
	if _, ok := any(zero).(float64); ok {
		return any(level3[float64]{o.Dgemm, o.Dsyrk, o.Dtrsm}).(level3[T]),
			any(level3[float64]{g.Dgemm, g.Dsyrk, g.Dtrsm}).(level3[T])
	}
	return any(level3[float32]{o.Sgemm, o.Ssyrk, o.Strsm}).(level3[T]),
		any(level3[float32]{g.Sgemm, g.Ssyrk, g.Strsm}).(level3[T])
}

func testLevel3[T Float](t *testing.T, lib *library, tol float64) {
	ours, gonums := level3Of[T](lib)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, m := range sizes {
		for _, n := range sizes {
			for _, k := range sizes {
				size := max(m, n, k)
				ld := size + 3
				a, b, c := random[T](rng, size*ld), random[T](rng, size*ld), random[T](rng, size*ld)
				for _, ta := range []blas.Transpose{blas.NoTrans, blas.Trans} {
					for _, tb := range []blas.Transpose{blas.NoTrans, blas.Trans} {
						got, want := clone(c), clone(c)
						ours.gemm(ta, tb, m, n, k, 0.5, a, ld, b, ld, -2, got, ld)
						gonums.gemm(ta, tb, m, n, k, 0.5, a, ld, b, ld, -2, want, ld)
						compare(t, fmt.Sprintf("gemm %c%c %d %d %d", ta, tb, m, n, k), got, want, tol*float64(k))
					}
					for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
						got, want := clone(c), clone(c)
						ours.syrk(uplo, ta, n, k, 0.5, a, ld, -2, got, ld)
						gonums.syrk(uplo, ta, n, k, 0.5, a, ld, -2, want, ld)
						compare(t, fmt.Sprintf("syrk %c%c %d %d", uplo, ta, n, k), got, want, tol*float64(k))
					}
				}
			}
			testTrsm(t, ours, gonums, rng, m, n, tol)
		}
	}
}

func testTrsm[T Float](t *testing.T, ours, gonums level3[T], rng *rand.Rand, m, n int, tol float64) {
	size := max(m, n)
	ld := size + 3
	a, b := random[T](rng, size*ld), random[T](rng, size*ld)
	for i := range a {
		a[i] /= T(size)
	}
	for i := range size {
		a[i*ld+i] = 2
	}
	for _, side := range []blas.Side{blas.Left, blas.Right} {
		for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
			for _, tr := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				for _, diag := range []blas.Diag{blas.NonUnit, blas.Unit} {
					got, want := clone(b), clone(b)
					ours.trsm(side, uplo, tr, diag, m, n, 0.5, a, ld, got, ld)
					gonums.trsm(side, uplo, tr, diag, m, n, 0.5, a, ld, want, ld)
					compare(t, fmt.Sprintf("trsm %c%c%c%c %d %d", side, uplo, tr, diag, m, n), got, want, tol*float64(size))
				}
			}
		}
	}
}

// beta = 0 overwrites any value, including NaN.
func TestBetaZeroForgetsNaN(t *testing.T) {
	ours, _ := level3Of[float64](installed(t))
	const n = 40
	a, c := random[float64](rand.New(rand.NewPCG(2, 2)), n*n), make([]float64, n*n)
	for i := range c {
		c[i] = math.NaN()
	}
	ours.syrk(blas.Upper, blas.NoTrans, n, n, 1, a, n, 0, c, n)
	if math.IsNaN(c[n-1]) {
		t.Error("syrk kept a NaN")
	}
	for i := range c {
		c[i] = math.NaN()
	}
	ours.gemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, a, n, 0, c, n)
	if math.IsNaN(c[n-1]) {
		t.Error("gemm kept a NaN")
	}
}

// Wrong arguments panic as they do in gonum and never reach the library.
func TestArgumentChecksAreGonums(t *testing.T) {
	ours, gonums := level3Of[float64](installed(t))
	const n = 64
	full, short := make([]float64, n*n), make([]float64, n*n-1)
	for name, call := range map[string]func(level3[float64]){
		"gemm, short a":      func(l level3[float64]) { l.gemm('N', 'N', n, n, n, 1, short, n, full, n, 0, full, n) },
		"gemm, short c":      func(l level3[float64]) { l.gemm('N', 'N', n, n, n, 1, full, n, full, n, 0, short, n) },
		"gemm, stride":       func(l level3[float64]) { l.gemm('N', 'N', n, n, n, 1, full, n-1, full, n, 0, full, n) },
		"gemm, transpose":    func(l level3[float64]) { l.gemm('X', 'N', n, n, n, 1, full, n, full, n, 0, full, n) },
		"gemm, negative":     func(l level3[float64]) { l.gemm('N', 'N', -n, n, n, 1, full, n, full, n, 0, full, n) },
		"syrk, triangle":     func(l level3[float64]) { l.syrk('X', 'N', n, n, 1, full, n, 0, full, n) },
		"syrk, short c":      func(l level3[float64]) { l.syrk('U', 'N', n, n, 1, full, n, 0, short, n) },
		"trsm, side":         func(l level3[float64]) { l.trsm('X', 'U', 'N', 'N', n, n, 1, full, n, full, n) },
		"trsm, short b":      func(l level3[float64]) { l.trsm('L', 'U', 'N', 'N', n, n, 1, full, n, short, n) },
		"trsm, unit or not?": func(l level3[float64]) { l.trsm('L', 'U', 'N', 'X', n, n, 1, full, n, full, n) },
	} {
		t.Run(name, func(t *testing.T) {
			got, want := panicOf(func() { call(ours) }), panicOf(func() { call(gonums) })
			if want == nil || got != want {
				t.Errorf("%s: panic %v, gonum's is %v", name, got, want)
			}
		})
	}
}

func TestPotrfAgainstGonum(t *testing.T) {
	l := libraryLAPACK{lib: installed(t)}
	rng := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{1, 20, 40, 130} {
		for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
			a := definite(rng, n)
			got, want := clone(a), clone(a)
			if !l.Dpotrf(uplo, n, got, n) || !(gonumlapack.Implementation{}).Dpotrf(uplo, n, want, n) {
				t.Fatalf("n=%d: no factor", n)
			}
			compare(t, fmt.Sprintf("potrf %c %d", uplo, n), got, want, 1e-12)
			a[(n/2)*n+n/2] = -1
			if l.Dpotrf(uplo, n, a, n) {
				t.Errorf("n=%d: an indefinite matrix has a factor", n)
			}
		}
	}
}

func TestSyevAgainstGonum(t *testing.T) {
	t.Run("spectral", func(t *testing.T) { testSyev(t, spectralLAPACK{}) })
	t.Run("library", func(t *testing.T) { testSyev(t, libraryLAPACK{lib: installed(t)}) })
}

func testSyev(t *testing.T, l lapack.Float64) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, 5, 9, 60} {
		for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
			a := definite(rng, n)
			v, w := clone(a), make([]float64, n)
			for i := range n {
				for j := range i {
					if uplo == blas.Upper {
						v[i*n+j] = math.NaN() // the other triangle is not read
					} else {
						v[j*n+i] = math.NaN()
					}
				}
			}
			if !l.Dsyev(lapack.EVCompute, uplo, n, v, n, w, make([]float64, 64*n), 64*n) {
				t.Fatalf("n=%d: no convergence", n)
			}
			other, want := clone(a), make([]float64, n)
			gonumlapack.Implementation{}.Dsyev(lapack.EVNone, uplo, n, other, n, want, make([]float64, 64*n), 64*n)
			compare(t, fmt.Sprintf("eigenvalues %d", n), w, want, 1e-11*float64(n))
			copy(other, a)
			alone := make([]float64, n)
			if !l.Dsyev(lapack.EVNone, uplo, n, other, n, alone, make([]float64, 64*n), 64*n) {
				t.Fatalf("n=%d: no convergence without vectors", n)
			}
			compare(t, fmt.Sprintf("eigenvalues alone %d", n), alone, want, 1e-11*float64(n))
			// A v = w v for every column v.
			for j := range n {
				for i := range n {
					s := -w[j] * v[i*n+j]
					for k := range n {
						s += a[i*n+k] * v[k*n+j]
					}
					if math.Abs(s) > 1e-11*float64(n) {
						t.Fatalf("n=%d: column %d is no eigenvector: residual %g", n, j, s)
					}
				}
			}
		}
	}
}

// Cholesky factors agree between implementations, which report the same row for indefinite matrices.
func TestCholesky(t *testing.T) {
	for _, setting := range []string{"privkern", "gonum", "openblas"} {
		t.Run(setting, func(t *testing.T) {
			_, restore := Force(setting)
			defer restore()
			t.Run("float64", func(t *testing.T) { testCholesky[float64](t, 1e-13) })
			t.Run("float32", func(t *testing.T) { testCholesky[float32](t, 1e-5) })
		})
	}
}

func testCholesky[T Float](t *testing.T, tol float64) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{1, 3, 24, 64, 65, 150} {
		a := make([]T, n*n)
		for i, v := range definite(rng, n) {
			a[i] = T(v)
		}
		l := clone(a)
		if k := Cholesky(n, l, n); k != 0 {
			t.Fatalf("n=%d: breakdown at %d", n, k)
		}
		for i := range n {
			for j := range i + 1 {
				s := 0.0
				for k := range j + 1 {
					s += float64(l[i*n+k]) * float64(l[j*n+k])
				}
				if math.Abs(s-float64(a[i*n+j])) > tol*float64(n) {
					t.Fatalf("n=%d: (L Lᵀ)[%d,%d] = %g, want %g", n, i, j, s, a[i*n+j])
				}
			}
		}
		bad := n / 2
		a[bad*n+bad] = -1
		if k := Cholesky(n, a, n); k != bad+1 {
			t.Errorf("n=%d: breakdown at %d, want %d", n, k, bad+1)
		}
	}
}

func random[T Float](rng *rand.Rand, n int) []T {
	a := make([]T, n)
	for i := range a {
		a[i] = T(rng.NormFloat64())
	}
	return a
}

// definite returns a positive definite n×n matrix with eigenvalues from 1.
func definite(rng *rand.Rand, n int) []float64 {
	b, a := random[float64](rng, n*n), make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range n {
				a[i*n+j] += b[i*n+k] * b[j*n+k] / float64(n)
			}
		}
		a[i*n+i]++
	}
	return a
}

func clone[T Float](a []T) []T { return append([]T(nil), a...) }

func compare[T Float](t *testing.T, what string, got, want []T, tol float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(float64(got[i]-want[i])) <= tol*(1+math.Abs(float64(want[i])))) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func BenchmarkGemm(b *testing.B) {
	for _, setting := range []string{"gonum", "privkern", "openblas"} {
		b.Run(setting, func(b *testing.B) {
			info, restore := Force(setting)
			defer restore()
			b.Log(info)
			const n = 1024
			rng := rand.New(rand.NewPCG(6, 6))
			x, y, z := random[float64](rng, n*n), random[float64](rng, n*n), make([]float64, n*n)
			for b.Loop() {
				Gemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, y, n, 0, z, n)
			}
		})
	}
}

func BenchmarkCholesky(b *testing.B) {
	for _, setting := range []string{"gonum", "privkern", "openblas"} {
		b.Run(setting, func(b *testing.B) {
			_, restore := Force(setting)
			defer restore()
			const n = 1024
			a := definite(rand.New(rand.NewPCG(7, 7)), n)
			l := make([]float64, len(a))
			for b.Loop() {
				copy(l, a)
				Cholesky(n, l, n)
			}
		})
	}
}
