package machinefile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/model"
)

// PredictFormat is how run predict reads a file.
var PredictFormat = model.Format{Name: Format, Read: func(path string, raw []byte) (model.Model, error) {
	m, err := Decode(path, raw)
	if err != nil {
		return nil, err
	}
	return Unite(File{path, m})
}}

// Unite implements [model.Uniter]: the classifier of these files and of those of other
// parties.
func (u *United) Unite(others []model.File) (model.Model, error) {
	all := slices.Clone(u.files)
	for _, o := range others {
		other, ok := o.Model.(*United)
		if !ok {
			return nil, fmt.Errorf("%s is of another format than %s: only classifiers of affine hull machines are united "+
				"with each other; leave it out", o.Path, all[0].Path)
		}
		all = append(all, other.files...)
	}
	return Unite(all...)
}

// Predict implements [model.Model]: the distance to the nearest machine and its class, and
// of several files the one that has it, counted from 1.
func (u *United) Predict(ctx context.Context, x *mat.Dense) (*model.Prediction, error) {
	c, err := u.Classify(ctx, x)
	if err != nil {
		return nil, err
	}
	p := &model.Prediction{Columns: []string{ColumnDistance}, Labels: c.Class, Warnings: c.Warnings}
	if len(u.files) > 1 {
		p.Columns = append(p.Columns, ColumnParty)
	}
	for i, distance := range c.Distance {
		row := []float64{distance}
		if len(u.files) > 1 {
			row = append(row, float64(c.Party[i]))
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

// Describe implements [model.Describer].
func (u *United) Describe() (output, guarantee string) {
	var all []string
	for _, m := range u.files {
		if !slices.Contains(all, m.Privacy.Guarantee) {
			all = append(all, m.Privacy.Guarantee)
		}
	}
	return u.files[0].Output, strings.Join(all, ", ")
}
