package experiments

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/parallel"
	"privkern/runner/experiment"
)

// EngineBenchmarks measures programs that all papers share and other libraries, on the
// CPU with one worker, and large operations with one worker and with all.
func EngineBenchmarks() []experiment.Benchmark {
	return append(peerBenchmarks(), experiment.Benchmark{Name: "graphs/dense", Long: true, Run: largeOperations,
		Doc: "Cholesky factor of order 5,451 and product of 4,096×4,096 matrices, with one worker " +
			"and with one for each processor."})
}

// formulaMatrix returns a dense matrix of numbers in (-1, 1) without a structure that a
// library could exploit.
func formulaMatrix(rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, math.Sin(float64(i*cols+j+1)*12.9898))
		}
	}
	return m
}

// largeOperations compares wall times. The gain is the time of one worker divided by that of all.
func largeOperations(_ context.Context, m experiment.Meter) error {
	cpublas.Setup()
	const order, side = 5451, 4096
	const oneCall = 0 // the number of workers of a single call of the library
	all := runtime.GOMAXPROCS(0)
	symmetric, factor := make([]float64, order*order), make([]float64, order*order)
	for i := range order {
		symmetric[i*order+i] = order
		for j := range i {
			symmetric[i*order+j] = math.Sin(float64(i*order + j))
		}
	}
	a, c := formulaMatrix(side, side).RawMatrix().Data, make([]float64, side*side)
	for _, b := range []struct {
		name   string
		before func()
		call   func() // one call of the library
		run    func(pool *parallel.Pool) error
	}{
		{"Cholesky factor", func() { copy(factor, symmetric) }, func() {
			cpublas.Cholesky(order, factor, order)
		}, func(pool *parallel.Pool) error {
			k, err := dense.Cholesky(pool, order, factor, order)
			if k != 0 {
				return fmt.Errorf("the leading block of order %d is not positive definite", k)
			}
			return err
		}},
		{"product", func() {}, func() {
			cpublas.Gemm(blas.NoTrans, blas.NoTrans, side, side, side, 1, a, side, a, side, 0, c, side)
		}, func(pool *parallel.Pool) error {
			return dense.Gemm(pool, blas.NoTrans, blas.NoTrans, side, side, side, 1, a, side, a, side, 0, c, side)
		}},
	} {
		best := map[int]float64{}
		for range 3 {
			for _, workers := range []int{oneCall, 1, all} {
				b.before()
				began := time.Now()
				if workers == oneCall {
					b.call()
				} else if err := b.run(parallel.NewPool(workers)); err != nil {
					return err
				}
				took := time.Since(began).Seconds()
				if best[workers] == 0 || took < best[workers] {
					best[workers] = took
				}
			}
		}
		m.Value(b.name+", one call (wall)", best[oneCall], "s", experiment.Target{})
		m.Value(b.name+", one worker (wall)", best[1], "s", experiment.Target{})
		m.Value(fmt.Sprintf("%s, %d workers (wall)", b.name, all), best[all], "s", experiment.Target{})
		m.Value(fmt.Sprintf("%s, gain of %d workers", b.name, all), best[1]/best[all], "times",
			experiment.Target{AtLeast: gainTarget(all)})
	}
	return nil
}

// gainTarget returns 1.8 for two workers and more, and 0, no bound, for one.
func gainTarget(workers int) float64 {
	if workers < 2 {
		return 0
	}
	return 1.8
}
