package dataset

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestCanonical(t *testing.T) {
	inputs := mat.NewDense(3, 2, []float64{1, 2, 3, 0, 5, 6})
	output := []float64{7, 8, 9}
	want := Canonical(inputs, output)
	for _, c := range []struct {
		name   string
		inputs []float64
		output []float64
		same   bool
	}{
		{"the same rows", []float64{1, 2, 3, 0, 5, 6}, []float64{7, 8, 9}, true},
		{"other order of rows", []float64{5, 6, 1, 2, 3, 0}, []float64{9, 7, 8}, true},
		{"other order of inputs", []float64{2, 1, 0, 3, 6, 5}, []float64{7, 8, 9}, true},
		{"a negative zero", []float64{1, 2, 3, math.Copysign(0, -1), 5, 6}, []float64{7, 8, 9}, true},
		{"outputs exchanged", []float64{1, 2, 3, 0, 5, 6}, []float64{8, 7, 9}, false},
		{"an input and an output exchanged", []float64{1, 7, 3, 0, 5, 6}, []float64{2, 8, 9}, false},
		{"another output, by one unit in the last place", []float64{1, 2, 3, 0, 5, 6}, []float64{7, 8, math.Nextafter(9,
			10)}, false},
		{"a row twice", []float64{1, 2, 1, 2, 5, 6}, []float64{7, 7, 9}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Canonical(mat.NewDense(3, 2, c.inputs), c.output); (got == want) != c.same {
				t.Errorf("%s, and %s of the original rows", got, want)
			}
		})
	}
	if Canonical(mat.NewDense(2, 3, []float64{1, 2, 3, 0, 5, 6}), []float64{7, 8}) == Canonical(mat.NewDense(3, 1,
		[]float64{1, 2, 3}), []float64{0, 5, 6}) {
		t.Error("another number of inputs is not seen")
	}
}

// The digest of whole rows does not depend on the choice of the output.
func TestCanonicalRows(t *testing.T) {
	inputs, output := mat.NewDense(3, 2, []float64{1, 2, 3, 0, 5, 6}), []float64{7, 8, 9}
	want := CanonicalRows(inputs, output)
	for _, c := range []struct {
		name   string
		inputs []float64
		output []float64
		same   bool
	}{
		{"an input and the output exchanged", []float64{7, 2, 8, 0, 9, 6}, []float64{1, 3, 5}, true},
		{"other order of rows", []float64{5, 6, 1, 2, 3, 0}, []float64{9, 7, 8}, true},
		{"outputs of two rows exchanged", []float64{1, 2, 3, 0, 5, 6}, []float64{8, 7, 9}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CanonicalRows(mat.NewDense(3, 2, c.inputs), c.output); (got == want) != c.same {
				t.Errorf("%s, and %s of the original rows", got, want)
			}
		})
	}
	if want == Canonical(inputs, output) {
		t.Error("rows and data share a digest")
	}
}
