package dataset

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Points that are among the rows are counted, each as often as it is there.
func TestCountAmong(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{1, 2, 0, 3, 1, 2, 5, 6})
	points := mat.NewDense(5, 2, []float64{1, 2, 2, 1, math.Copysign(0, -1), 3, 1, 2, 5, 6.5})
	if got := CountAmong(points, x); got != 3 {
		t.Errorf("%d, want 3", got)
	}
}
