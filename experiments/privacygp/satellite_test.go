package privacygp

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"privkern/experiments/privacygp/orbit"
	"privkern/runner/experiment"
)

// TestSatelliteGuarantee: Cov(f(S)|W) ⪰ αK_SS, so that the predictive variance
// at every private datum is at least α.
func TestSatelliteGuarantee(t *testing.T) {
	for _, alpha := range []float64{.1, .5, .9} {
		t.Run(fmt.Sprintf("α = %g", alpha), func(t *testing.T) {
			out := compute(t, satellite(), func(s *satelliteSettings) { s.Alpha = alpha })
			prior := math.Sqrt(out.Metrics.Variance)
			p := out.Series["prediction"]
			for i, x := range p["x"] {
				atDatum := math.Abs(x*20-math.Round(x*20)) < 1e-9
				if atDatum && x >= 1-1e-9 && x <= 2+1e-9 && p["sd"][i] < prior*math.Sqrt(alpha)*(1-1e-9) {
					t.Errorf("standard deviation %g of the prior one at t = %g", p["sd"][i]/prior, x)
				}
				if p["sd"][i] < p["sd_unsecured"][i]-1e-7*prior { // a variance of 1e-15 is rounding
					t.Errorf("noise lowers the standard deviation at t = %g", x)
				}
			}
		})
	}
}

func TestSatelliteQuantities(t *testing.T) {
	for i, name := range quantity(0).Choices() {
		t.Run(name, func(t *testing.T) {
			out := compute(t, satellite(), func(s *satelliteSettings) { s.Quantity = quantity(i) })
			p, d := out.Series["prediction"], out.Series["data"]
			if len(p["x"]) != 301 || len(d["x"]) != 61 {
				t.Fatalf("%d predictions, %d data", len(p["x"]), len(d["x"]))
			}
			// The truth lies in the band at nearly all times.
			in := 0
			for i := range p["x"] {
				if p["truth"][i] >= p["low"][i] && p["truth"][i] <= p["high"][i] {
					in++
				}
			}
			if in < 200 {
				t.Errorf("the truth is in the ±2σ band at %d of 301 times", in)
			}
			if reflect.DeepEqual(d["truth"], d["obfuscated"]) {
				t.Error("the data are not obfuscated")
			}
		})
	}
}

func TestQuantityOfAState(t *testing.T) {
	state := orbit.State{Radius: 1, Angle: 2, RadialVelocity: 3, AngularVelocity: 4}
	for _, tt := range []struct {
		quantity quantity
		want     float64
		unit     string
	}{
		{radius, 1, "Earth radii"}, {angle, 2, "rad"}, {radialVelocity, 3, "Earth radii/orbit"},
		{angularVelocity, 4, "rad/orbit"},
	} {
		t.Run(tt.quantity.String(), func(t *testing.T) {
			if got := tt.quantity.of(state); got != tt.want || tt.quantity.unit() != tt.unit {
				t.Errorf("%g %s, want %g %s", got, tt.quantity.unit(), tt.want, tt.unit)
			}
		})
	}
}

func TestTrialsAreReproducible(t *testing.T) {
	t.Run("example1", reproducible(example1()))
	t.Run("example2", reproducible(example2()))
	t.Run("uniform", reproducible(uniform()))
	t.Run("satellite", reproducible(satellite()))
}

// reproducible compares trials of one worker and of eight.
func reproducible[S, M any](x *experiment.Definition[S, M]) func(*testing.T) {
	return func(t *testing.T) {
		one, many := options(), options()
		one.Workers, many.Workers = 1, 8
		a, b := computeWith(t, one, x, nil), computeWith(t, many, x, nil)
		if !reflect.DeepEqual(a.Metrics, b.Metrics) {
			t.Errorf("results depend on the number of workers:\n%v\n%v", a.Metrics, b.Metrics)
		}
		if !reflect.DeepEqual(a.Series["data"], b.Series["data"]) {
			t.Error("the noise depends on the number of workers")
		}
	}
}
