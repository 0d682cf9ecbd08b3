package simulated

import (
	"fmt"
	"math"
	"testing"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// Values of an independent implementation, for 9 points on [−3, 3], l = 1,
// R_y = 1.
func TestSensitivityCheckValues(t *testing.T) {
	m := trialtest.Compute(t, trialtest.Options{}, sensitivities()).Metrics
	for _, c := range []struct {
		name                 string
		got, want, tolerance float64
	}{
		{"R_k², Eq. (4)", m.NormSquaredEq4, 9, 0},
		{"Eq. (4)", m.SensitivityEq4, 13.4350, 5e-5},
		{"R_k², Eq. (7) as printed", m.NormSquaredEq7Printed, 3.36327, 5e-6},
		{"Eq. (7) as printed", m.SensitivityEq7Printed, 5.46349, 5e-6},
		{"R_k², Eq. (7)", m.NormSquaredEq7, 3.36315, 5e-6},
		{"Eq. (7)", m.SensitivityEq7, 5.46331, 5e-6},
		{"R_k², Eq. (8)", m.NormSquaredEq8, 7.95052, 5e-6},
		{"Eq. (8)", m.SensitivityEq8, 11.9508, 5e-5},
		{"R_k², exact", m.NormSquaredExact, 2.36327, 5e-6},
		{"exact", m.SensitivityExact, 4.04928, 5e-6},
	} {
		t.Run(c.name, func(t *testing.T) { trialtest.Near(t, c.name, c.got, c.want, c.tolerance) })
	}
}

// Inducing inputs many lengthscales apart: the bound is that of a single one, found
// at once.
func TestExactBoundOfFarInducingInputs(t *testing.T) {
	m := trialtest.Compute(t, trialtest.Options{}, sensitivities(), func(s *sensitivitySettings) {
		s.Lengthscale, s.Inducing = 1e-9, experiment.Points{Count: 300}
	}).Metrics
	trialtest.Near(t, "R_k²", m.NormSquaredExact, 1, 1e-9)
}

func TestGaussianMechanismCheckValues(t *testing.T) {
	for _, c := range []struct {
		epsilon, want float64
		warned        bool
	}{{0.1, 24.5081056, false}, {1, 3.18570299, true}, {3, 1.22315726, true}, {10, 0.455265131, true}} {
		t.Run(fmt.Sprintf("epsilon %g", c.epsilon), func(t *testing.T) {
			out := trialtest.Compute(t, trialtest.Options{}, gaussianMechanism(),
				func(s *mechanismSettings) { s.Epsilon = c.epsilon })
			trialtest.Near(t, "sigma/Delta over what it should be", out.Metrics.SigmaOverSensitivity/c.want, 1, 3e-9)
			trialtest.Near(t, "classical", out.Metrics.SigmaClassical, math.Sqrt(2*math.Log(12500))/c.epsilon, 1e-12)
			if (len(out.Warnings) > 0) != c.warned {
				t.Errorf("warnings %q", out.Warnings)
			}
		})
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
		t.Run(fmt.Sprintf("epsilon %g", c.epsilon), func(t *testing.T) {
			const repeats = 300
			with := func(form sparse.Covariance) inferenceMetrics {
				return trialtest.Compute(t, trialtest.Options{Workers: 2}, inference(), func(s *inferenceSettings) {
					s.Epsilon, s.Repeats, s.Covariance = c.epsilon, repeats, form
				}).Metrics
			}
			full := with(sparse.CovarianceCorrected)
			se := 3.5 / math.Sqrt(repeats)
			trialtest.Near(t, "rmse", full.RMSE, c.rmse, se*c.rmseSD)
			trialtest.Near(t, "coverage", full.Coverage2SD, c.coverage, se*c.coverageSD)
			if m := with(sparse.CovarianceNaive); m.RMSE != full.RMSE || m.Coverage2SD > 0.8*full.Coverage2SD ||
				m.MeanSD > 0.8*full.MeanSD {
				t.Errorf("naive %+v, full %+v", m, full)
			}
			if m := with(sparse.CovariancePrinted); m.MeanSD == full.MeanSD || m.RMSE != full.RMSE {
				t.Errorf("the printed covariance gives %+v, the corrected one %+v", m, full)
			}
		})
	}
}

// ofFull are the coverages of the full covariance, by the index of their level.
func ofFull(m calibrationMetrics) []float64 {
	return []float64{m.Coverage50Full, m.Coverage80Full, m.Coverage95Full, m.Coverage99Full}
}

// ofNaive are those of the naive one.
func ofNaive(m calibrationMetrics) []float64 {
	return []float64{m.Coverage50Naive, m.Coverage80Naive, m.Coverage95Naive, m.Coverage99Naive}
}

// Coverages of an independent implementation over 40 repeats.
func TestCalibrationValues(t *testing.T) {
	for _, c := range []struct{ sigma, epsilon, full, naive, fullSD, naiveSD float64 }{
		{0.03, 1, 0.438, 0.097, 0.16, 0.06},
		{0.1, 3, 0.531, 0.420, 0.14, 0.13},
		{0.3, 30, 0.888, 0.884, 0.05, 0.05},
	} {
		t.Run(fmt.Sprintf("sigma %g, epsilon %g", c.sigma, c.epsilon), func(t *testing.T) {
			const repeats = 200
			m := trialtest.Compute(t, trialtest.Options{Workers: 2}, calibration(), func(s *calibrationSettings) {
				s.Sigma, s.Epsilon, s.Repeats = c.sigma, c.epsilon, repeats
			}).Metrics
			se := 3 * math.Sqrt(1.0/40+1.0/repeats)
			trialtest.Near(t, "full", m.Coverage95Full, c.full, se*c.fullSD)
			trialtest.Near(t, "naive", m.Coverage95Naive, c.naive, se*c.naiveSD)
			for _, shares := range [][]float64{ofFull(m), ofNaive(m)} {
				for i := range shares[1:] {
					if shares[i+1] <= shares[i] {
						t.Errorf("coverage does not grow with the level: %v", shares)
					}
				}
			}
		})
	}
}

// Without noise, and where the model is right, coverages are nominal, for observations and for the
// function.
func TestCalibrationWithoutNoise(t *testing.T) {
	for _, what := range []cover{coverObservations, coverFunction} {
		t.Run(experiment.NameOf(what), func(t *testing.T) {
			m := trialtest.Compute(t, trialtest.Options{Workers: 2}, calibration(), func(s *calibrationSettings) {
				s.Epsilon, s.OutputBound, s.Cover, s.Repeats, s.Sigma = math.Inf(1), 100, what, 100, 0.3
			}).Metrics
			for i, share := range ofFull(m) {
				trialtest.Near(t, fmt.Sprintf("coverage of %d %%", levels[i]), share, float64(levels[i])/100, 0.03)
				if ofNaive(m)[i] != share {
					t.Errorf("without noise full and naive are the same: %+v", m)
				}
			}
			if *m.ClippedFraction != 0 {
				t.Errorf("%g of the outputs are clipped", *m.ClippedFraction)
			}
		})
	}
}
