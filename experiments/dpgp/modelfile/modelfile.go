// Package modelfile is the file format of a published Gaussian process, and the predictions
// of those who get such a file. Nothing here needs the data that the model was made from.
package modelfile

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/model"
	"privkern/graphs/kernel"
	"privkern/graphs/op"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// The versions that this package writes and reads.
const (
	// Format is that of a model with one lengthscale for all inputs, which earlier
	// programs read, too.
	Format = "dpgp/1"
	// FormatLengthscales is that of one with a lengthscale for each.
	FormatLengthscales = "dpgp/2"
)

// PredictFormat makes run predict read both versions.
var PredictFormat = model.Format{Versions: []string{Format, FormatLengthscales},
	New: func() model.Payload { return new(Model) }}

// FormatOf returns the version of a model, in which several inputs have a lengthscale each.
func FormatOf(several bool) string {
	if several {
		return FormatLengthscales
	}
	return Format
}

// About describes a model to the reader of its file.
func About(several bool) string {
	if several {
		return about + "variance exp(-|u-u'|^2/2) of u = x/lengthscales, input by input."
	}
	return about + "variance exp(-|x-x'|^2/(2 lengthscale^2))."
}

const about = "A sparse Gaussian process, made with differential privacy: run predict THIS_FILE --at x.csv predicts. " +
	"Mean and covariance are those of the function at the inducing inputs, for (output - centre)/scale, and predicted " +
	"means are clipped to centre +- scale; the kernel is "

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

// Output is the predicted column.
type Output struct {
	Name   string  `json:"name"`
	Centre float64 `json:"centre"`
	Scale  float64 `json:"scale"` // outputs were clipped to centre ± scale
}

// Kernel is variance·exp(−|x − x'|²/(2 lengthscale²)) or, with lengthscales,
// variance·exp(−|u − u'|²/2) of u = x/lengthscales.
type Kernel struct {
	Name         string    `json:"name"` // EQ
	Lengthscale  float64   `json:"lengthscale,omitempty"`
	Lengthscales []float64 `json:"lengthscales,omitempty"` // one for each input
	Variance     float64   `json:"variance"`
}

// Mechanism describes the noise of the sums A and B over the data.
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

// Envelope implements [model.Payload].
func (m *Model) Envelope() model.Envelope {
	return model.Envelope{Inputs: m.Inputs, Reserved: model.RegressionColumns, Output: m.Output.Name,
		Middle: m.Output.Centre, Privacy: m.Privacy}
}

// Check implements [model.Payload].
func (m *Model) Check(c *model.Checker) {
	const inducing = "inducing inputs"
	n := len(m.Inducing)
	c.Require(m.Kernel.Name == "EQ", "kernel.name", "it is %q; EQ is known", m.Kernel.Name)
	c.Some("inducing", n)
	c.Rows("inducing", m.Inducing, len(m.Inputs), "inputs")
	c.Length("mean", m.Mean, n, inducing)
	c.NotNegative("jitter", m.Jitter)
	c.Positive("kernel.variance", m.Kernel.Variance)
	c.Positive("noise_variance", m.Noise)
	c.Positive("output.scale", m.Output.Scale)
	if m.Format == FormatLengthscales {
		c.Require(m.Kernel.Lengthscale == 0, "kernel.lengthscale", "a model of the version %q has kernel.lengthscales",
			m.Format)
		c.Lengthscales("kernel.lengthscales", m.Kernel.Lengthscales, len(m.Inputs))
	} else {
		c.Require(m.Kernel.Lengthscales == nil, "kernel.lengthscales",
			"a model of the version %q has one kernel.lengthscale", m.Format)
		c.Positive("kernel.lengthscale", m.Kernel.Lengthscale)
	}
	c.Covariance("covariance", m.Covariance, n, inducing)
	c.Semidefinite("covariance", m.Covariance)
}

// Predict implements [model.Payload]: Eq. (17), in the unit of the output, with means within its public range.
func (m *Model) Predict(ctx context.Context, q *model.Query) (*model.Prediction, error) {
	scaling, lengthscale := sparse.Scaling(m.Kernel.Lengthscales), m.Kernel.Lengthscale
	if scaling != nil {
		lengthscale = 1
	}
	g := sparsegp.InducingInputs{Kernel: kernel.EQ(lengthscale, m.Kernel.Variance),
		Z: scaling.Apply(model.Dense(m.Inducing)), Jitter: m.Jitter}
	covs := []*mat.Dense{model.Dense(m.Covariance)}
	p := &model.Prediction{Columns: model.RegressionColumns}
	for x := range q.Chunks() {
		mean, variances, err := sparsegp.Predict(ctx, q.Engine, g, m.Mean, covs, scaling.Apply(x))
		if _, ok := errors.AsType[*op.NotPositiveDefiniteError](err); ok {
			return nil, fmt.Errorf("the model cannot predict: the covariance of its inducing inputs: %w; its maker needs fewer "+
				"of them, or jitter", err)
		}
		if err != nil {
			return nil, err
		}
		mean = sparse.Clip(mean)
		for i, v := range variances[0] {
			p.Rows = append(p.Rows, model.RegressionRow(m.Output.Centre+m.Output.Scale*mean[i],
				m.Output.Scale*math.Sqrt(v), m.Output.Scale*math.Sqrt(v+m.Noise)))
		}
	}
	p.Warnings = q.Engine.Warnings()
	return p, nil
}
