package op_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
	"privkern/graphs/op"
)

func column(v ...float64) *mat.Dense { return mat.NewDense(len(v), 1, v) }

func run(t *testing.T, o op.Op, in ...*mat.Dense) *mat.Dense {
	t.Helper()
	out, err := o.Do(matrices(in...)...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := engine.Dense(out)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// √(nπ(1−π)) to full precision also where 1 − π rounds to zero: at f = 80 it is
// e^{−40}/(1+e^{−80}).
func TestLogisticScale(t *testing.T) {
	got := run(t, op.LogisticScale(), column(0, 80, -80, math.Log(3), 3000), column(1, 1, 4, 3, 1))
	want := column(0.5, math.Exp(-40), 2*math.Exp(-40), 0.75, 0)
	for i := range 5 {
		if w := want.At(i, 0); math.Abs(got.At(i, 0)-w) > 2e-15*w {
			t.Errorf("element %d is %g, want %g", i, got.At(i, 0), w)
		}
	}
}

// π(ln 3) = 3/4, W = 3/16. A label of 0.2 stands for one with noise.
func TestNewtonTarget(t *testing.T) {
	f := math.Log(3)
	got := run(t, op.NewtonTarget(), column(0, f, -f, 900, -900), column(1, 1, 1, 1, 1),
		mat.NewDense(5, 2, []float64{1, -1, 1, -1, 1, 0.2, 1, -1, 1, -1}))
	want := mat.NewDense(5, 2, []float64{.5, -.5, 3*f/16 + .25, 3*f/16 - .75, -3*f/16 + .75, -3*f/16 + .35, 0, -1, 1, 0})
	if !mat.EqualApprox(got, want, 1e-15) {
		t.Errorf("got\n%v", mat.Formatted(got))
	}
}

// The target of labels at one latent value is the sum of those of each; the labels 1, −1 and 0.2
// sum to 0.2.
func TestNewtonTargetSumsLabels(t *testing.T) {
	f, ones := column(0.7, 0), column(1, 1)
	got := run(t, op.NewtonTarget(), f, column(3, 1), column(0.2, 0))
	want := 0.0
	for _, y := range []float64{1, -1, 0.2} {
		want += run(t, op.NewtonTarget(), f, ones, column(y, 0)).At(0, 0)
	}
	if math.Abs(got.At(0, 0)-want) > 1e-15 {
		t.Errorf("got %g, want %g", got.At(0, 0), want)
	}
}

func TestIdentityPlus(t *testing.T) {
	s, k := column(1, 2), mat.NewDense(2, 2, []float64{3, 5, 5, 7})
	if got, want := run(t, op.IdentityPlusScaled(), k, s),
		mat.NewDense(2, 2, []float64{4, 10, 10, 29}); !mat.Equal(got, want) {
		t.Errorf("I + SKS is\n%v", mat.Formatted(got))
	}
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	if got, want := run(t, op.IdentityPlusGram(), x),
		mat.NewDense(2, 2, []float64{36, 44, 44, 57}); !mat.Equal(got, want) {
		t.Errorf("I + XᵀX is\n%v", mat.Formatted(got))
	}
	if got, want := run(t, op.ScaleRows(), s, k), mat.NewDense(2, 2, []float64{3, 5, 10, 14}); !mat.Equal(got, want) {
		t.Errorf("SK is\n%v", mat.Formatted(got))
	}
	if got, want := run(t, op.TriangularSolve(), mat.NewDense(2, 2, []float64{2, 0, 1, 4}), column(6, 11)),
		column(3, 2); !mat.Equal(got, want) {
		t.Errorf("L⁻¹b is\n%v", mat.Formatted(got))
	}
}

func TestColumnsMustFit(t *testing.T) {
	for _, c := range []struct {
		op op.Op
		in []*mat.Dense
	}{
		{op.ScaleRows(), []*mat.Dense{column(1, 2), mat.NewDense(3, 2, nil)}},
		{op.LogisticScale(), []*mat.Dense{column(1, 2), column(1, 2, 3)}},
		{op.LogisticScale(), []*mat.Dense{column(1, 2), mat.NewDense(2, 2, nil)}},
		{op.LogisticScale(), []*mat.Dense{column(1, 2), column(1, -1)}}, // a negative count
		{op.NewtonTarget(), []*mat.Dense{column(1, 2), column(1, 2), mat.NewDense(3, 2, nil)}},
		{op.NewtonTarget(), []*mat.Dense{column(1, 2), column(1), mat.NewDense(2, 2, nil)}},
	} {
		t.Run(c.op.Name(), func(t *testing.T) {
			if _, err := c.op.Do(matrices(c.in...)...); err == nil {
				t.Errorf("%v of %v passed", c.op, c.in)
			}
		})
	}
	if _, err := op.IdentityPlusScaled().Do(matrices(mat.NewDense(3, 3, nil), column(1, 2))...); err == nil {
		t.Error("IdentityPlusScaled: 2 scales for a 3×3 matrix passed")
	}
}
