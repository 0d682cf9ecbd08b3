package finite

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestMatrix(t *testing.T) {
	with := func(v float64) *mat.Dense { return mat.NewDense(2, 3, []float64{1, 2, 3, 4, v, 6}) }
	for _, c := range []struct {
		name string
		a    *mat.Dense
		want string
	}{
		{"finite", with(math.MaxFloat64), ""},
		{"nil", nil, "the matrix is empty"},
		{"empty", new(mat.Dense), "the matrix is empty"},
		{"NaN", with(math.NaN()), "the matrix has NaN in row 1, column 1 (counted from 0): every element must be finite"},
		{"infinite", with(math.Inf(-1)), "the matrix has -Inf in row 1, column 1 (counted from 0): every element must be " +
			"finite"},
		{"a part of a larger matrix", with(math.NaN()).Slice(0, 2, 2, 3).(*mat.Dense), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := Matrix("the matrix", c.a); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
