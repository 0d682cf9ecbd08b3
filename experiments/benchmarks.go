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
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/linalg"
	"privkern/graphs/parallel"
	"privkern/runner/experiment"
)

// EngineBenchmarks measure the graphs that all papers share, on the CPU with
// one worker, and large operations with all as well.
func EngineBenchmarks() []experiment.Benchmark {
	return append(peerBenchmarks(), []experiment.Benchmark{
		{Name: "graphs/linalg", Doc: "Solve with a 1,024×1,024 matrix and 64 right sides; PSD part of a 256×256 matrix.",
			Run: solves},
		{Name: "graphs/dense", Long: true,
			Doc: "Cholesky factor of order 5,451 and product of 4,096×4,096 matrices, with one worker " +
				"and with one for each processor.",
			Run: largeOperations},
	}...)
}

// formulaMatrix is a full matrix of numbers in (-1, 1) without a pattern that
// a library could exploit.
func formulaMatrix(rows, cols int) *mat.Dense {
	m := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			m.Set(i, j, math.Sin(float64(i*cols+j+1)*12.9898))
		}
	}
	return m
}

func solves(_ context.Context, m experiment.Meter) error {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	const n, right, small = 1024, 64, 256
	k, err := kernel.EQ(4, 1).Matrix(e, formulaMatrix(n, 8), formulaMatrix(n, 8))
	if err != nil {
		return err
	}
	for i := range n {
		k.Set(i, i, k.At(i, i)+1)
	}
	b := formulaMatrix(n, right)
	if _, err := m.Time("solve", func() error {
		_, _, err := linalg.SolveSPD(e, k, b)
		return err
	}); err != nil {
		return err
	}
	var indefinite mat.Dense
	a := formulaMatrix(small, small)
	indefinite.Add(a, a.T())
	_, err = m.Time("PSD part", func() error {
		_, _, err := linalg.PSDPart(e, &indefinite)
		return err
	})
	return err
}

// largeOperations compares wall times: the gain is the time of one worker by that of all.
func largeOperations(_ context.Context, m experiment.Meter) error {
	cpublas.Setup()
	const order, side = 5451, 4096
	const oneCall = 0 // in place of a number of workers
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

// gainTarget is 1.8 for two workers, and none for one.
func gainTarget(workers int) float64 {
	if workers < 2 {
		return 0
	}
	return 1.8
}
