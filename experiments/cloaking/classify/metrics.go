package classify

import (
	_ "embed"

	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed metrics.go
var metricsSource string

func init() { experiment.Document[fitMetrics](metricsSource) }

// stepMetric counts Newton steps.
type stepMetric struct {
	// Newton steps of the Laplace approximation that were taken: with noise, and where
	// iterations is given, results are those after this number
	Steps float64 `name:"newton_steps"`
}

// fitMetrics are those of one fit.
type fitMetrics struct {
	stepMetric
	// number of released directions, the smallest over the Newton steps (with noise only)
	Rank *float64 `name:"rank"`
	// largest certificate over the Newton steps: by how many nats at most the
	// log-determinant of the noise covariance is above the smallest; with solver=gradient it
	// is an upper bound, of the given steps (with noise only)
	Gap *float64 `name:"gap"`
}

// accuracyMetrics are those of one fit on test inputs with known classes.
type accuracyMetrics struct {
	// share of the test inputs whose class is predicted rightly, averaged over draws
	Accuracy float64 `name:"accuracy" best:"high" result:"yes"`
	// standard deviation (population) of the accuracy over draws (with noise only)
	SD *float64 `name:"accuracy_sd"`
	// standard error of the mean accuracy over draws (with noise only)
	SE *float64 `name:"accuracy_se"`
}

type stripesMetrics struct {
	accuracyMetrics
	fitMetrics
	areaMetrics
}

// areaMetrics are those of parts of the grid, which Section 5.5 describes.
type areaMetrics struct {
	// mean distance of the predicted probability from 1/2, over the grid points within 1 of
	// a boundary between the classes (in x + y), and over draws (where there are any)
	Near *float64 `name:"confidence_near_boundaries"`
	// the same, of the other grid points (where there are any)
	Far *float64 `name:"confidence_elsewhere"`
	// standard deviation (population) of the predicted probability over draws, averaged over
	// the three lowest rows of the grid, where training points are dense (with noise only)
	SDBottom *float64 `name:"probability_sd_bottom"`
	// the same, of the three highest rows, where they are sparse (with noise only)
	SDTop *float64 `name:"probability_sd_top"`
	// share of the points of the three lowest rows at which draws are highly confident, with
	// a probability of at least 0.9, for both classes (with noise only)
	BothBottom *float64 `name:"both_confident_bottom"`
	// the same, of the three highest rows (with noise only)
	BothTop *float64 `name:"both_confident_top"`
}

type digitsMetrics struct {
	accuracyMetrics
	// share of the test images in the larger of the two classes
	Chance float64 `name:"chance"`
	fitMetrics
}

type hmeqMetrics struct {
	// p_default_K: predicted probability of default at K delinquent credit lines, K = 0 to
	// 14, averaged over draws; p_default_K_q05, _q25, _q50, _q75 and _q95: its quantiles
	// over draws (with noise only)
	Default map[string]float64 `name:"p_default_*" result:"yes"`
	// loans without a number of delinquent credit lines, which are left out
	DroppedRows float64 `name:"dropped_rows"`
	// loans of the drawn ones that defaulted
	Defaults float64 `name:"defaults"`
	fitMetrics
}

// classificationMetrics are those of a cross-validation.
type classificationMetrics struct {
	// share of the test rows of a fold whose class is predicted rightly, averaged over
	// draws, then over folds
	Accuracy float64 `name:"accuracy" best:"high" result:"yes"`
	// standard deviation over folds (population) of the draw-averaged accuracy
	FoldSD float64 `name:"accuracy_fold_sd"`
	// mean of the shares of both classes that are predicted rightly, over all test rows,
	// averaged over draws; where these are of one class, its share
	Balanced float64 `name:"balanced_accuracy" best:"high"`
	// area under the ROC curve of the latent mean over all test rows, averaged over draws (not where
	// these are of one class)
	AUC *float64 `name:"auc" best:"high"`
	// share of the larger class: what is right without looking at the inputs
	Majority float64 `name:"majority"`
	method.ClassLosses
	// rows that were used
	UsedRows float64 `name:"used_rows"`
	// rows left out because an input or the output has no value
	DroppedRows float64 `name:"dropped_rows"`
	// Newton steps of the Laplace approximation that were taken, the most over folds: with
	// noise, and where iterations is given, results are those after this number
	Steps float64 `name:"newton_steps"`
	// number of released directions, the smallest over folds and Newton steps (with noise
	// only)
	Rank *float64 `name:"rank"`
	// largest certificate over folds and Newton steps: by how many nats at most the
	// log-determinant of the noise covariance is above the smallest; with solver=gradient it
	// is an upper bound, of the given steps (with noise only)
	Gap *float64 `name:"gap"`
}

// referenceMetrics are compared with those of another implementation. The mode's are
// not reported where the first step is at the mode.
type referenceMetrics struct {
	// Frobenius norm of the cloaking matrix C of the first Newton step, from f = 0 (Eq. 6)
	FrobeniusC float64 `name:"frobenius_c"`
	// latent function at input 0 after one step
	StepLatent float64 `name:"f_0_step"`
	// latent mean at the test input after one step
	StepMean float64 `name:"mean_step" result:"yes"`
	// latent function at input 0 at the mode
	ModeLatent *float64 `name:"f_0_mode"`
	// latent mean at the test input at the mode
	ModeMean *float64 `name:"mean_mode" result:"yes"`
	// latent variance at the test input at the mode (DTC's with method=sparse)
	ModeVariance float64 `name:"variance_mode" result:"yes"`
	stepMetric
}
