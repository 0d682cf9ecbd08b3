package dpgp

import (
	"fmt"
	"slices"

	"privkern/experiments/dataset/table"
	"privkern/experiments/dpgp/own"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// isOwn reports whether the data are the user's own.
func (o *ownColumns) isOwn() bool { return o.Dataset != method.Simulated }

// withoutFile is the word of inducing_file where there is none.
const withoutFile = "none"

// method returns the settings that every method has.
func (o *ownColumns) method(budget *mechanism.Budget, repeats int) method.Settings {
	out := method.Settings{
		Columns: method.Columns{Dataset: o.Dataset, Inputs: o.Inputs, Output: o.Output, Reading: o.Reading}, Budget: budget,
		Splits: method.Splits{Holdout: o.Holdout, Repeats: repeats},
		Public: method.InputRange{Low: o.InputLow, High: o.InputHigh},
	}
	if !o.isOwn() {
		return out
	}
	if out.Person, out.Invalid = o.Person, o.Invalid; o.InducingFile != withoutFile {
		out.Points = o.InducingFile
	}
	return out
}

// tables are the columns that are looked for when a plan is made: those of the data alone.
func (o *ownColumns) tables() []experiment.InputTable {
	return o.method(nil, 0).Spec().Tables()
}

// inducing returns the inducing inputs that the settings name.
func (o *ownColumns) inducing(points experiment.Points) own.Inducing {
	out := own.Inducing{Values: points.Values, Count: points.Count, Auto: points.Word != "", Centred: true,
		Range: method.InputRange{Low: o.InputLow, High: o.InputHigh}, Reading: o.Reading.In(o.Dataset)}
	if o.InducingFile != withoutFile {
		out.File, out.Values, out.Centres = o.InducingFile, nil, o.InducingCentres
	}
	return out
}

// checkSimulated refuses a file of inducing inputs for simulated data.
func (o *ownColumns) checkSimulated() error {
	if o.InducingFile != withoutFile {
		return fmt.Errorf("inducing_file = %s: it is for data of your own", o.InducingFile)
	}
	return nil
}

// checkColumns refuses an empty name of a person's column, and inducing inputs that no data can have.
func (o *ownColumns) checkColumns(points experiment.Points) error {
	if err := o.Person.Check(); err != nil {
		return err
	}
	inducing := o.inducing(points)
	if inducing.File != "" && !table.Is(inducing.File) {
		return fmt.Errorf("inducing_file = %q: it is none, or csv:PATH, a file of inducing inputs%s", o.InducingFile,
			method.Like(o.InducingFile))
	}
	if err := inducing.Range.CheckGiven(inducing.Computed()); err != nil {
		return err
	}
	if v := slices.Sorted(slices.Values(inducing.Values)); len(slices.Compact(slices.Clone(v))) < len(v) {
		return fmt.Errorf("inducing = %s: two inducing inputs are equal, which makes their covariance singular",
			experiment.FormatValue(inducing.Values))
	}
	// Numbers for each input are checked when the data are read: * stands for any number of
	// columns, and a category is several inputs.
	inputs := table.Spec{Dataset: o.Dataset, Inputs: o.Inputs}.Asked()
	if inducing.Values != nil && len(inputs) > 1 {
		return fmt.Errorf("inducing is a list, which is for one input, and there are %d; use inducing_file=csv:PATH",
			len(inputs))
	}
	return inducing.Check(inputs)
}
