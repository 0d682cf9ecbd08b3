package model

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

// Prediction is the result of a [Model] at P rows. Its JSON form is one of the formats of run
// predict.
type Prediction struct {
	Format    string      `json:"model"`
	Output    string      `json:"output,omitempty"`    // of [Envelope]
	Guarantee string      `json:"guarantee,omitempty"` // of all files
	Columns   []string    `json:"columns"`
	Rows      [][]float64 `json:"rows"`            // P×len(Columns)
	Labels    []string    `json:"class,omitempty"` // P, the column [LabelColumn]; nil unless a classifier
	Warnings  []string    `json:"-"`
}

// LabelColumn is the name of the column of [Prediction.Labels].
const LabelColumn = "class"

// ClassColumns returns the names of the columns with the probabilities of classes.
func ClassColumns(classes []string) []string {
	var names []string
	for _, c := range classes {
		names = append(names, "p_"+c)
	}
	return names
}

// RegressionColumns are the columns of predictions of a regression, whose names no input can have: the
// mean and the standard deviation of the function, that of an observation, and the ends of the interval
// that holds an observation with a probability of 95 %, if these are normal.
var RegressionColumns = []string{"mean", "sd", "predictive_sd", "low95", "high95"}

// central95 is how many standard deviations the ends of a normal variate's central region of 95 % lie from
// its mean.
const central95 = 1.959963984540054

// RegressionRow is a prediction of these columns.
func RegressionRow(mean, sd, predictiveSD float64) []float64 {
	return []float64{mean, sd, predictiveSD, mean - central95*predictiveSD, mean + central95*predictiveSD}
}

// PrependInputs puts the columns of x (P×len(names)) before the others.
func (p *Prediction) PrependInputs(names []string, x *mat.Dense) {
	p.Columns = slices.Concat(names, p.Columns)
	for i, row := range p.Rows {
		p.Rows[i] = slices.Concat(x.RawRowView(i), row)
	}
}

// WarnOfEnds adds a warning where some of the numbers of the rows were beyond the range of their input.
func (p *Prediction) WarnOfEnds(outside, numbers int) {
	if outside > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%d of %d numbers are beyond the range of their input, and were taken "+
			"for its end", outside, numbers))
	}
}

// CSV writes comma-separated values with a header, with the digits that are needed to read
// the numbers back.
func (p *Prediction) CSV(out io.Writer) error {
	w := csv.NewWriter(out)
	header := slices.Clone(p.Columns)
	if p.Labels != nil {
		header = append(header, LabelColumn)
	}
	if err := w.Write(header); err != nil {
		return err
	}
	for i, row := range p.Rows {
		var text []string
		for _, v := range row {
			text = append(text, strconv.FormatFloat(v, 'g', -1, 64))
		}
		if p.Labels != nil {
			text = append(text, p.Labels[i])
		}
		if err := w.Write(text); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// JSON writes one object.
func (p *Prediction) JSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(p)
}
