package classmodel

import (
	"errors"
	"fmt"
	"math"

	models "privkern/experiments/model"
)

// PredictFormat makes run predict read these files.
var PredictFormat = models.Format{Name: Format, Read: func(path string, raw []byte) (models.Model, error) {
	m, err := Decode(path, raw)
	if err != nil {
		return nil, err
	}
	return used{m}, nil
}}

// Decode reads the text of a file; path is for errors, which are *[models.Error].
func Decode(path string, text []byte) (*Model, error) {
	return models.Parse(path, text, (*Model).check, Format)
}

// check returns what is wrong, and with which field.
func (m *Model) check() (field string, err error) {
	positive := func(v float64) error {
		if !(v > 0) {
			return fmt.Errorf("it is %g; a positive number is required", v)
		}
		return nil
	}
	switch c := len(m.Classes); {
	case len(m.Inputs) == 0:
		return "inputs", errors.New("there are none")
	case c < 2:
		return "classes", fmt.Errorf("there are %d, at least two are needed", c)
	case m.Kernel.Name != "EQ":
		return "kernel.name", fmt.Errorf("it is %q; EQ is known", m.Kernel.Name)
	case len(m.Kernel.Lengthscales) != len(m.Inputs):
		return "kernel.lengthscales", fmt.Errorf("there are %d for %d inputs", len(m.Kernel.Lengthscales), len(m.Inputs))
	case len(m.Inducing) == 0:
		return "inducing", errors.New("there are none")
	case len(m.Means) != c:
		return "means", fmt.Errorf("there are %d for %d classes", len(m.Means), c)
	case len(m.Covariances) != c:
		return "covariances", fmt.Errorf("there are %d for %d classes", len(m.Covariances), c)
	case m.Privacy == nil:
		return "privacy", errors.New("it is missing: a model says what it protects")
	case !(m.Jitter >= 0):
		return "jitter", fmt.Errorf("it is %g; zero or a positive number is required", m.Jitter)
	case positive(m.Kernel.Variance) != nil:
		return "kernel.variance", positive(m.Kernel.Variance)
	}
	for i, l := range m.Kernel.Lengthscales {
		if err := positive(l); err != nil {
			return fmt.Sprintf("kernel.lengthscales[%d]", i), err
		}
	}
	if field, err := models.CheckNames("classes", m.Classes, "a class"); err != nil {
		return field, err
	}
	if field, err := models.CheckNames("inputs", m.Inputs, "an input", resultColumns(m.Classes)...); err != nil {
		return field, err
	}
	return m.checkShapes()
}

// checkShapes refuses lists of other lengths than inducing inputs and inputs have, and
// covariances that are none at sight.
func (m *Model) checkShapes() (field string, err error) {
	number := len(m.Inducing)
	for i, row := range m.Inducing {
		if len(row) != len(m.Inputs) {
			return fmt.Sprintf("inducing[%d]", i), fmt.Errorf("it has %d numbers for %d inputs", len(row), len(m.Inputs))
		}
	}
	for c := range m.Classes {
		if len(m.Means[c]) != number {
			return fmt.Sprintf("means[%d]", c), fmt.Errorf("it has %d numbers for %d inducing inputs", len(m.Means[c]), number)
		}
		cov := m.Covariances[c]
		if len(cov) != number {
			return fmt.Sprintf("covariances[%d]", c), fmt.Errorf("it has %d rows for %d inducing inputs", len(cov), number)
		}
		for i, row := range cov {
			if len(row) != number {
				return fmt.Sprintf("covariances[%d][%d]", c, i),
					fmt.Errorf("it has %d numbers for %d inducing inputs", len(row), number)
			}
			if !(row[i] >= 0) {
				return fmt.Sprintf("covariances[%d][%d][%d]", c, i, i), fmt.Errorf("it is %g; a variance is not negative", row[i])
			}
			for j := range i {
				if math.Abs(row[j]-cov[j][i]) > 1e-9*(cov[j][j]+row[i]) {
					return fmt.Sprintf("covariances[%d][%d][%d]", c, i, j), fmt.Errorf(
						"it is %g, and %g with the indices exchanged: a covariance is symmetric", row[j], cov[j][i])
				}
			}
		}
	}
	return "", nil
}
