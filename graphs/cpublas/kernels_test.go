package cpublas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	gonumblas "gonum.org/v1/gonum/blas/gonum"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"

	"privkern/graphs/simd"
)

// products holds the routines of package matrix of one implementation in one precision.
type products[T Float] struct {
	level3[T]
	syr2k func(uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T,
		ldc int)
	symm func(side blas.Side, uplo blas.Uplo, m, n int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T,
		ldc int)
	trmm func(side blas.Side, uplo blas.Uplo, t blas.Transpose, diag blas.Diag, m, n int, alpha T, a []T, lda int,
		b []T, ldb int)
}

func productsOf64() (ours, gonums products[float64]) {
	o, g := kernelBLAS{}, gonumblas.Implementation{}
	return products[float64]{level3[float64]{o.Dgemm, o.Dsyrk, o.Dtrsm}, o.Dsyr2k, o.Dsymm, o.Dtrmm},
		products[float64]{level3[float64]{g.Dgemm, g.Dsyrk, g.Dtrsm}, g.Dsyr2k, g.Dsymm, g.Dtrmm}
}

func productsOf32() (ours, gonums products[float32]) {
	o, g := kernelBLAS{}, gonumblas.Implementation{}
	return products[float32]{level3[float32]{o.Sgemm, o.Ssyrk, o.Strsm}, o.Ssyr2k, o.Ssymm, o.Strmm},
		products[float32]{level3[float32]{g.Sgemm, g.Ssyrk, g.Strsm}, g.Ssyr2k, g.Ssymm, g.Strmm}
}

// Every routine is registered under its name in both precisions: results agree with gonum's up to
// rounding.
func TestKernelsAgainstGonum(t *testing.T) {
	t.Run("float64", func(t *testing.T) {
		ours, gonums := productsOf64()
		testKernels(t, ours, gonums, 1e-15)
	})
	t.Run("float32", func(t *testing.T) {
		ours, gonums := productsOf32()
		testKernels(t, ours, gonums, 1e-7)
	})
}

func testKernels[T Float](t *testing.T, ours, gonums products[T], tol float64) {
	rng := rand.New(rand.NewPCG(8, 8))
	const ld = 43
	for _, s := range [][2]int{{1, 1}, {5, 40}, {40, 7}, {33, 33}} {
		m, n := s[0], s[1]
		a, b, c := random[T](rng, ld*ld), random[T](rng, ld*ld), random[T](rng, ld*ld)
		for i := range ld {
			a[i*ld+i] += 30
		}
		for name, call := range map[string]func(p products[T], to []T){
			"gemm":  func(p products[T], to []T) { p.gemm('N', 'T', m, n, 9, 0.5, a, ld, b, ld, 2, to, ld) },
			"syrk":  func(p products[T], to []T) { p.syrk('U', 'T', n, m, 0.5, b, ld, 2, to, ld) },
			"syr2k": func(p products[T], to []T) { p.syr2k('L', 'N', n, m, 0.5, a, ld, b, ld, 2, to, ld) },
			"symm":  func(p products[T], to []T) { p.symm('R', 'U', m, n, 0.5, a, ld, b, ld, 2, to, ld) },
			"trsm":  func(p products[T], to []T) { p.trsm('L', 'U', 'N', 'N', m, n, 0.5, a, ld, to, ld) },
			"trmm":  func(p products[T], to []T) { p.trmm('R', 'L', 'T', 'U', m, n, 0.5, a, ld, to, ld) },
		} {
			got, want := clone(c), clone(c)
			call(ours, got)
			call(gonums, want)
			compare(t, fmt.Sprint(name, s), got, want, 100*tol)
			if slices.Equal(got, c) {
				t.Errorf("%s %v: nothing is computed", name, s)
			}
		}
	}
}

// Wrong arguments panic with gonum's messages, and empty problems behave as in gonum.
func TestArgumentsOfKernels(t *testing.T) {
	ours, gonums := productsOf64()
	const n = 8
	short := make([]float64, n*n-1)
	x := func() []float64 { return make([]float64, n*n) }
	for name, call := range map[string]func(products[float64]){
		"gemm, short a":     func(l products[float64]) { l.gemm('N', 'N', n, n, n, 1, short, n, x(), n, 0, x(), n) },
		"gemm, short b":     func(l products[float64]) { l.gemm('T', 'N', n, n, n, 1, x(), n, short, n, 0, x(), n) },
		"gemm, short c":     func(l products[float64]) { l.gemm('N', 'N', n, n, n, 1, x(), n, x(), n, 0, short, n) },
		"gemm, stride":      func(l products[float64]) { l.gemm('N', 'N', n, n, n, 1, x(), n-1, x(), n, 0, x(), n) },
		"gemm, transpose":   func(l products[float64]) { l.gemm('N', 'X', n, n, n, 1, x(), n, x(), n, 0, x(), n) },
		"gemm, negative":    func(l products[float64]) { l.gemm('N', 'N', n, -n, n, 1, x(), n, x(), n, 0, x(), n) },
		"syrk, triangle":    func(l products[float64]) { l.syrk('X', 'N', n, n, 1, x(), n, 0, x(), n) },
		"syrk, short a":     func(l products[float64]) { l.syrk('U', 'T', n, n, 1, short, n, 0, x(), n) },
		"syr2k, transpose":  func(l products[float64]) { l.syr2k('U', 'X', n, n, 1, x(), n, x(), n, 0, x(), n) },
		"syr2k, short b":    func(l products[float64]) { l.syr2k('U', 'N', n, n, 1, x(), n, short, n, 0, x(), n) },
		"symm, side":        func(l products[float64]) { l.symm('X', 'U', n, n, 1, x(), n, x(), n, 0, x(), n) },
		"symm, triangle":    func(l products[float64]) { l.symm('L', 'X', n, n, 1, x(), n, x(), n, 0, x(), n) },
		"symm, short a":     func(l products[float64]) { l.symm('R', 'U', 2, n, 1, short, n, x(), n, 0, x(), n) },
		"symm, short b":     func(l products[float64]) { l.symm('R', 'U', n, n, 1, x(), n, short, n, 0, x(), n) },
		"symm, short c":     func(l products[float64]) { l.symm('R', 'U', n, n, 1, x(), n, x(), n, 0, short, n) },
		"trsm, side":        func(l products[float64]) { l.trsm('X', 'U', 'N', 'N', n, n, 1, x(), n, x(), n) },
		"trsm, triangle":    func(l products[float64]) { l.trsm('L', 'X', 'N', 'N', n, n, 1, x(), n, x(), n) },
		"trsm, diagonal":    func(l products[float64]) { l.trsm('L', 'U', 'N', 'X', n, n, 1, x(), n, x(), n) },
		"trmm, transpose":   func(l products[float64]) { l.trmm('L', 'U', 'X', 'N', n, n, 1, x(), n, x(), n) },
		"trmm, short a":     func(l products[float64]) { l.trmm('L', 'U', 'N', 'N', n, 2, 1, short, n, x(), n) },
		"trmm, short b":     func(l products[float64]) { l.trmm('L', 'U', 'N', 'N', n, n, 1, x(), n, short, n) },
		"trmm, stride of b": func(l products[float64]) { l.trmm('L', 'U', 'N', 'N', 2, n, 1, x(), n, x(), n-1) },
	} {
		t.Run(name, func(t *testing.T) {
			got, want := panicOf(func() { call(ours) }), panicOf(func() { call(gonums) })
			if want == nil || got != want {
				t.Errorf("panic %v, gonum's is %v", got, want)
			}
		})
	}
	c := []float64{math.NaN(), 2}
	ours.gemm('N', 'N', 1, 2, 0, 1, nil, 1, nil, 2, 0, c, 2)
	ours.symm('L', 'U', 0, 2, 1, nil, 1, nil, 2, 0, nil, 2)
	if !slices.Equal(c, []float64{0, 0}) {
		t.Errorf("a product without terms leaves %v", c)
	}
	l := kernelLAPACK{}
	wrong := func(l interface {
		Dpotrf(uplo blas.Uplo, n int, a []float64, lda int) bool
	}) any {
		return panicOf(func() { l.Dpotrf('U', n, short, n) })
	}
	if got, want := wrong(l), wrong(gonumlapack.Implementation{}); want == nil || got != want {
		t.Errorf("potrf: panic %v, gonum's is %v", got, want)
	}
	if !l.Dpotrf('U', 0, nil, 1) {
		t.Error("an empty matrix has no factor")
	}
}

func TestPotrfOfKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{1, 40, 90} {
		for _, uplo := range []blas.Uplo{blas.Upper, blas.Lower} {
			a := definite(rng, n)
			got, want := clone(a), clone(a)
			if !(kernelLAPACK{}).Dpotrf(uplo, n, got, n) || !(gonumlapack.Implementation{}).Dpotrf(uplo, n, want, n) {
				t.Fatalf("n=%d: no factor", n)
			}
			compare(t, fmt.Sprintf("potrf %c %d", uplo, n), got, want, 1e-12)
			a[0] = math.Inf(1)
			if (kernelLAPACK{}).Dpotrf(uplo, n, a, n) {
				t.Errorf("n=%d: an infinite matrix has a factor", n)
			}
		}
	}
}

// The names of providers: kernels that are always available, and libraries that must be installed.
func TestNamesOfProviders(t *testing.T) {
	p, info := choose("privkern")
	if !p.kernels || p.lib != nil || info.Err != "" || info.String() != "privkern ("+simd.Active().String()+")" {
		t.Errorf("privkern: %+v, %+v", p, info)
	}
	for setting, want := range map[string]struct {
		name  string
		files *[]string
	}{"openblas": {"OpenBLAS", &openBLASNames}, "mkl": {"MKL", &mklNames}} {
		p, info := choose(setting)
		if p.lib != nil && info.Name != want.name || p.lib == nil && !strings.Contains(info.Err, EnvVar+"="+setting) {
			t.Errorf("%s: %+v", setting, info)
		}
		before := *want.files
		*want.files = []string{"libnowhere.so.7"}
		p, info = choose(setting)
		*want.files = before
		if p != (provider{}) || !strings.Contains(info.Err, "none of libnowhere.so.7 is installed") {
			t.Errorf("%s that is not there: %+v, %+v", setting, p, info)
		}
	}
}

// A level that the processor lacks is an error of the kernels' choice.
func TestKernelsNeedTheirLevel(t *testing.T) {
	if os.Getenv(simd.EnvVar) != "sse9" {
		for _, setting := range []string{"privkern", "gonum"} { // exponentials have the level with any BLAS
			c := exec.Command(os.Args[0], "-test.run=^TestKernelsNeedTheirLevel$", "-test.v")
			c.Env = append(os.Environ(), simd.EnvVar+"=sse9", EnvVar+"="+setting)
			if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
				t.Errorf("%s: %v\n%s", setting, err, out)
			}
		}
		return
	}
	if info := Setup(); !strings.Contains(info.Err, simd.EnvVar+"=sse9") {
		t.Errorf("%+v", info)
	}
}
