package dataset

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Points that are among the rows are counted, each once.
func TestCountAmong(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{1, 2, 0, 3, 1, 2, 5, 6})
	points := mat.NewDense(5, 2, []float64{1, 2, 2, 1, math.Copysign(0, -1), 3, 1, 2, 5, 6.5})
	if all, same := CountAmong(points, x); all != 4 || same != 2 {
		t.Errorf("%d of %d, want 2 of 4", same, all)
	}
}
