package picture

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// axes names the coordinates.
var axes = []string{"x", "y", "z"}

// columnsOf returns the coordinates of points as columns.
func columnsOf(points *mat.Dense, prefix string) experiment.Series {
	_, dim := points.Dims()
	s := experiment.Series{}
	for j := range dim {
		s[prefix+axes[j]] = rounded(mat.Col(nil, j, points))
	}
	return s
}

// rounded keeps four decimals, more than a figure shows, so that records with
// thousands of points stay small. An infinity becomes a gap, and -0 a 0.
func rounded(a []float64) []float64 {
	out := make([]float64, len(a))
	for i, v := range a {
		if out[i] = math.Round(v*1e4)/1e4 + 0; math.IsInf(v, 0) {
			out[i] = math.NaN()
		}
	}
	return out
}
