package plot

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"privkern/runner/experiment"
)

// The bandwidth is 0.9·min(s, IQR/1.34)·n^(−1/5), by hand.
func TestSilverman(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   float64
	}{
		{"two values", []float64{-1, 1}, 0.9 * 1 / 1.34 * math.Pow(2, -0.2)},
		{"half of the sample has one value", []float64{3, 3, 3, 3, 3, 3, 3, 3, 3, 13}, 0.9 * math.Sqrt(10) * math.Pow(10,
			-0.2)},
		{"outliers count little", []float64{8, 1, 7, 2, 6, 3, 5, 4, 1000, -1000}, 0.9 * 5 / 1.34 * math.Pow(10, -0.2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := silverman(c.values); math.Abs(got-c.want) > 1e-12*c.want {
				t.Errorf("%v: %v, want %v", c.values, got, c.want)
			}
		})
	}
}

// With a range the density integrates to the size of the sample, because the density beyond is
// folded back; without, it ends with the sample.
func TestDensity(t *testing.T) {
	var values []float64
	for i := range 50 {
		values = append(values, math.Pow(float64(i)/49, 3))
	}
	for _, c := range []struct {
		v    experiment.Violin
		low  float64
		high float64
		name string
	}{
		{experiment.Violin{Values: values, Range: [2]float64{0, 1}}, 0, 1, "to its range"},
		{experiment.Violin{Values: values}, 0, 1, "without a range"},
		{experiment.Violin{Values: []float64{4, 5, 6}}, 4, 6, "to its values"},
		{experiment.Violin{Values: []float64{4, 5, 6}, Range: [2]float64{0, 5e5}},
			4 - 3*silverman([]float64{4, 5, 6}), 6 + 3*silverman([]float64{4, 5, 6}), "to three bandwidths"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ys, density := densityOf(&c.v)
			if math.Abs(ys[0]-c.low) > 1e-12 || math.Abs(ys[len(ys)-1]-c.high) > 1e-12 || slices.Min(density) < 0 {
				t.Errorf("from %v to %v, want from %v to %v", ys[0], ys[len(ys)-1], c.low, c.high)
			}
			integral := 0.0
			for i := range ys[1:] {
				integral += (density[i] + density[i+1]) / 2 * (ys[i+1] - ys[i])
			}
			integral /= silverman(c.v.Values) * math.Sqrt(2*math.Pi) * float64(len(c.v.Values))
			if bounded := c.v.Range != [2]float64{}; bounded && math.Abs(integral-1) > 0.004 || !bounded && integral > 0.97 {
				t.Errorf("the density of %v (range %v) integrates to %v", c.v.Values, c.v.Range, integral)
			}
		})
	}
	for _, values := range [][]float64{{2}, {2, 2, 2}, {1, 1 + 1e-15}} {
		if ys, _ := densityOf(&experiment.Violin{Values: values, Range: [2]float64{0, 9}}); len(ys) != 1 ||
			ys[0] != values[0] {
			t.Errorf("%v: a density at %v, want a line", values, ys)
		}
	}
}

// Neighbouring violins do not overlap.
func TestHalfWidth(t *testing.T) {
	for _, c := range []struct {
		at   []float64
		want float64
	}{{nil, 0.42}, {[]float64{5}, 0.42}, {[]float64{3, 3}, 0.42}, {[]float64{10, 0, 4}, 4 * 0.42},
		{[]float64{0.1, 0.1, 0.3}, 0.2 * 0.42}} {
		t.Run(fmt.Sprintf("at %v", c.at), func(t *testing.T) {
			var violins []experiment.Violin
			for _, at := range c.at {
				violins = append(violins, experiment.Violin{At: at})
			}
			if got := halfWidth(violins); math.Abs(got-c.want) > 1e-12 {
				t.Errorf("violins at %v: %v, want %v", c.at, got, c.want)
			}
		})
	}
}
