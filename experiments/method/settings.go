package method

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

//go:embed settings.go
var settingsSource string

func init() { experiment.Document[Columns](settingsSource) }

// Simulated is the dataset that needs no file.
const Simulated = "simulated"

// None is the word of a number that is not given.
type None int

// Absent is its only value.
const Absent None = 0

// Choices are the word.
func (None) Choices() []string { return []string{"none"} }

// End is one end of a public range.
type End = experiment.Or[None, float64]

// Ends is one end for all inputs, or one for each.
type Ends = experiment.SeveralOr[None]

// Columns name a user's own data, and the columns that a method uses.
type Columns struct {
	// simulated, 1024 observations of sin(2x)/(2x), or your own data: csv:PATH, comma-separated values
	// with a header, parquet:PATH, npy:PATH or images:FOLDER
	Dataset string `name:"dataset" default:"simulated"`
	// names of the columns that are predicted from, joined by + or commas, or * for every numeric one;
	// they are protected. A category has its levels beside it, colour[red|green]
	Inputs string `name:"inputs" default:"x" when:"dataset is not simulated"`
	// the column that is predicted; it is protected
	Output string `name:"output" default:"y" when:"dataset is not simulated"`

	table.Reading
}

// OutputRange is the public range of an output.
type OutputRange struct {
	// lower end of the public range of the output, to which it is clipped (of your own data, where it
	// must be given); it must not be read off the data
	Low End `name:"low" default:"none"`
	// upper end of the public range of the output (of your own data, where it must be given)
	High End `name:"high" default:"none"`
}

// Splits divide the rows into those for training and for testing.
type Splits struct {
	// share of the rows that is drawn for testing; a release is made from all rows
	Holdout float64 `name:"holdout" default:"0.2" above:"0" below:"1"`
	// splits into rows for training and testing, each with noise of its own; metrics are means over them
	Repeats int `name:"repeats" default:"10" min:"1" max:"100000"`
	CommonRows
	Recorded
	Planted
}

// Recorded is the setting of trials whose fits are attacked.
type Recorded struct {
	// true records what the fit tells of each row, trained on or not: run attack makes such trials, each with half of
	// the rows, which the seed draws
	Membership bool `name:"membership" default:"false" later:"yes"`
}

// Planted is the setting of rows that are added for an attack.
type Planted struct {
	// pairs of rows that are added to be found, with the same inputs, in random corners of their public range, and outputs
	// as far apart as can be; each fit is trained on one of each pair, by coins of the seed, and on all rows of the data,
	// and what is recorded is that of these pairs alone; 0 for none
	Canaries int `name:"canaries" default:"0" min:"0" max:"100000" later:"yes" when:"membership is true"`
}

// CommonRows is the setting of splits that methods share.
type CommonRows struct {
	// what the draw of the splits depends on: own, on the seed and the experiment; common, on the seed and the number of
	// rows (or of persons) alone, so that every method holds out the same rows of the same data
	SplitSource SplitSource `name:"splits" default:"own" later:"yes"`
}

// NoColumn is the word of a column that is not named.
const NoColumn = "none"

// Person names the persons behind rows, of whom a guarantee protects one with all of their rows.
type Person struct {
	// column that names the person of a row: rows with equal numbers, dates or texts there are those of
	// one person, whom the guarantee then protects with all of them; none: it protects a single row. Every
	// row needs a value. How many persons there are is public
	Person string `name:"person" default:"none" later:"yes"`
	// most rows of a person that are used; of a person with more, this number is drawn before anything is
	// computed, anew for each trial and each release. It is public, and the noise grows with it
	RowsPerPerson int `name:"rows_per_person" default:"1" min:"1" max:"1000000" later:"yes" when:"person is not none"`
}

// Check refuses an empty name, such as that of a variable that is not set: one row would be protected
// instead of a person.
func (p Person) Check() error {
	if p.Person == "" {
		return errors.New("person is empty: name the column that names the person of a row, or write person=none")
	}
	return nil
}

// Given reports whether there is such a column.
func (p Person) Given() bool { return p.Person != NoColumn && p.Person != "" }

// Column is the column that names persons; "" for none.
func (p Person) Column() string {
	if p.Given() {
		return table.Unquoted(p.Person)
	}
	return ""
}

// Rows is the number of rows that a protected unit has at most.
func (p Person) Rows() int {
	if p.Given() {
		return p.RowsPerPerson
	}
	return 1
}

// Of adds the column to those that are read, and the draw of rows.
func (p Person) Of(s table.Spec) table.Spec {
	if p.Given() {
		s.Person, s.PerPerson = p.Column(), p.RowsPerPerson
	}
	return s
}

// Unit describes the protected unit of a guarantee; a row has these parts, such as "inputs (x) and
// output (y)".
func (p Person) Unit(parts string) string { return p.Protected(parts) + ", substituted by any other" }

// Protected is [Person.Unit] without the relation of neighbours.
func (p Person) Protected(parts string) string {
	if !p.Given() {
		return "one row, " + parts
	}
	return p.Whom() + ", " + parts
}

// Whom describes the person whom a guarantee protects.
func (p Person) Whom() string {
	rows := "1 row"
	if p.RowsPerPerson != 1 {
		rows = fmt.Sprintf("%d rows", p.RowsPerPerson)
	}
	return fmt.Sprintf("one person (%s) with at most %s", p.Column(), rows)
}

// Drawn notes the draw of a person's rows, where it is public how many rows each has.
func (p Person) Drawn() string {
	return fmt.Sprintf("of a person with more than %d rows so many were drawn before anything was computed, "+
		"independently of others; the guarantee claims nothing for that draw", p.RowsPerPerson)
}

// Whose names the rows of a protected unit.
func (p Person) Whose() string {
	if p.Given() {
		return "all rows of a person"
	}
	return "a row"
}

// Counted notes how many rows, or persons, are taken as public.
func (c Settings) Counted() string {
	const invalid = "a row with an invalid value is one of them, and contributes nothing"
	switch {
	case c.Person.Given():
		text := fmt.Sprintf("how many persons there are is taken as public, and a person is named by equal values of %s; "+
			"how many rows each of them has is private: those beyond %d are left out by a draw, before anything is computed "+
			"and anew for each release, for which no amplification is claimed", c.Person.Column(), c.RowsPerPerson)
		if c.Clamped() {
			text += "; " + invalid
		}
		return text
	case c.Clamped():
		return "how many rows there are is taken as public; " + invalid
	}
	return "how many rows there are, and that each has all values, is taken as public"
}

// Invalid is the setting of the treatment of invalid values.
type Invalid struct {
	// rows with a value that is missing, NaN or infinite, or of a class that is not named: refuse leaves
	// out those without a value, and stops at any other; clamp lets them count as a public constant, so
	// that no such row can stop a release, and how many there are stays private. Numbers beyond their
	// public range count as its end with either, and a text among numbers stops either
	Invalid Invalidity `name:"invalid" default:"refuse" later:"yes"`
}

// Invalidity is the treatment of invalid values.
type Invalidity int

// The treatments.
const (
	Refuse Invalidity = iota
	Clamp
)

// Choices are the words.
func (Invalidity) Choices() []string { return []string{"refuse", "clamp"} }

// Clamped reports whether invalid values count as constants.
func (i Invalid) Clamped() bool { return i.Invalid == Clamp }

// IsOwn reports whether the data are the user's.
func (c Columns) IsOwn() bool { return table.Is(c.Dataset) }

// Spec returns the columns that are read.
func (c Columns) Spec() table.Spec {
	return table.Spec{Dataset: c.Dataset, Inputs: c.Inputs, Others: []string{c.Output}, Reading: c.Reading}
}

// CheckDataset refuses data that are neither simulated nor the user's.
func (c Columns) CheckDataset() error {
	if c.IsOwn() || c.Dataset == Simulated {
		return nil
	}
	return fmt.Errorf("dataset = %q: it is %s or data of your own, such as csv:PATH%s", c.Dataset, Simulated,
		Like(c.Dataset))
}

// Like completes a refusal by the name that the user's file has as a dataset; it is empty
// where there is no such file.
func Like(name string) string {
	if info, err := os.Stat(name); err != nil || info.IsDir() {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", table.Named(name))
}

// given reports whether the range has both ends.
func (r *OutputRange) given() bool { return !r.Low.Is(Absent) && !r.High.Is(Absent) }

// Check refuses an empty range, and one that is needed and not given.
func (r *OutputRange) Check(needed bool) error {
	low, high := r.Low.Number, r.High.Number
	switch {
	case r.Low.Is(Absent) != r.High.Is(Absent), needed && !r.given():
		return fmt.Errorf("low and high are not given: they are the public range of the output, such as low=0 high=100; " +
			"its length decides the noise, and it must not be read off the data")
	case r.given() && !(low < high && !math.IsInf(high-low, 0)):
		return fmt.Errorf("low = %g and high = %g: low must be below high", low, high)
	}
	return nil
}

// Unit returns the middle and half the length of the range; 0 and 1 where it is not given.
// Outputs less centre, over scale, are in [-1, 1].
func (r *OutputRange) Unit() (centre, scale float64) {
	if !r.given() {
		return 0, 1
	}
	low, high := r.Low.Number, r.High.Number
	return low + (high-low)/2, (high - low) / 2
}
