package modelfile

import (
	"context"

	"gonum.org/v1/gonum/mat"

	models "privkern/experiments/model"
)

// PredictFormat and PredictLengthscales make run predict read these files.
var (
	PredictFormat       = models.Format{Name: Format, Read: read}
	PredictLengthscales = models.Format{Name: FormatLengthscales, Read: read}
)

func read(path string, raw []byte) (models.Model, error) {
	m, err := Decode(path, raw)
	if err != nil {
		return nil, err
	}
	return used{m}, nil
}

// used is a model as run predict sees it.
type used struct{ *Model }

func (u used) Inputs() []string { return u.Model.Inputs }

func (u used) Describe() (output, guarantee string) {
	return u.Output.Name, u.Privacy.Guarantee
}

func (u used) Predict(ctx context.Context, x *mat.Dense) (*models.Prediction, error) {
	p, warnings, err := u.Model.Predict(ctx, x)
	if err != nil {
		return nil, err
	}
	out := &models.Prediction{Columns: Reserved, Warnings: warnings}
	for i := range p.Mean {
		out.Rows = append(out.Rows, []float64{p.Mean[i], p.SD[i], p.Predictive[i]})
	}
	return out, nil
}
