package method

import (
	"math"
	"testing"

	"privkern/experiments/dataset/table"
	"privkern/experiments/internal/trialtest"
)

// A lengthscale is the same share of each range; a category has the range 1.
func TestLengthscalesByRange(t *testing.T) {
	a, b, kind := table.Input{Name: "a"}, table.Input{Name: "b"}, table.Input{Name: "kind", Levels: 2}
	for _, c := range []struct {
		name      string
		inputs    []table.Input
		low, high []float64
		want      string // the lengthscales, or the refusal
	}{
		{"one input", []table.Input{a}, []float64{-1}, []float64{3}, "2"},
		{"two", []table.Input{a, b}, []float64{0, 10}, []float64{4, 110}, "[2,50]"},
		{"equal ranges", []table.Input{a, b}, []float64{0, 10}, []float64{4, 14}, "2"},
		{"a category", []table.Input{a, kind, b}, []float64{0, math.NaN(), math.NaN(), 1}, []float64{4, math.NaN(),
			math.NaN(), 7}, "[2,0.5,3]"},
		{"no range", []table.Input{a, b}, []float64{0, 5}, []float64{4, 5}, "all rows have the same b; give lengthscale"},
		{"no value", []table.Input{a}, []float64{math.NaN()}, []float64{math.NaN()}, "all rows have the same a"},
		{"beyond", []table.Input{a}, []float64{-1e308}, []float64{1e308}, "the range of a is beyond floating point"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ByRange(0.5, c.inputs, c.low, c.high, "rows")
			if err != nil {
				trialtest.Refuses(t, err, c.want)
			} else if got.String() != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
