// Package sparsetest varies the settings that the experiments on sparse Gaussian processes share,
// for tests of the conditions under which settings have an effect.
package sparsetest

import (
	"math"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/inert"
	"privkern/runner/experiment"
)

// OtherBudgets returns other values of a budget.
func OtherBudgets(s *sparse.Budget) []inert.Setting {
	return []inert.Setting{inert.Values(&s.Epsilon, 2, math.Inf(1)), inert.Values(&s.Delta, 0.003)}
}

// OtherInducingInputs returns other values of inducing inputs.
func OtherInducingInputs(s *sparse.InducingInputs) []inert.Setting {
	return []inert.Setting{
		inert.Values(&s.Inducing, experiment.Points{Count: 4}, experiment.Points{Values: []float64{-2, 0.5, 2}}),
		inert.Values(&s.Low, -2.5, -0.5), inert.Values(&s.High, 2.5),
	}
}

// OtherKernels returns other values of a kernel.
func OtherKernels(s *sparse.EQKernel) []inert.Setting {
	return []inert.Setting{inert.Values(&s.Lengthscale, 1.3), inert.Values(&s.KernelVariance, 1.2)}
}

// OtherRatios returns other values of the ratio of the noise in A to that in B.
func OtherRatios(s *sparse.NoiseRatio) []inert.Setting {
	return []inert.Setting{inert.Values(&s.Ratio, 2)}
}

// OtherOutputBounds returns other values of the bound on an output.
func OtherOutputBounds(s *sparse.ClippedOutputs) []inert.Setting {
	return []inert.Setting{inert.Values(&s.OutputBound, 0.8)}
}

// OtherSpacings returns other values of the least spacing.
func OtherSpacings(s *sparse.LeastSpacing) []inert.Setting {
	return []inert.Setting{inert.Values(&s.Spacing, experiment.NumberOr[sparse.Auto](0.5))}
}

// OtherRowBounds returns other values of the bound on a row's kernel vector.
func OtherRowBounds(s *sparse.RowBound) []inert.Setting {
	return append(OtherSpacings(&s.LeastSpacing), inert.Values(&s.Bound, sparse.Eq4, sparse.Eq7))
}

func otherLambdas(s *sparse.Lambda) []inert.Setting {
	return []inert.Setting{
		inert.Values(&s.Regularisation, sparse.RegularisationCorrected, sparse.RegularisationPrinted),
		inert.Values(&s.Rho, 0.2),
	}
}

// OtherUpdates returns other values of the update of a posterior.
func OtherUpdates(s *sparse.UpdateSettings) []inert.Setting {
	return append(otherLambdas(&s.Lambda), inert.Values(&s.Jitter, 0.01, 0.5),
		inert.Values(&s.Covariance, sparse.CovariancePrinted, sparse.CovarianceCorrected))
}

// Seven returns seven inducing inputs that are not on a grid by count.
func Seven() experiment.Points { return experiment.Points{Values: []float64{-3, -2, -1, 0, 1, 2, 3}} }
