package method

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Method declares a method by a struct of its settings S, a struct of its metrics M and its
// learner L. Fields of the declaration that are given stay as they are; Check, Complete and
// CheckRelease run besides those of all methods, and Run is for data that are not the user's.
type Method[S, M any, L Learner] struct {
	experiment.Declaration[*S, M]
	Task Task
	// Unit is the unit of protection; empty for [experiment.UnitRow].
	Unit string
	// Settings returns the settings that every method has.
	Settings func(*S) Settings
	// Simulate makes the rows of dataset=simulated, and their output, of a classification the number 0 or 1 of the
	// class; nil where Run computes trials of these.
	Simulate func(*experiment.Trial) (x *mat.Dense, output []float64)
	// Prepare makes the learner of rows. It may add to [Rows.Suspect].
	Prepare func(context.Context, *experiment.Trial, *S, *Rows) (L, error)
	// Metrics returns the metrics of a trial.
	Metrics func(L, *Scores) M
	Advice  Advice
	// LargestOfRows leaves accuracy_largest that of one row where a person is protected: results that are in use have it.
	// The warning compares with that of a person.
	LargestOfRows bool
	// Taken reports whether predictions have a column of that name, with these classes.
	Taken func(name string, classes []string) bool
}

// Settings are those that every method has.
type Settings struct {
	Columns
	Budget *mechanism.Budget // of the settings themselves
	Range  *OutputRange      // of the output of a regression
	Public InputRange        // of the inputs; without numbers for none
	Splits
	Person
	Invalid
	// Points names a file of public points, such as inducing inputs; empty for none.
	Points string
}

// Definition is a method with its experiment.
type Definition[S, M any, L Learner] struct {
	// Experiment returns the experiment.
	Experiment func() *experiment.Definition[S, M]

	method Method[S, M, L]
}

// Of returns the definition of a method.
func Of[S, M any, L Learner](m Method[S, M, L]) *Definition[S, M, L] {
	out := &Definition[S, M, L]{method: m}
	d := m.Declaration
	d.Datasets = func(s *S) []string { return m.Settings(s).Datasets() }
	if d.Tables == nil {
		d.Tables = func(s *S) []experiment.InputTable { return m.Settings(s).Tables() }
	}
	d.Complete, d.Check, d.Run = out.complete, out.check, out.run
	if _, publishes := any(*new(L)).(Publisher); publishes {
		d.CheckRelease, d.Release = out.checkRelease, release.Planned(out.plan)
	}
	out.Experiment = experiment.Of(d)
	return out
}

// Spec returns the columns that are read. Rows with an invalid value are left out where these are
// clamped: their places stay empty, see [Rows.Slots].
func (c Settings) Spec() table.Spec {
	s := c.Person.Of(c.Columns.Spec())
	s.Common = c.SplitSource == CommonSplits
	if c.Clamped() {
		s.Invalid = table.LeftOut
	}
	return s
}

// Datasets returns the data sets that a trial reads.
func (c Settings) Datasets() []string {
	var names []string
	if c.Dataset != Simulated {
		names = []string{c.Dataset}
	}
	if c.Points != "" && c.Points != c.Dataset {
		names = append(names, c.Points)
	}
	return names
}

// Tables returns the columns that are looked for when a plan is made.
func (c Settings) Tables() []experiment.InputTable {
	tables := c.Spec().Tables()
	if c.Points != "" && c.Points != c.Dataset { // the data have the inputs, too
		points := c.Spec()
		points.Dataset, points.Others, points.Person, points.Reading = c.Points, nil, "", c.Reading.In(c.Dataset)
		tables = append(tables, points.Tables()...)
	}
	return tables
}

func (x *Definition[S, M, L]) complete(s *S, given func(field any) bool) error {
	c := x.method.Settings(s)
	if !c.IsOwn() {
		return nil
	}
	if complete := x.method.Complete; complete != nil {
		if err := complete(s, given); err != nil {
			return err
		}
	}
	return release.RequireDelta(c.Budget, given)
}

func (x *Definition[S, M, L]) check(s *S) error {
	c := x.method.Settings(s)
	if err := c.CheckDataset(); err != nil {
		return err
	}
	if c.IsOwn() {
		if c.Output == "" {
			return errors.New("output is not given: name the column that is predicted")
		}
		if err := c.Spec().Check(); err != nil {
			return err
		}
	} else if x.method.Simulate != nil && len(c.Spec().Asked()) != 1 {
		return fmt.Errorf("inputs = %s: simulated data have one input", c.Inputs)
	}
	if c.Range != nil {
		if err := c.Range.Check(c.IsOwn()); err != nil {
			return err
		}
	}
	if err := c.CheckMembership(); err != nil {
		return err
	}
	if check := x.method.Check; check != nil {
		return check(s)
	}
	return nil
}

// rows reads or simulates the rows of a trial, with canaries unless they are for a release.
func (x *Definition[S, M, L]) rows(t *experiment.Trial, c Settings, released bool) (*Rows, error) {
	r, err := x.read(t, c, released)
	if err == nil && c.Membership && c.Canaries > 0 && !released {
		err = r.plant(c.Canaries, c.Public)
	}
	return r, err
}

// read reads or simulates the rows of a trial.
func (x *Definition[S, M, L]) read(t *experiment.Trial, c Settings, released bool) (*Rows, error) {
	if c.IsOwn() {
		return c.Load(t, x.method.Task, released)
	}
	// The settings inputs and output do not apply.
	r := &Rows{Inputs: []string{"x"}, Asked: []table.Input{{Name: "x"}}, Output: "y", simulated: true}
	var output []float64
	r.X, output = x.method.Simulate(t)
	r.Slots = r.Len()
	if x.method.Task == Classification {
		r.Classes = []string{"0", "1"}
		for _, v := range output {
			r.Labels = append(r.Labels, int(v))
		}
		return r, nil
	}
	r.Values = output
	r.setRange(c.Range)
	return r, nil
}

// Learner reads the rows of a trial, and prepares the learner for them.
func (x *Definition[S, M, L]) Learner(ctx context.Context, t *experiment.Trial, s *S) (l L, r *Rows, err error) {
	if r, err = x.rows(t, x.method.Settings(s), false); err != nil {
		return l, nil, err
	}
	l, err = x.method.Prepare(ctx, t, s, r)
	return l, r, err
}

func (x *Definition[S, M, L]) run(ctx context.Context, t *experiment.Trial, s *S) (*experiment.Outcome[M], error) {
	c := x.method.Settings(s)
	if !c.IsOwn() && x.method.Run != nil {
		return x.method.Run(ctx, t, s)
	}
	l, rows, err := x.Learner(ctx, t, s)
	if err != nil {
		return nil, err
	}
	j := &judging{Splits: c.Splits, t: t, learner: l, rows: rows, budget: c.Budget, advice: x.method.Advice,
		largestOfRows: x.method.LargestOfRows}
	judge := j.regression
	if x.method.Task == Classification {
		judge = j.classification
	}
	scores, warnings, err := judge(ctx)
	if err != nil {
		return nil, err
	}
	var fit []string
	if s, ok := any(l).(Suspicious); ok {
		fit = s.Suspicions(rows.Len() - c.tests(rows.Len()))
	}
	return &experiment.Outcome[M]{Metrics: x.method.Metrics(l, scores), Series: j.series, Privacy: recorded(l.Guarantee()),
		Warnings: j.warnings(x.method.Task, fit, warnings)}, nil
}

// recorded returns a guarantee as the record of a trial that judges has it.
func recorded(p *experiment.Privacy) *experiment.Privacy {
	if p != nil {
		p.Notes = append([]string{"this record itself is not private: its metrics are computed from the data; what may be " +
			"published is what --release writes"}, append(p.Notes, "every split (repeats) spends a budget of its own")...)
	}
	return p
}

func (x *Definition[S, M, L]) checkRelease(s *S) error {
	c := x.method.Settings(s)
	switch {
	case c.Budget.Noiseless():
		return release.ErrNoNoise
	case !c.IsOwn():
		return errors.New("simulated data need no release; name your own with dataset=csv:PATH")
	}
	if check := x.method.CheckRelease; check != nil {
		if err := check(s); err != nil {
			return err
		}
	}
	if err := c.Spec().CheckNamed(); err != nil {
		return err
	}
	return x.checkNames(c, c.Spec().Names(), nil)
}

func (x *Definition[S, M, L]) checkNames(c Settings, names, classes []string) error {
	return CheckNames(c.Inputs, names, func(name string) bool { return x.method.Taken(name, classes) })
}

// Plan plans a release of a trial, for audits.
func (x *Definition[S, M, L]) Plan(ctx context.Context, t *experiment.Trial) (*release.Plan, error) {
	return x.plan(ctx, t, x.Experiment().Settings(t.Params))
}

// plan plans a release: a model of all rows, which depends on them through noise alone.
func (x *Definition[S, M, L]) plan(ctx context.Context, t *experiment.Trial, s *S) (*release.Plan, error) {
	out, err := x.planned(ctx, t, s, cmp.Or(x.method.Unit, experiment.UnitRow), nil, false)
	if err != nil {
		return nil, err
	}
	return out.Plan, nil
}

// Planned is a planned release with the rows behind it.
type Planned struct {
	*release.Plan
	Rows *Rows
}

// PlanUnits plans a release, by a trial, of some of its units alone: rows, or persons with all of their rows, numbered
// as [Rows.Units] counts them, in increasing order; nil stands for all. The release protects a unit,
// [experiment.UnitRow] or [experiment.UnitOutput], of which the method's own is a part or all. Such releases compose by
// the μ of their noise.
func (x *Definition[S, M, L]) PlanUnits(
	ctx context.Context, t *experiment.Trial, unit string, units []int,
) (*Planned, error) {
	if unit == experiment.UnitRow && x.method.Unit == experiment.UnitOutput {
		return nil, fmt.Errorf("%s protects outputs, and no whole rows", x.method.Name)
	}
	return x.planned(ctx, t, x.Experiment().Settings(t.Params), unit, units, true)
}

// planned plans a release of some of the units, or of all.
func (x *Definition[S, M, L]) planned(
	ctx context.Context, t *experiment.Trial, s *S, unit string, units []int, composed bool,
) (*Planned, error) {
	if err := x.checkRelease(s); err != nil {
		return nil, err
	}
	c := x.method.Settings(s)
	rows, err := x.rows(t, c, true)
	if err == nil && units != nil {
		rows, err = rows.among(units)
	}
	if err != nil {
		return nil, err
	}
	if err := x.checkNames(c, rows.Inputs, rows.Classes); err != nil {
		return nil, err
	}
	if rows.Labels != nil && !rows.Named { // a column that is itself named kind[a|b|c]
		return nil, fmt.Errorf("output = %s: the data have a column of that name, and its classes would be those of the "+
			"private rows; rename the column, and name its classes", c.Output)
	}
	rows.Composed = composed
	l, err := x.method.Prepare(ctx, t, s, rows)
	if err != nil {
		return nil, err
	}
	p, err := any(l).(Publisher).Publication(ctx)
	if err != nil {
		return nil, err
	}
	return &Planned{Rows: rows, Plan: rows.Data().Plan(unit, experiment.Spending{
		Dataset: c.Dataset, Epsilon: c.Budget.Epsilon, Delta: c.Budget.Delta, Losses: p.Losses, Size: p.Size,
		Publishes: p.Publishes, Points: c.Points,
	}, func(ctx context.Context, private *mat.Dense, source *release.Source) (*experiment.Release, error) {
		return publish(ctx, t, l, p, rows.private(unit, private), source)
	})}, nil
}

// publish fits the rows with exact noise, and describes the release.
func publish(
	ctx context.Context, t *experiment.Trial, l Learner, p *Publication, rows *Part, source *release.Source,
) (*experiment.Release, error) {
	privacy := l.Guarantee()
	privacy.Publish()
	privacy.Notes = slices.Concat(privacy.Notes, p.Notes,
		[]string{"splits and repeats have no part in a release", release.ExactNoise})
	out, err := p.Publish(ctx, rows, privacy, source)
	if err != nil {
		return nil, err
	}
	out.Privacy, out.Warnings = privacy, append(engine.Of(t.Engine).Warnings(), out.Warnings...)
	return out, nil
}
