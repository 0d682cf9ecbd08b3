package own

import (
	_ "embed"
	"errors"
	"fmt"
	"math"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[Table](source) }

// Table selects the columns of the user's rows, and has their public ranges. It accompanies the
// setting "dataset".
type Table struct {
	// columns that a class is recognised from, joined by + or commas; * is every numeric
	// column that has no other part. A category is written with its levels,
	// colour[red|green|blue], and has an input for each, which is 0 or 1
	Inputs string `name:"inputs" default:"*" later:"yes" when:"dataset is not mnist"`
	// column with the class of a row, a text or a number; npy:PATH and images:FOLDER call
	// it label
	Output string `name:"output" default:"label" later:"yes" when:"dataset is not mnist"`
	// lower end of the public range of the inputs, one number for all of them or one for
	// each (of a category it is not read); values below count as it. Pictures have 0. Without one it is the least value
	// that is trained on, which is no public number: then nothing is guaranteed, and nothing
	// released
	Low method.Ends `name:"low" default:"none" later:"yes" when:"dataset is not mnist"`
	// upper end of the public range of the inputs, as low; pictures have 1
	High method.Ends `name:"high" default:"none" later:"yes" when:"dataset is not mnist"`
	// share of the rows of each class that are tested and not trained on; a release takes
	// all rows
	Holdout float64 `name:"holdout" default:"0.2" above:"0" below:"1" later:"yes" when:"dataset is not mnist"`

	method.CommonRows `when:"splits: dataset is not mnist" also:"splits: common ones do not keep the shares of classes"`

	table.Reading
	persons        `when:"person: dataset is not mnist" also:"person: of all their inputs; classes are public"`
	method.Invalid `when:"invalid: dataset is not mnist" also:"invalid: it counts as the low end, as the first class"`
}

// persons are those behind the rows. Entries have the same noise for any number of rows.
type persons struct {
	method.Person `also:"rows_per_person: here not the noise, but the epsilon of a person"`
}

// Spec returns the columns that are read of a data set: inputs, class, and others.
func (d *Table) Spec(name string, others ...string) table.Spec {
	s := d.Of(table.Spec{Dataset: name, Inputs: d.Inputs, Others: append([]string{d.Output}, others...),
		Reading: d.Reading})
	if d.Clamped() {
		s.Invalid = table.Kept
	}
	return s
}

// Check refuses settings that no data set of that name can have. party is the column with the
// holder of a row, "" for none.
func (d *Table) Check(name, party string) error {
	if d.Output == "" {
		return fmt.Errorf("output is not given: name the column of %s that has the class", name)
	}
	if party == d.Output {
		return fmt.Errorf("party = %s: it is the output, too", party)
	}
	if err := d.Person.Check(); err != nil {
		return err
	}
	if err := d.Spec(name, party).Check(); err != nil {
		return err
	}
	if d.Low.Is(method.Absent) != d.High.Is(method.Absent) {
		return fmt.Errorf("low = %s and high = %s: a public range has both ends", d.Low, d.High)
	}
	if d.Clamped() && !d.hasRange(name) {
		return errors.New("invalid = clamp: low and high are not given, and an invalid input counts as an end of the " +
			"public range")
	}
	if d.Low.Is(method.Absent) {
		return nil
	}
	low, high := d.Low.Numbers, d.High.Numbers
	if len(low) > 1 && len(high) > 1 && len(low) != len(high) {
		return fmt.Errorf("low = %s and high = %s: these are %d and %d numbers; give one for all inputs, or one for each",
			d.Low, d.High, len(low), len(high))
	}
	for j := range max(len(low), len(high)) {
		l, h := low[j%len(low)], high[j%len(high)]
		if !(l < h) || math.IsInf(h-l, 0) {
			return fmt.Errorf("low = %s and high = %s: low must be below high", experiment.FormatNumber(l),
				experiment.FormatNumber(h))
		}
	}
	return nil
}

// CheckAdjacency refuses an entry that changes by more than its whole public range.
func CheckAdjacency(d float64) error {
	if d > 1 {
		return fmt.Errorf("d = %s: it is a share of the public range of an input, whose entries move by at most 1",
			experiment.FormatNumber(d))
	}
	return nil
}

// hasRange reports whether the range of the inputs is public.
func (d *Table) hasRange(name string) bool { return !d.Low.Is(method.Absent) || arePictures(name) }

// arePictures reports whether the data are pictures, whose grey values are from 0 to 1.
func arePictures(name string) bool { return dataset.OwnKind(name) == dataset.OwnImages }
