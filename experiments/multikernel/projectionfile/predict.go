package projectionfile

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/model"
)

// PredictFormat is the format as run predict knows it.
var PredictFormat = model.Format{Name: Format, Read: func(path string, raw []byte) (model.Model, error) {
	return Decode(path, raw)
}}

// Predict compresses rows. The inputs are not written beside the features: they are what
// compression keeps back.
func (m *Model) Predict(ctx context.Context, x *mat.Dense) (*model.Prediction, error) {
	z, err := m.Compress(ctx, x)
	if err != nil {
		return nil, err
	}
	return &model.Prediction{Columns: m.Columns, Rows: Rows(z), Alone: true, Warnings: []string{
		"features have no guarantee: what they reveal of " + m.Hidden + " is what run trial multikernel/learn measured"}}, nil
}
