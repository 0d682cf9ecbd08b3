// Package classmodel is the file format of a published Gaussian process classifier, and the
// predictions of those who get such a file: classes and their probabilities. Nothing here
// needs the data that the model was made from.
package classmodel

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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
	"mean is predicted; probabilities are means of softmax over the functions plus centre (Dirichlet likelihoods)."

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
	Covariances [][][]float64       `json:"covariances"` // C×M×M, each symmetric
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
	c.Some("inducing", n)
	c.Rows("inducing", m.Inducing, len(m.Inputs), "inputs")
	c.Require(len(m.Means) == classes, "means", "there are %d for %d classes", len(m.Means), classes)
	c.Require(len(m.Covariances) == classes, "covariances", "there are %d for %d classes", len(m.Covariances), classes)
	c.Rows("means", m.Means, n, inducing)
	for k, cov := range m.Covariances {
		c.Covariance(fmt.Sprintf("covariances[%d]", k), cov, n, inducing)
	}
}

// draws is the number of draws that a probability is a mean of, half of them mirrored: its
// standard error is below 0.01. They are the same at every row and each time.
const draws = 4096

// Predict implements [model.Payload]: classes and their probabilities. They follow from the
// file alone.
func (m *Model) Predict(ctx context.Context, q *model.Query) (*model.Prediction, error) {
	p := &model.Prediction{Columns: model.ClassColumns(m.Classes)}
	scaling := sparse.Scaling(m.Kernel.Lengthscales)
	g := sparsegp.InducingInputs{Kernel: kernel.EQ(1, m.Kernel.Variance), Z: scaling.Apply(model.Dense(m.Inducing)),
		Jitter: m.Jitter}
	normals := standard(len(m.Classes), draws)
	for x := range q.Chunks() {
		at, err := sparsegp.Project(ctx, q.Engine, g, scaling.Apply(x))
		if err != nil {
			return nil, err
		}
		n, _ := x.Dims()
		means, sds := mat.NewDense(n, len(m.Classes), nil), mat.NewDense(n, len(m.Classes), nil)
		for c := range m.Classes {
			mean, variance, err := at.Predict(ctx, q.Engine, m.Means[c], model.Dense(m.Covariances[c]))
			if err != nil {
				return nil, err
			}
			for i, v := range variance {
				variance[i] = math.Sqrt(v)
			}
			means.SetCol(c, mean)
			sds.SetCol(c, variance)
		}
		for i := range n {
			mean := means.RawRowView(i)
			p.Labels = append(p.Labels, m.Classes[floats.MaxIdx(mean)])
			p.Rows = append(p.Rows, probabilities(mean, sds.RawRowView(i), normals))
		}
	}
	p.Warnings = q.Engine.Warnings()
	return p, nil
}

// judgedDraws is [draws] where the probabilities of many rows are judged: the standard error of one is
// below 0.03, and falls out of their mean.
const judgedDraws = 512

// Probabilities returns those of classes at rows (C×P each) by means and variances of their functions,
// as [Model.Predict] does, with fewer draws.
func Probabilities(means, variances [][]float64) [][]float64 {
	normals := standard(len(means), judgedDraws)
	out := make([][]float64, len(means))
	mean, sd := make([]float64, len(means)), make([]float64, len(means))
	for i := range means[0] {
		for c := range means {
			mean[c], sd[c] = means[c][i], math.Sqrt(variances[c][i])
		}
		for c, p := range probabilities(mean, sd, normals) {
			out[c] = append(out[c], p)
		}
	}
	return out
}

// standard draws standard normal numbers, one for each class, from a fixed stream.
func standard(classes, draws int) [][]float64 {
	rng := rand.New(rand.NewPCG(20210329, 0))
	out := make([][]float64, 0, draws)
	for range draws / 2 {
		z, mirrored := make([]float64, classes), make([]float64, classes)
		for c := range z {
			z[c] = rng.NormFloat64()
			mirrored[c] = -z[c]
		}
		out = append(out, z, mirrored)
	}
	return out
}

// probabilities returns E softmax(f)_c for independent f_c ~ N(mean_c, sd_c²) (Milios et al.
// 2018, Section 4): the centre is the same for all classes and falls out.
func probabilities(mean, sd []float64, normals [][]float64) []float64 {
	out, f := make([]float64, len(mean)), make([]float64, len(mean))
	for _, z := range normals {
		most, sum := math.Inf(-1), 0.0
		for c := range f {
			f[c] = mean[c] + sd[c]*z[c]
			most = max(most, f[c])
		}
		for c := range f {
			f[c] = math.Exp(f[c] - most)
			sum += f[c]
		}
		for c := range f {
			out[c] += f[c] / sum / float64(len(normals))
		}
	}
	return out
}
