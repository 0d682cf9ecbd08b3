package method

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
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
	Asked   []table.Input
	Output  string // the column
	Dropped int    // rows left out for want of a value, or of a valid one
	// Extremes are those of [table.Data]; nil where the rows have them.
	Extremes *mat.Dense
	// People are the persons behind the rows; nil where a single row is protected.
	People *table.People
	// Slots is the public number of places for rows, N or more, because the number of rows is
	// private where a person may have fewer than others, or a row may be invalid: such a place is
	// empty, and contributes nothing.
	Slots int
	// Composed is set for a release whose budget is one in μ, of which noise of another law than Gaussian would take more
	// than the (ε, δ) of a setting tell, see [Definition.PlanUnits].
	Composed bool
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
	canaries  int // pairs, which are the last rows
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

// Units is n, the public number of protected units: of persons or of rows.
func (r *Rows) Units() int {
	n, _ := r.People.Units(r.Slots)
	return n
}

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
	r := &Rows{X: data.X, Extremes: data.Extremes, Inputs: data.Names, Asked: data.Asked, Output: data.Column(c.Output),
		Dropped: data.Dropped,
		Suspect: data.ColumnWarnings(), Named: data.Public(c.Output), People: data.People}
	switch r.Slots = r.Len(); {
	case data.People != nil:
		if r.Slots, err = data.People.Slots(len(r.Inputs) + 1); err != nil {
			return nil, err
		}
		r.Suspect = append(r.Suspect, data.People.Warnings(c.Person.Column())...)
	case c.Clamped():
		r.Slots = data.Rows
	}
	r.setRange(c.Range)
	if task == Classification {
		r.Labels, r.Classes, err = data.Labels(c.Output)
	} else {
		r.Values, err = data.Numbers(c.Output)
	}
	if err == nil && c.Range != nil && c.Range.given() && !t.ForOthers() {
		if warning := ReadOffWarning(r.Output, data.Ends(c.Output), c.Range.Low, c.Range.High); warning != "" {
			r.Suspect = append(r.Suspect, warning)
		}
	}
	return r, err
}

// ReadOffWarning is [table.ReadOffWarning] of one column, whose extremes are among the values; empty for none.
func ReadOffWarning(name string, values []float64, low, high End) string {
	if len(values) == 0 {
		return ""
	}
	return table.ReadOffWarning(mat.NewDense(len(values), 1, values), []string{name}, []float64{low.Number},
		[]float64{high.Number})
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
		switch {
		case r.Labels != nil && math.IsNaN(v): // of an empty slot
			p.Labels = append(p.Labels, -1)
		case r.Labels != nil:
			p.Labels = append(p.Labels, int(v))
		default:
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
	return r.part(learn.SelectRows(r.X, rows), learn.Select(r.outputs(), rows))
}

// among returns the rows of some of the units, rows or persons, as if there were no others: numbers below
// [Rows.Units], in increasing order.
func (r *Rows) among(units []int) (*Rows, error) {
	place := slices.Repeat([]int{-1}, r.Units()) // of a unit among these
	for i, unit := range units {
		place[unit] = i
	}
	out := *r
	out.Extremes, out.Suspect, out.Dropped, out.Slots = nil, nil, 0, len(units)
	if r.People != nil {
		people := *r.People
		people.Of, people.Count, people.LeftOut = nil, len(units), 0
		out.People, out.Slots = &people, len(units)*people.PerPerson
	}
	var rows []int
	for row := range r.Len() {
		unit := row
		if r.People != nil {
			unit = r.People.Of[row]
		}
		if place[unit] < 0 {
			continue
		}
		rows = append(rows, row)
		if r.People != nil {
			out.People.Of = append(out.People.Of, place[unit])
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("of %d units, which are some of all, no row has a value in every column", len(units))
	}
	out.X, out.Values, out.Labels = learn.SelectRows(r.X, rows), nil, nil
	for _, row := range rows {
		if r.Labels != nil {
			out.Labels = append(out.Labels, r.Labels[row])
		} else {
			out.Values = append(out.Values, r.Values[row])
		}
	}
	return &out, nil
}

// clipped counts the outputs outside of the public range. Errors are measured against outputs as they are.
func (r *Rows) clipped() table.Clipping {
	out := table.Clipping{Of: len(r.Values), Outputs: fmt.Sprintf("values of %q", r.Output), Low: r.Centre - r.Scale,
		High: r.Centre + r.Scale, AsRead: true}
	for _, v := range r.Values {
		if scaled := r.Scaled(v); max(-1, min(1, scaled)) != scaled {
			out.Outside++
		}
	}
	return out
}

// Data returns the rows behind a release.
func (r *Rows) Data() release.Data {
	d := release.Data{Inputs: r.X, Output: r.outputs(), People: r.People, Slots: r.Slots}
	if r.Labels != nil {
		d.Account = dataset.LabelValues(r.Labels, r.Classes)
	}
	return d
}

// Split draws the rows for training and for testing: whole persons, where rows have any.
func (s Splits) Split(t *experiment.Trial, repeat, rows int, people *table.People) (train, test []int, err error) {
	folds, err := Folds(people, rows, func(n int) ([]learn.Fold, error) {
		tests := s.tests(n)
		if tests < 1 || tests >= n {
			_, whom := people.Units(n)
			return nil, fmt.Errorf("holdout = %g leaves %d of %d %s for testing: at least one is needed for testing, and "+
				"one for training", s.Holdout, tests, n, whom)
		}
		if s.SplitSource == CommonSplits {
			return []learn.Fold{CommonSplit(t.Seed, repeat, n, tests)}, nil
		}
		order := Stream(t, "split", repeat).Perm(n)
		return []learn.Fold{{Train: order[tests:], Test: order[:tests]}}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return folds[0].Train, folds[0].Test, nil
}

// Folds makes folds of whole persons: split makes folds of n of them, numbered in the order of
// their first rows. Where rows have no persons, it makes folds of the rows.
func Folds(people *table.People, rows int, split func(n int) ([]learn.Fold, error)) ([]learn.Fold, error) {
	if people == nil {
		return split(rows)
	}
	groups := people.Groups()
	folds, err := split(len(groups))
	if err != nil {
		return nil, err
	}
	for i, f := range folds {
		folds[i] = learn.Fold{Train: rowsOf(groups, f.Train), Test: rowsOf(groups, f.Test)}
	}
	return folds, nil
}

// rowsOf are the rows of some of the groups, in increasing order.
func rowsOf(groups [][]int, some []int) []int {
	var rows []int
	for _, i := range some {
		rows = append(rows, groups[i]...)
	}
	slices.Sort(rows)
	return rows
}

// tests returns how many of the rows are tested.
func (s Splits) tests(rows int) int { return int(math.Round(s.Holdout * float64(rows))) }

// Warnings returns those of the rows that were read. They depend on the data: they are for
// judging, and no part of a release. The columns are in the words of the method, such as "an
// input or the output".
func (r *Rows) Warnings(columns string) []string {
	return append(DroppedWarnings(r.Dropped, r.Len(), r.People, columns), r.Suspect...)
}

// DroppedWarnings returns the warning that rows were left out, where others are used, and where rows have persons more
// were drawn; nil for none.
func DroppedWarnings(dropped, used int, people *table.People, columns string) []string {
	if dropped == 0 {
		return nil
	}
	all := dropped + used
	if people != nil {
		all += people.LeftOut
	}
	return []string{fmt.Sprintf("%d of %d rows have no value in %s and were left out", dropped, all, columns)}
}
