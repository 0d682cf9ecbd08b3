package regress

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/design"
	"privkern/experiments/dataset"
	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// maxRows and maxSparseRows bound the rows of a user's file. Memory grows with their square where the kernel matrix has
// no low rank, and the sparse method takes [memory] in proportion.
const (
	maxRows       = 10_000
	maxSparseRows = 1_000_000
)

// mostRows is the bound of a method, mostPoints that of the predictions that are released together.
func mostRows(m cloak.Method) int {
	if m == cloak.Sparse {
		return maxSparseRows
	}
	return maxRows
}

func mostPoints(m cloak.Method) int {
	if m == cloak.Sparse { // whose directions are not more than the inducing inputs
		return maxSparseRows
	}
	return cloak.MaxPoints
}

// memory estimates the bytes that a trial takes, by the number of rows that a file seems to have: the numbers as they
// are read, in parts and scaled; and five times the matrices of the folds that are there together, of the sparse method
// K_mn, of the others four times those of the order of the rows. Designs of few columns take ten of that order, and
// the points of a file as much as rows do. Measured were, in MiB: sparse 915 for a million rows, 122 for 10,000 and 255
// for 2,000, and a release at a million points from 1,000 rows 920; standard 364 for 2,000, 134 for 3,000 and 172 for
// 10,000 of a low rank.
func memory(s *regressionSettings) int64 {
	const process, float, copies = 96 << 20, 8, 14
	if !s.own().IsFile() {
		return 0
	}
	n, inputs, err := s.own().Table().Size()
	if err != nil {
		return 0 // the trial reports it
	}
	n = min(n, mostRows(s.Method))
	bytes := process + float*copies*int64(n*(inputs+1))
	if n <= 2*design.FewColumns { // so that half of them may be few
		whole := int64(min(n, design.FewColumns))
		bytes += float * 10 * whole * whole
	}
	if s.Method != cloak.Sparse {
		return bytes + float*4*int64(n)*int64(n)
	}
	m := max(1, s.Inducing.Count, len(s.Inducing.Values))
	points := s.own().Table()
	if points.Dataset = s.Predict; table.Is(s.Predict) {
		rows, _, _ := points.Size() // none where the trial reports it
		bytes += float * int64(min(rows, maxSparseRows)) * int64(copies*(inputs+1)+5*m)
	}
	return bytes + float*5*int64(max(n*m, min(s.Folds.Folds*n*m, together)))
}

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
	if n, most := len(output), mostRows(s.Method); n > most {
		path, _ := dataset.FilePath(d.Dataset)
		advice := "take a part of them"
		if s.Method != cloak.Sparse {
			advice = fmt.Sprintf("the memory grows with their square; method=sparse takes %d, or take a part of them",
				maxSparseRows)
		}
		return nil, fmt.Errorf("%s: %d rows; at most %d are taken with method=%s: %s", path, n, most, s.Method, advice)
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
	if n := len(output); n > listedRows {
		p.Notes = append(p.Notes, fmt.Sprintf("predictions are listed for %d of the %d rows, evenly along the first input",
			listedRows, n))
	}
	p.People = data.People
	p.Clip(output, d.Low.Number, d.High.Number-d.Low.Number)
	p.High = d.High.Number // free of rounding
	return p, nil
}
