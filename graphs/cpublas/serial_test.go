package cpublas

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"privkern/tests/tier"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// Products of gonum have the same bits on one goroutine.
func TestProductsOfGonumStayOnOneGoroutine(t *testing.T) {
	tier.Sequential(t)
	serialProducts(t, serial{}.Dgemm, gonum.Implementation{}.Dgemm)
	serialProducts(t, serial{}.Sgemm, gonum.Implementation{}.Sgemm)
}

func serialProducts[T Float](t *testing.T, ours, gonums func(ta, tb blas.Transpose, m, n, k int, alpha T, a []T,
	lda int, b []T, ldb int, beta T, c []T, ldc int)) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, s := range [][3]int{{64, 192, 70}, {65, 200, 130}, {300, 10, 64}, {5, 600, 1}, {128, 128, 0}} {
		m, n, k := s[0], s[1], s[2]
		for _, ta := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, tb := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				for _, beta := range []T{0, 1, 0.3} {
					const ld = 700
					a, b, c := random[T](rng, ld*ld), random[T](rng, ld*ld), random[T](rng, ld*ld)
					want := clone(c)
					ours(ta, tb, m, n, k, 0.7, a, ld, b, ld, beta, c, ld)
					gonums(ta, tb, m, n, k, 0.7, a, ld, b, ld, beta, want, ld)
					if !slices.Equal(c, want) {
						t.Errorf("%v %v %v, beta %v: other bits than gonum's", s, ta, tb, beta)
					}
				}
			}
		}
	}
	a := make([]T, 256*256)
	before := runtime.NumGoroutine()
	most, stop, done := before, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				most = max(most, runtime.NumGoroutine())
			}
		}
	}()
	for range 10 {
		ours(blas.NoTrans, blas.NoTrans, 256, 256, 256, 1, a, 256, a, 256, 0, make([]T, 256*256), 256)
	}
	close(stop)
	<-done
	if most > before+1 { // the goroutine that counts
		t.Errorf("%d goroutines, want %d", most, before+1)
	}
}

// After Setup without a library, gonum's products stay on the calling goroutine.
func TestSetupRegistersSerialProducts(t *testing.T) {
	if os.Getenv(EnvVar) != "gonum" {
		c := exec.Command(os.Args[0], "-test.run=^TestSetupRegistersSerialProducts$", "-test.v")
		c.Env = append(os.Environ(), EnvVar+"=gonum")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if info := Setup(); info.Path != "" {
		t.Fatalf("%v is loaded", info)
	}
	if _, ok := blas64.Implementation().(serial); !ok {
		t.Errorf("products in float64 are those of %T", blas64.Implementation())
	}
	if _, ok := blas32.Implementation().(serial); !ok {
		t.Errorf("products in float32 are those of %T", blas32.Implementation())
	}
}
