package release

import (
	"context"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/experiments/mechanism/loss"
	"privkern/runner/experiment"
)

// Plan is a release of which all that is public is computed: ranks, designs,
// sensitivities, noise. The rest depends on private data through noise
// alone.
type Plan struct {
	// Private are the rows that are protected, as they were read: not clipped. A row of NaN is an
	// empty place, which contributes nothing.
	Private *mat.Dense
	// People are the persons behind those of a release that protects a part of their rows; nil where one row is protected.
	// Of whole rows, those of a person stand together.
	People *table.People
	// Spending is the budget of the rows that the release takes.
	Spending experiment.Spending
	// Publish clips the rows and makes the release of them. It may be called with
	// other rows of the same public shape, and more than once: audits do.
	Publish func(ctx context.Context, private *mat.Dense, s *Source) (*experiment.Release, error)
}

// Data are the rows behind a release.
type Data struct {
	Inputs *mat.Dense // N×d
	Output []float64  // N
	// Account are the outputs by which the account of the data is found, where they differ from
	// Output; N, or more where a release uses some of the rows.
	Account []float64
	// People are the persons behind the rows, of whom one is protected with all of them; nil where a
	// single row is protected.
	People *table.People
	// Slots is the public number of places for rows, where the number of rows is private; 0 for N.
	Slots int
}

// slots returns the rows that fill the private matrix of [experiment.UnitRow], −1 for an empty one:
// those of a person stand together.
func (d Data) slots() []int {
	n := d.Inputs.RawMatrix().Rows
	out := slices.Repeat([]int{-1}, max(n, d.Slots))
	if d.People == nil {
		for row := range n {
			out[row] = row
		}
		return out
	}
	taken := make([]int, d.People.Count)
	for row, person := range d.People.Of {
		out[person*d.People.PerPerson+taken[person]] = row
		taken[person]++
	}
	return out
}

// Plan returns the plan of a release that protects one unit of the data, a part of a row, with the
// spending that does not follow from them. Where rows have persons, it protects this part of all rows
// of one person.
//
// The private matrix of [experiment.UnitRow] has the inputs and then the output (N×(d+1)); where the
// number of rows is private it has a row for each place, which are P·m for P persons with at most m
// rows, and NaN in the empty ones. That of [experiment.UnitOutput] and of [experiment.UnitInputs] has
// these alone, of every row: the rest of the rows is public, and with it which person has how many.
func (d Data) Plan(unit string, spending experiment.Spending,
	publish func(context.Context, *mat.Dense, *Source) (*experiment.Release, error)) *Plan {
	account := d.Account
	if account == nil {
		account = d.Output
	}
	p := &Plan{Private: d.Inputs, People: d.People, Spending: spending, Publish: publish}
	p.Spending.Data, p.Spending.Rows = dataset.Canonical(d.Inputs, account), max(len(account), d.Slots)
	p.Spending.Units = []string{unit}
	switch unit {
	case experiment.UnitRow:
		p.Spending.Row, p.Spending.Units = dataset.CanonicalRows(d.Inputs, account), experiment.UnitsOfARow()
		p.Private, p.People = d.places(), nil
	case experiment.UnitOutput:
		p.Private = mat.NewDense(len(d.Output), 1, slices.Clone(d.Output))
	}
	if d.People != nil {
		p.Spending.Rows, p.Spending.Person = d.People.Count, d.People.Column
		p.Spending.Units = slices.Insert(p.Spending.Units, 0, experiment.UnitPerson)
	}
	return p
}

// places is the private matrix of whole rows.
func (d Data) places() *mat.Dense {
	slots := d.slots()
	_, columns := d.Inputs.Dims()
	out := mat.NewDense(len(slots), columns+1, nil)
	empty := slices.Repeat([]float64{math.NaN()}, columns+1)
	for i, row := range slots {
		if row < 0 {
			out.SetRow(i, empty)
			continue
		}
		out.SetRow(i, append(slices.Clone(d.Inputs.RawRowView(row)), d.Output[row]))
	}
	return out
}

// Planned makes the Release of an experiment's declaration of the function that plans
// it; S are the experiment's settings.
func Planned[S any](plan func(context.Context, *experiment.Trial, *S) (*Plan, error)) func(
	context.Context, *experiment.Trial, *S) (*experiment.Release, error) {
	return func(ctx context.Context, t *experiment.Trial, s *S) (*experiment.Release, error) {
		p, err := plan(ctx, t, s)
		if err != nil {
			return nil, err
		}
		return p.Run(ctx, t)
	}
}

// Run books the plan's spending, draws the noise and makes the release. It states the guarantee for several rows
// of one person, where one row is protected.
func (p *Plan) Run(ctx context.Context, t *experiment.Trial) (*experiment.Release, error) {
	groups, err := p.groups() // before anything is spent
	if err != nil {
		return nil, err
	}
	s, err := Open(t, p.Spending)
	if err != nil {
		return nil, err
	}
	out, err := p.With(ctx, s, p.Private)
	if err == nil && groups != nil {
		out.Privacy.Groups = groups
	}
	return out, err
}

// groups returns the guarantees for 2, 5 and 10 rows of one person; nil where a person is protected, or the
// losses are not known.
func (p *Plan) groups() ([]experiment.Group, error) {
	if p.Spending.Losses == nil || slices.Contains(p.Spending.Units, experiment.UnitPerson) {
		return nil, nil
	}
	var out []experiment.Group
	for _, rows := range []int{2, 5, 10} {
		group, err := loss.Group(p.Spending.Losses, p.Spending.Delta, rows)
		if err != nil {
			return nil, err
		}
		out = append(out, group)
	}
	return out, nil
}

// With makes a release of other rows than the plan's, with noise from s.
func (p *Plan) With(ctx context.Context, s *Source, private *mat.Dense) (*experiment.Release, error) {
	out, err := p.Publish(ctx, private, s)
	if err != nil {
		return nil, err
	}
	out.Noise = s.Drawn()
	return out, nil
}

// SizeOfTable is the size of a release of rows with those columns.
func SizeOfTable(rows int, columns []string) experiment.Size {
	return experiment.Size{Rows: rows, Columns: len(columns), Names: LengthOf(columns)}
}

// LengthOf is the length of all names, in bytes.
func LengthOf(names []string) int { return len(strings.Join(names, "")) }
