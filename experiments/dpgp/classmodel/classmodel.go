// Package classmodel is the file format of a published Gaussian process classifier, and the
// predictions of those who get such a file: classes and their probabilities. Nothing here
// needs the data that the model was made from.
package classmodel

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/model"
	"privkern/graphs/kernel"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// Format is the version that this package writes and reads.
const Format = "dpgp/classification-model/1"

// PredictFormat makes run predict read these files.
var PredictFormat = model.Format{Versions: []string{Format}, New: func() model.Payload { return new(Model) }}

// About describes a model to the reader of its file.
const About = "Sparse Gaussian processes, one a class, made with differential privacy: run predict THIS_FILE " +
	"--at x.csv says classes and probabilities. Means and covariances are those of a class's function at the inducing " +
	"inputs; the kernel is variance exp(-|u-u'|^2/2) of u = x/lengthscales, input by input. The class with the largest " +
	"mean is predicted. Where a share p of rows is of a class, its function is (p w1 y1 + (1-p) w0 y0)/(p w1 + (1-p) " +
	"w0), with w = 1/ln(1+1/a) and y = ln(a) - 1/(2w) - centre for a = 1+alpha (1) and a = alpha (0): probabilities are " +
	"these p, averaged over the functions and divided by their sum; of a small alpha they are means of softmax over the " +
	"functions plus centre."

// Model is a set of sparse Gaussian processes that may be published (Honkela 2021,
// Appendix D; Milios et al. 2018), one for each class, with the same inducing inputs.
type Model struct {
	Format      string              `json:"format"` // Format
	About       string              `json:"about"`
	Inputs      []string            `json:"inputs"`  // names of the columns, D
	Output      string              `json:"output"`  // name of the column of labels
	Classes     []string            `json:"classes"` // C
	Kernel      Kernel              `json:"kernel"`
	Centre      float64             `json:"centre"`      // subtracted from the transformed labels
	Jitter      float64             `json:"jitter"`      // on the diagonal of the inducing inputs' covariance
	Inducing    [][]float64         `json:"inducing"`    // M×D
	Means       [][]float64         `json:"means"`       // C×M
	Covariances [][][]float64       `json:"covariances"` // C×M×M, each symmetric and positive semi-definite
	Mechanism   Mechanism           `json:"mechanism"`
	Privacy     *experiment.Privacy `json:"privacy"`
}

// Kernel is variance·exp(−|u − u'|²/2) of u = x/lengthscales.
type Kernel struct {
	Name         string    `json:"name"` // EQ
	Lengthscales []float64 `json:"lengthscales"`
	Variance     float64   `json:"variance"`
}

// Mechanism describes the noise of the sums A and B of all classes.
type Mechanism struct {
	Epsilon     float64 `json:"epsilon"`
	Delta       float64 `json:"delta"`
	Sensitivity float64 `json:"sensitivity"` // of A and ratio·B of all classes together
	Bound       string  `json:"bound"`
	NormSquared float64 `json:"r_k_squared"` // bound on the squared norm of a kernel vector
	Alpha       float64 `json:"alpha"`       // of the transformed labels
	SigmaA      float64 `json:"sigma_a"`
	SigmaB      float64 `json:"sigma_b"`
	Lambda      float64 `json:"lambda"`
}

// Taken reports whether predictions have a column of that name besides the inputs.
func Taken(name string, classes []string) bool {
	return name == model.LabelColumn || slices.Contains(model.ClassColumns(classes), name)
}

// Envelope implements [model.Payload].
func (m *Model) Envelope() model.Envelope {
	return model.Envelope{Inputs: m.Inputs, Reserved: append(model.ClassColumns(m.Classes), model.LabelColumn),
		Output: m.Output, Classes: m.Classes, Privacy: m.Privacy}
}

// Check implements [model.Payload].
func (m *Model) Check(c *model.Checker) {
	const inducing = "inducing inputs"
	classes, n := len(m.Classes), len(m.Inducing)
	c.Require(classes >= 2, "classes", "there are %d, at least two are needed", classes)
	c.Names("classes", m.Classes, "a class")
	c.Require(m.Kernel.Name == "EQ", "kernel.name", "it is %q; EQ is known", m.Kernel.Name)
	c.Lengthscales("kernel.lengthscales", m.Kernel.Lengthscales, len(m.Inputs))
	c.Positive("kernel.variance", m.Kernel.Variance)
	c.NotNegative("jitter", m.Jitter)
	c.Positive("mechanism.alpha", m.Mechanism.Alpha)
	c.Some("inducing", n)
	c.Rows("inducing", m.Inducing, len(m.Inputs), "inputs")
	c.Require(len(m.Means) == classes, "means", "there are %d for %d classes", len(m.Means), classes)
	c.Require(len(m.Covariances) == classes, "covariances", "there are %d for %d classes", len(m.Covariances), classes)
	c.Rows("means", m.Means, n, inducing)
	for k, cov := range m.Covariances {
		field := fmt.Sprintf("covariances[%d]", k)
		c.Covariance(field, cov, n, inducing)
		c.Semidefinite(field, cov)
	}
}

// Predict implements [model.Payload]: classes and their probabilities. They follow from the
// file alone.
func (m *Model) Predict(ctx context.Context, q *model.Query) (*model.Prediction, error) {
	p := &model.Prediction{Columns: model.ClassColumns(m.Classes)}
	scaling := sparse.Scaling(m.Kernel.Lengthscales)
	g := sparsegp.InducingInputs{Kernel: kernel.EQ(1, m.Kernel.Variance), Z: scaling.Apply(model.Dense(m.Inducing)),
		Jitter: m.Jitter}
	labels := NewLabels(m.Mechanism.Alpha, m.Centre)
	inverted := labels.Inverted(len(m.Classes))
	probabilities := labels.of(len(m.Classes), draws, inverted)
	for x := range q.Chunks() {
		at, err := sparsegp.Project(ctx, q.Engine, g, scaling.Apply(x))
		if err != nil {
			return nil, err
		}
		if inverted {
			at = at.Inside()
		}
		n, _ := x.Dims()
		means, variances := mat.NewDense(n, len(m.Classes), nil), mat.NewDense(n, len(m.Classes), nil)
		for c := range m.Classes {
			mean, variance, err := at.Predict(ctx, q.Engine, m.Means[c], model.Dense(m.Covariances[c]))
			if err != nil {
				return nil, err
			}
			means.SetCol(c, mean)
			variances.SetCol(c, variance)
		}
		for i := range n {
			mean := means.RawRowView(i)
			p.Labels = append(p.Labels, m.Classes[floats.MaxIdx(mean)])
			p.Rows = append(p.Rows, probabilities(mean, variances.RawRowView(i)))
		}
	}
	p.Warnings = q.Engine.Warnings()
	return p, nil
}
