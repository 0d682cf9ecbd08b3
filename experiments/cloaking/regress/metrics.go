package regress

import (
	_ "embed"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed metrics.go
var metricsSource string

func init() { experiment.Document[curveMetrics](metricsSource) }

// rankMetric is reported with noise only.
type rankMetric struct {
	// number of released directions, the smallest over the sets of predictions that are
	// released (with noise only)
	Rank *float64 `name:"rank"`
}

// singleMetrics are those of one set of predictions.
type singleMetrics struct {
	cloak.ClippedHeights
	rankMetric
	// certificate: by how many nats at most the log-determinant of the noise covariance is
	// above the smallest; with solver=gradient it is an upper bound, of the given steps
	// (with noise only)
	Gap *float64 `name:"gap" best:"low"`
}

type curveMetrics struct {
	// released part of the prediction at at_age, without its noise, from the clipped heights
	Mean float64 `name:"mean_cm" unit:"cm" result:"yes"`
	// standard deviation of the noise at at_age
	NoiseSD float64 `name:"noise_sd_cm" unit:"cm" best:"low" result:"yes"`
	// largest standard deviation of the noise over the ages
	NoiseSDMax float64 `name:"noise_sd_max_cm" unit:"cm" best:"low"`
	// posterior standard deviation of the height at at_age, without observation noise, which is
	// public up to its unit and takes no noise
	PosteriorSD float64 `name:"posterior_sd_cm" unit:"cm" best:"low"`
	// nonstationary: the lengthscale at at_age
	Lengthscale *float64 `name:"lengthscale_years" unit:"years"`
	// weighted-sum: share of the weights (absolute values) of the prediction at at_age that falls
	// to rows of the dense regime, where the function with the short lengthscale has half or more
	DenseShare *float64 `name:"dense_share"`
	singleMetrics
}

type surfaceMetrics struct {
	// released part of the prediction at at_weight and at_age, without its noise, from the
	// clipped heights
	Mean float64 `name:"mean_cm" unit:"cm" result:"yes"`
	// standard deviation of the noise at at_weight and at_age
	NoiseSD float64 `name:"noise_sd_cm" unit:"cm" best:"low" result:"yes"`
	// that standard deviation over the prediction there
	NoiseOverMean float64 `name:"noise_over_mean" best:"low"`
	// median of the standard deviation of the noise over the grid
	NoiseSDMedian float64 `name:"noise_sd_median_cm" unit:"cm" best:"low"`
	// share of the grid at which the standard deviation of the noise is below 40 cm, where
	// the paper's figure stops showing predictions
	Usable float64 `name:"usable_fraction" best:"high" result:"yes"`
	singleMetrics
}

type regimeMetrics struct {
	// covariance of two points of the dense region
	Short float64 `name:"covariance_short" result:"yes"`
	// covariance of two outliers
	Long float64 `name:"covariance_long" result:"yes"`
	// covariance of a point of the dense region and an outlier
	Across float64 `name:"covariance_across" result:"yes"`
	// gibbs: the lengthscale at a point that maximises its covariance with an outlier, over the
	// outlier's
	BestRatio *float64 `name:"best_ratio"`
	// sum of the weights of the clique's outputs in the prediction; 1 where each is 1/n
	CliqueShare float64 `name:"clique_share"`
	// largest difference of one of these weights from their mean, times n
	CliqueSpread float64 `name:"clique_spread" best:"low"`
}

type designMetrics struct {
	// Frobenius norm of the cloaking matrix C, one column per training row
	FrobeniusC float64 `name:"frobenius_c"`
	// number of released directions
	Rank float64 `name:"rank"`
	// log-determinant of M on its range, in nats
	LogDet float64 `name:"logdet_m" best:"low" result:"yes"`
	// log-determinant of M in the whitened coordinates of the range of C
	LogDetRange float64 `name:"logdet_range"`
	// trace of M
	Trace float64 `name:"trace_m" best:"low"`
	// largest squared norm of a column of C: the variance that spherical noise needs
	LargestColumn float64 `name:"max_column_norm_sq" best:"low"`
	// sum of the weights; the rank at the optimum
	SumLambda float64 `name:"sum_lambda"`
	// largest Mahalanobis norm of a column of the computed cloaking matrix, by which the
	// noise is scaled
	MaxMahalanobis float64 `name:"max_mahalanobis"`
	// certificate for the computed cloaking matrix, after that scaling: by how many nats at
	// most the log-determinant of the noise covariance is above the smallest; with
	// solver=gradient it is an upper bound, of the given steps
	Gap float64 `name:"gap" best:"low"`
	// steps that the solver took
	Iterations float64 `name:"iterations"`
	// wall time of the solver; differs from run to run
	Time float64 `name:"time_s" unit:"s" timing:"yes" best:"low"`
}

// regressionMetrics are those of the census, in centimetres, or those of a user's
// file, in the unit of its output.
type regressionMetrics struct {
	// root mean square error on the test rows of a fold, measured against the clipped
	// heights, averaged over draws, then over folds
	RMSEHeights *float64 `name:"rmse_cm" unit:"cm" best:"low" result:"yes"`
	// standard deviation over folds (population) of the draw-averaged error
	RMSEHeightsFoldSD *float64 `name:"rmse_fold_sd_cm" unit:"cm"`
	// root mean square, over all test rows, of the noise's standard deviation
	NoiseSDHeights *float64 `name:"noise_sd_cm" unit:"cm" best:"low" result:"yes"`
	cloak.ClippedHeights
	// csv: what rmse_cm is, in the unit of the output; with fold_scheme=common measured against the outputs as they are,
	// not clipped
	RMSE *float64 `name:"rmse" best:"low" result:"yes"`
	// csv: what rmse_fold_sd_cm is
	RMSEFoldSD *float64 `name:"rmse_fold_sd"`
	// csv: what noise_sd_cm is
	NoiseSD *float64 `name:"noise_sd" best:"low"`
	// csv: root mean square error of the middle of the output's range, as rmse
	RMSECentre *float64 `name:"rmse_centre"`
	method.RegressionMeasures
	// csv: share of the test outputs inside their region of 95 %, with the variance of an observation and that of the
	// noise; mean over draws
	Coverage95 *float64 `name:"coverage_95"`
	// csv: number of outputs outside [low, high], which were clipped to it: predictions are
	// made from the clipped outputs, and errors are measured against them
	ClippedOutputs *float64 `name:"clipped_outputs"`
	// csv: number of rows left out because an input or the output has no value
	DroppedRows *float64 `name:"dropped_rows"`
	rankMetric
	// largest certificate over folds: by how many nats at most the log-determinant of the
	// noise covariance is above the smallest; with solver=gradient it is an upper bound, of
	// the given steps (with noise only)
	Gap *float64 `name:"gap" best:"low"`
}
