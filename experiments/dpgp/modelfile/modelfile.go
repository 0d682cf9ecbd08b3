// Package modelfile is the file format of a published Gaussian process, and what
// those who get such a file can do with it: predict. Nothing here needs the data
// that the model was made from.
package modelfile

import "privkern/runner/experiment"

// The versions that this package writes and reads.
const (
	// Format is that of a model with one lengthscale for all inputs, which earlier
	// programs read, too.
	Format = "dpgp/1"
	// FormatLengthscales is that of one with a lengthscale for each.
	FormatLengthscales = "dpgp/2"
)

// FormatOf returns the version of a model; several says that its inputs have a
// lengthscale each.
func FormatOf(several bool) string {
	if several {
		return FormatLengthscales
	}
	return Format
}

// About is what the file of a model says to its reader.
func About(several bool) string {
	if several {
		return about + "variance exp(-|u-u'|^2/2) of u = x/lengthscales, input by input."
	}
	return about + "variance exp(-|x-x'|^2/(2 lengthscale^2))."
}

const about = "A sparse Gaussian process, made with differential privacy: run predict THIS_FILE --at x.csv predicts. " +
	"Mean and covariance are those of the function at the inducing inputs, for (output - centre)/scale; the kernel is "

// Model is a sparse Gaussian process that may be published (Honkela 2021, Section
// 3): with u the values of the function at the inducing inputs, N(mean,
// covariance). Mean and covariance are of the scaled output (y − centre)/scale.
type Model struct {
	Format     string              `json:"model"` // Format or FormatLengthscales
	About      string              `json:"about"`
	Inputs     []string            `json:"inputs"` // names of the columns
	Output     Output              `json:"output"`
	Kernel     Kernel              `json:"kernel"`
	Noise      float64             `json:"noise_variance"` // of an observation of the scaled output
	Jitter     float64             `json:"jitter"`         // on the diagonal of the inducing inputs' covariance
	Inducing   [][]float64         `json:"inducing"`       // M×D
	Mean       []float64           `json:"mean"`           // M
	Covariance [][]float64         `json:"covariance"`     // M×M, symmetric
	Mechanism  Mechanism           `json:"mechanism"`
	Privacy    *experiment.Privacy `json:"privacy"`
}

// Output is what is predicted.
type Output struct {
	Name   string  `json:"name"`
	Centre float64 `json:"centre"`
	Scale  float64 `json:"scale"` // outputs were clipped to centre ± scale
}

// Kernel is variance·exp(−|x − x'|²/(2 lengthscale²)), or variance·exp(−|u − u'|²/2) of
// u = x/lengthscales: there is the one or the others.
type Kernel struct {
	Name         string    `json:"name"` // EQ
	Lengthscale  float64   `json:"lengthscale,omitempty"`
	Lengthscales []float64 `json:"lengthscales,omitempty"` // one for each input
	Variance     float64   `json:"variance"`
}

// Mechanism is how much noise the sums A and B over the data had.
type Mechanism struct {
	Epsilon     float64 `json:"epsilon"`
	Delta       float64 `json:"delta"`
	Sensitivity float64 `json:"sensitivity"` // of A and ratio·B together
	Bound       string  `json:"bound"`
	NormSquared float64 `json:"r_k_squared"` // bound on the squared norm of a kernel vector
	SigmaA      float64 `json:"sigma_a"`
	SigmaB      float64 `json:"sigma_b"`
	Lambda      float64 `json:"lambda"`
}

// Columns of predictions beside the inputs.
const (
	ColumnMean       = "mean"
	ColumnSD         = "sd"            // of the function
	ColumnPredictive = "predictive_sd" // of an observation
)

// Reserved are the names that no input can have.
var Reserved = []string{ColumnMean, ColumnSD, ColumnPredictive}
