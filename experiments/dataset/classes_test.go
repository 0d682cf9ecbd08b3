package dataset_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset"
)

// The account of rows depends neither on the classes that a setting names nor on their order.
func TestLabelValuesDependOnTheClassAlone(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{1, 2, 3})
	digest := func(labels []int, classes ...string) string {
		return dataset.Canonical(x, dataset.LabelValues(labels, classes))
	}
	for name, c := range map[string]struct{ a, b string }{
		"order of texts":   {digest([]int{0, 1, 0}, "b", "a"), digest([]int{1, 0, 1}, "a", "b")},
		"a class without":  {digest([]int{0, 1, 0}, "b", "c"), digest([]int{1, 2, 1}, "a", "b", "c")},
		"order of numbers": {digest([]int{0, 1, 0}, "1", "2"), digest([]int{1, 0, 1}, "2", "1")},
		"as numbers":       {digest([]int{0, 1, 0}, "1", "2.0"), dataset.Canonical(x, []float64{1, 2, 1})},
	} {
		t.Run(name, func(t *testing.T) {
			if c.a != c.b {
				t.Errorf("%s and %s", c.a, c.b)
			}
		})
	}
	if digest([]int{0, 1, 0}, "a", "b") == digest([]int{1, 0, 1}, "a", "b") {
		t.Error("other labels have the same digest")
	}
}
