package ground

import (
	_ "embed"
	"errors"
	"fmt"
	"math"

	"privkern/experiments/dataset/table"
	"privkern/experiments/mechanism"
	"privkern/experiments/mechanism/loss"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

//go:embed settings.go
var settingsSource string

func init() { experiment.Document[Data](settingsSource) }

// Relation is the relation of neighbouring data sets.
type Relation = method.Relation

// The relations.
const (
	Substitute = method.Substitute
	AddRemove  = method.AddRemove
)

// Data are the settings that every baseline has: the data, their public ranges, and the budget.
type Data struct {
	method.Columns
	// lower end of the public range of the inputs, one for all or one for each, joined by commas in the order of inputs
	// (of a category it is not read; of your own data it must be given); inputs beyond it count as its ends. It must not
	// be read off the data
	InputLow method.Ends `name:"input_low" default:"none"`
	// upper end of that range, one for all inputs or one for each
	InputHigh        method.Ends `name:"input_high" default:"none"`
	mechanism.Budget `also:"delta: csv: it must be given, far below 1/n for n rows"`
	// neighbouring data, between which the guarantee tells nobody apart: substitute replaces a row (or a person) by any
	// other, add-remove has one more or less, which takes less noise and protects less
	Neighbours Relation `name:"neighbours" default:"substitute" when:"epsilon is not inf"`
	method.Splits
	method.Person  `when:"person: dataset is not simulated"`
	method.Invalid `when:"invalid: dataset is not simulated"`
}

// OutputData are [Data] of a baseline that protects outputs alone.
type OutputData struct {
	publicInputs `never:"neighbours: who is in the data is public || invalid: which rows have a value is public"`
}

type publicInputs struct {
	protectedOutputs `also:"person: of their rows it protects the outputs alone"`
}

type protectedOutputs struct {
	Data `doc:"inputs: columns to predict from, joined by + or commas, or * for all numeric ones; they are public"`
}

// settings returns those that every method has.
func (d *Data) settings(r *method.OutputRange) method.Settings {
	out := method.Settings{Columns: d.Columns, Budget: &d.Budget, Range: r, Splits: d.Splits,
		Public: d.inputRange()}
	if d.IsOwn() {
		out.Person, out.Invalid = d.Person, d.Invalid
	}
	return out
}

// inputRange is the public range of the inputs.
func (d *Data) inputRange() method.InputRange {
	return method.InputRange{Low: d.InputLow, High: d.InputHigh}
}

// check refuses settings that no data can have.
func (d *Data) check(unit string) error {
	if unit == experiment.UnitOutput {
		if err := d.checkOutputs(); err != nil {
			return err
		}
	}
	if d.IsOwn() {
		if err := d.Person.Check(); err != nil {
			return err
		}
	}
	if inputs := d.Spec().Asked(); len(inputs) > 0 {
		return d.inputRange().Check(inputs, d.IsOwn())
	}
	return d.inputRange().CheckGiven(d.IsOwn()) // how many columns * is, the data say
}

// checkOutputs refuses settings that have no meaning where inputs are public.
func (d *Data) checkOutputs() error {
	if d.Neighbours == AddRemove {
		return errors.New("neighbours = add-remove: inputs are public here, and so is who is in the data; use " +
			"neighbours=substitute")
	}
	if d.IsOwn() && d.Clamped() {
		return errors.New("invalid = clamp: inputs are public here, and so is which rows have a value; use invalid=refuse")
	}
	return nil
}

// checkRelease refuses a release without a guarantee.
func (d *Data) checkRelease(task method.Task) error {
	if err := d.Neighbours.CheckRelease(); err != nil {
		return err
	}
	if task == method.Classification && table.LevelsOf(d.Output) == nil {
		return fmt.Errorf("output = %s: its classes would be those of the private rows; name them: output=%[1]s[a|b|c]",
			d.Output)
	}
	return nil
}

// rowUnit describes the protected unit, whose rows have these parts.
func (d *Data) rowUnit(parts string) string {
	return d.Neighbours.Unit(d.settings(nil).Person, parts)
}

// Query describes a sum over rows of a vector of each, for the calibration of its noise.
type Query struct {
	What        string // such as "sums of the classes"
	Coordinates int
	// Norm bounds the norm of the vector of one row, and Diameter the distance of those of two: the Euclidean norm for
	// Gaussian noise, the sum of magnitudes for Laplace noise. A row may also have no part, which is the vector 0, so
	// that Diameter ≥ Norm; zero stands for 2·Norm.
	Norm, Diameter float64
	Largest        float64 // bounds the magnitude of every coordinate of the vector of one row
	Rows           int     // N, the largest number of rows, which is public
	// Apart is set where each row has a coordinate of its own, in a query of [Sums.Each]: Coordinates are N, and a vector
	// is one number in its place.
	Apart bool
	Times int // it is asked so often, each time with new vectors; zero stands for once
}

// change bounds how far one protected unit moves the sum: of a unit with m rows by m times the change of one, by
// the triangle inequality. The rows of a query that keeps them apart move it in orthogonal directions, √m times as far.
func (d *Data) change(q Query) float64 {
	one := q.Norm
	if d.Neighbours == Substitute {
		if one = q.Diameter; one == 0 {
			one = 2 * q.Norm
		}
	}
	rows := float64(d.settings(nil).Person.Rows())
	if q.Apart {
		rows = release.Up(math.Sqrt(rows))
	}
	return release.Up(one * rows)
}

// Gaussian calibrates noise for a query that takes a share s of the budget, 0 < s ≤ 1: its noise has the standard
// deviation Δ/(sμ), where Δ/σ = μ is the ratio of the analytic Gaussian mechanism (Balle and Wang 2018) for the whole
// budget. Queries whose s² add to 1 compose to exactly this budget, each of which may depend on the outputs of those
// before it (Dong, Roth and Su, "Gaussian differential privacy", 2022, Corollary 2). The share is that of one answer of
// a query that is asked several times. Without privacy there is no noise.
func (d *Data) Gaussian(q Query, share float64) (*Noise, error) {
	if d.Noiseless() {
		return &Noise{query: q}, nil
	}
	factor, err := mechanism.SafeFactor(mechanism.Analytic, d.Epsilon, d.Delta)
	if err != nil {
		return nil, err
	}
	factor = release.Up(factor / share)
	return d.noise(q, factor, math.Sqrt(float64(q.Coordinates)), func(r release.Query) (*release.Noise, error) {
		return release.Gaussian(r, factor)
	}, experiment.Loss{Law: "gaussian", Size: 1 / factor, Times: max(1, q.Times)})
}

// Subsampled calibrates noise for a query whose Times are asked each of a new Poisson sample
// ([Sums.Sample]) in which every row is with probability rate, 0 < rate < 1: the ratio Δ/σ is the largest, to a
// ten-thousandth, at which the composition has the budget. Package loss has the pair of each relation, of one row: the
// rows of a person are sampled one by one, and would need another. That of substitution has opposite vectors of the
// largest norm, so that no Diameter makes it less.
func (d *Data) Subsampled(q Query, rate float64) (*Noise, error) {
	if d.Noiseless() {
		return &Noise{query: q}, nil
	}
	if d.settings(nil).Person.Given() {
		return nil, errors.New("samples are accounted for where one row is protected, and no person")
	}
	q.Diameter = 0
	law := substituted
	if d.Neighbours == AddRemove {
		law = subsampled
	}
	of := func(size float64) experiment.Loss {
		return experiment.Loss{Law: law, Size: size, Times: max(1, q.Times), Rate: rate}
	}
	whole, err := mechanism.SafeFactor(mechanism.Analytic, d.Epsilon, d.Delta)
	if err != nil {
		return nil, err
	}
	low := 1 / whole / math.Sqrt(float64(max(1, q.Times))) // a sample reveals no more than all rows
	high := low
	for fits := true; fits; {
		low, high = high, 2*high
		if fits, err = d.affords(of(high)); err != nil {
			return nil, err
		}
	}
	for high > low*(1+1e-4) {
		middle := math.Sqrt(low * high)
		fits, err := d.affords(of(middle))
		if err != nil {
			return nil, err
		}
		if fits {
			low = middle
		} else {
			high = middle
		}
	}
	factor := release.Up(1 / low)
	return d.noise(q, factor, math.Sqrt(float64(q.Coordinates)), func(r release.Query) (*release.Noise, error) {
		return release.Gaussian(r, factor)
	}, of(low))
}

// The laws of the losses of Gaussian noise on a sample, by the relation of neighbours.
const (
	subsampled  = "subsampled gaussian"
	substituted = "substituted subsampled gaussian"
)

// affords reports whether the budget is that of a loss, or more.
func (d *Data) affords(l experiment.Loss) (bool, error) {
	epsilon, err := loss.Epsilon([]experiment.Loss{l}, d.Delta)
	return epsilon <= d.Epsilon, err
}

// Laplace calibrates noise for a query that takes epsilon of the budget each time it is asked. A protected unit moves
// the sum by a vector v with Σ|v_j| ≤ Δ, and its loss is dominated by that of one coordinate that moves by Δ: with the
// density p of the noise, ∫ min(p(x), e^t p(x−v)) dx is log-concave and even in v (Prékopa 1973), so that the
// hockey-stick divergence, one less that, is largest at an extreme point of the polytope.
func (d *Data) Laplace(q Query, epsilon float64) (*Noise, error) {
	q.Apart = false // the magnitudes of a unit's rows add up
	if d.Noiseless() {
		return &Noise{query: q}, nil
	}
	return d.noise(q, 1/epsilon, float64(q.Coordinates), func(r release.Query) (*release.Noise, error) {
		return release.Laplace(r, epsilon)
	}, experiment.Loss{Law: "laplace", Size: epsilon, Times: max(1, q.Times)})
}

// noise is that of a query whose scale is factor times its sensitivity; ones is the norm of the vector of ones. The
// vector of a row is computed in float64 and brought to its norm, with a relative error of less than 2⁻⁴⁰ and a unit
// in the last place for each coordinate, and rounded to the grid of sums.
func (d *Data) noise(q Query, factor, ones float64, of func(release.Query) (*release.Noise, error),
	l experiment.Loss) (*Noise, error) {
	change, rows := d.change(q), float64(d.settings(nil).Person.Rows())
	largest := 2 * factor * change // bounds the scale
	n, err := of(release.Query{
		What: q.What, Coordinates: q.Coordinates, Change: change, Size: release.Up(float64(q.Rows) * q.Largest),
		Error: release.Up(rows * (q.Norm*(0x1p-40+float64(q.Coordinates)*0x1p-52) +
			ones*release.ContributionError(largest))),
	})
	if err == nil && n.Scale() > largest {
		err = fmt.Errorf("%s: the rounding of the sums is not small against their sensitivity %g: use a larger epsilon",
			q.What, change)
	}
	return &Noise{q, n, l}, err
}
