package choose

import (
	_ "embed"

	"privkern/experiments/cloaking/cloak"
	"privkern/runner/experiment"
)

//go:embed metrics.go
var metricsSource string

func init() { experiment.Document[selectionMetrics](metricsSource) }

// byConfiguration are families of metrics, one for each [configuration.name] or each
// [nameOf] a lengthscale.
type byConfiguration struct {
	// probability_l25_n0_2_v1: probability of choosing lengthscale 25, noise variance 0.2,
	// kernel variance 1; 0 for what is left out
	Probability map[string]float64 `name:"probability_*"`
	// probability_lengthscale_25: probability of choosing lengthscale 25, whatever the
	// variances
	LengthscaleProbability map[string]float64 `name:"probability_lengthscale_*"`
	// rmse_cm_l25_n0_2_v1: root mean square error of that configuration over all folds, with
	// the noise of a release of each fold, against the clipped heights
	RMSE map[string]float64 `name:"rmse_cm_*" unit:"cm" best:"low"`
	// holdout_rmse_cm_l25_n0_2_v1: the same on the rows outside the split, predicted from
	// those inside it and released together (not with split=all)
	HoldoutRMSE map[string]float64 `name:"holdout_rmse_cm_*" unit:"cm" best:"low"`
}

// boundMetrics are of the grid, and public: a release of a choice reports them.
type boundMetrics struct {
	// sensitivity of the utility, in units of sensitivity_cm squared: the largest of the
	// configurations that are kept
	Sensitivity float64 `name:"sensitivity_over_d2"`
	// number of configurations
	Configurations float64 `name:"configurations"`
}

// modelMetrics are public, too.
type modelMetrics struct {
	// number of configurations that differ in lengthscale or in the ratio of the variances,
	// and so in their predictions
	Distinct float64 `name:"distinct"`
}

// releaseMetrics are those of a release, which must not depend on heights.
type releaseMetrics struct {
	boundMetrics
	modelMetrics
}

// selectionMetrics are those of a trial.
type selectionMetrics struct {
	byConfiguration
	// mean of the configurations' rmse_cm, weighted by probability
	ExpectedRMSE float64 `name:"expected_rmse_cm" unit:"cm" best:"low" result:"yes"`
	// mean of the configurations' holdout_rmse_cm, weighted by probability (not with
	// split=all)
	ExpectedHoldoutRMSE *float64 `name:"expected_holdout_rmse_cm" unit:"cm" best:"low" result:"yes"`
	// unweighted mean of the rmse_cm of all configurations, also of those left out
	MeanRMSE float64 `name:"mean_rmse_cm" unit:"cm" best:"low"`
	// smallest rmse_cm of all configurations
	BestRMSE float64 `name:"best_rmse_cm" unit:"cm" best:"low" result:"yes"`
	// probability of the first configuration with the smallest rmse_cm
	BestProbability float64 `name:"best_probability"`
	// number of configurations whose rmse_cm is at most 1.3 times the smallest
	NearBest float64 `name:"near_best"`
	boundMetrics
	// rows that a fold of the selection is trained on, the fewest
	TrainingRows float64 `name:"training_rows"`
	modelMetrics
	// number of configurations that threshold and sse_cut leave
	Kept float64 `name:"kept"`
	// lengthscale of one choice by the mechanism
	SelectedLengthscale float64 `name:"selected_lengthscale" unit:"years or kg"`
	// noise variance of that choice
	SelectedNoiseVariance float64 `name:"selected_noise_variance"`
	// kernel variance of that choice
	SelectedKernelVariance float64 `name:"selected_kernel_variance"`
	// selection_epsilon + epsilon: what choosing and one release afterwards spend, by basic
	// composition (with finite epsilon only)
	TotalEpsilon *float64 `name:"total_epsilon" best:"low"`
	cloak.ClippedHeights
	// largest certificate over configurations and folds: by how many nats at most the
	// log-determinant of the noise covariance is above the smallest; with solver=gradient it
	// is an upper bound, of the given steps (with noise only)
	Gap *float64 `name:"gap"`
}
