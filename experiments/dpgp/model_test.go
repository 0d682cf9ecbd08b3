package dpgp

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"privkern/experiments/mechanism"
	"privkern/graphs/sparsegp"
)

func TestCalibration(t *testing.T) {
	m := modelAt(1, 1, -3, -2.25, -1.5, -0.75, 0, 0.75, 1.5, 2.25, 3)
	n, err := m.calibrate(3, 1e-4, 1, 2, boundEq7, 0)
	if err != nil {
		t.Fatal(err)
	}
	factor, err := mechanism.AnalyticGaussian(3, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "sensitivity", n.sensitivity, jointSensitivity(2, 1, n.normSquared), 0)
	near(t, "sigma_a", n.sigmaA, factor*n.sensitivity, 1e-12)
	near(t, "sigma_b", n.sigmaB, n.sigmaA/2, 1e-12)
	// Eq. (10) by hand, d = 9, ρ = 0.01, σ² = 0.01.
	want := n.sigmaB * 100 * math.Sqrt(9*math.Log(16200))
	near(t, "printed lambda", n.ridge(m, 0.01, regularisationPublished), want*5/9, 1e-9)
	near(t, "corrected lambda", n.ridge(m, 0.01, regularisationCorrected), want*math.Sqrt(5.0/9), 1e-9)
	none, err := m.calibrate(math.Inf(1), 1e-4, 1, 2, boundEq7, 0)
	if err != nil {
		t.Fatal(err)
	}
	if none.sigmaA != 0 || none.sigmaB != 0 || none.ridge(m, 0.01, regularisationPublished) != 0 {
		t.Errorf("epsilon = inf has noise: %+v", none)
	}
}

// The noise has the variances of the mechanism: σ_a² in A, σ_b² on and σ_b²/2 off
// the diagonal of B, which stays symmetric; B̂, with √2 in front of what is off the
// diagonal, then has σ_b² everywhere, as Eq. (5) says. Elements are uncorrelated.
func TestNoiseDistribution(t *testing.T) {
	const draws, d = 20000, 3
	n, rng := mechanismNoise{sigmaA: 2, sigmaB: 3}, rand.New(rand.NewPCG(5, 6))
	columns := make([][]float64, d+d*(d+1)/2)
	for range draws {
		s := sparsegp.Sums{A: make([]float64, d), B: mat.NewDense(d, d, nil)}
		n.perturb(s, rng)
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
		near(t, "mean of the noise", mean, 0, 5*math.Sqrt(want/draws))
		near(t, "variance of the noise", variance, want, 5*want*math.Sqrt(2.0/draws))
		for j := range i {
			near(t, "correlation of the noise", stat.Correlation(c, columns[j], nil), 0, 5/math.Sqrt(draws))
		}
	}
}

// Sums are made of clipped outputs, and the caller's are left alone.
func TestClipping(t *testing.T) {
	p := newProblemFor(t, inference(), map[string]any{"inducing": []any{0.0}, "epsilon": "inf"})
	y := []float64{-5, 0.5, 2}
	s, clipped, err := p.model.sums(context.Background(), p.e, mat.NewDense(3, 1, nil), y, nil, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	if clipped != 2 || s.A[0] != 0.5 || y[0] != -5 {
		t.Errorf("%d clipped, sum %g of %v", clipped, s.A[0], y)
	}
}

// Draws from the GP have its covariance.
func TestGPFunction(t *testing.T) {
	for _, l := range []float64{leastLengthscale, 1, 3} {
		const draws, variance = 4000, 2.5
		x := mat.NewDense(5, 1, []float64{-4, -4 + l/2, 0, 1.5 * l, 4})
		if x.At(3, 0) > 4 {
			x.Set(3, 0, 3.5)
		}
		rng := rand.New(rand.NewPCG(7, 8))
		products := mat.NewDense(5, 5, nil)
		for range draws {
			f := gpFunction(x, l, variance, rng)
			for i := range f {
				for j := range f {
					products.Set(i, j, products.At(i, j)+f[i]*f[j]/draws)
				}
			}
		}
		for i := range 5 {
			for j := range 5 {
				d := (x.At(i, 0) - x.At(j, 0)) / l
				near(t, "covariance of draws", products.At(i, j), variance*math.Exp(-d*d/2), 5*variance*math.Sqrt(2.0/draws))
			}
		}
	}
}

// A wider covariance covers more: the full one more than the naive one, and the
// values of an independent implementation come out: means over 2,000 data sets
// of errors 0.1655 and 0.1020 and of coverages 0.530 and 0.520 at ε = 1 and 3.
func TestInferenceValues(t *testing.T) {
	for _, c := range []struct{ epsilon, rmse, coverage, rmseSD, coverageSD float64 }{
		{1, 0.1655, 0.530, 0.036, 0.20},
		{3, 0.1020, 0.520, 0.024, 0.22},
	} {
		const repeats = 300
		given := map[string]any{"epsilon": c.epsilon, "repeats": repeats}
		full := runTrial(t, setup{workers: 2}, inference(), given).Metrics
		se := 3.5 / math.Sqrt(repeats)
		near(t, "rmse", full["rmse"], c.rmse, se*c.rmseSD)
		near(t, "coverage", full["coverage_2sd"], c.coverage, se*c.coverageSD)
		given["covariance"] = covarianceNaive
		naive := runTrial(t, setup{workers: 2}, inference(), given).Metrics
		if naive["rmse"] != full["rmse"] || naive["coverage_2sd"] > 0.8*full["coverage_2sd"] || naive["mean_sd"] > 0.8*full["mean_sd"] {
			t.Errorf("epsilon %g: naive %v, full %v", c.epsilon, naive, full)
		}
		given["covariance"] = string(sparsegp.Printed)
		if printed := runTrial(t, setup{workers: 2}, inference(), given).Metrics; printed["mean_sd"] == full["mean_sd"] || printed["rmse"] != full["rmse"] {
			t.Errorf("epsilon %g: the printed covariance gives %v, the corrected one %v", c.epsilon, printed, full)
		}
	}
}

// Coverages of an independent implementation over 40 repeats.
func TestCalibrationValues(t *testing.T) {
	for _, c := range []struct{ sigma, epsilon, full, naive, fullSD, naiveSD float64 }{
		{0.03, 1, 0.438, 0.097, 0.16, 0.06},
		{0.1, 3, 0.531, 0.420, 0.14, 0.13},
		{0.3, 30, 0.888, 0.884, 0.05, 0.05},
	} {
		const repeats = 200
		m := runTrial(t, setup{workers: 2}, calibration(), map[string]any{"sigma": c.sigma, "epsilon": c.epsilon, "repeats": repeats}).Metrics
		se := 3 * math.Sqrt(1.0/40+1.0/repeats)
		near(t, "full", m["coverage_95_full"], c.full, se*c.fullSD)
		near(t, "naive", m["coverage_95_naive"], c.naive, se*c.naiveSD)
		for i, level := range levels {
			if i > 0 && m[coverageMetric(level, kindFull)] <= m[coverageMetric(levels[i-1], kindFull)] {
				t.Errorf("coverage does not grow with the level: %v", m)
			}
		}
	}
}

// Without noise, and where the model is right, coverages are what they should be,
// of observations and of the function.
func TestCalibrationWithoutNoise(t *testing.T) {
	for _, cover := range []string{coverObservations, coverFunction} {
		m := runTrial(t, setup{workers: 2}, calibration(), map[string]any{"epsilon": "inf", "r_y": 100, "cover": cover, "repeats": 100, "sigma": 0.3}).Metrics
		for _, level := range levels {
			near(t, cover, m[coverageMetric(level, kindFull)], float64(level)/100, 0.03)
		}
		if m["coverage_95_full"] != m["coverage_95_naive"] || m["clipped_fraction"] != 0 {
			t.Errorf("without noise full and naive are the same: %v", m)
		}
	}
}
