package regression

import (
	_ "embed"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[Settings](source) }

// Settings are those of dpgp/regression.
type Settings struct {
	method.Columns
	method.OutputRange
	// inducing inputs, which are public: how many on a regular grid from input_low to input_high in
	// every input, or csv:PATH, a file with the columns of the inputs. They must not be rows of the data
	Inducing string `name:"inducing" default:"9"`
	// lower end of the grid, one for all inputs or one for each, joined by commas in the order of inputs
	// (with your own data it must be given for a grid); it must not be read off the data
	InputLow method.Ends `name:"input_low" default:"none" when:"inducing is not csv:* or parquet:* or npy:* or images:*"`
	// upper end of the grid, one for all inputs or one for each
	InputHigh method.Ends `name:"input_high" default:"none" when:"inducing is not csv:* or parquet:* or npy:* or images:*"`
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
	method.Splits
	method.Person  `when:"person: dataset is not simulated"`
	method.Invalid `when:"invalid: dataset is not simulated"`
}

type covariance struct {
	// what the noise adds to the posterior's covariance: Eq. (14) with symmetric noise, or as printed
	Covariance sparse.Covariance `name:"covariance" default:"corrected" choices:"corrected,as-published"`
}

// boundOrAuto is the bound that suits the number of inputs, or one more than a
// [sparse.Bound].
type boundOrAuto int

const autoBound boundOrAuto = 0

func (boundOrAuto) Choices() []string { return append([]string{"auto"}, sparse.Bound(0).Choices()...) }

// calibrate calibrates noise for the bound, and returns the bound.
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
	method.RegressionScores `doc:"rmse_without_noise: the same from sums without noise"`
	publicMetrics
	method.Clipping
}

// publicMetrics are those of public settings alone: a release has them, too.
type publicMetrics struct {
	// how many there are
	InducingInputs float64 `name:"inducing_inputs"`
	// bound on the squared norm of a kernel vector
	NormSquared float64 `name:"r_k_sq"`
	sparse.FitMetrics
}
