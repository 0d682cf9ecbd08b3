package linalg

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/graphs/internal/graphtest"
)

// hilbert is the n×n Hilbert matrix 1/(i+j+1): |H₄| = 1/6048000, and its
// inverse has integer elements.
func hilbert(n int) *mat.Dense {
	h := mat.NewDense(n, n, nil)
	h.Apply(func(i, j int, _ float64) float64 { return 1 / float64(i+j+1) }, h)
	return h
}

func TestSolveHilbert(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		e := graphtest.Engine(t, "float64", 1)
		x, logdet, err := SolveSPD(e, hilbert(4), mat.NewDense(4, 1, []float64{1, 0, 0, 0}))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{16, -120, 240, -140} {
			// The condition number is 1.6e4.
			if math.Abs(x.At(i, 0)-want) > 1e-10 {
				t.Errorf("x[%d] = %.14g, want %g", i, x.At(i, 0), want)
			}
		}
		if want := -math.Log(6048000); math.Abs(logdet-want) > 1e-11 {
			t.Errorf("log-determinant %.14g, want %.14g", logdet, want)
		}
		if w := e.Warnings(); len(w) != 0 {
			t.Errorf("warnings %q", w)
		}
	})
}

func TestSolveSPD(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		rng := graphtest.Rand(1)
		for _, dtype := range []string{"float64", "float32"} {
			tol := map[string]float64{"float64": 1e-11, "float32": 1e-2}[dtype]
			e := graphtest.Engine(t, dtype, 1)
			for _, n := range []int{1, 2, 30, 130} {
				for _, m := range []int{1, 5} {
					a, want := graphtest.Definite(rng, n), graphtest.Normal(rng, n, m)
					var b mat.Dense
					b.Mul(a, want)
					x, logdet, err := SolveSPD(e, a, &b)
					if err != nil {
						t.Fatal(err)
					}
					if !mat.EqualApprox(x, want, tol) {
						t.Errorf("%s, %d×%d, %d right sides: wrong solution", dtype, n, n, m)
					}
					wantLog, _ := mat.LogDet(a)
					if math.Abs(logdet-wantLog) > tol*math.Max(1, math.Abs(wantLog)) {
						t.Errorf("%s, %d×%d: log-determinant %g, want %g", dtype, n, n, logdet, wantLog)
					}
				}
			}
		}
	})
}

// A system too ill-conditioned for float32 is solved in float64, with a warning.
func TestSinglePrecisionIsPromoted(t *testing.T) {
	e := graphtest.Engine(t, "float32", 1)
	// The condition number is 1.5e7.
	x, _, err := SolveSPD(e, hilbert(6), mat.NewDense(6, 1, []float64{1, 0, 0, 0, 0, 0}))
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(x.At(0, 0)-36) > 1e-6 {
		t.Errorf("x[0] = %g, want 36", x.At(0, 0))
	}
	if w := e.Warnings(); len(w) != 1 || !strings.Contains(w[0], "too ill-conditioned for float32, computed in float64") {
		t.Errorf("warnings %q", w)
	}
}

func TestIllConditioningIsAWarning(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	// The condition number is 1.7e16 in exact arithmetic at order 12.
	if _, _, err := SolveSPD(e, hilbert(12), mat.NewDense(12, 1,
		[]float64{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})); err != nil {
		t.Fatal(err)
	}
	if w := e.Warnings(); len(w) != 1 || !strings.Contains(w[0], "computed but suspect, condition number about") {
		t.Errorf("warnings %q", w)
	}
}

func TestPSDPart(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		e := graphtest.Engine(t, "float64", 1)
		for _, n := range []int{1, 6, 90} {
			b := graphtest.Normal(graphtest.Rand(3), n, n)
			a := mat.NewDense(n, n, nil)
			a.Add(b, b.T())
			part, w, err := PSDPart(e, a)
			if err != nil {
				t.Fatal(err)
			}
			var direct mat.EigenSym
			direct.Factorize(mat.NewSymDense(n, a.RawMatrix().Data), false)
			for i, want := range direct.Values(nil) {
				if math.Abs(w[i]-want) > 1e-12*float64(n) {
					t.Errorf("n=%d: eigenvalue %d is %g, want %g", n, i, w[i], want)
				}
			}
			if !mat.Equal(part, part.T()) {
				t.Errorf("n=%d: the part is not symmetric", n)
			}
			// A⁺ − A and A⁺ are positive semidefinite and orthogonal, which
			// makes A⁺ the projection on the cone.
			var rest, product mat.Dense
			rest.Sub(part, a)
			product.Mul(part, &rest)
			if mat.Norm(&product, 2) > 1e-10*float64(n) {
				t.Errorf("n=%d: A⁺(A⁺−A) = %g", n, mat.Norm(&product, 2))
			}
			for _, m := range []*mat.Dense{part, &rest} {
				var e mat.EigenSym
				e.Factorize(mat.NewSymDense(n, m.RawMatrix().Data), false)
				if low := e.Values(nil)[0]; low < -1e-12*float64(n) {
					t.Errorf("n=%d: smallest eigenvalue %g", n, low)
				}
			}
		}
	})
}

func TestInvalidInput(t *testing.T) {
	e := graphtest.Engine(t, "float64", 1)
	one, nan := mat.NewDense(1, 1, []float64{1}), mat.NewDense(1, 1, []float64{math.NaN()})
	solve := func(a, b *mat.Dense) func() error {
		return func() error { _, _, err := SolveSPD(e, a, b); return err }
	}
	for _, c := range []struct {
		call func() error
		want string
	}{
		{solve(nil, one), "the matrix is empty"},
		{solve(one, nil), "the right side is empty"},
		{solve(one, mat.NewDense(2, 1, nil)), "1×1 and the right side 2×1"},
		{solve(mat.NewDense(1, 2, nil), one), "1×2, not square"},
		{solve(mat.NewDense(2, 2, []float64{1, 2, 3, 4}), one), "not symmetric: element (1,0) is 3 and (0,1) is 2"},
		{solve(nan, one), "the matrix has NaN in row 0, column 0"},
		{solve(one, nan), "the right side has NaN"},
		{func() error { _, _, err := PSDPart(e, nan); return err }, "PSDPart: the matrix has NaN"},
		{solve(&mat.Dense{}, one), "the matrix is empty"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if err := c.call(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestNotPositiveDefinite(t *testing.T) {
	for _, dtype := range []string{"float64", "float32"} {
		e := graphtest.Engine(t, dtype, 1)
		_, _, err := SolveSPD(e, mat.NewDense(2, 2, []float64{1, 2, 2, 1}), mat.NewDense(2, 1, []float64{1, 1}))
		var notPD *NotPositiveDefiniteError
		if !errors.As(err, &notPD) || notPD.Row != 1 || notPD.Pivot != -3 || notPD.Singular() {
			t.Errorf("%s: got %v", dtype, err)
		}
	}
}

func BenchmarkSolveSPD(b *testing.B) {
	for _, n := range []int{256, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := graphtest.Engine(b, "float64", 0)
			b.Log(e.BLAS())
			a, one := graphtest.Definite(graphtest.Rand(4), n), graphtest.Normal(graphtest.Rand(5), n, 1)
			for b.Loop() {
				if _, _, err := SolveSPD(e, a, one); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Eigenvalues in ascending order and orthonormal vectors with A v = λ v, in float64 on every
// engine.
func TestEigen(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		rng := graphtest.Rand(3)
		for _, dtype := range []string{"float64", "float32"} {
			e := graphtest.Engine(t, dtype, 1)
			for _, n := range []int{1, 2, 30} {
				a := graphtest.Definite(rng, n)
				values, v, err := Eigen(e, a)
				if err != nil {
					t.Fatal(err)
				}
				var av, vl, vv mat.Dense
				av.Mul(a, v)
				vl.Mul(v, mat.NewDiagDense(n, values))
				vv.Mul(v.T(), v)
				if !mat.EqualApprox(&av, &vl, 1e-11*values[n-1]) {
					t.Errorf("%s, order %d: A V is not V diag(values)", dtype, n)
				}
				if !mat.EqualApprox(&vv, mat.NewDiagDense(n, ones(n)), 1e-12) {
					t.Errorf("%s, order %d: the vectors are not orthonormal", dtype, n)
				}
				if !slices.IsSorted(values) {
					t.Errorf("%s, order %d: eigenvalues %g", dtype, n, values)
				}
			}
		}
		e := graphtest.Engine(t, "float64", 1)
		if _, _, err := Eigen(e, mat.NewDense(2, 2, []float64{1, 2, 3, 4})); err == nil {
			t.Error("a matrix that is not symmetric")
		}
	})
}

// The part agrees with that of the explicit matrix, the eigenvalues with Eigen.
func TestPSDComplement(t *testing.T) {
	graphtest.EachBLAS(t, func(t *testing.T) {
		rng := graphtest.Rand(4)
		const n, g = 12, 3
		e := graphtest.Engine(t, "float32", 1)
		x, q, c := graphtest.Normal(rng, n, g), graphtest.Definite(rng, g), graphtest.Definite(rng, n)
		got, err := PSDComplement(e, x, q, c)
		if err != nil {
			t.Fatal(err)
		}
		var solved, d mat.Dense
		if err := solved.Solve(q, x.T()); err != nil {
			t.Fatal(err)
		}
		d.Mul(x, &solved)
		d.Sub(&d, c)
		exact := graphtest.Engine(t, "float64", 1)
		part, values, err := PSDPart(exact, &d)
		if err != nil {
			t.Fatal(err)
		}
		inner, _, err := Eigen(exact, q)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(got.Part, part, 1e-11) || !floats.EqualApprox(got.Eigenvalues, values, 1e-11) ||
			!floats.EqualApprox(got.Inner, inner, 1e-11) {
			t.Errorf("%v\nwant\n%v\neigenvalues %g, want %g; of Q %g, want %g", mat.Formatted(got.Part), mat.Formatted(part),
				got.Eigenvalues, values, got.Inner, inner)
		}
		if values[n-1] <= 0 || values[0] >= 0 {
			t.Errorf("eigenvalues %g: the part should leave some of them out", values)
		}
		var notPD *NotPositiveDefiniteError
		if _, err := PSDComplement(e, x, mat.NewDense(g, g, nil), c); !errors.As(err, &notPD) {
			t.Errorf("Q of zeros: %v", err)
		}
		if _, err := PSDComplement(e, x, c, q); err == nil {
			t.Error("operands of other orders")
		}
	})
}

// ones returns a slice of ones.
func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }
