package modelfile

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	models "privkern/experiments/model"
	"privkern/experiments/privacygp/process"
	"privkern/graphs/engine"
)

// used is a model as run predict sees it.
type used struct{ *Model }

func (u used) Inputs() []string { return u.Model.Inputs }

func (u used) Describe() (output, guarantee string) { return u.Output, u.Privacy.Guarantee }

// chunk is how many rows are predicted at a time.
const chunk = 4096

// Predict predicts at the rows of x (P×D) by Eqs. (3) and (4), in float64 on one engine
// for cpu: the mean, the standard deviation of the function, and that of an observation.
func (u used) Predict(ctx context.Context, x *mat.Dense) (out *models.Prediction, err error) {
	e, err := engine.Open("cpu", "float64", 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	f, err := u.condition(e)
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	out = &models.Prediction{Columns: Reserved}
	for low := 0; low < n; low += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.predict(out, mat.DenseCopyOf(x.Slice(low, min(low+chunk, n), 0, d))); err != nil {
			return nil, err
		}
	}
	from, to := table.Ranges(f.inputs)
	beyond := table.BeyondWarnings(x, u.Model.Inputs, from, to, "the range of the obfuscated data")
	out.Warnings = append(f.Warnings(), beyond...)
	return out, nil
}

// conditioned is the process given the obfuscated data, in units of the prior variance.
type conditioned struct {
	*Model
	*process.Observations
	engine  *engine.Engine
	inputs  *mat.Dense // N×D
	x       *mat.Dense // N×D, divided by the lengthscales
	weights *mat.Dense // N×1, (K_XX + V + Σ)⁻¹(W − m)
}

// condition takes Σ for a part of the data's own noise, whose covariance need not be
// diagonal.
func (m *Model) condition(e *engine.Engine) (*conditioned, error) {
	n := len(m.X)
	x := mat.NewDense(n, len(m.Inputs), nil)
	for i, row := range m.X {
		x.SetRow(i, row)
	}
	f := &conditioned{Model: m, engine: e, inputs: x, x: m.scaled(x)}
	cov, err := f.between(f.x, f.x)
	if err != nil {
		return nil, err
	}
	w := mat.NewDense(n, 1, nil)
	for i, row := range m.Covariance {
		for j, v := range row {
			cov.Set(i, j, cov.At(i, j)+v/m.Kernel.Variance)
		}
		cov.Set(i, i, cov.At(i, i)+m.Noise/m.Kernel.Variance)
		w.Set(i, 0, m.Obfuscated[i]-m.Mean)
	}
	if f.Observations, err = process.Observe(e, cov); err != nil {
		return nil, err
	}
	f.weights, err = f.Solve(nil, w)
	return f, err
}

// scaled is x divided by the lengthscales.
func (m *Model) scaled(x *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(x)
	out.Apply(func(_, j int, v float64) float64 { return v / m.Kernel.Lengthscales[j] }, out)
	return out
}

func (f *conditioned) between(x, y *mat.Dense) (*mat.Dense, error) {
	k, _ := Unit(f.Kernel.Name)
	return k.Matrix(f.engine, x, y)
}

func (f *conditioned) predict(out *models.Prediction, x *mat.Dense) error {
	cross, err := f.between(f.x, f.scaled(x)) // N×P
	if err != nil {
		return err
	}
	var mean mat.Dense
	mean.Mul(cross.T(), f.weights)
	explained, err := f.Explained(nil, cross)
	if err != nil {
		return err
	}
	for i, v := range explained {
		variance := f.Kernel.Variance * math.Max(0, 1-v)
		row := []float64{f.Mean + mean.At(i, 0), math.Sqrt(variance), math.Sqrt(variance + f.Noise)}
		for k, value := range row {
			if math.IsNaN(value) || math.IsInf(value, 0) {
				return fmt.Errorf("row %d of the inputs (counted from 1): %s overflows (%g): the model's numbers are too large "+
					"for floating point; its maker needs another unit of the output", len(out.Rows)+1, Reserved[k], value)
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return nil
}
