package wide

import (
	"fmt"
	"math"
	"testing"
)

// Scaled values by hand, clipped to the ends of the range; a constant input is 0.
func TestRangesScale(t *testing.T) {
	r := Ranges{Low: []float64{0, -10, 5, -math.MaxFloat64}, High: []float64{100, 10, 5, math.MaxFloat64}}
	for _, c := range []struct {
		row, want string
		values    []float64
		outside   int
	}{
		{"inside", "[0.25 0.5 0 0.5]", []float64{25, 0, 5, 0}, 0},
		{"beyond", "[0 1 0 1]", []float64{-1, 11, 6, math.MaxFloat64}, 3},
		{"at the ends", "[1 0 0 0]", []float64{100, -10, 5, -math.MaxFloat64}, 0},
	} {
		t.Run(c.row, func(t *testing.T) {
			if n := r.Scale(c.values); fmt.Sprint(c.values) != c.want || n != c.outside {
				t.Errorf("%v, %d outside; want %s, %d", c.values, n, c.want, c.outside)
			}
		})
	}
}

// Values beyond the range are restored, too.
func TestRangesRestore(t *testing.T) {
	r := Ranges{Low: []float64{0, -10, 5}, High: []float64{100, 10, 5}}
	row := []float64{.25, 1.5, 0}
	if r.Restore(row); fmt.Sprint(row) != "[25 20 5]" {
		t.Errorf("%v", row)
	}
}
