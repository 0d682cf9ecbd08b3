package projectionfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"privkern/experiments/multikernel/kernellist"
)

// Error says where the file of a model is wrong.
type Error struct {
	Path         string
	Line, Column int    // from 1; 0 where the text is well-formed
	Field        string // such as kernels[2].shift; "" for the whole file
	Err          error
}

func (e *Error) Error() string {
	at := e.Path
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", at, e.Line, e.Column)
	}
	if e.Field != "" {
		at += ": " + e.Field
	}
	return at + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// family is what the formats of all versions begin with.
const family = "privkern/multikernel-model/"

// Decode reads the text of a file; path is for errors, which are *[Error].
func Decode(path string, text []byte) (*Model, error) {
	var kind struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, jsonError(path, text, 0, err)
	}
	switch {
	case !strings.HasPrefix(kind.Format, family):
		return nil, &Error{Path: path, Field: "format", Err: fmt.Errorf("it is %q: the file is no learnt compression, which "+
			"has %q (what run trial multikernel/learn --export writes)", kind.Format, Format)}
	case kind.Format != Format:
		return nil, &Error{Path: path, Field: "format", Err: fmt.Errorf("it is %q, and this program reads %q: the file is "+
			"of another version; take a privkern that is as new as the file", kind.Format, Format)}
	}
	m := new(Model)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, jsonError(path, text, d.InputOffset(), err)
	}
	if field, err := m.check(); err != nil {
		return nil, &Error{Path: path, Field: field, Err: err}
	}
	return m, nil
}

func jsonError(path string, text []byte, offset int64, err error) error {
	e := &Error{Path: path, Err: err}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset, e.Field = kind.Offset, kind.Field
		e.Err = fmt.Errorf("it is a %s, where %v is wanted", kind.Value, kind.Type)
	default:
		e.Err = errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	before := text[:min(int(offset), len(text))]
	e.Line = 1 + bytes.Count(before, []byte("\n"))
	e.Column = max(1, len(before)-1-bytes.LastIndexByte(before, '\n'))
	return e
}

// check returns what is wrong, and with which field.
func (m *Model) check() (field string, err error) {
	d := len(m.InputNames)
	switch {
	case d == 0:
		return "inputs", errors.New("there are none")
	case len(m.Kernels) == 0:
		return "kernels", errors.New("there are none")
	case m.Privacy == nil:
		return "privacy", errors.New("it is missing: a model says what it protects")
	case m.Scaling != nil && (len(m.Scaling.Mean) != d || len(m.Scaling.Scale) != d):
		return "scaling", fmt.Errorf("it has %d means and %d scales for %d inputs", len(m.Scaling.Mean),
			len(m.Scaling.Scale), d)
	}
	for i, name := range m.InputNames {
		if name == "" || slices.Contains(m.InputNames[:i], name) {
			return fmt.Sprintf("inputs[%d]", i), fmt.Errorf("%q cannot be the name of an input", name)
		}
	}
	for i, name := range m.Columns {
		if name == "" || slices.Contains(m.Columns[:i], name) {
			return fmt.Sprintf("columns[%d]", i), fmt.Errorf("%q cannot be the name of a feature", name)
		}
	}
	if field, err := m.Points.check(d); err != nil {
		return field, err
	}
	total := 0
	for i := range m.Kernels {
		field, err := m.Kernels[i].check(d, len(m.Points.Rows))
		if err != nil {
			return strings.TrimSuffix(fmt.Sprintf("kernels[%d].%s", i, field), "."), err
		}
		total += len(m.Kernels[i].Shift)
	}
	if total != len(m.Columns) {
		return "columns", fmt.Errorf("there are %d for the %d features of the kernels", len(m.Columns), total)
	}
	return "", nil
}

func (p *Points) check(d int) (field string, err error) {
	switch known := []string{NoPoints, TrainingRows, Landmarks}; {
	case !slices.Contains(known, p.Are):
		return "points.are", fmt.Errorf("it is %q; %s are known", p.Are, strings.Join(known, ", "))
	case (p.Are == NoPoints) != (len(p.Rows) == 0):
		return "points.rows", fmt.Errorf("there are %d, and the points are %q", len(p.Rows), p.Are)
	}
	for i, row := range p.Rows {
		if len(row) != d {
			return fmt.Sprintf("points.rows[%d]", i), fmt.Errorf("it has %d numbers for %d inputs", len(row), d)
		}
	}
	return "", nil
}

func (k *Kernel) check(d, points int) (field string, err error) {
	named, err := kernellist.ParseOne(k.Name)
	wanted, of := points, "points"
	if k.Direct {
		wanted, of = d, "inputs"
	}
	switch {
	case err != nil:
		return "name", err
	case k.Direct && named.Family != "linear":
		return "direct", fmt.Errorf("the kernel %s compares with points", k.Name)
	case !(k.Weight > 0):
		return "weight", fmt.Errorf("it is %g; a positive number is required", k.Weight)
	case !(k.Scale > 0):
		return "scale", fmt.Errorf("it is %g; a positive number is required", k.Scale)
	case len(k.Shift) == 0:
		return "shift", errors.New("it is empty: a kernel has at least one feature")
	case len(k.Coefficients) != wanted || wanted == 0:
		return "coefficients", fmt.Errorf("it has %d rows for %d %s", len(k.Coefficients), wanted, of)
	}
	for i, row := range k.Coefficients {
		if len(row) != len(k.Shift) {
			return fmt.Sprintf("coefficients[%d]", i), fmt.Errorf("it has %d numbers for %d features", len(row), len(k.Shift))
		}
	}
	return "", nil
}
