package simulated

import (
	"math"
	"slices"
	"testing"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/dpgp/sparse/sparsetest"
	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

func (f fit) others() []inert.Setting {
	return append(slices.Concat(
		sparsetest.OtherBudgets(f.Budget), sparsetest.OtherInducingInputs(f.InducingInputs),
		sparsetest.OtherKernels(f.EQKernel), sparsetest.OtherOutputBounds(&f.ClippedOutputs),
		sparsetest.OtherRatios(&f.NoiseRatio), sparsetest.OtherRowBounds(&f.RowBound),
		sparsetest.OtherUpdates(&f.UpdateSettings),
	), inert.Values(&f.Sigma, 0.2), inert.Values(&f.Strict, true))
}

// checkConditions holds the conditions of an experiment against its trials.
func checkConditions[S, M any](t *testing.T, c inert.Conditions[S, M]) {
	t.Helper()
	c.Run = func(s *S) (*experiment.Outcome[M], error) {
		return c.Of.Compute(t.Context(), trialtest.New(t, trialtest.Options{}), s)
	}
	t.Run(c.Of.Name, c.Check)
}

// A setting has no effect exactly where its declaration states so.
func TestWhereSettingsApply(t *testing.T) {
	inf := math.Inf(1)
	checkConditions(t, inert.Conditions[mechanismSettings, mechanismMetrics]{
		Of: gaussianMechanism(), Bases: map[string]func(*mechanismSettings){"defaults": func(*mechanismSettings) {}},
		Others: func(s *mechanismSettings) []inert.Setting {
			return []inert.Setting{inert.Values(&s.Epsilon, 2), inert.Values(&s.Delta, 0.003)}
		},
	})
	checkConditions(t, inert.Conditions[sensitivitySettings, sensitivityMetrics]{
		Of: sensitivities(),
		Bases: map[string]func(*sensitivitySettings){
			"a grid": func(*sensitivitySettings) {},
			"a list": func(s *sensitivitySettings) { s.Inducing = sparsetest.Seven() },
		},
		Others: func(s *sensitivitySettings) []inert.Setting {
			return slices.Concat(
				sparsetest.OtherInducingInputs(&s.InducingInputs), sparsetest.OtherKernels(&s.EQKernel),
				sparsetest.OtherOutputBounds(&s.ClippedOutputs), sparsetest.OtherRatios(&s.NoiseRatio),
				sparsetest.OtherSpacings(&s.LeastSpacing))
		},
	})
	// Outputs beyond r_y are there, so that strict does something.
	checkConditions(t, inert.Conditions[inferenceSettings, inferenceMetrics]{
		Of:     inference(),
		Common: func(s *inferenceSettings) { s.N, s.Inducing.Count, s.OutputBound = 40, 3, 0.7 },
		Bases: map[string]func(*inferenceSettings){
			"noise": func(*inferenceSettings) {}, "no noise": func(s *inferenceSettings) { s.Epsilon = inf },
			"Eq. (4)": func(s *inferenceSettings) { s.Bound = sparse.Eq4 },
			"a list":  func(s *inferenceSettings) { s.Inducing = sparsetest.Seven() },
		},
		Others: func(s *inferenceSettings) []inert.Setting {
			return append(s.fit().others(), inert.Values(&s.N, 50), inert.Values(&s.Repeats, 2))
		},
	})
	checkConditions(t, inert.Conditions[calibrationSettings, calibrationMetrics]{
		Of: calibration(),
		Common: func(s *calibrationSettings) {
			s.N, s.Inducing.Count, s.OutputBound, s.Repeats, s.Jitter, s.Epsilon = 300, 5, 0.7, 8, 1e-6, 5
		},
		Bases: map[string]func(*calibrationSettings){
			"noise": func(*calibrationSettings) {}, "no noise": func(s *calibrationSettings) { s.Epsilon = inf },
			"Eq. (4)": func(s *calibrationSettings) { s.Bound = sparse.Eq4 },
			"a list":  func(s *calibrationSettings) { s.Inducing = sparsetest.Seven() },
		},
		Others: func(s *calibrationSettings) []inert.Setting {
			return append(s.fit().others(), inert.Values(&s.N, 50), inert.Values(&s.Repeats, 2),
				inert.Values(&s.Cover, coverFunction))
		},
	})
	checkConditions(t, heteroscedasticConditions())
	checkConditions(t, regularisationConditions())
}

func heteroscedasticConditions() inert.Conditions[heteroscedasticSettings, heteroscedasticMetrics] {
	return inert.Conditions[heteroscedasticSettings, heteroscedasticMetrics]{
		Of:     heteroscedastic(),
		Common: func(s *heteroscedasticSettings) { s.VarianceHigh = 0.5 },
		Bases: map[string]func(*heteroscedasticSettings){
			"a grid": func(*heteroscedasticSettings) {}, "Eq. (4)": func(s *heteroscedasticSettings) { s.Bound = sparse.Eq4 },
			"a list": func(s *heteroscedasticSettings) { s.Inducing = sparsetest.Seven() },
		},
		Others: func(s *heteroscedasticSettings) []inert.Setting {
			out := slices.Concat(
				sparsetest.OtherInducingInputs(&s.InducingInputs), sparsetest.OtherKernels(&s.EQKernel),
				sparsetest.OtherOutputBounds(&s.ClippedOutputs), sparsetest.OtherRatios(&s.NoiseRatio),
				sparsetest.OtherRowBounds(&s.RowBound))
			return append(out, inert.Values(&s.VarianceLow, 0.2),
				inert.Values(&s.VarianceHigh, 0.7))
		},
	}
}

func regularisationConditions() inert.Conditions[regularisationSettings, regularisationMetrics] {
	return inert.Conditions[regularisationSettings, regularisationMetrics]{
		Of: regularisation(),
		Common: func(s *regularisationSettings) {
			s.N, s.Inducing.Count, s.Repeats, s.Epsilon, s.Sigma = 20, 5, 60, 30, 0.5
		},
		Bases: map[string]func(*regularisationSettings){
			"a grid": func(*regularisationSettings) {}, "Eq. (4)": func(s *regularisationSettings) { s.Bound = sparse.Eq4 },
			"a list": func(s *regularisationSettings) { s.Inducing = sparsetest.Seven() },
		},
		Others: func(s *regularisationSettings) []inert.Setting {
			out := slices.Concat(
				sparsetest.OtherInducingInputs(&s.InducingInputs), sparsetest.OtherKernels(&s.EQKernel),
				sparsetest.OtherOutputBounds(&s.ClippedOutputs), sparsetest.OtherRatios(&s.NoiseRatio),
				sparsetest.OtherRowBounds(&s.RowBound))
			return append(out, inert.Values(&s.Epsilon, 2), inert.Values(&s.Delta, 0.003),
				inert.Values(&s.N, 50), inert.Values(&s.Sigma, 5), inert.Values(&s.Rho, 0.2), inert.Values(&s.Jitter, 5),
				inert.Values(&s.Repeats, 20))
		},
	}
}
