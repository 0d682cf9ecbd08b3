package regress

import (
	"maps"
	"math"
	"slices"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// At the default settings of the surface, 92 directions, rounding parts the
// coordinates of equal columns by more than the certificate bears: it holds because
// each gets a weight.
func TestSurfaceIsCertified(t *testing.T) {
	m := trialtest.Compute(t, trialtest.Options{Folder: cloaktest.Census(t)}, Surface()).Metrics
	if !(*m.Gap <= 2e-8) || *m.Rank != 92 {
		t.Errorf("gap %g at rank %g", *m.Gap, *m.Rank)
	}
}

// sevenAges are those of small surfaces and curves.
var sevenAges = []float64{0, 10, 20, 30, 40, 50, 60}

func TestSurface(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	compute := func(change func(*surfaceSettings)) *experiment.Outcome[surfaceMetrics] {
		return trialtest.Compute(t, census, Surface(), func(s *surfaceSettings) {
			s.Weights, s.Ages, s.AtAge, s.AtWeight, s.Sensitivity = []float64{5, 50}, sevenAges, 30, 50, 300
		}, change)
	}
	r := compute(func(*surfaceSettings) {})
	m, s := r.Metrics, r.Series["surface"]
	const at = 3*2 + 1 // the fourth age, the second weight
	if s["x"][at] != 50 || s["age"][at] != 30 || m.NoiseSD != s["noise_sd_cm"][at] || m.Mean != s["mean_cm"][at] {
		t.Errorf("metrics %+v do not agree with the series %v", m, s)
	}
	below, usable := 0, 0
	for _, sd := range s["noise_sd_cm"] {
		if sd <= m.NoiseSDMedian {
			below++
		}
		if sd < 40 {
			usable++
		}
	}
	if below != 7 || m.Usable != float64(usable)/14 || usable == 0 || usable == 14 {
		t.Errorf("%d of 14 are up to the median, %d usable: %+v of %v", below, usable, m, s["noise_sd_cm"])
	}
	if len(r.Series["data"]["x"]) != 287 || r.Series["inducing"] != nil {
		t.Errorf("series %v", slices.Collect(maps.Keys(r.Series)))
	}
	sparse := compute(func(s *surfaceSettings) { s.Method, s.Inducing = cloak.Sparse, placed(4) })
	if z := sparse.Series["inducing"]; len(z["x"]) != 4 || len(z["age"]) != 4 || slices.Max(z["x"]) > 70 {
		t.Errorf("inducing inputs %v", z)
	}
	if m := compute(func(s *surfaceSettings) { s.Epsilon = math.Inf(1) }).Metrics; m.Usable != 1 || m.NoiseSDMedian != 0 {
		t.Errorf("without privacy: %+v", m)
	}
}

// A grid of one weight is the curve at that weight.
func TestSurfaceOfOneWeightIsACurve(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t)}
	for _, m := range methods {
		t.Run(m.String(), func(t *testing.T) {
			one := trialtest.Compute(t, census, Surface(), func(s *surfaceSettings) {
				s.Method, s.Ages, s.AtAge, s.Weights, s.AtWeight = m, sevenAges, 30, []float64{50}, 50
			})
			line := trialtest.Compute(t, census, Curve(), func(s *curveSettings) {
				s.Method, s.Ages, s.AtAge, s.Inputs, s.Weight = m, sevenAges, 30, cloak.AgeAndWeight, 50
			})
			for _, column := range []string{"mean_cm", "noise_sd_cm"} {
				if got, want := one.Series["surface"][column], line.Series["curve"][column]; !slices.Equal(got, want) {
					t.Errorf("%s: %v, the curve has %v", column, got, want)
				}
			}
		})
	}
}

func TestWhatSurfaceRefuses(t *testing.T) {
	refusals{
		{map[string]any{"at_weight": 51}, "at_weight = 51 is not one of the weights"},
		{map[string]any{"at_age": 61}, "at_age = 61 is not one of the ages"},
		{map[string]any{"ages": "0,60,60"}, "ages: 60 follows 60, but they must increase"},
		{map[string]any{"weights": "50,10"}, "weights: 10 follows 50, but they must increase"},
		{map[string]any{"weights": "0..100", "ages": "0..100"}, "weights × ages has 10201 elements; at most"},
		{map[string]any{"rank": 229}, "rank = 229: there are only 228 weights × ages"},
		{map[string]any{"inputs": "age"}, "inputs"},
	}.check(t, Surface().Experiment)
}

// The contour of a plane is where the plane has the level, and one that no
// point reaches is empty.
func TestContour(t *testing.T) {
	xs, ys := []float64{0, 1, 4}, []float64{-1, 2, 3, 7}
	var z []float64
	for _, y := range ys {
		for _, x := range xs {
			z = append(z, 10+3*x+2*y)
		}
	}
	x, y := contour(xs, ys, z, 15)
	length := 0.0
	for i := range x {
		if i%3 == 2 {
			if !math.IsNaN(y[i]) {
				t.Errorf("no gap after segment %d", i/3)
			}
			length += math.Hypot(x[i-1]-x[i-2], y[i-1]-y[i-2])
			continue
		}
		if math.Abs(10+3*x[i]+2*y[i]-15) > 1e-12 {
			t.Errorf("(%v, %v) is not on the line", x[i], y[i])
		}
	}
	// From (0, 2.5) to (7/3, −1), where the grid ends.
	trialtest.Near(t, "length of the contour", length, math.Hypot(7./3, 3.5), 1e-12)
	if x, y := contour(xs, ys, z, 1000); x != nil || y != nil {
		t.Errorf("a contour above all values: %v, %v", x, y)
	}
	if x, _ := contour(xs, ys[:1], z[:3], 15); x != nil {
		t.Errorf("a contour on a grid of one row: %v", x)
	}
}
