package sparse

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privkern/tests/tier"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
)

// Two maxima of one height, and a maximum between inducing inputs far apart or
// very near each other.
func TestExactMaximum(t *testing.T) {
	for _, c := range []struct {
		name string
		z    []float64
		want float64
	}{
		{"two of one height", []float64{-50, 50}, 1},
		{"between near ones", []float64{0, 1e-3}, 2 * math.Exp(-0.25e-6)},
		{"between two of four", []float64{-1e3, 0, 1, 1e3}, 2 * math.Exp(-0.25)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := modelAt(1, 1, c.z...).largest()
			trialtest.Near(t, "the largest sum", got/c.want, 1, 2e-12)
			if got < c.want*(1-1e-15) {
				t.Errorf("%.17g is below the maximum %.17g", got, c.want)
			}
		})
	}
}

// On dense grids, where the sum is flat, the bound is above the largest value, by coarseTolerance
// at most; where the search is short it is unchanged to the last digit.
func TestExactOnDenseGrids(t *testing.T) {
	tier.Sequential(t)
	for _, c := range []struct {
		points      int
		lengthscale float64
		want        float64 // to the last digit; 0: near the limit
	}{
		{9, 1, 2.3632703490510831}, {20, 0.3, 1.684287121247575}, {50, 0.1, 1.451511869838271},
		{50, 3, 36.957256508625747}, {100, 0.02, 1.0002055976879067}, {500, 1, 147.40594418667385},
		{50, 0.2, 0}, {100, 0.3, 0}, {500, 0.02, 0}, {500, 0.1, 0},
	} {
		t.Run(fmt.Sprintf("%d points, l = %g", c.points, c.lengthscale), func(t *testing.T) {
			tier.Third(t)
			z := make([]float64, c.points)
			for i := range z {
				z[i] = -3 + 6*float64(i)/float64(c.points-1)
			}
			m := modelAt(c.lengthscale, 1, z...)
			got := m.largest()
			if c.want != 0 {
				if got != c.want {
					t.Errorf("%.17g, want %.17g", got, c.want)
				}
				return
			}
			// Far from the ends the sum is periodic, and largest at a point.
			_, found := kernelVector(m, z[c.points/2])
			// The remaining intervals have bounds, which count.
			if !(got > found*(1+100*exactTolerance)) || got > found*(1+coarseTolerance) {
				t.Errorf("%.17g; the largest is %.17g", got, found)
			}
		})
	}
}

func TestTermCurvature(t *testing.T) {
	most := 0.0
	for i := range 60001 {
		r := float64(i) / 10000
		most = max(most, (4*r*r-2)*math.Exp(-r*r))
	}
	if most > termCurvature || most < 0.999*termCurvature {
		t.Errorf("the largest second derivative is %g, not %g", most, termCurvature)
	}
}

// A lengthscale whose square is no number is refused; the search would not end.
func TestExactBoundRefusesExtremeLengthscales(t *testing.T) {
	for _, lengthscale := range []float64{1e-200, 1e-160, 1e160} {
		t.Run(fmt.Sprint(lengthscale), func(t *testing.T) {
			m := &Model{Lengthscale: lengthscale, Variance: 1}
			m.Inducing.Z = mat.NewDense(3, 1, []float64{-1, 0, 2})
			if _, err := m.NormSquared(Exact, 0); err == nil || !strings.Contains(err.Error(), "beyond double precision") {
				t.Errorf("%v", err)
			}
		})
	}
	m := &Model{Lengthscale: 1e-150, Variance: 1}
	m.Inducing.Z = mat.NewDense(3, 1, []float64{-1, 0, 2})
	if v, err := m.NormSquared(Exact, 0); err != nil || !(v >= 1 && v < 1.1) {
		t.Errorf("%g, %v", v, err)
	}
}
