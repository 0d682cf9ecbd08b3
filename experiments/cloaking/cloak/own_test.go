package cloak

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
)

// Inputs of different scales that share a lengthscale are suspect, and the advice is applicable: a
// lengthscale for each is for a user's file, and for methods that have one.
func TestScalesOfInputs(t *testing.T) {
	data := func(width float64) *table.Data {
		return &table.Data{X: mat.NewDense(3, 2, []float64{0, 0, 1, width, 0.5, 2}), Names: []string{"age", "dose"}}
	}
	const (
		shared = `computed but suspect: the input "dose" extends over 11 and "age" over 1, but all inputs share one ` +
			"lengthscale; "
		scale = "bring the columns to one scale"
		each  = "give a lengthscale for each, or " + scale
	)
	one, two := method.LengthscalesOf(2), method.LengthscalesOf(2, 20)
	for _, c := range []struct {
		name, dataset string
		method        Method
		lengthscale   method.Lengthscale
		width         float64
		want          []string
	}{
		{"a user's file", "csv:my.csv", Standard, one, 11, []string{shared + each}},
		{"a lengthscale for each", "csv:my.csv", Sparse, two, 11, nil},
		{"a method without", "csv:my.csv", WeightedSum, one, 11, []string{shared + scale}},
		{"a method that reads none", "csv:my.csv", Nonstationary, two, 11, []string{shared + scale}},
		{"the paper's data", "hmeq", Standard, one, 11, []string{shared + scale}},
		{"similar scales", "csv:my.csv", Standard, one, 9, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := InputWarnings(data(c.width), &OwnData{Dataset: c.dataset}, c.method, &Kernel{Lengthscale: c.lengthscale})
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
