package loss

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privkern/runner/experiment"
)

func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s = %.17g, want %.17g", name, got, want)
	}
}

// 2 Φ⁻¹(e^ε/(1 + e^ε)) with 50 digits (mpmath 1.3), rounded up by a little.
func TestPureGDP(t *testing.T) {
	for _, c := range []struct{ epsilon, mu float64 }{
		{1e-10, 1.2533141373155002512e-10},
		{0.01, 0.012533118959649838644},
		{1, 1.2320353853449009729},
		{5, 4.9466784455956585928},
		{20, 11.758418713653101291},
		{100, 27.776952066007772635},
		{500, 62.968599551257659836},
		{1000, 89.231495463938806041},
		{1e6, 2828.4155659820346539},
	} {
		t.Run(fmt.Sprint(c.epsilon), func(t *testing.T) {
			mu, err := PureGDP(c.epsilon)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "mu", float64(mu), c.mu, 2e-12)
			if float64(mu) < c.mu {
				t.Errorf("mu = %.17g is below %.17g", mu, c.mu)
			}
		})
	}
	for _, epsilon := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			if mu, err := PureGDP(epsilon); err == nil {
				t.Errorf("epsilon %g gives mu %g", epsilon, mu)
			}
		})
	}
}

func TestRefusedLosses(t *testing.T) {
	for _, c := range []struct {
		name   string
		losses []experiment.Loss
		want   string
	}{
		{"none", nil, "without a mechanism"},
		{"law", []experiment.Loss{{Law: "cauchy", Size: 1, Times: 1}}, `"cauchy"`},
		{"zero", []experiment.Loss{{Law: laplace, Size: 0, Times: 1}}, "size is 0"},
		{"infinite", []experiment.Loss{{Law: gaussian, Size: math.Inf(1), Times: 1}}, "size is +Inf"},
		{"nan", []experiment.Loss{{Law: gaussian, Size: math.NaN(), Times: 1}}, "size is NaN"},
		{"never", []experiment.Loss{{Law: gaussian, Size: 1, Times: 1}, {Law: laplace, Size: 1}}, "loss 2 (laplace)"},
		{"overflow", []experiment.Loss{{Law: gaussian, Size: 1e300, Times: 1}}, "beyond double precision"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if b, err := Book(c.losses, 1e-8); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v; want an error with %q", b, err, c.want)
			}
		})
	}
}
