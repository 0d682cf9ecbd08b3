package region

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/graphs/engine"
)

func TestRegion(t *testing.T) {
	for _, tt := range []struct {
		name              string
		r                 Region
		contains, uniform bool
		ratio             float64
	}{
		{"inside", Region{.5, 5, 10, 1}, true, true, math.Sqrt(2)},
		{"below", Region{.5, 2, 10, 1}, false, false, math.Sqrt(.8)},
		{"lower boundary, d = 1", Region{.5, 2.5, 10, 1}, true, false, 1},
		{"lower boundary, d = 2", Region{.5, 5, 10, 2}, true, false, 1},
		{"lower boundary, d = 3", Region{.5, 10 * math.Pow(.5, 2./3), 10, 3}, true, true, 1},
		{"lower boundary, to rounding", Region{.5, 2.5 - 1e-12, 10, 1}, true, false, 1},
		{"upper boundary", Region{.5, 10, 10, 1}, true, true, 2},
		{"above", Region{.5, 11, 10, 1}, false, false, 0},
		{"H = K", Region{1, 10, 10, 1}, false, false, 1},
		{"H = 0", Region{0, 5, 10, 1}, true, true, 0},
		{"H = 0 of rate 0", Region{0, 0, 10, 1}, true, true, 0},
		{"a constant H", Region{.5, 0, 10, 1}, false, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.r.Contains(); got != tt.contains {
				t.Errorf("it contains the pair: %t", got)
			}
			if got := tt.r.Uniform(); got != tt.uniform {
				t.Errorf("a uniform solution exists: %t", got)
			}
			if got := tt.r.Ratio(); math.Abs(got-tt.ratio) > 1e-12 {
				t.Errorf("ratio %g, want %g", got, tt.ratio)
			}
		})
	}
}

// TestGrid: as many points a side as fit, at half a correlation length.
func TestGrid(t *testing.T) {
	for _, tt := range []struct{ d, points int }{{1, 200}, {2, 14 * 14}, {3, 5 * 5 * 5}, {7, 128}} {
		t.Run(fmt.Sprintf("%d dimensions", tt.d), func(t *testing.T) {
			g := Region{Theta0: 4, D: tt.d}.Grid()
			if n, d := g.Dims(); n != tt.points || d != tt.d {
				t.Fatalf("%d points of %d dimensions", n, d)
			}
			if g.At(1, 0) != .25 || g.At(tt.points-1, tt.d-1) != g.At(tt.points-1, 0) {
				t.Errorf("second point at %g, last one at %v", g.At(1, 0), g.RawRowView(tt.points-1))
			}
		})
	}
}

// TestDifference: K − H at the points, for H = 0, a constant and a kernel.
func TestDifference(t *testing.T) {
	e, err := engine.Open("cpu", "float64", 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	points := []float64{0, .3, 1}
	for _, r := range []Region{{C: 0, Theta: 1, Theta0: 2, D: 1}, {C: .4, Theta: 0, Theta0: 2, D: 1},
		{C: .4, Theta: 1.5, Theta0: 2, D: 1}} {
		t.Run(fmt.Sprintf("%+v", r), func(t *testing.T) {
			got, err := r.Difference(e, mat.NewDense(3, 1, points))
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range points {
				for j, y := range points {
					square := (x - y) * (x - y)
					want := math.Exp(-r.Theta0*square) - r.C*math.Exp(-r.Theta*square)
					if math.Abs(got.At(i, j)-want) > 1e-14 {
						t.Errorf("at %g and %g: %g, want %g", x, y, got.At(i, j), want)
					}
				}
			}
		})
	}
}
