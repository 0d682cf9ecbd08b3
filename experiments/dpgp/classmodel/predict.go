package classmodel

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	models "privkern/experiments/model"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/sparsegp"
)

// used is a model as run predict sees it.
type used struct{ *Model }

func (u used) Inputs() []string { return u.Model.Inputs }

func (u used) Describe() (output, guarantee string) { return u.Output, u.Privacy.Guarantee }

const (
	// chunk is how many rows are predicted at a time.
	chunk = 1024
	// draws are those that a probability is a mean of, half of them mirrored: its
	// standard error is below 0.01. They are the same at every row and each time.
	draws = 4096
)

func dense(rows [][]float64) *mat.Dense {
	d := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		d.SetRow(i, row)
	}
	return d
}

// Predict says the classes at the rows of x (P×D) and their probabilities, in float64 on
// one engine for cpu. What it computes follows from the file alone.
func (u used) Predict(ctx context.Context, x *mat.Dense) (p *models.Prediction, err error) {
	e, err := engine.Open("cpu", "float64", 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	p = new(models.Prediction)
	for _, c := range u.Classes {
		p.Columns = append(p.Columns, column(c))
	}
	scaling := sparse.Scaling(u.Kernel.Lengthscales)
	g := sparsegp.InducingInputs{Kernel: kernel.EQ(1, u.Kernel.Variance), Z: scaling.Apply(dense(u.Inducing)),
		Jitter: u.Jitter}
	normals := standard(len(u.Classes))
	n, d := x.Dims()
	for low := 0; low < n; low += chunk {
		high := min(low+chunk, n)
		at, err := sparsegp.Project(ctx, e, g, scaling.Apply(mat.DenseCopyOf(x.Slice(low, high, 0, d))))
		if err != nil {
			return nil, err
		}
		means, sds := make([][]float64, len(u.Classes)), make([][]float64, len(u.Classes))
		for c := range u.Classes {
			mean, variance, err := at.Predict(ctx, e, u.Means[c], dense(u.Covariances[c]))
			if err != nil {
				return nil, err
			}
			for i, v := range variance {
				variance[i] = math.Sqrt(v)
			}
			means[c], sds[c] = mean, variance
		}
		for i := range high - low {
			mean, sd := make([]float64, len(means)), make([]float64, len(means))
			best := 0
			for c := range means {
				mean[c], sd[c] = means[c][i], sds[c][i]
				if mean[c] > mean[best] {
					best = c
				}
			}
			p.Labels = append(p.Labels, u.Classes[best])
			p.Rows = append(p.Rows, probabilities(mean, sd, normals))
		}
	}
	p.Warnings = e.Warnings()
	return p, nil
}

// standard are draws of standard normal numbers, one for each class, from a fixed stream.
func standard(classes int) [][]float64 {
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

// probabilities are E softmax(f)_c for independent f_c ~ N(mean_c, sd_c²) (Milios et al.
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
