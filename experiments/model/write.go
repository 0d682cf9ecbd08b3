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

// Table is what run predict writes.
type Table struct {
	Format            string // of the model's file
	Output, Guarantee string // as [Describer] says them
	Columns           []string
	Rows              [][]float64
	Labels            []string // or nil: a class a row, in the column "class" after the others
}

// NewTable puts the predictions of a model at the rows of x (P×d) beside the inputs, or
// alone.
func NewTable(format string, m Model, x *mat.Dense, p *Prediction, alone bool) (*Table, error) {
	n, _ := x.Dims()
	if len(p.Rows) != n || p.Labels != nil && len(p.Labels) != n {
		return nil, fmt.Errorf("%s: %d predictions and %d classes for %d rows", format, len(p.Rows), len(p.Labels), n)
	}
	t := &Table{Format: format, Labels: p.Labels}
	if d, ok := m.(Describer); ok {
		t.Output, t.Guarantee = d.Describe()
	}
	if !alone {
		t.Columns = slices.Clone(m.Inputs())
	}
	t.Columns = append(t.Columns, p.Columns...)
	for i, row := range p.Rows {
		if len(row) != len(p.Columns) {
			return nil, fmt.Errorf("%s: %d numbers for the columns %q", format, len(row), p.Columns)
		}
		if !alone {
			row = append(slices.Clone(x.RawRowView(i)), row...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// columns are the names of all columns.
func (t *Table) columns() []string {
	if t.Labels == nil {
		return t.Columns
	}
	return append(slices.Clone(t.Columns), LabelColumn)
}

// CSV writes comma-separated values with a header, with the digits that are needed to
// read the numbers back.
func (t *Table) CSV(out io.Writer) error {
	w := csv.NewWriter(out)
	if err := w.Write(t.columns()); err != nil {
		return err
	}
	text := make([]string, len(t.columns()))
	for i, row := range t.Rows {
		for j, v := range row {
			text[j] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		if t.Labels != nil {
			text[len(row)] = t.Labels[i]
		}
		if err := w.Write(text); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// JSON writes an object with the names of the columns, the rows, and what the model is.
func (t *Table) JSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		Format    string      `json:"model"`
		Output    string      `json:"output,omitempty"`
		Guarantee string      `json:"guarantee,omitempty"`
		Columns   []string    `json:"columns"`
		Rows      [][]float64 `json:"rows"`
		Labels    []string    `json:"class,omitempty"`
	}{t.Format, t.Output, t.Guarantee, t.Columns, t.Rows, t.Labels})
}
