package stats

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() { experiment.Document[settings](source) }

// settings are those of stats/columns.
type settings struct {
	// simulated, 1024 numbers of a normal distribution, or your own data: csv:PATH, comma-separated values
	// with a header, parquet:PATH or npy:PATH
	Dataset string `name:"dataset" default:"simulated"`
	// names of the columns, joined by + or commas; they are protected. The levels of a category follow its name,
	// colour[red|green], each of which counts as a column of 0 and 1
	Columns string `name:"columns" default:"x" when:"dataset is not simulated"`
	// privacy parameter of all statistics together
	Epsilon float64 `name:"epsilon" default:"1" above:"0"`
	// privacy parameter; 0: the statistics share epsilon evenly, which is best for few of them
	Delta float64 `name:"delta" default:"0" min:"0" below:"1"`
	// shares of the values that lie below a released number. The range is computed from the first and the
	// last, where these are at most 0.1 and at least 0.9
	Quantiles []float64 `name:"quantiles" default:"0.05, 0.5, 0.95" above:"0" below:"1"`
	// means as well, which take a share of epsilon
	Mean bool `name:"mean" default:"true"`
	// public lower end of each column, one for all or one for each (it is 0 for a category and for truth values); none: a
	// share of epsilon finds the powers of two between which values lie
	Low method.Ends `name:"low" default:"none"`
	// public upper end of each column, one for all or one for each
	High method.Ends `name:"high" default:"none"`
	table.Reading
	method.Person `when:"person: dataset is not simulated"`
}

// publicMetrics follow from settings and public numbers.
type publicMetrics struct {
	// epsilon of each of the queries, of which every statistic is one
	EpsilonEach float64 `name:"epsilon_each"`
	// ranks by which a quantile is at most farther off than the nearest point of its grid, with a
	// probability of 95 %
	RankError95 float64 `name:"rank_error95" best:"low"`
	// number of rows, or of persons where a column names them; it is public
	Units float64 `name:"units"`
}

// metrics are those of a trial, which compares the statistics with exact ones.
type metrics struct {
	publicMetrics
	// mean over columns and quantiles of the distance of a quantile from its share, in shares of the values
	RankError float64 `name:"rank_error" best:"low" result:"yes"`
	// mean over columns of the distance of the mean from that of the values, in their standard deviations
	MeanError *float64 `name:"mean_error" best:"low" result:"yes"`
	// mean over columns of the share of values outside of the range
	Outside *float64 `name:"outside"`
}

// isOwn reports whether the data are the user's.
func (s *settings) isOwn() bool { return table.Is(s.Dataset) }

// spec returns the columns that are read. Values that are missing or not finite stay as such: no row is
// left out.
func (s *settings) spec() table.Spec {
	return s.Of(table.Spec{Dataset: s.Dataset, Inputs: s.Columns, Invalid: table.KeptInputs, Reading: s.Reading})
}

func (s *settings) datasets() []string {
	if s.Dataset == method.Simulated {
		return nil
	}
	return []string{s.Dataset}
}

func (s *settings) check() error {
	if err := (method.Columns{Dataset: s.Dataset}).CheckDataset(); err != nil {
		return err
	}
	for i, q := range s.Quantiles {
		if i > 0 && q <= s.Quantiles[i-1] {
			return fmt.Errorf("quantiles = %g, %g: write each once, in increasing order", s.Quantiles[i-1], q)
		}
	}
	_, ranged := s.outer()
	switch {
	case s.Mean && !s.given() && !ranged:
		return fmt.Errorf("a mean is of values between the first quantile and the last, somewhat widened: let these be at "+
			"most %g and at least %g, or give low and high, or mean=false", lowest, 1-lowest)
	case len(s.Quantiles) > maxQuantiles:
		return fmt.Errorf("there are %d quantiles; at most %d are taken, which share epsilon", len(s.Quantiles), maxQuantiles)
	}
	r := method.InputRange{Low: s.Low, High: s.High}
	if r.Low.Is(method.Absent) != r.High.Is(method.Absent) {
		return errors.New("low and high: one of them is not given; give both ends of the public range, or none")
	}
	if err := r.CheckEnds("low", "high"); err != nil {
		return err
	}
	if !s.isOwn() {
		return nil
	}
	if err := s.Person.Check(); err != nil {
		return err
	}
	return s.spec().Check()
}

// maxQuantiles bounds the quantiles, each of which has a column of the release.
const maxQuantiles = 100

// checkRelease refuses a release that has no guarantee.
func (s *settings) checkRelease() error {
	if !s.isOwn() {
		return errors.New("simulated data need no release; name your own with dataset=csv:PATH")
	}
	return s.spec().CheckNamed()
}

// given reports whether there is a public range.
func (s *settings) given() bool { return !s.Low.Is(method.Absent) }

// lowest is the largest share from which a range is computed, and 1 − lowest the least.
const lowest = 0.1

// outer returns the places of the quantiles from which the range is computed.
func (s *settings) outer() (last int, ok bool) {
	last = len(s.Quantiles) - 1
	return last, last > 0 && s.Quantiles[0] <= lowest && s.Quantiles[last] >= 1-lowest
}

// columns returns the names of the columns of a release for each column of the data.
func (s *settings) columns() []string {
	out := []string{"values", "missing"}
	for _, q := range s.Quantiles {
		out = append(out, "q"+experiment.FormatNumber(q))
	}
	if s.Mean {
		out = append(out, "mean", "mean_sd")
	}
	if _, ok := s.outer(); ok || s.given() {
		out = append(out, "low", "high")
	}
	return out
}

// classColumn has the name of the column of the data.
const classColumn = "column"

// sizeOf bounds the release of columns of these names.
func (s *settings) sizeOf(names []string) experiment.Size {
	out := release.SizeOfTable(len(names), s.columns())
	for _, name := range names {
		out.Class = max(out.Class, len(name))
	}
	out.Names += release.LengthOf(slices.Concat(names, []string{classColumn}))
	return out
}
