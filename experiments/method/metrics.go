package method

import (
	_ "embed"

	"privkern/runner/experiment"
)

//go:embed metrics.go
var metricsSource string

func init() { experiment.Document[RegressionScores](metricsSource) }

// RegressionScores are the metrics of every regression.
type RegressionScores struct {
	// root mean square error at the test rows, in the unit of the output
	RMSE float64 `name:"rmse" best:"low" result:"yes"`
	// the same without noise
	RMSEWithoutNoise float64 `name:"rmse_without_noise" best:"low" result:"yes"`
	// the same of the middle of the output's range: what costs no privacy
	RMSECentre float64 `name:"rmse_centre"`
	// share of the test outputs inside the central region of 95 %, with the variance of observations
	Coverage95 float64 `name:"coverage_95"`
	// mean standard deviation of the function at the test rows, in the unit of the output
	MeanSD float64 `name:"mean_sd"`
	RegressionMeasures
	RowCounts
}

// RegressionMeasures are those of every regression, with the trivial rule's.
type RegressionMeasures struct {
	// share of the squared differences of the test outputs from their mean that the predictions explain: 1 is perfect,
	// 0 is that mean itself (not where the test outputs are all equal)
	R2 *float64 `name:"r2" best:"high"`
	// the same of the trivial rule, the middle of the output's range, which is 0 or less
	R2Centre *float64 `name:"r2_centre"`
	// mean absolute error at the test rows, in the unit of the output
	MAE *float64 `name:"mae" best:"low"`
	// the same of the middle of the output's range
	MAECentre *float64 `name:"mae_centre"`
}

// ClassMeasures are those of every classification, with the trivial rule's.
type ClassMeasures struct {
	// area under the ROC curve of the score of one class against the others, mean over the classes; the trivial rule
	// has 0.5 (own data only)
	AUC *float64 `name:"auc" best:"high"`
	// share of the test rows of a class that get their own class, mean over the classes (own data only)
	Balanced *float64 `name:"balanced_accuracy" best:"high"`
	ClassLosses
}

// ClassLosses are those that the probabilities of classes have.
type ClassLosses struct {
	ClassCounts
	// mean of -ln of the probability of a row's own class, of which less than 1e-15 counts as that (own data only)
	LogLoss *float64 `name:"log_loss" best:"low"`
	// the same of the trivial rule, which gives every row the shares of the classes of the training rows, with one row
	// of each added (own data only)
	LogLossTrivial *float64 `name:"log_loss_trivial"`
}

// ClassCounts are those that the classes of rows have.
type ClassCounts struct {
	// balanced accuracy of the trivial rule, always one class: one over the number of classes that are tested (own data
	// only)
	BalancedTrivial *float64 `name:"balanced_accuracy_trivial"`
	// confusion_A_as_B: test rows of the class A that get the class B, mean over the splits, of at most ten classes
	// (own data only)
	Confusion map[string]float64 `name:"confusion_*"`
}

// ClassificationScores are the metrics of every classification.
type ClassificationScores struct {
	// share of the test rows whose class has the largest score
	Accuracy float64 `name:"accuracy" best:"high" result:"yes"`
	// the same without noise
	AccuracyWithoutNoise float64 `name:"accuracy_without_noise" best:"high" result:"yes"`
	// what the same epsilon buys without inputs: share of the test rows in the class that is always said, chosen
	// by the exponential mechanism from the counts of the training rows, of which a person moves as many as
	// rows_per_person; in expectation
	AccuracyLargest float64 `name:"accuracy_largest"`
	// share of the test rows in the largest class
	AccuracyChance float64 `name:"accuracy_chance"`
	ClassMeasures
	RowCounts
}

// RowCounts are the numbers of rows.
type RowCounts struct {
	// rows that were used
	UsedRows float64 `name:"used_rows"`
	// rows left out because an input or the output has no value
	DroppedRows float64 `name:"dropped_rows"`
}

// Clipping is how much of the outputs is beyond their range.
type Clipping struct {
	// share of the outputs that were outside of low to high and clipped
	ClippedFraction float64 `name:"clipped_fraction"`
}
