//go:build unix

package matrix_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"

	"privkern/graphs/cpublas"
	"privkern/graphs/simd"
	"privkern/graphs/simd/matrix"
)

// Each iteration of a benchmark below computes once with the kernels of the best level and once
// with the peer, on one thread. The metrics are the CPU time of a call, and "times-peer", ours
// divided by the peer's.

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano())
}

// versus reports the CPU times of two functions, called in turn.
func versus(b *testing.B, repeat int, ours, peer func()) {
	ours()
	peer()
	var us, them time.Duration
	for b.Loop() {
		t := cpuTime()
		for range repeat {
			ours()
		}
		us += cpuTime() - t
		t = cpuTime()
		for range repeat {
			peer()
		}
		them += cpuTime() - t
	}
	calls := float64(b.N * repeat)
	b.ReportMetric(float64(us)/calls, "cpu-ns/ours")
	b.ReportMetric(float64(them)/calls, "cpu-ns/peer")
	b.ReportMetric(float64(us)/float64(them), "times-peer")
}

// library registers OpenBLAS, or skips the benchmark.
func library(b *testing.B) {
	info, restore := cpublas.Force("openblas")
	b.Cleanup(restore)
	if info.Path == "" {
		b.Skip("OpenBLAS is not installed")
	}
}

func BenchmarkGemmBesideLibrary(b *testing.B) {
	b.Run("float64", benchmarkGemm[float64])
	b.Run("float32", benchmarkGemm[float32])
}

func benchmarkGemm[T matrix.Float](b *testing.B) {
	library(b)
	for _, n := range []int{64, 128, 256, 384, 512, 1000, 2048} {
		for _, l := range simd.Levels()[1:] {
			b.Run(fmt.Sprintf("%d/%v", n, l), func(b *testing.B) {
				defer simd.Use(l)()
				x, y, z := normal[T](n*n), normal[T](n*n), make([]T, n*n)
				versus(b, 1+512*512*512/n/n/n,
					func() { matrix.Gemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, y, n, 0, z, n) },
					func() { cpublas.Gemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, y, n, 0, z, n) })
			})
		}
	}
}

func BenchmarkCholeskyBesideLibrary(b *testing.B) {
	b.Run("float64", benchmarkCholesky[float64])
	b.Run("float32", benchmarkCholesky[float32])
}

func benchmarkCholesky[T matrix.Float](b *testing.B) {
	library(b)
	for _, n := range []int{32, 100, 300, 1000, 2000, 4000} {
		for _, l := range simd.Levels()[1:] {
			b.Run(fmt.Sprintf("%d/%v", n, l), func(b *testing.B) {
				defer simd.Use(l)()
				a, c := make([]T, n*n), make([]T, n*n)
				for i := range n {
					for j := range n {
						a[i*n+j] = 1 / T(1+(i-j)*(i-j))
					}
				}
				versus(b, 1+500*500*500/n/n/n,
					func() {
						copy(c, a)
						if matrix.Cholesky(blas.Lower, n, c, n) != 0 {
							b.Fatal("no factor")
						}
					},
					func() {
						copy(c, a)
						if cpublas.Cholesky(n, c, n) != 0 {
							b.Fatal("no factor")
						}
					})
			})
		}
	}
}

func BenchmarkSmallGemmBesideGonum(b *testing.B) {
	_, restore := cpublas.Force("gonum")
	b.Cleanup(restore)
	b.Run("float64", benchmarkSmall[float64])
	b.Run("float32", benchmarkSmall[float32])
}

func benchmarkSmall[T matrix.Float](b *testing.B) {
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16} {
		for _, t := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			for _, l := range simd.Levels()[1:] {
				b.Run(fmt.Sprintf("%d%c/%v", n, t, l), func(b *testing.B) {
					defer simd.Use(l)()
					x, y, z := normal[T](n*n), normal[T](n*n), make([]T, n*n)
					versus(b, 20000,
						func() { matrix.Gemm(blas.NoTrans, t, n, n, n, 1, x, n, y, n, 0, z, n) },
						func() { cpublas.Gemm(blas.NoTrans, t, n, n, n, 1, x, n, y, n, 0, z, n) })
				})
			}
		}
	}
}

func normal[T matrix.Float](n int) []T {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	a := make([]T, n)
	for i := range a {
		a[i] = T(rng.NormFloat64())
	}
	return a
}
