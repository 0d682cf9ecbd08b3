package modelfile

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

// columns are the names of what is written.
func (m *Model) columns() []string { return append(slices.Clone(m.Inputs), Reserved...) }

func (p *Prediction) row(x *mat.Dense, i int) []float64 {
	return append(slices.Clone(x.RawRowView(i)), p.Mean[i], p.SD[i], p.Predictive[i])
}

// CSV writes predictions at the rows of x as comma-separated values with a
// header, with the digits that are needed to read the numbers back.
func (m *Model) CSV(out io.Writer, x *mat.Dense, p *Prediction) error {
	w := csv.NewWriter(out)
	if err := w.Write(m.columns()); err != nil {
		return err
	}
	text := make([]string, len(m.Inputs)+len(Reserved))
	for i := range p.Mean {
		for j, v := range p.row(x, i) {
			text[j] = strconv.FormatFloat(v, 'g', -1, 64)
		}
		if err := w.Write(text); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// JSON writes predictions at the rows of x as an object with the names of the
// columns, the rows, and what the model is.
func (m *Model) JSON(out io.Writer, x *mat.Dense, p *Prediction) error {
	rows := make([][]float64, len(p.Mean))
	for i := range rows {
		rows[i] = p.row(x, i)
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		Format    string      `json:"model"`
		Output    string      `json:"output"`
		Guarantee string      `json:"guarantee"`
		Columns   []string    `json:"columns"`
		Rows      [][]float64 `json:"rows"`
	}{m.Format, m.Output.Name, m.Privacy.Guarantee, m.columns(), rows})
}
