// Package modelfile is the file format of obfuscated data of a Gaussian process, and the
// predictions of those who get such a file, by the process in the file or by one of their own
// that takes the covariance of the noise.
package modelfile

import (
	"fmt"

	"privkern/experiments/model"
	"privkern/graphs/kernel"
	"privkern/runner/experiment"
)

// Format is the version that this package writes and reads.
const Format = "privkern/privacygp-model/1"

// PredictFormat makes run predict read these files.
var PredictFormat = model.Format{Versions: []string{Format}, New: func() model.Payload { return new(Model) }}

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
	// Condition is nil in files of programs that did not write it.
	Condition *Condition          `json:"condition,omitempty"`
	Privacy   *experiment.Privacy `json:"privacy"`
}

// Condition is a lower bound on the variances, under the process of the file, that a user of
// its data is left with: Var[f(s_i)|W] ≥ variance_i at every place s_i and, if there is a
// kernel H, Var[Σ_i b_i f(s_i)|W] ≥ Σ_ij b_i b_j H(s_i, s_j) for all b. With Everywhere it holds
// at all other places, too.
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

// names are the names of the kernels.
var names = []string{"eq", "matern12", "matern32", "matern52", "laplacian"}

// Unit returns the kernel of that name with unit parameters; false for an unknown one.
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

// Envelope implements [model.Payload].
func (m *Model) Envelope() model.Envelope {
	return model.Envelope{Inputs: m.Inputs, Reserved: model.RegressionColumns, Output: m.Output, Middle: m.Mean,
		Privacy: m.Privacy}
}

// Rows implements [model.Counter].
func (m *Model) Rows() int { return len(m.X) }

// Held implements [model.Holder]: the rows with obfuscated outputs.
func (m *Model) Held() model.Held {
	h := model.Held{Points: m.X, Outputs: m.Obfuscated}
	for _, l := range m.Kernel.Lengthscales {
		h.Scale = append(h.Scale, 1/l)
	}
	return h
}

// Check implements [model.Payload].
func (m *Model) Check(c *model.Checker) {
	n := len(m.X)
	m.Kernel.check(c, "kernel", len(m.Inputs))
	c.NotNegative("noise_variance", m.Noise)
	c.Require(n > 0, "x", "there are no rows")
	c.Rows("x", m.X, len(m.Inputs), "inputs")
	c.Length("obfuscated", m.Obfuscated, n, "rows of x")
	c.Covariance("noise_covariance", m.Covariance, n, "rows of x")
	c.Semidefinite("noise_covariance", m.Covariance)
	if m.Condition != nil {
		m.Condition.check(c, m)
	}
}

// check checks a kernel of that many inputs.
func (k *Kernel) check(c *model.Checker, field string, inputs int) {
	if _, known := Unit(k.Name); !known {
		c.Fail(field+".name", experiment.Unknown("kernel", k.Name, names))
	}
	c.Lengthscales(field+".lengthscales", k.Lengthscales, inputs)
	c.Positive(field+".variance", k.Variance)
}

func (b *Condition) check(c *model.Checker, m *Model) {
	c.Length("condition.variance", b.Variance, len(b.Places), "places")
	c.Rows("condition.places", b.Places, len(m.Inputs), "inputs")
	for i, v := range b.Variance {
		c.Require(v >= 0 && v < m.Kernel.Variance, fmt.Sprintf("condition.variance[%d]", i), "it is %g; no place keeps "+
			"less than zero or as much as the prior variance, %g", v, m.Kernel.Variance)
	}
	if b.Kernel != nil {
		b.Kernel.check(c, "condition.kernel", len(m.Inputs))
	}
}
