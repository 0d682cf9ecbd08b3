package experiments

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/cpublas"
	"privkern/graphs/dense"
	"privkern/graphs/parallel"
	"privkern/runner/experiment"
)

// library measures single calls for products and factors, by the BLAS that
// PRIVKERN_BLAS chooses, with one worker and without a program.
type library struct {
	m    experiment.Meter
	pool *parallel.Pool
}

func newLibrary(m experiment.Meter) *library {
	cpublas.Setup()
	return &library{m: m, pool: parallel.NewPool(1)}
}

// as are the elements of a matrix in an element type.
func as[T cpublas.Float](a *mat.Dense) []T {
	out := make([]T, len(a.RawMatrix().Data))
	for i, v := range a.RawMatrix().Data {
		out[i] = T(v)
	}
	return out
}

// dtypeOf names an element type.
func dtypeOf[T cpublas.Float]() string {
	var v T
	return fmt.Sprintf("%T", v)
}

// beside measures a call and its peer; result returns the elements of the result.
func beside[T cpublas.Float](l *library, row string, p experiment.Peer, result func() []T, f func() error) error {
	p.DType = dtypeOf[T]()
	p.Tolerance = tolerances[p.DType]
	p.Result = func() (float64, error) {
		var double []float64
		for _, v := range result() {
			double = append(double, float64(v))
		}
		return floats.Norm(double, 2), nil
	}
	_, err := l.m.Beside(row+" "+p.DType, p, f)
	return err
}

// products measures products of square matrices in both element types.
func products(orders ...int) func(context.Context, experiment.Meter) error {
	return func(_ context.Context, m experiment.Meter) error {
		l := newLibrary(m)
		for _, n := range orders {
			a, b := wave(n, n, 1e-3), wave(n, n, 7e-4)
			if err := product(l, n, as[float64](a), as[float64](b)); err != nil {
				return err
			}
			if err := product(l, n, as[float32](a), as[float32](b)); err != nil {
				return err
			}
		}
		return nil
	}
}

func product[T cpublas.Float](l *library, n int, a, b []T) error {
	c := make([]T, n*n)
	p := experiment.Peer{Work: "product", Sizes: []int{n}, AtMost: 1.15}
	return beside(l, fmt.Sprintf("product %d³", n), p, func() []T { return c }, func() error {
		return dense.Gemm(l.pool, blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, b, n, 0, c, n)
	})
}

// choleskyFactors measures factors in both element types.
func choleskyFactors(orders ...int) func(context.Context, experiment.Meter) error {
	return func(_ context.Context, m experiment.Meter) error {
		l := newLibrary(m)
		for _, n := range orders {
			a := mat.NewDense(n, n, nil)
			for i := range n {
				for j := range n {
					a.Set(i, j, math.Sin(float64(i+1)*float64(j+1)*.7))
				}
				a.Set(i, i, a.At(i, i)+float64(n))
			}
			if err := choleskyFactor(l, n, as[float64](a)); err != nil {
				return err
			}
			if err := choleskyFactor(l, n, as[float32](a)); err != nil {
				return err
			}
		}
		return nil
	}
}

func choleskyFactor[T cpublas.Float](l *library, n int, a []T) error {
	factor := make([]T, n*n)
	p := experiment.Peer{Work: "cholesky", Sizes: []int{n}, AtMost: 1}
	lower := func() []T { // the upper triangle is unused, and no part of the factor
		for i := range n {
			clear(factor[i*n+i+1 : (i+1)*n])
		}
		return factor
	}
	return beside(l, fmt.Sprintf("Cholesky %d", n), p, lower, func() error {
		copy(factor, a)
		k, err := dense.Cholesky(l.pool, n, factor, n)
		if err == nil && k != 0 {
			err = fmt.Errorf("the leading block of order %d is not positive definite", k)
		}
		return err
	})
}
