package modelfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Error says where a file of a model is wrong.
type Error struct {
	Path         string
	Line, Column int    // from 1; 0 where the text is well-formed
	Field        string // such as covariance[2][1]; "" for the whole file
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

// Read reads the file of a model. Errors are *[Error], or the file's own.
func Read(path string) (m *Model, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSize {
		return nil, &Error{Path: path, Err: fmt.Errorf("it has more than %d MiB, which no model has", maxSize>>20)}
	}
	return Decode(path, text)
}

// Decode reads the text of a file; path is for errors.
func Decode(path string, text []byte) (*Model, error) {
	var kind struct {
		Format *string `json:"model"`
	}
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		return nil, &Error{Path: path, Err: errors.New(
			"it is no released model, which is a JSON object (what run trial dpgp/regression --release writes)")}
	}
	// The kind first: of another file, what is in it does not matter.
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, jsonError(path, text, 0, err)
	}
	switch {
	case kind.Format == nil:
		return nil, &Error{Path: path, Err: fmt.Errorf("it is no released model: \"model\": %q is not in it (a model is "+
			"what run trial dpgp/regression --release writes)", Format)}
	case *kind.Format != Format && *kind.Format != FormatLengthscales:
		err := fmt.Errorf("it is %q; this program reads %q and %q: a newer one may read it", *kind.Format, Format,
			FormatLengthscales)
		return nil, &Error{Path: path, Field: "model", Err: err}
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
		offset = kind.Offset
		e.Field = kind.Field
		e.Err = fmt.Errorf("it is %s, want %s", kindName(kind.Value), kindName(kind.Type.Kind().String()))
	default:
		e.Err = errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	before := text[:min(int(offset), len(text))]
	e.Line = 1 + bytes.Count(before, []byte("\n"))
	e.Column = max(1, len(before)-1-bytes.LastIndexByte(before, '\n'))
	return e
}

func kindName(kind string) string {
	switch kind {
	case "float64":
		return "a number"
	case "slice", "array":
		return "a list"
	case "struct", "ptr", "object":
		return "an object"
	}
	return "a " + kind
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
	for i, name := range m.Inputs {
		if name == "" || slices.Contains(m.Inputs[:i], name) || slices.Contains(Reserved, name) {
			return fmt.Sprintf("inputs[%d]", i), fmt.Errorf("%q cannot be the name of an input", name)
		}
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
	if e.Factorize(scaled, false) {
		least = fmt.Sprintf(" (the smallest is %.3g)", (e.Values(nil)[0]-rounding)*largest)
	}
	return "covariance", fmt.Errorf("it has a negative eigenvalue%s: a covariance is positive semi-definite", least)
}
