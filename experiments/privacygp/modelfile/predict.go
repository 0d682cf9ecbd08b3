package modelfile

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/model"
	"privkern/experiments/privacygp/process"
	"privkern/graphs/engine"
)

// Predict implements [model.Payload] by Eqs. (3) and (4): with K in units of the prior variance
// v, the mean is m + K_*X (K_XX + (V + Σ)/v)⁻¹(W − m).
func (m *Model) Predict(ctx context.Context, q *model.Query) (*model.Prediction, error) {
	unit, _ := Unit(m.Kernel.Name)
	inputs := model.Dense(m.X)
	x := m.scaled(inputs) // N×D
	observed, weights, err := m.condition(q.Engine, x)
	if err != nil {
		return nil, err
	}
	p := &model.Prediction{Columns: model.RegressionColumns}
	for at := range q.Chunks() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cross, err := unit.Matrix(q.Engine, x, m.scaled(at)) // N×P
		if err != nil {
			return nil, err
		}
		var mean mat.Dense
		mean.Mul(cross.T(), weights)
		explained, err := observed.Explained(nil, cross)
		if err != nil {
			return nil, err
		}
		for i, v := range explained {
			variance := m.Kernel.Variance * math.Max(0, 1-v)
			p.Rows = append(p.Rows, model.RegressionRow(m.Mean+mean.At(i, 0), math.Sqrt(variance),
				math.Sqrt(variance+m.Noise)))
		}
	}
	from, to := table.Ranges(inputs)
	beyond := table.BeyondWarnings(q.X, m.Inputs, from, to, "the range of the obfuscated data")
	p.Warnings = append(observed.Warnings(), beyond...)
	return p, nil
}

// condition conditions the process on W at scaled inputs x (N×D), and returns the weights
// (K_XX + (V + Σ)/v)⁻¹(W − m), N×1. Σ is taken for a part of the data's own noise, whose
// covariance need not be diagonal.
func (m *Model) condition(e *engine.Engine, x *mat.Dense) (*process.Observations, *mat.Dense, error) {
	unit, _ := Unit(m.Kernel.Name)
	cov, err := unit.Matrix(e, x, x)
	if err != nil {
		return nil, nil, err
	}
	w := mat.NewDense(len(m.X), 1, nil)
	for i, row := range m.Covariance {
		for j, v := range row {
			cov.Set(i, j, cov.At(i, j)+v/m.Kernel.Variance)
		}
		cov.Set(i, i, cov.At(i, i)+m.Noise/m.Kernel.Variance)
		w.Set(i, 0, m.Obfuscated[i]-m.Mean)
	}
	observed, err := process.Observe(e, cov)
	if err != nil {
		return nil, nil, err
	}
	weights, err := observed.Solve(nil, w)
	return observed, weights, err
}

// scaled returns x divided by the lengthscales.
func (m *Model) scaled(x *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(x)
	out.Apply(func(_, j int, v float64) float64 { return v / m.Kernel.Lengthscales[j] }, out)
	return out
}
