package hull

import (
	"strings"
	"testing"
)

// A fixed point that is approached too slowly is an error, which says how far the
// iteration came: here R moves e a thousandth of the way to 1 at a time, or jumps to
// and fro.
func TestFixedPointShortOfItsTolerance(t *testing.T) {
	slow := func(e float64) float64 { return e + (1-e)/1000 }
	toAndFro := func(e float64) float64 {
		if e > 1 {
			return .5
		}
		return 2
	}
	for _, c := range []struct {
		name      string
		iteration Iteration
		single    bool
		residual  func(e float64) float64
		want      string // of the error; "" for none
	}{
		{"the paper's iteration, slow", Picard, false, slow,
			"not found in 1000 evaluations, the most that are allowed: the last one changed it by 5.8e-04 of itself, and at " +
				"most 1e-12"},
		{"in float32, slow", Picard, true, slow, "changed it by 5.8e-04 of itself, and at most 1e-05 is wanted"},
		{"secants, to and fro", Secant, false, toAndFro, "and at most 1e-10 is wanted"},
		{"secants, slow", Secant, false, slow, ""},
		{"the paper's iteration", Picard, false, func(e float64) float64 { return (1 + e) / 3 }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &fixedPoint{single: c.single}
			err := x.find(c.iteration, 1e-3, nil, func(lambda float64) (float64, error) { return c.residual(lambda), nil })
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}
