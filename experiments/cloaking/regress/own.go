package regress

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
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
	if table.LevelsOf(d.Output) != nil {
		return fmt.Errorf("output = %s: levels are for classes; see cloaking/classification", d.Output)
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

// noList is that of the data's inputs; of a file, names are theirs where it was read.
func (d *ownData) noList(names []string) string {
	if !d.own().IsFile() {
		x, _ := heightInputs(d.Inputs) // refused by check, otherwise
		return noList(x)
	}
	if names == nil {
		names = d.own().Columns()
	}
	if len(names) < 2 {
		return ""
	}
	return fmt.Sprintf("a list gives numbers, but with %d inputs an inducing input is as many numbers", len(names))
}

// load reads the data of a trial: N rows of the census, normalised as the settings say,
// or of a user's file, whose public range takes the place of that.
func (s *regressionSettings) load(t *experiment.Trial) (*cloak.Problem, error) {
	d := &s.ownData
	if d.own().IsFile() {
		return s.loadFile(t)
	}
	x, err := heightInputs(d.Inputs)
	if err != nil {
		return nil, err
	}
	return cloak.LoadCensus(t.Dataset(cloak.Census), x, &s.Heights)
}

// loadFile reads a user's file. Its outputs are clipped to the public range, and the
// prior mean is the middle of it.
func (s *regressionSettings) loadFile(t *experiment.Trial) (*cloak.Problem, error) {
	d := &s.ownData
	of := d.own().Table()
	of.Common = s.FoldScheme == cloak.Common
	data, err := of.Load(t)
	if err != nil {
		return nil, err
	}
	note, err := s.FitInputs(data, s.Method)
	if err != nil {
		return nil, err
	}
	output, err := data.Numbers(d.Output)
	if err != nil {
		return nil, err
	}
	if n := len(output); n > maxRows {
		path, _ := dataset.FilePath(d.Dataset)
		return nil, fmt.Errorf("%s: %d rows; at most %d are taken, since the memory grows with their square: take a part "+
			"of them", path, n, maxRows)
	}
	p := &cloak.Problem{
		Inputs: data.X, Dropped: data.Dropped, Warnings: cloak.InputWarnings(data, s.own(), s.Method, &s.Kernel),
		Columns: map[string][]float64{},
		Names: cloak.Terms{
			Inputs: data.Names, Outputs: fmt.Sprintf("values of %q", d.Output),
			Public: fmt.Sprintf("inputs (%s)", strings.Join(data.Names, ", ")),
			Tuning: "; the guarantee does not cover choosing them by looking at the outputs",
			Output: "output",
		},
	}
	for j, column := range data.Names {
		values := mat.Col(nil, j, data.X)
		if j == 0 {
			p.Columns["x"] = values
		} else {
			p.Columns["input_"+column] = values
		}
	}
	if warning := method.ReadOffWarning(d.Output, data.Ends(d.Output), d.Low, d.High); warning != "" && !t.ForOthers() {
		p.Warnings = append(p.Warnings, warning)
	}
	if note != "" {
		p.Notes = []string{note}
	}
	p.People = data.People
	p.Clip(output, d.Low.Number, d.High.Number-d.Low.Number)
	p.High = d.High.Number // free of rounding
	return p, nil
}
