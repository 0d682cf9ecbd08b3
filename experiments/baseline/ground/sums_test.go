package ground

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"privkern/runner/experiment"
)

// A vector that is longer than its query allows is brought to that length, and one that is not finite is none.
func TestClip(t *testing.T) {
	for _, c := range []struct {
		name string
		law  string
		v    []float64
		want []float64
	}{
		{"short", "gaussian", []float64{.6, .8}, []float64{.6, .8}},
		{"long", "gaussian", []float64{1.2, 1.6}, []float64{.6, .8}},
		{"hardly longer", "gaussian", []float64{.9, .8}, []float64{.9 / math.Hypot(.9, .8), .8 / math.Hypot(.9, .8)}},
		{"by magnitudes", "laplace", []float64{.6, -.9}, []float64{.4, -.6}},
		{"infinite", "gaussian", []float64{math.Inf(1), 0}, []float64{0, 0}},
		{"no number", "laplace", []float64{math.NaN(), 1}, []float64{0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &Noise{query: Query{Norm: 1}, loss: experiment.Loss{Law: c.law}}
			n.clip(c.v)
			if !floats.EqualApprox(c.v, c.want, 1e-12) {
				t.Errorf("%v, want %v", c.v, c.want)
			}
		})
	}
}
