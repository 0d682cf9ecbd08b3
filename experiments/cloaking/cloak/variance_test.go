package cloak

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
)

// A variance that rounding would make negative is 0: its root is a standard deviation.
func TestVarianceIsNotNegative(t *testing.T) {
	m := Model{Method: Standard, Hyperparameters: Hyperparameters{
		Kernel: Kernel{Lengthscale: method.LengthscalesOf(2), KernelVariance: 1.5}, NoiseVariance: 1e-9}}
	got, err := m.variance(cloaktest.Engine(t), []float64{1.5 + 1e-12, 1.5, 1.25}, cloaktest.Column(0, 1, 2))
	if err != nil || !slices.Equal(got, []float64{0, 0, .25}) {
		t.Errorf("%v, %v", got, err)
	}
}

// Posterior variances with one input that occurs twice, in 40 decimal digits without grouping.
func TestVariance(t *testing.T) {
	train, test := cloaktest.Column(0, 1, 1, 2, 4, 5, 7), cloaktest.Column(0.5, 3, 9)
	h := Hyperparameters{Kernel: Kernel{Lengthscale: method.LengthscalesOf(2), KernelVariance: 1.5}, NoiseVariance: 0.4}
	for _, c := range []struct {
		m    Model
		want []float64
	}{
		{Model{Method: Standard, Hyperparameters: h},
			[]float64{0.1330878482653171, 0.22981852837480984, 1.0260440946911573}},
		{Model{Method: Sparse, Hyperparameters: h, Inducing: cloaktest.Column(0, 3, 6)},
			[]float64{0.20241206500187353, 0.2513893701580383, 1.3714708014332748}},
		{Model{Method: WeightedSum, Hyperparameters: h, Lengthscales: NewDensityLengthscale(
			Density{Width: 2, Rows: 5, Cap: 10}, train)},
			[]float64{0.11368540578253779, 0.16449643317140866, 0.46655408487198289}},
	} {
		t.Run(c.m.Method.String(), func(t *testing.T) {
			matrix, got, err := c.m.Posterior(cloaktest.Engine(t), train, test)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				trialtest.Near(t, "variance", v, c.want[i], 1e-12)
			}
			alone, err := c.m.Matrix(cloaktest.Engine(t), train, test)
			if err != nil || !mat.Equal(matrix, alone) {
				t.Errorf("together they differ: %v, %v", matrix, err)
			}
		})
	}
}

// The cloaking matrix of a weighted sum by the same digits, and its weights of two dimensions.
func TestWeightedSum(t *testing.T) {
	e := cloaktest.Engine(t)
	train := cloaktest.Column(0, 1, 1, 2, 4, 5, 7)
	density := Density{Width: 2, Rows: 5, Cap: 10}
	m := NewModel(WeightedSum, Hyperparameters{Kernel{method.LengthscalesOf(2), 1.5}, 0.4}, density, train)
	c, err := m.Matrix(e, train, cloaktest.Column(3, 9))
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(2, 7, []float64{
		-0.036086442883924076, 0.097454888436612406, 0.097454888436612406, 0.30534319403671381,
		0.32491095191139354, 0.14319305498355325, -0.0096480037916910874,
		0.068176047804864765, 0.026633689952418298, 0.026633689952418298, 0.02716340127464529,
		0.055239292792134658, 0.093183336389411575, 0.51616484632835445,
	})
	if !mat.EqualApprox(c, want, 1e-12) {
		t.Errorf("got %v", mat.Formatted(c))
	}
	w, err := m.Lengthscales.Weights(e, cloaktest.Column(0.5, 3, 9, 1e6))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.61258146365676779, 0.61737886459497362, 0.23933913936128023, 0} {
		trialtest.Near(t, "weight", w[i], want, 1e-13)
	}
	// An outlier in one of two dimensions is one.
	both := NewDensityLengthscale(density, mat.NewDense(7, 2, []float64{0, 0, 1, 1, 1, 1, 2, 2, 4, 4, 5, 5, 7, 7}))
	if w, err = both.Weights(e, mat.NewDense(2, 2, []float64{3, 9, 9, 3})); err != nil {
		t.Fatal(err)
	}
	trialtest.Near(t, "weight", w[0], 0.23933913936128023, 1e-13)
	trialtest.Near(t, "weight", w[1], 0.23933913936128023, 1e-13)
}

// The smallest density within a window is that of the whole window: with a window over all
// gaps the lengthscale is the same everywhere between, and never shorter than without one.
func TestDensityWindow(t *testing.T) {
	inputs := cloaktest.Column(0, 1, 2, 3, 40)
	plain := NewDensityLengthscale(Density{Width: 2, Rows: 5, Cap: 100}, inputs)
	window := NewDensityLengthscale(Density{Width: 2, Rows: 5, Cap: 100, Window: 20}, inputs)
	at := cloaktest.Column(0, 1, 2, 3, 20, 40)
	e := cloaktest.Engine(t)
	short, err := plain.At(e, at)
	if err != nil {
		t.Fatal(err)
	}
	long, err := window.At(e, at)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if long.At(i, 0) < short.At(i, 0) {
			t.Errorf("at %g: %g with a window, %g without", at.At(i, 0), long.At(i, 0), short.At(i, 0))
		}
	}
	// The gap at 20 is within 20 of all of them.
	for i := range 6 {
		trialtest.Near(t, "lengthscale", long.At(i, 0), mat.Max(long), 1e-3*mat.Max(long))
	}
	if math.Abs(short.At(0, 0)-short.At(4, 0)) < 10 {
		t.Errorf("without a window %g and %g show no difference", short.At(0, 0), short.At(4, 0))
	}
}
