package hull

import (
	"math"
	"strings"
	"testing"
)

// Slow convergence to a fixed point is an error with the accuracy reached. Here R moves e by a
// thousandth of the distance to 1, or oscillates.
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
			x := &fixedPoint{single: c.single, e: 1e-3, iteration: c.iteration}
			var err error
			for done := false; !done && err == nil; {
				done, err = x.take(c.residual(x.next()))
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
}

// The first layer starts at a share of τ, the second at the fixed point of the first, and further
// ones on the line through the last two, which does not cross zero. Picard starts at τ/4.
func TestFixedPointBegins(t *testing.T) {
	first, second := &fixedPoint{e: .02, slope: .1}, &fixedPoint{e: .03, slope: .2}
	for _, c := range []struct {
		iteration Iteration
		before    []*fixedPoint
		e, slope  float64
	}{
		{Secant, nil, 2. / 32, 0},
		{Secant, []*fixedPoint{first}, .02, .1},
		{Secant, []*fixedPoint{first, second}, .04, .2},
		{Secant, []*fixedPoint{{e: .08}, second}, .015, .2},
		{Picard, []*fixedPoint{first, second}, .5, 0},
	} {
		x := &fixedPoint{tau: 2, iteration: c.iteration}
		x.begin(c.before)
		if math.Abs(x.e-c.e) > 1e-15 || x.slope != c.slope {
			t.Errorf("after %d layers: e = %g with the slope %g, want %g with %g", len(c.before), x.e, x.slope, c.e, c.slope)
		}
	}
}
