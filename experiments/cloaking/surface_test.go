package cloaking

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSurface(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	given := map[string]any{"weights": "5,50", "ages": "0..60 step 10", "at_age": 30, "at_weight": 50, "sensitivity_cm": 300}
	r := runTrial(t, census, surface(), given)
	s := r.Series["surface"]
	const at = 3*2 + 1 // the fourth age, the second weight
	if s["x"][at] != 50 || s["age"][at] != 30 || r.Metrics["noise_sd_cm"] != s["noise_sd_cm"][at] || r.Metrics["mean_cm"] != s["mean_cm"][at] {
		t.Errorf("metrics %v do not agree with the series %v", r.Metrics, s)
	}
	below, usable := 0, 0
	for _, sd := range s["noise_sd_cm"] {
		if sd <= r.Metrics["noise_sd_median_cm"] {
			below++
		}
		if sd < 40 {
			usable++
		}
	}
	if below != 7 || r.Metrics["usable_fraction"] != float64(usable)/14 || usable == 0 || usable == 14 {
		t.Errorf("%d of 14 are up to the median, %d usable: %v of %v", below, usable, r.Metrics, s["noise_sd_cm"])
	}
	if len(r.Series["data"]["x"]) != 287 || r.Series["inducing"] != nil {
		t.Errorf("series %v", slices.Collect(maps.Keys(r.Series)))
	}
	sparse := runTrial(t, census, surface(), with(given, "method", "sparse", "inducing", 4))
	if z := sparse.Series["inducing"]; len(z["x"]) != 4 || len(z["age"]) != 4 || slices.Max(z["x"]) > 70 {
		t.Errorf("inducing inputs %v", z)
	}
	if clean := runTrial(t, census, surface(), with(given, "epsilon", "inf")); clean.Metrics["usable_fraction"] != 1 || clean.Metrics["noise_sd_median_cm"] != 0 {
		t.Errorf("without privacy: %v", clean.Metrics)
	}
}

// A grid of one weight is the curve at that weight.
func TestSurfaceOfOneWeightIsACurve(t *testing.T) {
	census := setup{folder: writeCensus(t)}
	for _, method := range []string{methodStandard, methodSparse, methodNonstationary} {
		given := map[string]any{"method": method, "ages": "0..60 step 10", "at_age": 30, "inputs": "age+weight"}
		one := runTrial(t, census, surface(), with(given, "weights", "50", "at_weight", 50))
		line := runTrial(t, census, curve(), with(given, "weight_kg", 50))
		for _, column := range []string{"mean_cm", "noise_sd_cm"} {
			if got, want := one.Series["surface"][column], line.Series["curve"][column]; !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, the curve has %v", method, column, got, want)
			}
		}
	}
}

func TestWhatSurfaceRefuses(t *testing.T) {
	for want, given := range map[string]map[string]any{
		"at_weight = 51 is not one of the weights":       {"at_weight": 51},
		"at_age = 61 is not one of the ages":             {"at_age": 61},
		"ages: 60 follows 60, but they must increase":    {"ages": "0,60,60"},
		"weights: 10 follows 50, but they must increase": {"weights": "50,10"},
		"weights × ages has 10201 elements; at most":     {"weights": "0..100", "ages": "0..100"},
		"rank = 229: there are only 228 weights × ages":  {"rank": 229},
		"inputs": {"inputs": "age"},
	} {
		if _, err := surface().Resolve(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", given, err, want)
		}
	}
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
	near(t, "length of the contour", length, math.Hypot(7./3, 3.5), 1e-12)
	if x, y := contour(xs, ys, z, 1000); x != nil || y != nil {
		t.Errorf("a contour above all values: %v, %v", x, y)
	}
	if x, _ := contour(xs, ys[:1], z[:3], 15); x != nil {
		t.Errorf("a contour on a grid of one row: %v", x)
	}
}
