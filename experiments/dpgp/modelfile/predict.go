package modelfile

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
	"privkern/graphs/op"
	"privkern/graphs/sparsegp"
)

func dense(rows [][]float64) *mat.Dense {
	d := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		d.SetRow(i, row)
	}
	return d
}

// Prediction is of the output, in its unit, row by row.
type Prediction struct {
	Mean       []float64
	SD         []float64 // of the function
	Predictive []float64 // of an observation: with the variance of its noise
}

// chunk is how many rows are predicted at a time.
const chunk = 4096

// Predict predicts at the rows of x (P×D), in float64 on one engine for cpu.
// Warnings say what is computed but suspect. What overflows is an error that
// names the row.
func (m *Model) Predict(ctx context.Context, x *mat.Dense) (p *Prediction, warnings []string, err error) {
	e, err := engine.Open("cpu", "float64", 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	scaling, lengthscale := sparse.Scaling(m.Kernel.Lengthscales), m.Kernel.Lengthscale
	if scaling != nil {
		lengthscale = 1
	}
	k := kernel.EQ(lengthscale, m.Kernel.Variance)
	g := sparsegp.InducingInputs{Kernel: k, Z: scaling.Apply(dense(m.Inducing)), Jitter: m.Jitter}
	covs := []*mat.Dense{dense(m.Covariance)}
	n, d := x.Dims()
	p = new(Prediction)
	for low := 0; low < n; low += chunk {
		high := min(low+chunk, n)
		mean, variances, err := sparsegp.Predict(ctx, e, g, m.Mean, covs,
			scaling.Apply(mat.DenseCopyOf(x.Slice(low, high, 0, d))))
		var notPD *op.NotPositiveDefiniteError
		if errors.As(err, &notPD) {
			return nil, nil, fmt.Errorf("the model cannot predict: the covariance of its inducing inputs: %w; its maker "+
				"needs fewer of them, or jitter", err)
		}
		if err != nil {
			return nil, nil, err
		}
		for i, v := range variances[0] {
			p.Mean = append(p.Mean, m.Output.Centre+m.Output.Scale*mean[i])
			p.SD = append(p.SD, m.Output.Scale*math.Sqrt(v))
			p.Predictive = append(p.Predictive, m.Output.Scale*math.Sqrt(v+m.Noise))
			if err := p.finite(low + i); err != nil {
				return nil, nil, err
			}
		}
	}
	return p, e.Warnings(), nil
}

// finite refuses a row that is not of numbers.
func (p *Prediction) finite(row int) error {
	for i, v := range []float64{p.Mean[row], p.SD[row], p.Predictive[row]} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("row %d of the inputs (counted from 1): %s overflows (%g): the model's numbers are too large for "+
				"floating point; its maker needs another unit of the output", row+1, Reserved[i], v)
		}
	}
	return nil
}
