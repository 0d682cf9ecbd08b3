package regression

import (
	_ "embed"

	"privkern/experiments/dpgp/own"
	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[Settings](source) }

// Settings are those of dpgp/regression.
type Settings struct {
	// simulated, 1024 observations of sin(2x)/(2x), or your own data: csv:PATH, comma-separated values
	// with a header, parquet:PATH, npy:PATH or images:FOLDER
	Dataset string `name:"dataset" default:"simulated"`
	// names of the columns that are predicted from, joined by + or commas, or * for every numeric one;
	// they are protected. A category has its levels beside it, colour[red|green]
	Inputs string `name:"inputs" default:"x" when:"dataset is not simulated"`
	// the column that is predicted; it is protected
	Output string `name:"output" default:"y" when:"dataset is not simulated"`
	// lower end of the public range of the output, to which it is clipped (of your own data, where it
	// must be given); it must not be read off the data
	Low end `name:"low" default:"none"`
	// upper end of the public range of the output (of your own data, where it must be given)
	High end `name:"high" default:"none"`
	// inducing inputs, which are public: how many on a regular grid from input_low to input_high in
	// every input, or csv:PATH, a file with the columns of the inputs. They must not be rows of the data
	Inducing string `name:"inducing" default:"9"`
	// lower end of the grid, one for all inputs or one for each, joined by commas in the order of inputs
	// (with your own data it must be given for a grid); it must not be read off the data
	InputLow own.Ends `name:"input_low" default:"none" when:"inducing is not csv:* or parquet:* or npy:* or images:*"`
	// upper end of the grid, one for all inputs or one for each
	InputHigh own.Ends `name:"input_high" default:"none" when:"inducing is not csv:* or parquet:* or npy:* or images:*"`
	// lengthscale of the EQ kernel, one for all inputs or one for each, joined by commas in the order of
	// inputs and in their units; public
	Lengthscale experiment.Several `name:"lengthscale" default:"1" above:"0"`
	// variance of the kernel for outputs scaled to [-1, 1]; public
	KernelVariance float64 `name:"kernel_variance" default:"1" above:"0"`
	// standard deviation of the observation noise for outputs scaled to [-1, 1]; public
	Sigma         float64 `name:"sigma" default:"0.1" above:"0"`
	sparse.Budget `also:"delta: csv: it must be given, far below 1/n for n rows"`
	sparse.NoiseRatio
	// bound on the norm of a row's kernel vector: auto is the exact maximum over all inputs, up to a
	// relative 1e-6, and Eq. (8) for more than six inputs whose inducing inputs are no grid
	Bound                 boundOrAuto `name:"bound" default:"auto"`
	covariance            `when:"covariance: epsilon is not inf"`
	sparse.Lambda         `default:"regularisation: corrected"`
	sparse.DiagonalJitter `default:"jitter: 1e-8"`
	// share of the rows that is drawn for testing; a release is made from all rows
	Holdout float64 `name:"holdout" default:"0.2" above:"0" below:"1"`
	// splits into rows for training and testing, each with noise of its own; metrics are means over them
	Repeats int `name:"repeats" default:"10" min:"1" max:"100000"`
}

type covariance struct {
	// what the noise adds to the posterior's covariance: Eq. (14) with symmetric noise, or as printed
	Covariance sparse.Covariance `name:"covariance" default:"corrected" choices:"corrected,as-published"`
}

// end is an end of a public range, where one is given.
type end = experiment.Or[own.None, float64]

// boundOrAuto is the bound that suits the number of inputs, or one more than a
// [sparse.Bound].
type boundOrAuto int

const autoBound boundOrAuto = 0

func (boundOrAuto) Choices() []string { return append([]string{"auto"}, sparse.Bound(0).Choices()...) }

func givenBound(b sparse.Bound) boundOrAuto { return boundOrAuto(b) + 1 }

// calibrate calibrates noise for the bound, and says which one it is.
func (b boundOrAuto) calibrate(m *sparse.Model, c sparse.Calibration) (sparse.Noise, sparse.Bound, error) {
	if b == autoBound {
		return m.CalibrateBest(c)
	}
	c.Bound = sparse.Bound(b - 1)
	n, err := m.Calibrate(c)
	return n, c.Bound, err
}

// Metrics are those of dpgp/regression.
type Metrics struct {
	// root mean square error at the test rows, in the unit of the output
	RMSE float64 `name:"rmse"`
	// the same from sums without noise
	RMSEWithoutNoise float64 `name:"rmse_without_noise"`
	// the same of the middle of the output's range: what costs no privacy
	RMSECentre float64 `name:"rmse_centre"`
	// share of the test outputs inside the central region of 95 %, with the variance of observations
	Coverage95 float64 `name:"coverage_95"`
	// mean standard deviation of the function at the test rows, in the unit of the output
	MeanSD float64 `name:"mean_sd"`
	// rows that were used
	UsedRows float64 `name:"used_rows"`
	// rows left out because an input or the output has no value
	DroppedRows float64 `name:"dropped_rows"`
	publicMetrics
	// share of the outputs that were outside of low to high and clipped
	ClippedFraction float64 `name:"clipped_fraction"`
}

// publicMetrics are those of public settings alone: a release has them, too.
type publicMetrics struct {
	// how many there are
	InducingInputs float64 `name:"inducing_inputs"`
	// bound on the squared norm of a kernel vector
	NormSquared float64 `name:"r_k_sq"`
	sparse.FitMetrics
}
