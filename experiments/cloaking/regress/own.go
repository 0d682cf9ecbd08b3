package regress

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// maxRows bounds the rows of a user's file: memory grows with their square.
const maxRows = 10_000

// censusInputs are the values of the setting inputs where the data are the census.
var censusInputs = experiment.Param{
	Name: "inputs", Kind: experiment.Text,
	Values: []string{experiment.NameOf(cloak.Age), experiment.NameOf(cloak.AgeAndWeight)},
}

// heightInputs are the inputs of the census that a text names. The setting is free
// text, since for a user's file it names columns.
func heightInputs(text string) (cloak.Inputs, error) {
	if _, err := censusInputs.Convert(text); err != nil {
		return 0, err
	}
	return cloak.Inputs(slices.Index(censusInputs.Values, text)), nil
}

// check refuses data that there are not.
func (d *ownData) check() error {
	own := d.own()
	if err := own.CheckDataset(cloak.Census); err != nil {
		return err
	}
	if !own.IsFile() {
		if err := own.CheckNoFile("of the census heights are predicted, with public_low_cm and sensitivity_cm"); err != nil {
			return err
		}
		_, err := heightInputs(d.Inputs)
		return err
	}
	if err := own.CheckFile("the public range of %s, such as low=0 high=100; its length decides the noise, and it must " +
		"not be read off the data"); err != nil {
		return err
	}
	if math.IsInf(d.High.Number-d.Low.Number, 0) {
		return fmt.Errorf("low = %s and high = %s are no range", d.Low, d.High)
	}
	return nil
}

// noList is that of the data's inputs.
func (d *ownData) noList() string {
	if !d.own().IsFile() {
		x, _ := heightInputs(d.Inputs) // refused by check, otherwise
		return noList(x)
	}
	columns := d.own().Columns()
	if len(columns) < 2 {
		return ""
	}
	return fmt.Sprintf("a list gives numbers, but with %d inputs an inducing input is as many numbers", len(columns))
}

// load reads the data of a trial: N rows of the census, normalised as h says, or of a
// user's file, whose public range takes the place of h.
func (d *ownData) load(t *experiment.Trial, h *cloak.Heights) (*cloak.Problem, error) {
	if d.own().IsFile() {
		return d.loadFile(t)
	}
	x, err := heightInputs(d.Inputs)
	if err != nil {
		return nil, err
	}
	return cloak.LoadCensus(t.Dataset(cloak.Census), x, h)
}

// loadFile reads a user's file. Its outputs are clipped to the public range, and the
// prior mean is the middle of it.
func (d *ownData) loadFile(t *experiment.Trial) (*cloak.Problem, error) {
	table, err := dataset.LoadTable(t.Dataset(d.Dataset), d.own().Columns(), d.Output)
	if err != nil {
		return nil, dataset.AsWritten(err, d.Dataset)
	}
	if n := len(table.Output); n > maxRows {
		path, _ := dataset.FilePath(d.Dataset)
		return nil, fmt.Errorf("%s: %d rows; at most %d are taken, since the memory grows with their square: take a part "+
			"of them", path, n, maxRows)
	}
	p := &cloak.Problem{
		Inputs: table.Inputs, Dropped: table.Dropped, Warnings: cloak.InputWarnings(table),
		Columns: map[string][]float64{},
		Names: cloak.Terms{
			Inputs: table.InputNames, Outputs: fmt.Sprintf("values of %q", table.OutputName),
			Public: fmt.Sprintf("inputs (%s)", strings.Join(table.InputNames, ", ")),
			Tuning: "; the guarantee does not cover choosing them by looking at the outputs",
			Output: "output",
		},
	}
	for j, column := range table.InputNames {
		values := make([]float64, len(table.Output))
		for i := range values {
			values[i] = table.Inputs.At(i, j)
		}
		if j == 0 {
			p.Columns["x"] = values
		} else {
			p.Columns["input_"+column] = values
		}
	}
	p.Clip(table.Output, d.Low.Number, d.High.Number-d.Low.Number)
	p.High = d.High.Number // free of rounding
	return p, nil
}
