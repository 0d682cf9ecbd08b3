package projectionfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"privkern/experiments/model"
	"privkern/experiments/multikernel/kernellist"
)

// Decode reads the text of a file; path is for errors, which are *[model.Error].
func Decode(path string, text []byte) (*Model, error) {
	return model.Parse(path, text, (*Model).check, Format)
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
	if field, err := model.CheckNames("inputs", m.InputNames, "an input"); err != nil {
		return field, err
	}
	if field, err := model.CheckNames("columns", m.Columns, "a feature"); err != nil {
		return field, err
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
