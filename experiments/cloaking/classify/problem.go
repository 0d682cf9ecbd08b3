package classify

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/dataset"
	"privkern/experiments/dataset/readers"
	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Bounds on the different training inputs of a classifier: with a full covariance time grows with their cube and memory
// with their square, with inducing inputs both grow in proportion to them.
const (
	maxInputsStandard = 2000
	maxInputsSparse   = 20_000
)

// hmeqOutput is the column of HMEQ with the outcome.
const hmeqOutput = "BAD"

// check refuses data that there are not.
func (d *ownData) check() error {
	own := d.own()
	if err := own.CheckDataset(dataHMEQ); err != nil {
		return err
	}
	if own.IsFile() {
		return d.checkFile()
	}
	if err := own.CheckNoFile(fmt.Sprintf("of %s the column %s is predicted, 0 or 1", dataHMEQ, hmeqOutput)); err != nil {
		return err
	}
	if slices.Contains(own.Columns(), hmeqOutput) {
		return fmt.Errorf("inputs = %s: %s is what is predicted", d.Inputs, hmeqOutput)
	}
	if slices.Contains(own.Columns(), "") {
		return fmt.Errorf("inputs = %q: write the names of one or more columns, joined by + or commas", d.Inputs)
	}
	return nil
}

// checkFile refuses settings that do not fit a file: the two classes are low and high, or the
// levels of the output.
func (d *ownData) checkFile() error {
	own := d.own()
	levels := table.LevelsOf(d.Output)
	if levels == nil {
		return own.CheckFile("the two values of %s, such as low=0 high=1: the negative and the positive class; of " +
			"texts write output=NAME[NEGATIVE|POSITIVE] instead")
	}
	switch {
	case !d.Low.Is(method.Absent) || !d.High.Is(method.Absent):
		return fmt.Errorf("output = %s: it has its two classes, and low and high are not to be given", d.Output)
	case len(levels) != 2:
		return fmt.Errorf("output = %s: it has %d levels, and there are two classes: the negative and the positive", d.Output,
			len(levels))
	}
	return own.CheckColumns()
}

// read reads all rows, and the two classes of the output as numbers.
func (s *classificationSettings) read(t *experiment.Trial, outcome string) (
	data *table.Data, outputs []float64, err error) {
	d := &s.ownData
	path, of := t.Dataset(d.Dataset), d.own().Table()
	of.Common = s.FoldScheme == cloak.Common
	of.Others = []string{outcome}
	if !d.own().IsFile() {
		path = readers.HMEQFile(path)
		of.Dataset = dataset.FileName(filepath.Base(path)) // the folder is this machine's
	}
	if data, err = of.LoadFrom(t, path); err != nil {
		return nil, nil, err
	}
	if !data.Public(outcome) {
		outputs, err = data.Numbers(outcome)
		return data, outputs, err
	}
	labels, _, err := data.Labels(outcome)
	for _, l := range labels {
		outputs = append(outputs, float64(l))
	}
	return data, outputs, err
}

// problem are public inputs and private labels.
type problem struct {
	file      bool       // of a user's
	table     *mat.Dense // inputs of all rows
	outputs   []float64  // of all rows
	inputs    *mat.Dense // N×d
	labels    []float64  // ±1
	low, high float64    // their text in the data
	classes   []string   // for texts the values of low and high
	names     []string   // of the inputs
	output    string
	own       *cloak.OwnData
	people    *table.People // the persons behind the N rows; nil where one label is protected
	dropped   int
	invalid   int      // rows of the N whose output is none of the two classes
	of        int      // rows with values, of which inputs are drawn
	warnings  []string // warnings about the public inputs
	hidden    bool     // errors show no value: of a release
	judged    []string // warnings that are no part of a release
	fitted    []string // notes on settings that follow from the public inputs
}

// account are the outputs by which the account of the data is found.
func (d *problem) account() []float64 {
	if d.classes == nil {
		return d.outputs
	}
	values := dataset.ClassValues(d.classes)
	out := make([]float64, len(d.outputs))
	for i, v := range d.outputs {
		if out[i] = math.NaN(); v >= 0 {
			out[i] = values[int(v)]
		}
	}
	return out
}

// load reads the data of a trial, ordered for a release: the order of a file may follow
// the labels.
func (s *classificationSettings) load(t *experiment.Trial, ordered bool) (*problem, error) {
	d := &problem{file: s.own().IsFile(), low: 0, high: 1, output: hmeqOutput, own: s.own(),
		hidden: t.ForOthers()}
	if d.file {
		d.output, d.low, d.high = table.NameOf(s.Output), s.Low.Number, s.High.Number
		if d.classes = table.LevelsOf(s.Output); d.classes != nil {
			d.low, d.high = 0, 1
		}
	}
	outcome := d.output
	if d.file {
		outcome = s.Output
	}
	data, outputs, err := s.read(t, outcome)
	if err != nil {
		return nil, err
	}
	note, err := s.FitInputs(data, s.Method)
	if err != nil {
		return nil, err
	}
	if note != "" {
		d.fitted = []string{note}
	}
	d.table, d.outputs = data.X, outputs
	d.names, d.dropped, d.of = data.Names, data.Dropped, len(outputs)
	d.warnings = cloak.InputWarnings(data, s.own(), s.Method, &s.Kernel)
	rows := s.drawn(t, d, ordered)
	if d.people = cloak.People(data.People, rows); d.people != nil {
		d.judged = data.People.Warnings(s.Person.Column())
	}
	d.inputs, d.labels = learn.SelectRows(d.table, rows), make([]float64, len(rows))
	for i, row := range rows {
		if d.labels[i], err = d.label(outputs[row]); err != nil {
			return nil, err
		}
	}
	if d.invalid > 0 {
		d.judged = append(d.judged, fmt.Sprintf("%d of %d rows have no value of %q, or none of the two classes: each counts "+
			"as one of the negative class, also where predictions are judged", d.invalid, len(rows), d.output))
	}
	return d, d.checkSize(s.Method)
}

// drawn are the rows that are used.
func (s *classificationSettings) drawn(t *experiment.Trial, d *problem, ordered bool) []int {
	rows := learn.AllRows(len(d.outputs))
	if ordered {
		rows = dataset.Order(d.table, d.outputs)
	}
	if s.Rows.Is(AllRows) || s.Rows.Number >= len(rows) {
		return rows
	}
	return learn.Select(rows, t.Stream("rows").Perm(len(rows))[:s.Rows.Number])
}

// label is the class (±1) of an output.
func (d *problem) label(output float64) (float64, error) {
	switch output {
	case d.low:
		return -1, nil
	case d.high:
		return 1, nil
	}
	if d.own.Clamped() {
		d.invalid++
		return -1, nil
	}
	number := experiment.FormatNumber
	value := "the value " + number(output)
	if d.hidden {
		value = "a value that a release does not show"
	}
	return 0, fmt.Errorf("the column %q has %s: it is neither low = %s nor high = %s, and there are two classes only",
		d.output, value, number(d.low), number(d.high))
}

// classNote notes which part of the classes is public.
func (d *problem) classNote() string {
	two, named := "of the two values low and high", ""
	if d.classes != nil {
		two, named = "of the two", fmt.Sprintf("class 0 is %s and class 1 is %s; ", d.classes[0], d.classes[1])
	}
	if d.own.Clamped() {
		return named + "a row with none " + two + " counts as one of the negative class"
	}
	return named + "that every row has one " + two + " is taken as public: other values are refused"
}

// checkSize refuses more different inputs than a method can have.
func (d *problem) checkSize(m cloak.Method) error {
	n, limit := len(cloak.Group(d.inputs).Count), maxInputsStandard
	if m == cloak.Sparse {
		limit = maxInputsSparse
	}
	if n <= limit {
		return nil
	}
	advice := fmt.Sprintf("draw some of them with rows=%d", limit)
	if m == cloak.Standard {
		advice += fmt.Sprintf(", or use method=sparse (at most %d)", maxInputsSparse)
	}
	return fmt.Errorf("%d different training inputs; at most %d are taken by method=%s: %s", n, limit, m, advice)
}

// notes returns notes on the unused part of the data and warnings about the inputs. Missing values
// and inputs are public.
func (d *problem) notes() []string {
	return slices.Concat(d.warnings, method.DroppedWarnings(d.dropped, d.of, d.people, "an input or the output"))
}
