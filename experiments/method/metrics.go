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
	RMSE float64 `name:"rmse"`
	// the same without noise
	RMSEWithoutNoise float64 `name:"rmse_without_noise"`
	// the same of the middle of the output's range: what costs no privacy
	RMSECentre float64 `name:"rmse_centre"`
	// share of the test outputs inside the central region of 95 %, with the variance of observations
	Coverage95 float64 `name:"coverage_95"`
	// mean standard deviation of the function at the test rows, in the unit of the output
	MeanSD float64 `name:"mean_sd"`
	RowCounts
}

// ClassificationScores are the metrics of every classification.
type ClassificationScores struct {
	// share of the test rows whose class has the largest score
	Accuracy float64 `name:"accuracy"`
	// the same without noise
	AccuracyWithoutNoise float64 `name:"accuracy_without_noise"`
	// what the same epsilon buys without inputs: share of the test rows in the class that is always said, chosen
	// by the exponential mechanism from the counts of the training rows; in expectation
	AccuracyLargest float64 `name:"accuracy_largest"`
	// share of the test rows in the largest class
	AccuracyChance float64 `name:"accuracy_chance"`
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
