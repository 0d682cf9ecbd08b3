package op_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

func do(t *testing.T, o op.Op, in ...*mat.Dense) *mat.Dense {
	t.Helper()
	v, err := o.Do(matrices(in...)...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := engine.Dense(v)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// hull returns 300 queries of 5 columns, and 20 samples of which 2 enter the
// kernel, with memberships that all are positive.
func hull(rng *rand.Rand) []*mat.Dense {
	b := graphtest.Normal(rng, 20, 6)
	for i := range 20 {
		b.Set(i, 5, 1+math.Abs(b.At(i, 5)))
	}
	return []*mat.Dense{graphtest.Normal(rng, 300, 5), graphtest.Normal(rng, 20, 2),
		mat.NewDense(1, 2, []float64{.5, 2}), b}
}

// The fused operation is the formula in its documentation.
func TestAffineHullIsItsFormula(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		in := hull(graphtest.Rand(3))
		z, x, w, b := in[0], in[1], in[2], in[3]
		got := do(t, op.AffineHull(), in...)
		for i := range 300 {
			sum, want := 0.0, make([]float64, 5)
			for j := range 20 {
				s := 0.0
				for a := range 2 {
					d := w.At(0, a)*z.At(i, a) - x.At(j, a)
					s += d * d
				}
				k := math.Exp(-s / 2)
				sum += k * b.At(j, 5)
				for c := range want {
					want[c] += k * b.At(j, c)
				}
			}
			for c := range want {
				if d := math.Abs(got.At(i, c) - want[c]/sum); d > 1e-12*(1+math.Abs(want[c]/sum)) {
					t.Fatalf("query %d, column %d: %g, want %g", i, c, got.At(i, c), want[c]/sum)
				}
			}
		}
	})
}

// Far away all kernel values underflow; their ratios do not.
func TestAffineHullFarAway(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{0, 0, 1, 0})
	b := mat.NewDense(2, 3, []float64{0, 0, 1, 1, 0, 1})
	got := do(t, op.AffineHull(), mat.NewDense(1, 2, []float64{1e4, 0}), x, mat.NewDense(1, 2, []float64{1, 1}), b)
	if v := got.At(0, 0); v != 1 {
		t.Errorf("the image is %g, want that of the nearer sample", v)
	}
}

// A query whose sum of memberships is zero, negative or rounding has no image, and is infinitely
// far.
func TestAffineHullWithoutImage(t *testing.T) {
	x, w := mat.NewDense(2, 2, []float64{-1, 0, 1, 0}), mat.NewDense(1, 2, []float64{1, 1})
	for _, b := range []float64{-1, -1 + 1e-14, -2} {
		z := mat.NewDense(2, 2, nil)
		got := do(t, op.AffineHull(), z, x, w, mat.NewDense(2, 3, []float64{1, 0, 1, 1, 0, b}))
		if !math.IsNaN(got.At(0, 0)) {
			t.Errorf("memberships 1 and %g have the image %g", b, got.At(0, 0))
		}
		if d := do(t, op.RowDistance(0), z, got); !math.IsInf(d.At(0, 0), 1) {
			t.Errorf("its distance is %g", d.At(0, 0))
		}
	}
}

// Both ways to the norm of a regularised solution agree, and with the solution.
func TestRidgeNorms(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		const n, p = 260, 300
		rng := graphtest.Rand(4)
		k, y, lambda := graphtest.Definite(rng, n), graphtest.Normal(rng, n, p), mat.NewDense(1, 1, []float64{2})
		mean := mat.NewDense(1, p, nil)
		targets := mat.NewDense(n, p+1, nil)
		for j := range p {
			mean.Set(0, j, mat.Sum(y.ColView(j))/n)
		}
		for i := range n {
			for j := range p {
				targets.Set(i, j, y.At(i, j)-mean.At(0, j))
			}
			targets.Set(i, p, 1)
		}
		b := do(t, op.RidgeSolve(), k, lambda, targets)
		shifted := mat.DenseCopyOf(k)
		for i := range n {
			shifted.Set(i, i, k.At(i, i)+2)
		}
		var back mat.Dense
		back.Mul(shifted, b)
		back.Sub(&back, targets)
		if e := mat.Norm(&back, 2); e > 1e-9 {
			t.Errorf("(K+λI)B differs from T by %g", e)
		}
		norm := func(o op.Op, in ...*mat.Dense) float64 {
			v, err := o.Do(matrices(in...)...)
			if err != nil {
				t.Fatal(err)
			}
			f, err := engine.Scalar(v)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		gram := do(t, op.Scatter(1, true), y)
		x, y2 := norm(op.RidgeNorm(), b, mean), norm(op.RidgeGramNorm(), k, lambda, gram)
		if math.Abs(x/y2-1) > 1e-10 {
			t.Errorf("the norms are %.15g and %.15g", x, y2)
		}
	})
}

// The largest eigenvalues come first, each with its eigenvector.
func TestLargestEigen(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		a := graphtest.Definite(graphtest.Rand(5), 30)
		e := do(t, op.LargestEigen(4), a)
		last := math.Inf(1)
		for r := range 4 {
			value, v := e.At(r, 0), mat.NewVecDense(30, mat.Row(nil, r, e)[1:])
			var av mat.VecDense
			av.MulVec(a, v)
			av.AddScaledVec(&av, -value, v)
			if n := mat.Norm(&av, 2); n > 1e-10*value {
				t.Errorf("eigenvalue %d, %g: the residual is %g", r, value, n)
			}
			if value > last {
				t.Errorf("eigenvalue %d, %g, is above the one before, %g", r, value, last)
			}
			last = value
		}
	})
}
