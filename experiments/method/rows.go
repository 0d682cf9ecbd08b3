package method

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/learn"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Task is the kind of a method's predictions.
type Task int

// The tasks.
const (
	Regression Task = iota
	Classification
)

// Rows are the rows with a value in every column that is used.
type Rows struct {
	X       *mat.Dense // N×d, in the units of the file
	Inputs  []string   // d names; a category has one for each level, "colour=red"
	Output  string     // the column
	Dropped int        // rows left out for want of a value
	// Suspect are warnings of the inputs, which depend on the data: they are for judging, and
	// no part of a release.
	Suspect []string

	// Of a regression:
	Values        []float64 // N, as they were read
	Centre, Scale float64   // of the public range of the output

	// Of a classification:
	Labels  []int // N, from 0
	Classes []string
	// Named reports that the classes are named in the settings, and so public.
	Named bool

	simulated bool
}

// Part are rows that a learner is fitted to.
type Part struct {
	X *mat.Dense
	// Y are outputs in units of half their public range from its middle, clipped to [-1, 1].
	Y      []float64
	Labels []int
}

// Len returns N.
func (r *Rows) Len() int { return r.X.RawMatrix().Rows }

// Load reads the rows of a user's data. In a release it refuses categories whose levels would
// be read off the rows: not even how many there are is public.
func (c Settings) Load(t *experiment.Trial, task Task, released bool) (*Rows, error) {
	data, err := c.Spec().Load(t)
	if err != nil {
		return nil, err
	}
	if (released || t.ForOthers()) && len(data.Private) > 0 {
		return nil, fmt.Errorf("inputs = %s: the levels of %q are read off the data, which a release protects; write them, "+
			"such as inputs=colour[red|green]", c.Inputs, data.Private[0])
	}
	r := &Rows{X: data.X, Inputs: data.Names, Output: data.Column(c.Output), Dropped: data.Dropped,
		Suspect: data.ColumnWarnings(), Named: data.Public(c.Output)}
	r.setRange(c.Range)
	if task == Classification {
		r.Labels, r.Classes, err = data.Labels(c.Output)
	} else {
		r.Values, err = data.Numbers(c.Output)
	}
	return r, err
}

// setRange sets the public range of the output; nil stands for classes.
func (r *Rows) setRange(public *OutputRange) {
	if public != nil {
		r.Centre, r.Scale = public.Unit()
	}
}

// Scaled returns an output in units of half its public range, from its middle.
func (r *Rows) Scaled(value float64) float64 { return (value - r.Centre) / r.Scale }

// outputs returns the values, or the labels as numbers.
func (r *Rows) outputs() []float64 {
	if r.Labels == nil {
		return r.Values
	}
	out := make([]float64, len(r.Labels))
	for i, l := range r.Labels {
		out[i] = float64(l)
	}
	return out
}

// part returns inputs and outputs as a learner gets them: values are scaled and clipped.
func (r *Rows) part(x *mat.Dense, outputs []float64) *Part {
	p := &Part{X: x}
	for _, v := range outputs {
		if r.Labels != nil {
			p.Labels = append(p.Labels, int(v))
		} else {
			p.Y = append(p.Y, max(-1, min(1, r.Scaled(v))))
		}
	}
	return p
}

// private returns the part of a private matrix of [release.Data.Plan], with public inputs or
// outputs from the rows.
func (r *Rows) private(unit string, values *mat.Dense) *Part {
	n, columns := values.Dims()
	switch unit {
	case experiment.UnitInputs:
		return r.part(values, r.outputs())
	case experiment.UnitOutput:
		return r.part(r.X, mat.Col(nil, 0, values))
	}
	return r.part(mat.DenseCopyOf(values.Slice(0, n, 0, columns-1)), mat.Col(nil, columns-1, values))
}

// All returns all rows.
func (r *Rows) All() *Part { return r.part(r.X, r.outputs()) }

// of returns some of the rows.
func (r *Rows) of(rows []int) *Part {
	all, some := r.outputs(), make([]float64, len(rows))
	for i, row := range rows {
		some[i] = all[row]
	}
	return r.part(learn.SelectRows(r.X, rows), some)
}

// clipped returns the share of outputs outside of the public range.
func (r *Rows) clipped() float64 {
	outside := 0
	for _, v := range r.Values {
		if scaled := r.Scaled(v); max(-1, min(1, scaled)) != scaled {
			outside++
		}
	}
	return float64(outside) / float64(len(r.Values))
}

// Data returns the rows behind a release.
func (r *Rows) Data() release.Data {
	d := release.Data{Inputs: r.X, Output: r.outputs()}
	if r.Labels != nil {
		d.Account = dataset.LabelValues(r.Labels, r.Classes)
	}
	return d
}

// Split draws the rows for training and for testing.
func (s Splits) Split(t *experiment.Trial, repeat, rows int) (train, test []int, err error) {
	tests := s.tests(rows)
	if tests < 1 || tests >= rows {
		return nil, nil, fmt.Errorf("holdout = %g leaves %d of %d rows for testing: at least one is needed for testing, and "+
			"one for training", s.Holdout, tests, rows)
	}
	order := Stream(t, "split", repeat).Perm(rows)
	return order[tests:], order[:tests], nil
}

// tests returns how many of the rows are tested.
func (s Splits) tests(rows int) int { return int(math.Round(s.Holdout * float64(rows))) }

// Warnings returns those of the rows that were read. They depend on the data: they are for
// judging, and no part of a release. The columns are in the words of the method, such as "an
// input or the output".
func (r *Rows) Warnings(columns string) []string {
	return append(DroppedWarnings(r.Dropped, r.Len(), columns), r.Suspect...)
}

// DroppedWarnings returns the warning that rows were left out; nil for none.
func DroppedWarnings(dropped, used int, columns string) []string {
	if dropped == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d rows have no value in %s and were left out", dropped, dropped+used, columns)}
}
