package regression

import (
	_ "embed"

	"privkern/experiments/dpgp/own"
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
	// every input (9, where its grid has more than 500 points, stands for 50 in all); from 23 on, of several inputs, how
	// many in all, on a Halton sequence; auto, the default of your own data, for a few by the number of inputs; or
	// csv:PATH, a file with the columns of the inputs. They must not be rows of the data
	Inducing    string `name:"inducing" default:"9"`
	own.Centres `when:"inducing_centres: inducing is csv:* or parquet:* or npy:* or images:*"`
	// lower end of their range, one for all inputs or one for each, joined by commas in the order of inputs (of a
	// category it is not read; with your own data it must be given unless a file has them); it must not be read off the
	// data
	InputLow method.Ends `name:"input_low" default:"none" when:"inducing is not csv:* or parquet:* or npy:* or images:*"`
	// upper end of that range, one for all inputs or one for each
	InputHigh method.Ends `name:"input_high" default:"none" when:"inducing is not csv:* or parquet:* or npy:* or images:*"`
	// lengthscale of the EQ kernel, one for all inputs or one for each, joined by commas in the order of
	// inputs and in their units; public. auto, the default of your own data: a tenth of the range of one input, of d
	// inputs 0.35 sqrt(d) of each range, of kernel features sqrt(d)/4, and at least half the distance of inducing inputs
	// whose number is given
	Lengthscale method.Lengthscale `name:"lengthscale" default:"1" above:"0"`
	// variance of the kernel for outputs scaled to [-1, 1]; public. Of your own data 0.25 by default
	KernelVariance float64 `name:"kernel_variance" default:"1" above:"0"`
	// standard deviation of the observation noise for outputs scaled to [-1, 1]; public. Of your own data 0.2 by default
	Sigma             float64 `name:"sigma" default:"0.1" above:"0"`
	sparse.Budget     `also:"delta: csv: it must be given, far below 1/n for n rows"`
	sparse.NoiseRatio `also:"ratio: of your own data 1/sqrt(kernel_variance), of kernel features 1/kernel_variance"`
	// vectors of which the rows' products are summed: kernel, k of the inducing inputs, as published; whitened, of your
	// own data the default unless bound or covariance is given, L^-1 k with the Cholesky factor L of their covariance,
	// whose norm does not grow where kernels overlap, so that there is less noise where rows differ
	Features sparse.Features `name:"features" default:"kernel" later:"yes" when:"dataset is not simulated"`
	// bound on the norm of a row's kernel vector: auto is the exact maximum over all inputs, up to a relative 1e-6; for
	// more than six inputs that are no grid it is a bound by the largest eigenvalue of the kernel matrix
	Bound                 boundOrAuto `name:"bound" default:"auto"`
	covariance            `when:"covariance: epsilon is not inf"`
	sparse.Lambda         `default:"regularisation: corrected" also:"rho: of your own data 0.5 by default"`
	sparse.DiagonalJitter `default:"jitter: 1e-8"`
	method.Neighbours
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

// bound is the bound that is taken.
func (b boundOrAuto) bound() sparse.Bound {
	if b == autoBound {
		return sparse.Exact
	}
	return sparse.Bound(b - 1)
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
