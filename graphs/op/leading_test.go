package op_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// withSpectrum is a symmetric matrix with these eigenvalues.
func withSpectrum(rng *rand.Rand, values []float64) *mat.Dense {
	n := len(values)
	var qr mat.QR
	qr.Factorize(graphtest.Normal(rng, n, n))
	var q, a mat.Dense
	qr.QTo(&q)
	a.Product(&q, mat.NewDiagDense(n, values), q.T())
	for i := range n {
		for j := range i {
			a.Set(i, j, a.At(j, i))
		}
	}
	return &a
}

// spectrum is n values of a function of their number.
func spectrum(n int, f func(i int) float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = f(i)
	}
	return values
}

// residual is ‖Av − θv‖ of row i of a LeadingEigen.
func residual(a, e *mat.Dense, i int) float64 {
	n, _ := a.Dims()
	v := mat.NewVecDense(n, mat.Row(nil, i, e)[2:])
	var r mat.VecDense
	r.MulVec(a, v)
	r.AddScaledVec(&r, -e.At(i, 0), v)
	return mat.Norm(&r, 2)
}

// The pairs are those of the full decomposition, within bounds that are neither below the
// residuals nor much above; eigenvalues may decay, be equal, or be zero.
func TestLeadingEigen(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		for _, c := range []struct {
			name     string
			k, steps int
			reached  float64 // bound by the largest eigenvalue; 1 where the steps are too few
			values   []float64
		}{
			{"2×2", 1, 3, 1e-14, []float64{3, 1}},
			{"all of 7", 7, 1, 1e-13, spectrum(7, func(i int) float64 { return float64(7 - i) })},
			{"all of 40", 40, 5, 1e-13, spectrum(40, func(i int) float64 { return float64(40 - i) })},
			{"one short of all", 39, 5, 1e-13, spectrum(40, func(i int) float64 { return float64(40 - i) })},
			{"decay", 5, 8, 1e-12, spectrum(120, func(i int) float64 { return math.Pow(.8, float64(i)) })},
			{"steep", 4, 6, 1e-12, spectrum(90, func(i int) float64 { return math.Pow(.1, float64(i)) })},
			{"few steps", 5, 3, 1, spectrum(120, func(i int) float64 { return math.Pow(.9, float64(i)) })},
			{"flat", 6, 4, 1, spectrum(100, func(i int) float64 { return 2 - float64(i)/100 })},
			{"equal pairs", 6, 8, 1e-10, spectrum(100, func(i int) float64 { return math.Pow(.6, float64(i/2)) })},
			{"cluster across k", 4, 8, 1e-10, spectrum(100, func(i int) float64 {
				if i < 8 {
					return 1
				}
				return .2 * math.Pow(.9, float64(i))
			})},
			{"rank as k", 4, 6, 1e-12, append([]float64{4, 3, 2, 1}, make([]float64, 76)...)},
			{"rank 5 of 80, many steps", 3, 10, 1e-12, append([]float64{5, 4, 3, 2, 1}, make([]float64, 75)...)},
			{"identity", 5, 4, 1e-13, spectrum(60, func(int) float64 { return 1 })},
			{"zero", 3, 4, 0, make([]float64, 30)},
			{"tiny", 3, 8, 1e-10, spectrum(60, func(i int) float64 { return 1e-100 * math.Pow(.5, float64(i)) })},
			{"huge", 3, 8, 1e-10, spectrum(60, func(i int) float64 { return 1e100 * math.Pow(.5, float64(i)) })},
		} {
			t.Run(c.name, func(t *testing.T) {
				a := withSpectrum(graphtest.Rand(7), c.values)
				e := do(t, op.LeadingEigen(c.k, c.steps), a)
				rounding := 1e-13 * c.values[0]
				for i := range c.k {
					theta, bound, r := e.At(i, 0), e.At(i, 1), residual(a, e, i)
					if d := math.Abs(theta - c.values[i]); d > bound+rounding {
						t.Errorf("eigenvalue %d is %g, want %g: beyond the bound %g", i, theta, c.values[i], bound)
					}
					if bound < r-rounding || bound > 1.001*r+rounding {
						t.Errorf("eigenvalue %d: the bound is %g, the residual %g", i, bound, r)
					}
					if bound > c.reached*c.values[0] {
						t.Errorf("eigenvalue %d: the bound is %g of the largest", i, bound/c.values[0])
					}
					if i > 0 && theta > e.At(i-1, 0) {
						t.Errorf("eigenvalue %d, %g, is above the one before", i, theta)
					}
				}
			})
		}
	})
}

// Where fewer directions than vectors are left, the bounds of some are large.
func TestLeadingEigenOfExhaustedSpace(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		a := withSpectrum(graphtest.Rand(8), append([]float64{4, 3}, make([]float64, 98)...))
		e := do(t, op.LeadingEigen(6, 10), a)
		for i := range 6 {
			want := max(0, 4-float64(i))
			if i > 1 {
				want = 0
			}
			if d := math.Abs(e.At(i, 0) - want); d > e.At(i, 1)+1e-12 {
				t.Errorf("eigenvalue %d is %g, want %g: beyond the bound %g", i, e.At(i, 0), want, e.At(i, 1))
			}
			if length := mat.Norm(e.Slice(i, i+1, 2, 102), 2); e.At(i, 1) < 1e-9 && math.Abs(length-1) > 1e-8 {
				t.Errorf("vector %d has the length %g and the bound %g", i, length, e.At(i, 1))
			}
		}
	})
}

// In float32 the bound is rounding of float32.
func TestLeadingEigenInSinglePrecision(t *testing.T) {
	a := withSpectrum(graphtest.Rand(9), spectrum(80, func(i int) float64 { return math.Pow(.5, float64(i)) }))
	v, err := op.LeadingEigen(4, 6).Do(engine.NewMatrix(tensor.Float32, a))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Dense(v)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if d := math.Abs(e.At(i, 0) - math.Pow(.5, float64(i))); d > 1e-5 || e.At(i, 1) > 1e-4 {
			t.Errorf("eigenvalue %d is off by %g, its bound is %g", i, d, e.At(i, 1))
		}
	}
}

// A matrix of one element is its own eigenvalue.
func TestLeadingEigenOfOneElement(t *testing.T) {
	v, err := op.LeadingEigen(1, 3).Do(engine.NewMatrix(tensor.Float64, mat.NewDense(1, 1, []float64{3})))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Dense(v)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(e.At(0, 0)-3) > 1e-14 || math.Abs(math.Abs(e.At(0, 2))-1) > 1e-14 {
		t.Errorf("the pair is %v", mat.Row(nil, 0, e))
	}
}

func TestLeadingEigenFails(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e200} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			a := withSpectrum(graphtest.Rand(10), spectrum(30, func(i int) float64 { return 1 / float64(i+1) }))
			a.Set(3, 3, bad)
			_, err := op.LeadingEigen(2, 3).Do(matrices(a)...)
			var noConvergence *op.NoConvergenceError
			if !errors.As(err, &noConvergence) || noConvergence.Order != 30 {
				t.Errorf("the error is %v", err)
			}
		})
	}
	for _, o := range []op.Op{op.LeadingEigen(0, 3), op.LeadingEigen(4, 3), op.LeadingEigen(2, 0)} {
		if _, err := o.Do(matrices(mat.NewDense(3, 3, nil))...); err == nil {
			t.Errorf("%v of 3×3: no error", o)
		}
	}
}
