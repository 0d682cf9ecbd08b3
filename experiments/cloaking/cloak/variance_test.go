package cloak

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
)

// Posterior variances with one input that occurs twice, in 40 decimal digits without grouping.
func TestVariance(t *testing.T) {
	train, test := cloaktest.Column(0, 1, 1, 2, 4, 5, 7), cloaktest.Column(0.5, 3, 9)
	h := Hyperparameters{Kernel: Kernel{Lengthscale: 2, KernelVariance: 1.5}, NoiseVariance: 0.4}
	for _, c := range []struct {
		m    Model
		want []float64
	}{
		{Model{Method: Standard, Hyperparameters: h},
			[]float64{0.1330878482653171, 0.22981852837480984, 1.0260440946911573}},
		{Model{Method: Sparse, Hyperparameters: h, Inducing: cloaktest.Column(0, 3, 6)},
			[]float64{0.20241206500187353, 0.2513893701580383, 1.3714708014332748}},
	} {
		t.Run(c.m.Method.String(), func(t *testing.T) {
			got, err := c.m.Variance(cloaktest.Engine(t), train, test)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				trialtest.Near(t, "variance", v, c.want[i], 1e-12)
			}
		})
	}
}

// The smallest density within a window is that of the whole window: with a window over all
// gaps the lengthscale is the same everywhere between, and never shorter than without one.
func TestDensityWindow(t *testing.T) {
	inputs := cloaktest.Column(0, 1, 2, 3, 40)
	plain := NewDensityLengthscale(Density{Bandwidth: 2, Rows: 5, Largest: 100}, inputs)
	window := NewDensityLengthscale(Density{Bandwidth: 2, Rows: 5, Largest: 100, Window: 20}, inputs)
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
