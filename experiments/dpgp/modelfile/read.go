package modelfile

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	models "privkern/experiments/model"
)

// Decode reads the text of a file; path is for errors, which are *[models.Error].
func Decode(path string, text []byte) (*Model, error) {
	return models.Parse(path, text, (*Model).check, Format, FormatLengthscales)
}

// check returns what is wrong, and with which field.
func (m *Model) check() (field string, err error) {
	switch {
	case len(m.Inputs) == 0:
		return "inputs", errors.New("there are none")
	case m.Kernel.Name != "EQ":
		return "kernel.name", fmt.Errorf("it is %q; EQ is known", m.Kernel.Name)
	case len(m.Inducing) == 0:
		return "inducing", errors.New("there are none")
	case len(m.Mean) != len(m.Inducing):
		return "mean", fmt.Errorf("it has %d numbers for %d inducing inputs", len(m.Mean), len(m.Inducing))
	case len(m.Covariance) != len(m.Inducing):
		return "covariance", fmt.Errorf("it has %d rows for %d inducing inputs", len(m.Covariance), len(m.Inducing))
	case m.Privacy == nil:
		return "privacy", errors.New("it is missing: a model says what it protects")
	case !(m.Jitter >= 0):
		return "jitter", fmt.Errorf("it is %g; zero or a positive number is required", m.Jitter)
	}
	for _, v := range []struct {
		field string
		value float64
	}{
		{"kernel.variance", m.Kernel.Variance}, {"noise_variance", m.Noise}, {"output.scale", m.Output.Scale},
	} {
		if !(v.value > 0) {
			return v.field, fmt.Errorf("it is %g; a positive number is required", v.value)
		}
	}
	if field, err := m.checkLengthscales(); err != nil {
		return field, err
	}
	if field, err := models.CheckNames("inputs", m.Inputs, "an input", Reserved...); err != nil {
		return field, err
	}
	for i, row := range m.Inducing {
		if len(row) != len(m.Inputs) {
			return fmt.Sprintf("inducing[%d]", i), fmt.Errorf("it has %d numbers for %d inputs", len(row), len(m.Inputs))
		}
	}
	for i, row := range m.Covariance {
		if len(row) != len(m.Inducing) {
			return fmt.Sprintf("covariance[%d]", i),
				fmt.Errorf("it has %d numbers for %d inducing inputs", len(row), len(m.Inducing))
		}
		if !(row[i] >= 0) {
			return fmt.Sprintf("covariance[%d][%d]", i, i), fmt.Errorf("it is %g; a variance is not negative", row[i])
		}
		for j := range i {
			other := m.Covariance[j]
			if math.Abs(row[j]-other[i]) > 1e-9*(other[j]+row[i]) {
				return fmt.Sprintf("covariance[%d][%d]", i, j), fmt.Errorf(
					"it is %g, and %g with the indices exchanged: a covariance is symmetric", row[j], other[i])
			}
		}
	}
	return m.checkCovariance()
}

// checkLengthscales refuses lengthscales that the format does not have, or that are none.
func (m *Model) checkLengthscales() (field string, err error) {
	several := m.Format == FormatLengthscales
	switch {
	case !several && m.Kernel.Lengthscales != nil:
		return "kernel.lengthscales", fmt.Errorf("a model of the version %q has one kernel.lengthscale", m.Format)
	case several && m.Kernel.Lengthscale != 0:
		return "kernel.lengthscale", fmt.Errorf("a model of the version %q has kernel.lengthscales", m.Format)
	case several && len(m.Kernel.Lengthscales) != len(m.Inputs):
		return "kernel.lengthscales", fmt.Errorf("there are %d for %d inputs", len(m.Kernel.Lengthscales), len(m.Inputs))
	case !several && !(m.Kernel.Lengthscale > 0):
		return "kernel.lengthscale", fmt.Errorf("it is %g; a positive number is required", m.Kernel.Lengthscale)
	}
	for i, l := range m.Kernel.Lengthscales {
		if !(l > 0) {
			return fmt.Sprintf("kernel.lengthscales[%d]", i), fmt.Errorf("it is %g; a positive number is required", l)
		}
	}
	return "", nil
}

// rounding is what the eigenvalues of a covariance may be below zero by, relative
// to the largest variance.
const rounding = 1e-8

// maxExplained bounds the covariances whose eigenvalues an error names: they take seconds.
const maxExplained = 1000

// checkCovariance refuses a symmetric matrix that is not positive semi-definite.
// It names a pair that cannot be where there is one.
func (m *Model) checkCovariance() (field string, err error) {
	largest := 0.0
	for i, row := range m.Covariance {
		largest = max(largest, row[i])
	}
	n := len(m.Covariance)
	if largest == 0 {
		largest = 0x1p-1000 // nothing beside zeros is possible
	}
	scaled := mat.NewSymDense(n, nil)
	for i, row := range m.Covariance {
		for j := range i {
			most := math.Sqrt(row[i]/largest+rounding) * math.Sqrt(m.Covariance[j][j]/largest+rounding)
			if v := row[j] / largest; math.Abs(v) > most {
				return fmt.Sprintf("covariance[%d][%d]", i, j), fmt.Errorf("it is %g, and with the variances %g and %g "+
					"it is at most %g in size: this is no covariance", row[j], m.Covariance[j][j], row[i], most*largest)
			}
			scaled.SetSym(i, j, row[j]/largest)
		}
		scaled.SetSym(i, i, row[i]/largest+rounding)
	}
	var chol mat.Cholesky
	if chol.Factorize(scaled) {
		return "", nil
	}
	least := ""
	var e mat.EigenSym
	if n <= maxExplained && e.Factorize(scaled, false) {
		least = fmt.Sprintf(" (the smallest is %.3g)", (e.Values(nil)[0]-rounding)*largest)
	}
	return "covariance", fmt.Errorf("it has a negative eigenvalue%s: a covariance is positive semi-definite", least)
}
