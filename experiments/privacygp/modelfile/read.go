package modelfile

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	models "privkern/experiments/model"
	"privkern/runner/experiment"
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
func Decode(path string, raw []byte) (*Model, error) {
	return models.Parse(path, raw, (*Model).check, Format)
}

// check returns what is wrong, and with which field.
func (m *Model) check() (field string, err error) {
	for _, check := range []func() (string, error){m.checkNames, m.checkNumbers, m.checkRows, m.checkCovariance,
		m.checkCondition} {
		if field, err := check(); err != nil {
			return field, err
		}
	}
	return "", nil
}

func (m *Model) checkNames() (field string, err error) {
	switch _, known := Unit(m.Kernel.Name); {
	case len(m.Inputs) == 0:
		return "inputs", errors.New("there are none")
	case !known:
		return "kernel.name", experiment.Unknown("kernel", m.Kernel.Name, Names)
	case m.Privacy == nil:
		return "privacy", errors.New("it is missing: a model says what it protects")
	}
	return models.CheckNames("inputs", m.Inputs, "an input", Reserved...)
}

func (m *Model) checkNumbers() (field string, err error) {
	if field, err := m.Kernel.check("kernel", len(m.Inputs)); err != nil {
		return field, err
	}
	if !(m.Noise >= 0) {
		return "noise_variance", fmt.Errorf("it is %g; zero or a positive number is required", m.Noise)
	}
	return "", nil
}

// check looks at the numbers of a kernel of that many inputs, in a field of that name.
func (k *Kernel) check(name string, inputs int) (field string, err error) {
	if len(k.Lengthscales) != inputs {
		return name + ".lengthscales", fmt.Errorf("there are %d for %d inputs", len(k.Lengthscales), inputs)
	}
	for i, v := range k.Lengthscales {
		if !(v > 0) {
			return fmt.Sprintf("%s.lengthscales[%d]", name, i), fmt.Errorf("it is %g; a positive number is required", v)
		}
	}
	if !(k.Variance > 0) {
		return name + ".variance", fmt.Errorf("it is %g; a positive number is required", k.Variance)
	}
	return "", nil
}

// checkCondition looks at what the file says of what is kept.
func (m *Model) checkCondition() (field string, err error) {
	c := m.Condition
	if c == nil {
		return "", nil
	}
	if len(c.Variance) != len(c.Places) {
		return "condition.variance", fmt.Errorf("it has %d numbers for %d places", len(c.Variance), len(c.Places))
	}
	for i, place := range c.Places {
		if len(place) != len(m.Inputs) {
			return fmt.Sprintf("condition.places[%d]", i), fmt.Errorf("it has %d numbers for %d inputs", len(place),
				len(m.Inputs))
		}
		if v := c.Variance[i]; !(v >= 0 && v < m.Kernel.Variance) {
			return fmt.Sprintf("condition.variance[%d]", i), fmt.Errorf("it is %g; no place keeps less than zero or as much as "+
				"the prior variance, %g", v, m.Kernel.Variance)
		}
	}
	if c.Kernel == nil {
		return "", nil
	}
	if _, known := Unit(c.Kernel.Name); !known {
		return "condition.kernel.name", experiment.Unknown("kernel", c.Kernel.Name, Names)
	}
	return c.Kernel.check("condition.kernel", len(m.Inputs))
}

func (m *Model) checkRows() (field string, err error) {
	n := len(m.X)
	switch {
	case n == 0:
		return "x", errors.New("there are no rows")
	case len(m.Obfuscated) != n:
		return "obfuscated", fmt.Errorf("it has %d numbers for %d rows of x", len(m.Obfuscated), n)
	case len(m.Covariance) != n:
		return "noise_covariance", fmt.Errorf("it has %d rows for %d rows of x", len(m.Covariance), n)
	}
	for i, row := range m.X {
		if len(row) != len(m.Inputs) {
			return fmt.Sprintf("x[%d]", i), fmt.Errorf("it has %d numbers for %d inputs", len(row), len(m.Inputs))
		}
	}
	for i, row := range m.Covariance {
		if len(row) != n {
			return fmt.Sprintf("noise_covariance[%d]", i), fmt.Errorf("it has %d numbers for %d rows of x", len(row), n)
		}
		if !(row[i] >= 0) {
			return fmt.Sprintf("noise_covariance[%d][%d]", i, i), fmt.Errorf("it is %g; a variance is not negative", row[i])
		}
		for j := range i {
			other := m.Covariance[j]
			if math.Abs(row[j]-other[i]) > 1e-9*(other[j]+row[i]) {
				return fmt.Sprintf("noise_covariance[%d][%d]", i, j), fmt.Errorf(
					"it is %g, and %g with the indices exchanged: a covariance is symmetric", row[j], other[i])
			}
		}
	}
	return "", nil
}

// rounding is what the eigenvalues of a covariance may be below zero by, relative to the
// largest variance.
const rounding = 1e-8

// checkCovariance refuses a symmetric matrix that is not positive semi-definite.
func (m *Model) checkCovariance() (field string, err error) {
	largest := 0x1p-1000
	for i, row := range m.Covariance {
		largest = max(largest, row[i])
	}
	scaled := mat.NewSymDense(len(m.Covariance), nil)
	for i, row := range m.Covariance {
		for j := range i + 1 {
			scaled.SetSym(i, j, row[j]/largest)
		}
		scaled.SetSym(i, i, row[i]/largest+rounding)
	}
	var chol mat.Cholesky
	if chol.Factorize(scaled) {
		return "", nil
	}
	return "noise_covariance", errors.New("it has a negative eigenvalue: a covariance is positive semi-definite")
}
