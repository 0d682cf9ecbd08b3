package privacygp

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSatelliteGuarantee: Cov(f(S)|W) ⪰ αK_SS, so that the predictive variance
// at every private datum is at least α.
func TestSatelliteGuarantee(t *testing.T) {
	for _, alpha := range []float64{.1, .5, .9} {
		r := run(t, "satellite", map[string]any{"alpha": alpha})
		prior := math.Sqrt(r.Metrics["variance"])
		p := r.Series["prediction"]
		for i, x := range p["x"] {
			atDatum := math.Abs(x*20-math.Round(x*20)) < 1e-9
			if atDatum && x >= 1-1e-9 && x <= 2+1e-9 && p["sd"][i] < prior*math.Sqrt(alpha)*(1-1e-9) {
				t.Errorf("α = %g: standard deviation %g of the prior one at t = %g", alpha, p["sd"][i]/prior, x)
			}
			if p["sd"][i] < p["sd_unsecured"][i]-1e-7*prior { // a variance of 1e-15 is rounding
				t.Errorf("α = %g: noise lowers the standard deviation at t = %g", alpha, x)
			}
		}
	}
}

func TestSatelliteQuantities(t *testing.T) {
	for _, quantity := range quantityNames() {
		r := run(t, "satellite", map[string]any{"quantity": quantity})
		p, d := r.Series["prediction"], r.Series["data"]
		if len(p["x"]) != 301 || len(d["x"]) != 61 {
			t.Fatalf("%s: %d predictions, %d data", quantity, len(p["x"]), len(d["x"]))
		}
		// The truth lies in the band at nearly all times.
		in := 0
		for i := range p["x"] {
			if p["truth"][i] >= p["low"][i] && p["truth"][i] <= p["high"][i] {
				in++
			}
		}
		if in < 200 {
			t.Errorf("%s: the truth is in the ±2σ band at %d of 301 times", quantity, in)
		}
		if reflect.DeepEqual(d["truth"], d["obfuscated"]) {
			t.Errorf("%s: the data are not obfuscated", quantity)
		}
	}
}

func TestTrialsAreReproducible(t *testing.T) {
	for _, name := range []string{"example1", "example2", "uniform", "satellite"} {
		e, one := trial(t, name, nil)
		_, many := trial(t, name, nil)
		one.Workers, many.Workers = 1, 8
		a, err := e.Run(context.Background(), one)
		if err != nil {
			t.Fatal(err)
		}
		b, err := e.Run(context.Background(), many)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a.Metrics, b.Metrics) {
			t.Errorf("%s: results depend on the number of workers:\n%v\n%v", name, a.Metrics, b.Metrics)
		}
		if name == "satellite" && !reflect.DeepEqual(a.Series["data"], b.Series["data"]) {
			t.Errorf("%s: the noise depends on the number of workers", name)
		}
	}
}

// TestDraw compares the covariance of many draws with Σ; a direction without
// noise gets none at all.
func TestDraw(t *testing.T) {
	sigma := mat.NewDense(3, 3, []float64{2, 1, 0, 1, .5, 0, 0, 0, .25}) // rank 2
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 20000
	got := mat.NewDense(3, 3, nil)
	for range n {
		z, err := draw(sigma, rng)
		if err != nil {
			t.Fatal(err)
		}
		if exact := z[0] - 2*z[1]; math.Abs(exact) > 1e-7 {
			t.Fatalf("noise %g in a direction of variance 0", exact)
		}
		v := mat.NewVecDense(3, z)
		got.RankOne(got, 1./n, v, v)
	}
	if !mat.EqualApprox(got, sigma, .1) {
		t.Errorf("covariance of draws:\n%v\nwant\n%v", mat.Formatted(got), mat.Formatted(sigma))
	}
}
