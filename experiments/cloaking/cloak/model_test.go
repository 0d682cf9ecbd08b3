package cloak

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/dataset/readers"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
)

// Cloaking matrices on the formula census, by numpy without grouping: norm, the
// entry (3, 10), and the sum of all entries.
func TestCloakingMatrices(t *testing.T) {
	e := cloaktest.Engine(t)
	kung, err := readers.LoadKung(cloaktest.Census(t))
	if err != nil {
		t.Fatal(err)
	}
	age, both := InputsOf(kung, Age), InputsOf(kung, AgeAndWeight)
	var ages []float64
	for x := 0.0; x < 85; x += 7 {
		ages = append(ages, x)
	}
	points := cloaktest.Column(ages...)
	diagonal := mat.NewDense(11, 2, nil) // (5, 0), (10, 5), …
	for i := range 11 {
		diagonal.SetRow(i, []float64{float64(5 * (i + 1)), float64(5 * i)})
	}
	kde := func(x *mat.Dense) *DensityLengthscale {
		return NewDensityLengthscale(Density{Width: 6, Rows: 160, Cap: 100}, x)
	}
	for _, c := range []struct {
		name               string
		m                  Model
		train, test        *mat.Dense
		norm, entry, total float64
	}{
		{"standard", Model{Method: Standard}, age, points,
			0.5109762086889102, 0.019230472284685773, 12.687535629521198},
		{"sparse", Model{Method: Sparse, Inducing: cloaktest.Column(5, 20, 35, 50, 65)}, age, points,
			0.47052412390421616, 0.01794538267043856, 12.23118065804412},
		{"nonstationary", Model{Method: Nonstationary, Lengthscales: kde(age)}, age, points,
			0.36350125271202716, 0.00891197097982292, 13.241152768515503},
		{"standard 2d", Model{Method: Standard}, both, diagonal,
			0.5743052362197322, 0.0030823864478551235, 9.683647945716821},
		{"nonstationary 2d", Model{Method: Nonstationary, Lengthscales: kde(both)}, both, diagonal,
			0.43252716268809305, 0.004299951645392894, 11.178940818921832},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.m.Lengthscale, c.m.KernelVariance, c.m.NoiseVariance = method.LengthscalesOf(15), 1, 2
			matrix, err := c.m.Matrix(e, c.train, c.test)
			if err != nil {
				t.Fatal(err)
			}
			trialtest.Near(t, "norm", mat.Norm(matrix, 2), c.norm, 1e-11)
			trialtest.Near(t, "entry", matrix.At(3, 10), c.entry, 1e-11)
			trialtest.Near(t, "sum", mat.Sum(matrix), c.total, 1e-9)
		})
	}
}

// With an inducing input at every training input FITC is the GP itself.
func TestSparseWithAllInputsIsExact(t *testing.T) {
	e := cloaktest.Engine(t)
	x := cloaktest.Column(0, 3, 7, 12, 20, 31)
	test := cloaktest.Column(1, 10, 25)
	m := Model{Method: Standard, Hyperparameters: Hyperparameters{Kernel{method.LengthscalesOf(4), 2}, 0.5}}
	exact, err := m.Matrix(e, x, test)
	if err != nil {
		t.Fatal(err)
	}
	m.Method, m.Inducing = Sparse, x
	sparse, err := m.Matrix(e, x, test)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(exact, sparse, 1e-12) {
		t.Errorf("GP\n%v\nFITC\n%v", mat.Formatted(exact), mat.Formatted(sparse))
	}
}

// Rows with equal inputs have equal columns in any order of the rows.
func TestEqualInputsHaveEqualColumns(t *testing.T) {
	e := cloaktest.Engine(t)
	m := Model{Method: Standard, Hyperparameters: Hyperparameters{Kernel{method.LengthscalesOf(4), 1}, 0.5}}
	c, err := m.Matrix(e, cloaktest.Column(3, 1, 3, 8, 1, 3), cloaktest.Column(0, 5))
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]int{{0, 2}, {0, 5}, {1, 4}} {
		t.Run(fmt.Sprint(pair), func(t *testing.T) {
			if a, b := mat.Col(nil, pair[0], c), mat.Col(nil, pair[1], c); !slices.Equal(a, b) {
				t.Errorf("%v and %v", a, b)
			}
		})
	}
}

func TestSingularInducingInputs(t *testing.T) {
	e := cloaktest.Engine(t)
	m := Model{Method: Sparse, Hyperparameters: Hyperparameters{Kernel{method.LengthscalesOf(4), 1}, 0.5},
		Inducing: cloaktest.Column(2, 2)}
	_, err := m.Matrix(e, cloaktest.Column(1, 2, 3), cloaktest.Column(0))
	if err == nil || !strings.Contains(err.Error(), "use fewer of them") {
		t.Errorf("two equal inducing inputs: %v", err)
	}
}

func TestKDELengthscale(t *testing.T) {
	f := NewDensityLengthscale(Density{Width: 2, Rows: 10, Cap: 50}, cloaktest.Column(0, 0, 0, 0))
	// Four rows at 0: density 4/(√(2π)·2) there, nothing far away.
	l, err := f.At(cloaktest.Engine(t), cloaktest.Column(0, 1000))
	if err != nil {
		t.Fatal(err)
	}
	trialtest.Near(t, "lengthscale at the data", l.At(0, 0), 1/(1./50+4/(math.Sqrt(2*math.Pi)*2)/10), 1e-12)
	trialtest.Near(t, "lengthscale far away", l.At(1, 0), 50, 1e-12)
}

// The lengthscales that are known at the inputs are those of each dimension, in every bit.
func TestKnownLengthscales(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 5, 2, 1, 5, 3})
	f := NewDensityLengthscale(Density{Width: 2, Rows: 1, Cap: 50}, x)
	points := mat.NewDense(2, 2, []float64{1, 1, 5, 4}) // 1 is an input in both dimensions
	e := cloaktest.Engine(t)
	l, err := f.At(e, points)
	if err != nil {
		t.Fatal(err)
	}
	computed, err := f.at(e, points)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		for j := range 2 {
			if want := computed.At(i, j); l.At(i, j) != want {
				t.Errorf("l(%g) of dimension %d is %g, want %g", points.At(i, j), j, l.At(i, j), want)
			}
		}
	}
	if l.At(0, 0) == l.At(0, 1) {
		t.Error("both dimensions have the same density")
	}
}
