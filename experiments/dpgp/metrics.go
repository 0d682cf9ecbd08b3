package dpgp

import (
	_ "embed"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed metrics.go
var metricsSource string

func init() { experiment.Document[hyperparameterMetrics](metricsSource) }

type searchTimeMetrics struct {
	// wall time of a search, on all workers; mean over the repeats
	Time float64 `name:"search_s" unit:"s" timing:"yes" best:"low" result:"yes"`
}

type hyperparameterMetrics struct {
	// share of the repeats in which this noise level was chosen, in three digits with _ for the point
	Sigmas map[string]float64 `name:"p_sigma_*"`
	// share of the repeats in which this lengthscale was chosen
	Lengthscales map[string]float64 `name:"p_lengthscale_*"`
	// share of the repeats in which no score was taken, and nothing chosen
	None float64 `name:"p_none" best:"low" result:"yes"`
	// epsilon of each draw, model and score together (with noise only)
	CandidateEpsilon *float64 `name:"candidate_epsilon"`
	// delta of each draw (with noise only)
	CandidateDelta *float64 `name:"candidate_delta"`
	// number of draws after which the search stops (with noise only)
	DrawsMost *float64 `name:"draws_most"`
	// draws that were made, mean over the repeats; the guarantee needs them to be secret, and a record
	// that protects leaves them out
	DrawsMean *float64 `name:"draws_mean" best:"low"`
	// draws whose noise exceeded lambda, so that there was no model to score, mean over the repeats;
	// secret like them
	IndefiniteMean *float64 `name:"indefinite_mean"`
	// share of the scored draws whose mean log-likelihood, from CoinPress, is outside the interval in which
	// it must lie (with noise only); secret like them
	OutsideShare *float64 `name:"outside_share"`
	ownSearchMetrics
}

// ownSearchMetrics are those of a user's own data.
type ownSearchMetrics struct {
	// root mean square error at the test rows, in the unit of the output, of the chosen candidate without
	// noise in its model; mean over the repeats (own data only)
	RMSEChosen *float64 `name:"rmse_chosen" best:"low" result:"yes"`
	// the same of the candidate with the smallest one, which looks at the test rows (own data only)
	RMSEBest *float64 `name:"rmse_best" best:"low" result:"yes"`
	// the same of a candidate drawn evenly: what costs no privacy (own data only)
	RMSEDrawn *float64 `name:"rmse_drawn" best:"low"`
	// the same of the middle of the output's range (own data only)
	RMSECentre *float64 `name:"rmse_centre"`
	// rows that were used (own data only)
	SearchRows *float64 `name:"used_rows"`
	// rows left out because a value is missing (own data only)
	SearchDropped *float64 `name:"dropped_rows"`
}

type classificationMetrics struct {
	// share of the test rows whose class has the largest posterior mean
	Accuracy float64 `name:"accuracy" best:"high" result:"yes"`
	// the same from sums without noise
	AccuracyWithoutNoise *float64 `name:"accuracy_without_noise" best:"high" result:"yes"`
	// the same of who knows the probabilities from which labels are drawn, in expectation (simulated data
	// only)
	AccuracyBest *float64 `name:"accuracy_best" best:"high"`
	// share of the test rows in the largest class
	AccuracyChance float64 `name:"accuracy_chance"`
	// by how much a substituted row moves the sums that share one budget: those of all classes (joint), or
	// of one
	Sensitivity float64 `name:"sensitivity" best:"low"`
	sparse.NoiseDeviation
	ownClassMetrics
}

// ownClassMetrics are those of a user's own data.
type ownClassMetrics struct {
	// what the same epsilon buys without inputs: share of the test rows in the class that is always said, chosen
	// by the exponential mechanism from the counts of the training rows, with the epsilon of one row also where a
	// person is protected; in expectation (own data only)
	AccuracyLargest *float64 `name:"accuracy_largest"`
	method.ClassMeasures
	// rows that were used (own data only)
	UsedRows *float64 `name:"used_rows"`
	// rows left out because a value is missing (own data only)
	DroppedRows *float64 `name:"dropped_rows"`
	publicClassMetrics
}

// publicClassMetrics are those of public settings alone: a release has them, too.
type publicClassMetrics struct {
	// how many classes there are (own data only)
	ClassCount *float64 `name:"class_count"`
	// how many inducing inputs there are (own data only)
	InducingInputs *float64 `name:"inducing_inputs"`
	// bound on the squared norm of a kernel vector (own data only)
	NormSquared *float64 `name:"r_k_sq"`
}
