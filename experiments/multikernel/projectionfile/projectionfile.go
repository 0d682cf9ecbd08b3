// Package projectionfile is the file format of a learnt compression, with which those who get
// such a file compress their own samples.
package projectionfile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/model"
	"privkern/experiments/multikernel/kernellist"
	"privkern/graphs/discriminant"
	"privkern/runner/experiment"
)

// Format is the version that this package writes and reads.
const Format = "privkern/multikernel-model/1"

// PredictFormat makes run predict read these files.
var PredictFormat = model.Format{Versions: []string{Format}, New: func() model.Payload { return new(Model) }}

// Model is a compressive multi-kernel (Eq. 16 of Chanyaswad, Chang and Kung 2017) as a map
// from samples to features: for each kernel, scale·(coefficientsᵀk − shift) for the values k
// of the kernel between the points and the scaled sample.
type Model struct {
	Format     string              `json:"format"` // Format
	About      string              `json:"about"`
	InputNames []string            `json:"inputs"`            // d columns that are needed of samples
	Columns    []string            `json:"columns"`           // of the features, ΣQ
	Utility    []string            `json:"utility"`           // columns that the features keep
	Hidden     string              `json:"hidden"`            // the column that the features hide
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

// The kinds of points.
const (
	NoPoints     = "none"
	TrainingRows = "training rows"
	Landmarks    = "public landmarks"
)

// Points are the first arguments of a kernel, P×d, in the unit of the inputs.
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
	// Direct reports that the coefficients are of the inputs themselves, d×Q, not of points,
	// P×Q. Only the linear kernel is direct.
	Direct       bool        `json:"direct"`
	Coefficients [][]float64 `json:"coefficients"`
	Shift        []float64   `json:"shift"` // Q
}

// Envelope implements [model.Payload]. The inputs are withheld, because compression keeps them
// back.
func (m *Model) Envelope() model.Envelope {
	return model.Envelope{Inputs: m.InputNames, Privacy: m.Privacy, Withheld: true}
}

// Check implements [model.Payload].
func (m *Model) Check(c *model.Checker) {
	d := len(m.InputNames)
	c.Some("kernels", len(m.Kernels))
	if s := m.Scaling; s != nil {
		c.Require(len(s.Mean) == d && len(s.Scale) == d, "scaling", "it has %d means and %d scales for %d inputs",
			len(s.Mean), len(s.Scale), d)
	}
	c.Names("columns", m.Columns, "a feature")
	known := []string{NoPoints, TrainingRows, Landmarks}
	are, points := m.Points.Are, len(m.Points.Rows)
	c.Require(slices.Contains(known, are), "points.are", "it is %q; %s are known", are, strings.Join(known, ", "))
	c.Require((are == NoPoints) == (points == 0), "points.rows", "there are %d, and the points are %q", points, are)
	c.Rows("points.rows", m.Points.Rows, d, "inputs")
	total := 0
	for i, k := range m.Kernels {
		k.check(c, fmt.Sprintf("kernels[%d].", i), d, points)
		total += len(k.Shift)
	}
	c.Require(total == len(m.Columns), "columns", "there are %d for the %d features of the kernels", len(m.Columns), total)
}

// check checks a kernel of d inputs, whose members have names that begin with at.
func (k *Kernel) check(c *model.Checker, at string, d, points int) {
	named, err := kernellist.ParseOne(k.Name)
	if err != nil {
		c.Fail(at+"name", err)
	}
	rows, of := points, "points"
	if k.Direct {
		c.Require(named.Family == "linear", at+"direct", "the kernel %s compares with points", k.Name)
		rows, of = d, "inputs"
	}
	c.Positive(at+"weight", k.Weight)
	c.Positive(at+"scale", k.Scale)
	c.Require(len(k.Shift) > 0, at+"shift", "it is empty: a kernel has at least one feature")
	c.Require(len(k.Coefficients) == rows && rows > 0, at+"coefficients", "it has %d rows for %d %s", len(k.Coefficients),
		rows, of)
	c.Rows(at+"coefficients", k.Coefficients, len(k.Shift), "features")
}

// Predict implements [model.Payload]: it compresses the samples q.X, P×d to P×ΣQ. The features
// of a sample do not depend on other samples.
func (m *Model) Predict(ctx context.Context, q *model.Query) (*model.Prediction, error) {
	p := &model.Prediction{Columns: m.Columns, Warnings: []string{
		"features have no guarantee: what they reveal of " + m.Hidden + " is what run trial multikernel/learn measured"}}
	samples := m.scaled(q.X)
	n, d := samples.Dims()
	var points *mat.Dense
	if len(m.Points.Rows) > 0 {
		points = m.scaled(model.Dense(m.Points.Rows))
	}
	p.Rows = make([][]float64, n)
	for _, k := range m.Kernels {
		named, err := kernellist.ParseOne(k.Name)
		if err != nil {
			return nil, err
		}
		of := &discriminant.Map{Kernel: named.Kernel, Points: points, Coefficients: model.Dense(k.Coefficients),
			Shift: k.Shift}
		if k.Direct {
			of.Points = discriminant.UnitVectors(d)
		}
		features, err := of.Apply(ctx, q.Engine, samples)
		if err != nil {
			return nil, err
		}
		for i := range p.Rows {
			for _, v := range features.RawRowView(i) {
				p.Rows[i] = append(p.Rows[i], k.Scale*v)
			}
		}
	}
	return p, nil
}

// scaled returns scaled samples; x stays as it is.
func (m *Model) scaled(x *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(x)
	if s := m.Scaling; s != nil {
		out.Apply(func(_, j int, v float64) float64 { return s.Scale[j] * (v - s.Mean[j]) }, out)
	}
	return out
}
