// Package projectionfile is the file format of a learnt compression, and what those who get
// such a file can do with it: compress their own samples.
package projectionfile

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/multikernel/kernellist"
	"privkern/graphs/discriminant"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Format is the version that this package writes and reads.
const Format = "privkern/multikernel-model/1"

// Model is a compressive multi-kernel (Eq. 16 of Chanyaswad, Chang and Kung 2017) as a map
// from samples to features: for each kernel, scale·(coefficientsᵀk − shift) for the values k
// of the kernel between the points and the scaled sample.
type Model struct {
	Format     string              `json:"format"` // Format
	About      string              `json:"about"`
	InputNames []string            `json:"inputs"`            // d columns that are needed of samples
	Columns    []string            `json:"columns"`           // of the features, ΣQ
	Utility    []string            `json:"utility"`           // columns that the features are to tell
	Hidden     string              `json:"hidden"`            // the column that they are to hide
	Projection string              `json:"projection"`        // dca, pca or rdca
	Method     string              `json:"method"`            // of the weights
	Scaling    *Scaling            `json:"scaling,omitempty"` // of the inputs; none where it is missing
	Points     Points              `json:"points"`
	Kernels    []Kernel            `json:"kernels"`
	Privacy    *experiment.Privacy `json:"privacy"`
}

// Scaling takes an input x to scale·(x − mean).
type Scaling struct {
	Mean  []float64 `json:"mean"`
	Scale []float64 `json:"scale"`
}

// What points can be.
const (
	NoPoints     = "none"
	TrainingRows = "training rows"
	Landmarks    = "public landmarks"
)

// Points are the samples with which a kernel compares, P×d, in the unit of the inputs.
type Points struct {
	Are  string      `json:"are"`
	Rows [][]float64 `json:"rows,omitempty"`
}

// Kernel is one compressive kernel.
type Kernel struct {
	Name   string  `json:"name"` // as settings write it, rbf:0.001
	Weight float64 `json:"weight"`
	// Scale is √(weight/trace), with which the multi-kernel has kernels of trace one.
	Scale float64 `json:"scale"`
	// Direct says that the coefficients are of the inputs themselves, d×Q, not of points,
	// P×Q: so it is for the linear kernel.
	Direct       bool        `json:"direct"`
	Coefficients [][]float64 `json:"coefficients"`
	Shift        []float64   `json:"shift"` // Q
}

// Inputs are the columns that are needed of samples, in their order.
func (m *Model) Inputs() []string { return m.InputNames }

// Compress returns the features of samples x (T×d), T×ΣQ, in float64 on the CPU. Equal
// samples have equal features, whatever the others.
func (m *Model) Compress(ctx context.Context, x *mat.Dense) (z *mat.Dense, err error) {
	rows, d := x.Dims()
	if d != len(m.InputNames) {
		return nil, fmt.Errorf("the samples have %d columns, and the model %d inputs", d, len(m.InputNames))
	}
	e, err := engine.Open("cpu", experiment.Float64, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	scaled := m.scaled(x)
	var points *mat.Dense
	if len(m.Points.Rows) > 0 {
		points = m.scaled(dense(m.Points.Rows))
	}
	z = mat.NewDense(rows, len(m.Columns), nil)
	at := 0
	for _, k := range m.Kernels {
		of, err := k.toMap(points, d)
		if err != nil {
			return nil, err
		}
		features, err := of.Apply(ctx, e, scaled)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			to := z.RawRowView(i)[at:]
			for j, v := range features.RawRowView(i) {
				to[j] = k.Scale * v
			}
		}
		at += len(k.Shift)
	}
	return z, nil
}

// toMap is the map of a kernel to features that are not scaled.
func (k *Kernel) toMap(points *mat.Dense, d int) (*discriminant.Map, error) {
	named, err := kernellist.ParseOne(k.Name)
	if err != nil {
		return nil, err
	}
	m := &discriminant.Map{Kernel: named.Kernel, Points: points, Coefficients: dense(k.Coefficients), Shift: k.Shift}
	if k.Direct {
		m.Points = discriminant.UnitVectors(d)
	}
	return m, nil
}

// scaled returns scaled samples; x stays as it is.
func (m *Model) scaled(x *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(x)
	if s := m.Scaling; s != nil {
		out.Apply(func(_, j int, v float64) float64 { return s.Scale[j] * (v - s.Mean[j]) }, out)
	}
	return out
}

func dense(rows [][]float64) *mat.Dense {
	d := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		d.SetRow(i, row)
	}
	return d
}

// Rows are the rows of a matrix, as a file has them.
func Rows(x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = mat.Row(nil, i, x)
	}
	return out
}
