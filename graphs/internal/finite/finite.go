// Package finite checks that the inputs of programs are finite.
package finite

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Matrix returns an error if a matrix is nil or empty, or has an element that is NaN or infinite.
// The error begins with the name of the matrix, such as "the covariance".
func Matrix(name string, a *mat.Dense) error {
	if a == nil || a.IsEmpty() {
		return fmt.Errorf("%s is empty", name)
	}
	rows, _ := a.Dims()
	for i := range rows {
		for j, v := range a.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s has %g in row %d, column %d (counted from 0): every element must be finite", name, v, i, j)
			}
		}
	}
	return nil
}
