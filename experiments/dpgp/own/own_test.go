package own

import (
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestRegular(t *testing.T) {
	for _, c := range []struct {
		name      string
		n         int
		low, high []float64
		want      []float64 // row by row
	}{
		{"two dimensions", 3, []float64{0, 0}, []float64{10, 10},
			[]float64{0, 0, 0, 5, 0, 10, 5, 0, 5, 5, 5, 10, 10, 0, 10, 5, 10, 10}},
		{"a range each", 2, []float64{0, -4}, []float64{10, -2}, []float64{0, -4, 0, -2, 10, -4, 10, -2}},
		{"one point", 1, []float64{0, 0}, []float64{10, 2}, []float64{5, 1}},
		{"one dimension", 3, []float64{0}, []float64{10}, []float64{0, 5, 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := len(c.low)
			if z := Regular(c.n, c.low, c.high); !mat.Equal(z, mat.NewDense(len(c.want)/d, d, c.want)) {
				t.Errorf("%v", mat.Formatted(z))
			}
		})
	}
}

func TestCheckGrid(t *testing.T) {
	if err := (Inducing{Count: 10}).Check(6); err == nil {
		t.Error("a million points")
	}
	if err := (Inducing{Count: 22}).Check(2); err != nil {
		t.Error(err)
	}
}
