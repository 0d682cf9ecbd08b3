package model

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Checker keeps the first error of a file, with the member that is wrong. Its methods take
// values of any size; after an error they do nothing.
type Checker struct {
	field string
	err   error
}

// Failed reports whether there was an error: a payload looks before it takes lengths for
// granted.
func (c *Checker) Failed() bool { return c.err != nil }

// Fail records that a member is wrong.
func (c *Checker) Fail(field string, err error) {
	if c.err == nil {
		c.field, c.err = field, err
	}
}

// Require records an error in a member unless ok.
func (c *Checker) Require(ok bool, field, format string, args ...any) {
	if !ok {
		c.Fail(field, fmt.Errorf(format, args...))
	}
}

// Some requires a list that is not empty.
func (c *Checker) Some(field string, length int) {
	c.Require(length > 0, field, "there are none")
}

// Positive requires a positive number.
func (c *Checker) Positive(field string, v float64) {
	c.Require(v > 0, field, "it is %g; a positive number is required", v)
}

// NotNegative requires zero or a positive number.
func (c *Checker) NotNegative(field string, v float64) {
	c.Require(v >= 0, field, "it is %g; zero or a positive number is required", v)
}

// Lengthscales requires a positive number for each input.
func (c *Checker) Lengthscales(field string, values []float64, inputs int) {
	c.Require(len(values) == inputs, field, "there are %d for %d inputs", len(values), inputs)
	for i, v := range values {
		c.Positive(fmt.Sprintf("%s[%d]", field, i), v)
	}
}

// Length requires one number for each of n things, which plural names.
func (c *Checker) Length(field string, values []float64, n int, plural string) {
	numbers := "numbers"
	if len(values) == 1 {
		numbers = "number"
	}
	c.Require(len(values) == n, field, "it has %d %s for %d %s", len(values), numbers, n, plural)
}

// Rows requires rows of one number for each of n things.
func (c *Checker) Rows(field string, rows [][]float64, n int, plural string) {
	for i, row := range rows {
		if len(row) != n {
			c.Length(fmt.Sprintf("%s[%d]", field, i), row, n, plural)
		}
	}
}

// Names requires names, each of a thing, that are not empty, differ, and are not reserved
// for columns of predictions.
func (c *Checker) Names(field string, names []string, thing string, reserved ...string) {
	refused := map[string]string{"": "a name has letters"}
	for _, name := range reserved {
		refused[name] = "predictions have a column of that name"
	}
	for i, name := range names {
		why, found := refused[name]
		c.Require(!found, fmt.Sprintf("%s[%d]", field, i), "%q cannot be the name of %s: %s", shortened(name), thing, why)
		refused[name] = "it is there twice"
	}
}

// Covariance requires a symmetric matrix, of a row for each of n things, with variances on its
// diagonal.
func (c *Checker) Covariance(field string, cov [][]float64, n int, plural string) {
	c.Require(len(cov) == n, field, "it has %d rows for %d %s", len(cov), n, plural)
	c.Rows(field, cov, n, plural)
	if c.Failed() {
		return
	}
	for i, row := range cov {
		c.Require(row[i] >= 0, fmt.Sprintf("%s[%d][%d]", field, i, i), "it is %g; a variance is not negative", row[i])
		for j := range i {
			if a, b := row[j], cov[j][i]; math.Abs(a-b) > 1e-9*(cov[j][j]+row[i]) {
				c.Fail(fmt.Sprintf("%s[%d][%d]", field, i, j), fmt.Errorf(
					"it is %g, and %g with the indices exchanged: a covariance is symmetric", a, b))
			}
		}
	}
}

// rounding bounds how far the eigenvalues of a covariance may be below zero, relative to the
// largest variance.
const rounding = 1e-8

// maxExplained bounds the covariances of which an error names the least eigenvalue, because it
// takes seconds.
const maxExplained = 1000

// Semidefinite requires a matrix that Covariance accepts to be positive semi-definite. Its
// error names an impossible pair where there is one.
func (c *Checker) Semidefinite(field string, cov [][]float64) {
	if c.Failed() {
		return
	}
	largest := 0.0
	for i, row := range cov {
		largest = max(largest, row[i])
	}
	if largest == 0 {
		largest = 0x1p-1000 // only zeros are possible
	}
	n := len(cov)
	scaled := mat.NewSymDense(n, nil)
	for i, row := range cov {
		for j := range i {
			v, bound := row[j]/largest, math.Sqrt(row[i]/largest+rounding)*math.Sqrt(cov[j][j]/largest+rounding)
			if math.Abs(v) > bound {
				c.Fail(fmt.Sprintf("%s[%d][%d]", field, i, j), fmt.Errorf("it is %g, and with the variances %g and %g "+
					"it is at most %g in size: this is no covariance", row[j], cov[j][j], row[i], bound*largest))
				return
			}
			scaled.SetSym(i, j, v)
		}
		scaled.SetSym(i, i, row[i]/largest+rounding)
	}
	var chol mat.Cholesky
	if chol.Factorize(scaled) {
		return
	}
	least := ""
	var e mat.EigenSym
	if n <= maxExplained && e.Factorize(scaled, false) {
		least = fmt.Sprintf(" (the smallest is %.3g)", (e.Values(nil)[0]-rounding)*largest)
	}
	c.Fail(field, errors.New("it has a negative eigenvalue"+least+": a covariance is positive semi-definite"))
}

// envelope checks the members that every format has.
func (c *Checker) envelope(e Envelope) {
	c.Some("inputs", len(e.Inputs))
	c.Require(e.Privacy != nil, "privacy", "it is missing: a model says what it protects")
	c.Names("inputs", e.Inputs, "an input", e.Reserved...)
}
