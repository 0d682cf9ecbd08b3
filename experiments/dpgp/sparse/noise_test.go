package sparse

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/graphs/engine"
	"privkern/graphs/sparsegp"
)

func TestCalibration(t *testing.T) {
	m := modelAt(1, 1, -3, -2.25, -1.5, -0.75, 0, 0.75, 1.5, 2.25, 3)
	c := Calibration{Epsilon: 3, Delta: 1e-4, OutputBound: 1, Ratio: 2, Bound: Eq7, Unit: 1}
	n, err := m.Calibrate(c)
	if err != nil {
		t.Fatal(err)
	}
	factor, err := mechanism.AnalyticGaussian(3, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	trialtest.Near(t, "sensitivity", n.Sensitivity, JointSensitivity(2, 1, n.NormSquared), 0)
	trialtest.Near(t, "sigma_a", n.SigmaA, factor*n.Sensitivity, 1e-12)
	trialtest.Near(t, "sigma_b", n.SigmaB, n.SigmaA/2, 1e-12)
	// Eq. (10) by hand, d = 9, ρ = 0.01, σ² = 0.01.
	want := n.SigmaB * 100 * math.Sqrt(9*math.Log(16200))
	trialtest.Near(t, "printed lambda", n.Ridge(m, 0.01, RegularisationPrinted), want*5/9, 1e-9)
	trialtest.Near(t, "corrected lambda", n.Ridge(m, 0.01, RegularisationCorrected), want*math.Sqrt(5.0/9), 1e-9)
	c.Epsilon = math.Inf(1)
	none, err := m.Calibrate(c)
	if err != nil {
		t.Fatal(err)
	}
	if none.SigmaA != 0 || none.SigmaB != 0 || none.Ridge(m, 0.01, RegularisationPrinted) != 0 {
		t.Errorf("epsilon = inf has noise: %+v", none)
	}
}

// The noise has the variances of the mechanism: σ_a² in A, σ_b² on and σ_b²/2 off the diagonal of
// B, which stays symmetric; B̂, with √2 times the off-diagonal elements, then has σ_b² everywhere
// (Eq. 5). Elements are uncorrelated.
func TestNoiseDistribution(t *testing.T) {
	const draws, d = 20000, 3
	n, rng := Noise{SigmaA: 2, SigmaB: 3}, rand.New(rand.NewPCG(5, 6))
	columns := make([][]float64, d+d*(d+1)/2)
	for range draws {
		s := sparsegp.Sums{A: make([]float64, d), B: mat.NewDense(d, d, nil)}
		n.Perturb(s, rng)
		if !mat.Equal(s.B, s.B.T()) {
			t.Fatal("the noise in B is not symmetric")
		}
		all := append([]float64(nil), s.A...)
		for i := range d {
			for j := range i + 1 {
				v := s.B.At(i, j)
				if i != j {
					v *= math.Sqrt2
				}
				all = append(all, v)
			}
		}
		for i, v := range all {
			columns[i] = append(columns[i], v)
		}
	}
	for i, c := range columns {
		want := 4.0
		if i >= d {
			want = 9
		}
		mean, variance := stat.MeanVariance(c, nil)
		trialtest.Near(t, "mean of the noise", mean, 0, 5*math.Sqrt(want/draws))
		trialtest.Near(t, "variance of the noise", variance, want, 5*want*math.Sqrt(2.0/draws))
		for j := range i {
			trialtest.Near(t, "correlation of the noise", stat.Correlation(c, columns[j], nil), 0, 5/math.Sqrt(draws))
		}
	}
}

// Sums are made of clipped outputs, and the caller's are left alone.
func TestClipping(t *testing.T) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	y := []float64{-5, 0.5, 2}
	s, clipped, err := modelAt(1, 1, 0).Sums(t.Context(), e, mat.NewDense(3, 1, nil), y, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	if clipped != 2 || s.A[0] != 0.5 || y[0] != -5 {
		t.Errorf("%d clipped, sum %g of %v", clipped, s.A[0], y)
	}
}
