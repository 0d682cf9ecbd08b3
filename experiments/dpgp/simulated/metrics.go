package simulated

import (
	_ "embed"

	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

//go:embed metrics.go
var metricsSource string

func init() { experiment.Document[simulationMetrics](metricsSource) }

// simulationMetrics are those of every fit to simulated observations.
type simulationMetrics struct {
	sparse.FitMetrics
	// share of the outputs that were beyond r_y and clipped to it; left out of a record with secure noise
	ClippedFraction *float64 `name:"clipped_fraction"`
}

type mechanismMetrics struct {
	// least standard deviation of the noise over the sensitivity
	SigmaOverSensitivity float64 `name:"sigma_over_sensitivity" best:"low" result:"yes"`
	// the classical sqrt(2 log(1.25/delta))/epsilon, proved for epsilon < 1 only
	SigmaClassical float64 `name:"sigma_classical" best:"low" result:"yes"`
}

type sensitivityMetrics struct {
	// bound eq4 on the squared norm of a kernel vector
	NormSquaredEq4 float64 `name:"r_k_sq_eq4"`
	// Eq. (6) with it
	SensitivityEq4 float64 `name:"sensitivity_eq4" best:"low" result:"yes"`
	// bound eq7-printed on the squared norm of a kernel vector
	NormSquaredEq7Printed float64 `name:"r_k_sq_eq7_printed"`
	// Eq. (6) with it
	SensitivityEq7Printed float64 `name:"sensitivity_eq7_printed"`
	// bound eq7 on the squared norm of a kernel vector
	NormSquaredEq7 float64 `name:"r_k_sq_eq7"`
	// Eq. (6) with it
	SensitivityEq7 float64 `name:"sensitivity_eq7"`
	// bound eq8 on the squared norm of a kernel vector
	NormSquaredEq8 float64 `name:"r_k_sq_eq8"`
	// Eq. (6) with it
	SensitivityEq8 float64 `name:"sensitivity_eq8" best:"low" result:"yes"`
	// bound exact on the squared norm of a kernel vector
	NormSquaredExact float64 `name:"r_k_sq_exact"`
	// Eq. (6) with it
	SensitivityExact float64 `name:"sensitivity_exact" best:"low" result:"yes"`
}

type inferenceMetrics struct {
	// root mean square error of the posterior mean against the true function, on a grid from low to high
	RMSE float64 `name:"rmse" best:"low" result:"yes"`
	// share of that grid on which the true function is within two posterior standard deviations of the mean
	Coverage2SD float64 `name:"coverage_2sd" result:"yes"`
	// mean of the posterior standard deviation on that grid
	MeanSD float64 `name:"mean_sd"`
	simulationMetrics
}

type calibrationMetrics struct {
	// share of the test points inside the central region of 50 %, covariance with what the noise adds
	Coverage50Full float64 `name:"coverage_50_full"`
	// share of the test points inside the central region of 80 %, covariance with what the noise adds
	Coverage80Full float64 `name:"coverage_80_full"`
	// share of the test points inside the central region of 95 %, covariance with what the noise adds
	Coverage95Full float64 `name:"coverage_95_full" result:"yes"`
	// share of the test points inside the central region of 99 %, covariance with what the noise adds
	Coverage99Full float64 `name:"coverage_99_full"`
	// share of the test points inside the central region of 50 %, covariance without it
	Coverage50Naive float64 `name:"coverage_50_naive"`
	// share of the test points inside the central region of 80 %, covariance without it
	Coverage80Naive float64 `name:"coverage_80_naive"`
	// share of the test points inside the central region of 95 %, covariance without it
	Coverage95Naive float64 `name:"coverage_95_naive" result:"yes"`
	// share of the test points inside the central region of 99 %, covariance without it
	Coverage99Naive float64 `name:"coverage_99_naive"`
	// root mean square error of the posterior mean against the true function at the test points
	RMSE float64 `name:"rmse" best:"low" result:"yes"`
	simulationMetrics
}

type heteroscedasticMetrics struct {
	// Delta of Eq. (6), for noise of variance 1
	Sensitivity float64 `name:"sensitivity" result:"yes"`
	// the same times the largest variance, as Appendix D says
	SensitivityPrinted float64 `name:"sensitivity_printed"`
	// the same over the least variance, which bounds what a substitution moves
	SensitivityValid float64 `name:"sensitivity_valid" result:"yes"`
	// largest move of the sums by a substitution, over inputs on a grid, outputs of either sign and both
	// variances
	LargestMove float64 `name:"largest_move" result:"yes"`
}

type regularisationMetrics struct {
	// share of the draws with norm(E_b)^2 <= sigma_b^2 M log(2 M^2/rho), M inducing inputs
	BoundShare float64 `name:"bound_share" best:"high"`
	// share of the draws whose norm(E_b)/sigma^2 is at most lambda of Eq. (10)
	PrintedShare float64 `name:"printed_share"`
	// the same for lambda with the square root of the last factor
	CorrectedShare float64 `name:"corrected_share"`
	// share of the draws with a positive definite update, lambda of Eq. (10)
	DefinitePrinted float64 `name:"definite_printed" best:"high" result:"yes"`
	// the same for lambda with the square root of the last factor
	DefiniteCorrected float64 `name:"definite_corrected" best:"high" result:"yes"`
	// the same without lambda
	DefiniteNaive float64 `name:"definite_naive" best:"high" result:"yes"`
	// norm(E_b) over the root of its bound, mean over the draws
	NormOverBound float64 `name:"norm_over_bound"`
	// smallest eigenvalue of B without noise, mean over the draws
	LeastEigenvalue float64 `name:"least_eigenvalue"`
	// standard deviation of the noise on the diagonal of B
	SigmaB float64 `name:"sigma_b"`
}

// scenarioMetrics compare coverages over the scenarios: a level, a noise level and an ε
// each. The error of a coverage is its distance from the level; the gain is by how much
// the naive covariance has the larger one.
type scenarioMetrics struct {
	// mean error over the scenarios, covariance with what the noise adds
	ErrorFull float64 `name:"error_full" best:"low" result:"yes"`
	// mean error over the scenarios, covariance without it
	ErrorNaive float64 `name:"error_naive" best:"low" result:"yes"`
	// the latter less the former, mean over the scenarios with this noise level (in three digits with _ for
	// the point)
	GainOfSigma map[string]float64 `name:"gain_sigma_*"`
	// the same over the scenarios with this epsilon
	GainOfEpsilon map[string]float64 `name:"gain_epsilon_*"`
	// mean error without what the noise adds over the scenarios with this noise level
	NaiveOfSigma map[string]float64 `name:"error_naive_sigma_*"`
	// the same over the scenarios with this epsilon
	NaiveOfEpsilon map[string]float64 `name:"error_naive_epsilon_*"`
	// how far the coverage moves from the smallest epsilon to the largest, with what the noise adds; mean
	// over the levels, at this noise level
	ChangeFull map[string]float64 `name:"change_full_sigma_*"`
	// the same without it
	ChangeNaive map[string]float64 `name:"change_naive_sigma_*"`
	// share of the scenarios in which less is covered than the level, with what the noise adds
	OverconfidentShare float64 `name:"overconfident_share"`
	// share of the scenarios in which the error is smaller with what the noise adds
	ImprovedShare float64 `name:"improved_share" best:"high"`
	// levels, noise levels and values of epsilon together
	Scenarios float64 `name:"scenarios"`
	// wall time of all scenarios with all their repeats, on all workers
	Time float64 `name:"time_s" unit:"s" timing:"yes" best:"low"`
}
