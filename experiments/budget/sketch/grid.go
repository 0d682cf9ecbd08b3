package sketch

import (
	"math"
	"slices"
)

// continuous is the number of points of a grid that is too fine to be one.
const continuous = 1e9

// gridOf returns how many points the grid has on which numbers lie, linear or logarithmic,
// up to continuous.
func gridOf(values []float64) float64 {
	if slices.Sort(values); len(values) < 2 {
		return 1
	}
	points := grid(values)
	if values[0] > 0 {
		for i, v := range values {
			values[i] = math.Log(v)
		}
		points = min(points, grid(values))
	}
	return points
}

func grid(ascending []float64) float64 {
	span := ascending[len(ascending)-1] - ascending[0]
	if !(span > 0) || math.IsInf(span, 0) {
		return continuous
	}
	step := 0.0
	for i := 1; i < len(ascending); i++ {
		a, b := step, ascending[i]-ascending[i-1]
		for b > span/continuous { // Euclid
			a, b = b, math.Mod(a, b)
			if a-b < span/continuous {
				b = 0
			}
		}
		if step = a; step < span/continuous {
			return continuous
		}
	}
	return math.Round(span/step) + 1
}
