package release

import (
	"context"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// Plan is a release of which all that is public is computed: ranks, designs,
// sensitivities, noise. The rest depends on private data through noise
// alone, whether it fails included: a model can fail where the noise is larger than
// its update allows for.
type Plan struct {
	// Private are the rows that are protected, as they were read: not clipped.
	Private *mat.Dense
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
}

// Plan returns the plan of a release that protects one unit of the data, with the spending that
// does not follow from them. The private matrix of [experiment.UnitRow] has the inputs and then the output
// (N×(d+1)); that of [experiment.UnitOutput] and of [experiment.UnitInputs] has these alone.
func (d Data) Plan(unit string, spending experiment.Spending,
	publish func(context.Context, *mat.Dense, *Source) (*experiment.Release, error)) *Plan {
	account := d.Account
	if account == nil {
		account = d.Output
	}
	p := &Plan{Private: d.Inputs, Spending: spending, Publish: publish}
	p.Spending.Data, p.Spending.Rows = dataset.Canonical(d.Inputs, account), len(account)
	p.Spending.Units = []string{unit}
	switch unit {
	case experiment.UnitRow:
		p.Spending.Row, p.Spending.Units = dataset.CanonicalRows(d.Inputs, account), experiment.UnitsOfARow()
		n, columns := d.Inputs.Dims()
		p.Private = mat.NewDense(n, columns+1, nil)
		for i := range n {
			p.Private.SetRow(i, append(slices.Clone(d.Inputs.RawRowView(i)), d.Output[i]))
		}
	case experiment.UnitOutput:
		p.Private = mat.NewDense(len(d.Output), 1, slices.Clone(d.Output))
	}
	return p
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

// Run books the plan's spending, draws the noise and makes the release.
func (p *Plan) Run(ctx context.Context, t *experiment.Trial) (*experiment.Release, error) {
	s, err := Open(t, p.Spending)
	if err != nil {
		return nil, err
	}
	return p.With(ctx, s, p.Private)
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
