package audit

import (
	"math"
	"testing"
)

func TestWorst(t *testing.T) {
	norm := func(v ...float64) float64 {
		sum := 0.0
		for _, x := range v {
			sum += x * x
		}
		return math.Sqrt(sum)
	}
	bell := func(x, at float64) float64 { return math.Exp(-(x - at) * (x - at) / 2) }
	for _, c := range []struct {
		name      string
		low, high []float64
		distance  func(a, b []float64) float64
		want      float64
	}{
		{"opposite corners", []float64{0, 0}, []float64{1, 2}, func(a, b []float64) float64 {
			return norm(a[0]-b[0],
				a[1]-b[1])
		}, math.Sqrt(5)},
		{"correlated", []float64{0, 0}, []float64{1, 1}, func(a, b []float64) float64 {
			x, y := a[0]-b[0], a[1]-b[1]
			return norm(x, (y-0.6*x)/0.8)
		}, math.Sqrt(5)},
		// Of features e^−(x−z)²/2 with a sign: inside the box, at x = z.
		{"interior", []float64{-9, -1}, []float64{9, 1}, func(a, b []float64) float64 {
			return norm(a[1]*bell(a[0], 1.7)-b[1]*bell(b[0], 1.7), 0.5*(bell(a[0], 1.7)-bell(b[0], 1.7)))
		}, 2},
		{"a point", []float64{3}, []float64{3}, func(a, b []float64) float64 { return math.Abs(a[0] - b[0]) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b, got, err := Worst(c.low, c.high, c.distance)
			if err != nil || math.Abs(got-c.want) > 1e-6*c.want || got != c.distance(a, b) {
				t.Errorf("%v and %v at distance %g (%v), want %g", a, b, got, err, c.want)
			}
		})
	}
	none := func(_, _ []float64) float64 { return math.NaN() }
	if a, b, _, err := Worst([]float64{0}, []float64{1}, none); err == nil {
		t.Errorf("no distance is a number: %v and %v", a, b)
	}
	if i, v := WorstOf(4, func(i int) float64 { return float64(i * (3 - i)) }); i != 1 || v != 2 {
		t.Errorf("the worst of 0, 2, 2, 0 is number %d with %g", i, v)
	}
}
