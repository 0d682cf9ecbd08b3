package op_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/engine"
	"privkern/graphs/internal/graphtest"
	"privkern/graphs/op"
)

// Centring is the product with I − 11ᵀ/n from both sides, and leaves a matrix
// symmetric to the last bit.
func TestCentreSymmetricIsAProduct(t *testing.T) {
	const n = 130 // more than one tile of rows
	k := graphtest.Definite(graphtest.Rand(4), n)
	got := do(t, op.CentreSymmetric(), k, do(t, op.RowMeans(), k))
	c := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			c.Set(i, j, -1./n)
		}
		c.Set(i, i, 1-1./n)
	}
	var want mat.Dense
	want.Product(c, k, c)
	for i := range n {
		for j := range n {
			if d := math.Abs(got.At(i, j) - want.At(i, j)); d > 1e-12*(1+math.Abs(want.At(i, j))) {
				t.Fatalf("element (%d,%d) is %g, want %g", i, j, got.At(i, j), want.At(i, j))
			}
			if got.At(i, j) != got.At(j, i) {
				t.Fatalf("elements (%d,%d) and (%[2]d,%[1]d) differ", i, j)
			}
		}
	}
}

func TestTrace(t *testing.T) {
	v, err := op.Trace().Do(engine.NewMatrix(tensor.Float64, mat.NewDense(2, 2, []float64{1, 7, 8, 2.5})))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := engine.Scalar(v); err != nil || got != 3.5 {
		t.Errorf("the trace is %g (%v), want 3.5", got, err)
	}
}

// CholeskyShifted agrees with Cholesky of the shifted matrix, and factors an indefinite matrix
// only with a shift that makes it definite.
func TestCholeskyShifted(t *testing.T) {
	indefinite := mat.NewDense(2, 2, []float64{0, 2, 2, 0}) // eigenvalues −2 and 2
	got := doShifted(t, op.CholeskyShifted(), indefinite, 3)
	want := do(t, op.Cholesky(), mat.NewDense(2, 2, []float64{3, 2, 2, 3}))
	if !mat.Equal(got, want) {
		t.Errorf("factor %v, want %v", got, want)
	}
	_, err := op.CholeskyShifted().Do(engine.NewMatrix(tensor.Float64, indefinite), gorgonia.NewF64(1))
	var e *op.NotPositiveDefiniteError
	if !errors.As(err, &e) || e.Singular() {
		t.Errorf("with a shift that is too small: %v", err)
	}
}

func doShifted(t *testing.T, o op.Op, a *mat.Dense, s float64) *mat.Dense {
	t.Helper()
	v, err := o.Do(engine.NewMatrix(tensor.Float64, a), gorgonia.NewF64(s))
	if err != nil {
		t.Fatal(err)
	}
	d, err := engine.Dense(v)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
