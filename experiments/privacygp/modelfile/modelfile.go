// Package modelfile is the file format of obfuscated data of a Gaussian process, and what
// those who get such a file can do with it: predict, by the process in the file or by one
// of their own that takes the covariance of the noise.
package modelfile

import (
	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// Format is the version that this package writes and reads.
const Format = "privkern/privacygp-model/1"

// Model is data W = Y + Z with Z ~ N(0, Σ), and the process that Y are outputs of:
// Y = f(X) + ε, where f has the mean and the kernel, and ε the noise variance.
type Model struct {
	Format string   `json:"format"` // Format
	About  string   `json:"about"`
	Inputs []string `json:"inputs"` // names of the columns, D
	Output string   `json:"output"`
	Kernel Kernel   `json:"kernel"`
	Mean   float64  `json:"mean"`
	// Noise is the variance of the data's own noise, V = noise_variance·I.
	Noise      float64     `json:"noise_variance"`
	X          [][]float64 `json:"x"`                // N×D
	Obfuscated []float64   `json:"obfuscated"`       // N, W, multiples of Grid
	Covariance [][]float64 `json:"noise_covariance"` // N×N, Σ, with Tau²·I
	Tau        float64     `json:"tau"`              // standard deviation of the independent part of Z
	Grid       float64     `json:"grid"`             // a power of two
	// Condition is what the noise keeps; nil in files of programs that did not write it.
	Condition *Condition          `json:"condition,omitempty"`
	Privacy   *experiment.Privacy `json:"privacy"`
}

// Condition is what is kept under the process of the file from a user of its data:
// Var[f(s_i)|W] ≥ variance_i at every place s_i and, where there is a kernel H,
// Var[Σ_i b_i f(s_i)|W] ≥ Σ_ij b_i b_j H(s_i, s_j) for all b; everywhere: at any other places,
// too.
type Condition struct {
	Places     [][]float64 `json:"places"`               // γ×D
	Variance   []float64   `json:"variance"`             // γ, in the squared unit of the output
	Kernel     *Kernel     `json:"kernel,omitempty"`     // H
	Everywhere bool        `json:"everywhere,omitempty"` // uniform noise
}

// Kernel is variance·k(r) with r² = Σ_j ((x_j − x'_j)/lengthscale_j)², where k is
//
//	eq: exp(−r²/2), matern12: exp(−r), matern32: (1+√3r)exp(−√3r),
//	matern52: (1+√5r+5r²/3)exp(−√5r), laplacian: exp(−Σ_j |x_j − x'_j|/lengthscale_j).
type Kernel struct {
	Name         string    `json:"name"`
	Lengthscales []float64 `json:"lengthscales"` // D
	Variance     float64   `json:"variance"`
}

// Names are the kernels that are known.
var Names = []string{"eq", "matern12", "matern32", "matern52", "laplacian"}

// Unit is the kernel of that name with unit parameters; false for an unknown one.
func Unit(name string) (kernel.Kernel, bool) {
	switch name {
	case "eq":
		return kernel.EQ(1, 1), true
	case "matern12":
		return kernel.Matern(0.5, 1, 1), true
	case "matern32":
		return kernel.Matern(1.5, 1, 1), true
	case "matern52":
		return kernel.Matern(2.5, 1, 1), true
	case "laplacian":
		return kernel.Laplacian(1, 1), true
	}
	return kernel.Kernel{}, false
}

// Columns of predictions beside the inputs.
const (
	ColumnMean       = "mean"
	ColumnSD         = "sd"            // of the function
	ColumnPredictive = "predictive_sd" // of an observation
)

// Reserved are the names that no input can have.
var Reserved = []string{ColumnMean, ColumnSD, ColumnPredictive}
