package cloak

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// OwnData names the data of a trial: those of the paper, or a file of the user's, csv:PATH,
// with the public facts about it. The settings of an experiment have these fields with its
// documentation, and are converted to it.
type OwnData struct {
	Dataset string
	Inputs  string // names of columns, joined by + or commas
	Output  string // name of the column that is predicted and protected
	// Low and High are public: the range of the output, or its two values.
	Low, High method.End
	table.Reading
	method.Person
	method.Invalid
}

// IsFile reports whether the data are a file of the user's.
func (o *OwnData) IsFile() bool { return table.Is(o.Dataset) }

// Settings returns the settings that every method has; predict, if it is a file, has the points at
// which a release predicts.
func (o *OwnData) Settings(predict string) method.Settings {
	out := method.Settings{Columns: method.Columns{Dataset: o.Dataset, Inputs: o.Inputs, Output: o.Output,
		Reading: o.Reading},
		Person: o.Person, Invalid: o.Invalid}
	if table.Is(predict) {
		out.Points = predict
	}
	return out
}

// Table returns the columns that are read of a file. Inputs are public, and an invalid one is refused, or its row left
// out where it is missing; a row with an invalid output stays where these are clamped.
func (o *OwnData) Table() table.Spec {
	s := o.Settings("").Spec()
	if o.Clamped() {
		s.Invalid = table.KeptOthers
	}
	return s
}

// Protected describes the protected unit of a guarantee: one output, as the given text has it, or all parts of a
// person, such as "training labels", with the change that each has, such as "flipped". The parts come first, because
// tables show the beginning alone, and the rest of a person's rows is not protected.
func (o *OwnData) Protected(output, parts, change string) string {
	if !o.Given() {
		return output
	}
	return fmt.Sprintf("all %s of %s, each %s; inputs and which person has which row are public", parts, o.Whom(), change)
}

// Notes explain to the readers of a release which part of the rows is public, and how invalid outputs were counted.
func (o *OwnData) Notes(invalid string) []string {
	out := []string{"which rows have a value of the output is taken as public; rows without one had no part in it"}
	if o.Clamped() {
		out = []string{invalid + "; which ones do is private"}
	}
	if o.Given() {
		out = append(out, o.Drawn())
	}
	return out
}

// CheckPerson refuses a person's sensitivity by norms that leave directions out.
func (o *OwnData) CheckPerson(s *Solver) error {
	if o.Given() && s.Algorithm == Gradient && s.Inverse == Pseudo {
		return errors.New("inverse = pseudo-inverse with person = " + o.Person.Person + ": it leaves directions out of the " +
			"norms in which a person's rows are added up; use inverse=range")
	}
	return nil
}

// UnitsOf are the columns of a cloaking matrix that each person moves with their outputs, for the rows that it is made
// for; nil where rows have no persons. The column of a row is its place, or the one that columns has there.
func UnitsOf(people *table.People, rows, columns []int) [][]int {
	if people == nil {
		return nil
	}
	units := make([][]int, people.Count)
	for i, row := range rows {
		column := i
		if columns != nil {
			column = columns[i]
		}
		person := people.Of[row]
		units[person] = append(units[person], column)
	}
	return slices.DeleteFunc(units, func(u []int) bool { return u == nil })
}

// People are the persons behind some of the rows; nil where there are none.
func People(of *table.People, rows []int) *table.People {
	if of == nil {
		return nil
	}
	out := *of
	out.Of = learn.Select(of.Of, rows)
	return &out
}

// Columns are the names of the input columns of a file; nil for "*", every numeric one.
func (o *OwnData) Columns() []string { return o.Table().Names() }

// Complete completes the budget of a trial on a file: δ must be given, and noise is
// calibrated exactly where nothing else is asked for.
func (o *OwnData) Complete(b *GaussianBudget, given func(field any) bool) error {
	if !o.IsFile() {
		return nil
	}
	if !b.Noiseless() && !given(&b.Calibration) {
		b.Calibration = mechanism.Analytic
	}
	return release.RequireDelta(&b.Budget, given)
}

// CheckDataset refuses a name that is neither that of the paper's data nor a file.
func (o *OwnData) CheckDataset(name string) error {
	if o.IsFile() || o.Dataset == name {
		return nil
	}
	return fmt.Errorf("dataset = %q: it is %s or your own data (%s)%s", o.Dataset, name, dataset.OwnForms(),
		fileHint(o.Dataset, name))
}

// CheckNoFile refuses settings of a file for the paper's data. Instead names the settings of those
// data.
func (o *OwnData) CheckNoFile(instead string) error {
	given := func(name, value string) error {
		return fmt.Errorf("%s = %s: it is for data of your own, such as dataset=csv:PATH; %s", name, value, instead)
	}
	switch {
	case o.Output != "":
		return given("output", o.Output)
	case !o.Low.Is(method.Absent):
		return given("low", o.Low.String())
	case !o.High.Is(method.Absent):
		return given("high", o.High.String())
	case o.Given():
		return given("person", o.Person.Person)
	case o.Clamped():
		return given("invalid", experiment.NameOf(method.Clamp))
	}
	return nil
}

// CheckFile refuses settings that no file can have. LowHigh describes low and high for the output,
// whose name it takes.
func (o *OwnData) CheckFile(lowHigh string) error {
	if err := o.CheckColumns(); err != nil {
		return err
	}
	if o.Low.Is(method.Absent) || o.High.Is(method.Absent) {
		return fmt.Errorf("low and high are not given: they are "+lowHigh, o.Output)
	}
	if !(o.Low.Number < o.High.Number) {
		return fmt.Errorf("low = %s and high = %s: low must be below high", o.Low, o.High)
	}
	return nil
}

// CheckColumns refuses columns that a file cannot be asked for.
func (o *OwnData) CheckColumns() error {
	inputs := o.Table()
	inputs.Others = nil
	if err := inputs.Check(); err != nil {
		return err
	}
	path, _ := dataset.FilePath(o.Dataset)
	switch {
	case o.Output == "":
		return fmt.Errorf("output is not given: name the column of %s that is predicted and protected", path)
	case slices.Contains(o.Columns(), table.NameOf(o.Output)):
		return fmt.Errorf("output = %s: it is one of the inputs, too; inputs are taken as public", o.Output)
	}
	return errors.Join(o.Person.Check(), o.Table().Check())
}

// CheckNames refuses inputs that are named as a column of the release.
func CheckNames(inputs []string, columns ...string) error {
	for _, name := range inputs {
		if slices.Contains(columns, name) {
			return fmt.Errorf("input %s: a release has a column %q of its own; rename the input", name, name)
		}
	}
	return nil
}

// fileHint helps who has written a file's name alone, or misspelt the valid name.
func fileHint(name, valid string) string {
	if strings.ContainsAny(name, "./\\") {
		return fmt.Sprintf("; did you mean \"%s\"?", dataset.FileName(name))
	}
	if near := experiment.Nearest(name, []string{valid}); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// InputWarnings returns warnings of inputs for a method and its lengthscales.
func InputWarnings(t *table.Data, o *OwnData, m Method, k *Kernel) []string {
	out := t.ColumnWarnings()
	advice := "give a lengthscale for each, or bring the columns to one scale"
	switch {
	case m.ByDensity() || !o.IsFile(): // which have no lengthscale for each
		advice = "bring the columns to one scale"
	case k.apart():
		return out
	}
	if warning := table.ScalesWarning(t.Names, t.X, advice); warning != "" {
		out = append(out, warning)
	}
	return out
}
