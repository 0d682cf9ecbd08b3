package loss

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privkern/experiments/mechanism"
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
		{"too often", []experiment.Loss{{Law: laplace, Size: 1, Times: math.MaxInt}}, "from 1 to 1e+12"},
		{"never", []experiment.Loss{{Law: gaussian, Size: 1, Times: 1}, {Law: laplace, Size: 1}}, "loss 2 (laplace)"},
		{"no sample", []experiment.Loss{{Law: subsampled, Size: 1, Times: 1}}, "its rate is 0"},
		{"all of a sample", []experiment.Loss{{Law: substituted, Size: 1, Times: 1, Rate: 1}}, "its rate is 1"},
		{"overflow", []experiment.Loss{{Law: gaussian, Size: 1e300, Times: 1}}, "beyond double precision"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if b, err := Book(c.losses, 1e-8); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v; want an error with %q", b, err, c.want)
			}
		})
	}
}

// ρ times the order bounds the Rényi divergence of every order: of Laplace noise (Mironov 2017, Proposition 6), of
// an answer at random, and of the choices of each interval of losses.
func TestConcentration(t *testing.T) {
	// two is the divergence of two outcomes with probabilities p and 1−p of losses a and b.
	two := func(alpha, p, a, b float64) float64 {
		x, y := math.Log(p)+(alpha-1)*a, math.Log1p(-p)+(alpha-1)*b
		return (max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y)))) / (alpha - 1)
	}
	for _, e := range []float64{1e-3, 0.1, 1, 3, 10, 60} {
		laplaceRho := zcdp(experiment.Loss{Law: laplace, Size: e})
		choiceRho := zcdp(experiment.Loss{Law: exponential, Size: e})
		var nearest float64
		for _, alpha := range []float64{1.001, 1.1, 1.5, 2, 3, 8, 30, 300} {
			slack := 1 + 1e-6 // by the rounding of divergences near order 1
			noise := (math.Log(alpha/(2*alpha-1)) + (alpha-1)*e +
				math.Log1p((alpha-1)/alpha*math.Exp((1-2*alpha)*e))) / (alpha - 1)
			if noise > alpha*laplaceRho*slack {
				t.Errorf("epsilon %g: Laplace noise has %g of order %g, rho is %g", e, noise, alpha, laplaceRho)
			}
			nearest = max(nearest, noise/alpha/laplaceRho)
			if d := two(alpha, 1/(1+math.Exp(-e)), e, -e); d > alpha*zcdpOfPure(e)*slack {
				t.Errorf("epsilon %g: an answer at random has %g of order %g, rho is %g", e, d, alpha, zcdpOfPure(e))
			}
			for i := 1; i < 20; i++ {
				high := e * float64(i) / 20
				p := math.Expm1(high-e) / math.Expm1(-e)
				if d := two(alpha, p, high, high-e); d > alpha*choiceRho*slack {
					t.Errorf("epsilon %g: a choice has %g of order %g, rho is %g", e, d, alpha, choiceRho)
				}
			}
		}
		if nearest < 0.99 {
			t.Errorf("epsilon %g: no order has more than %g of rho", e, nearest)
		}
	}
}

func TestBook(t *testing.T) {
	pixels, err := Book([]experiment.Loss{{Law: laplace, Size: 0.1, Times: 784}}, 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	if pixels.Pure != 78.4 || pixels.MuDelta != 1e-9 {
		t.Errorf("%+v", pixels)
	}
	near(t, "rho", pixels.Rho, 784*(0.1+math.Expm1(-0.1)), 1e-9)
	if !(pixels.Mu > 2.7 && pixels.Mu < 2.82) { // 2.8 by the central limit theorem
		t.Errorf("mu = %g", pixels.Mu)
	}
	for _, c := range []struct {
		name   string
		losses []experiment.Loss
		want   Booked
	}{
		{"noise", []experiment.Loss{{Law: gaussian, Size: 0.7, Times: 1}}, Booked{Mu: 0.7, Rho: 0.245}},
		{"steps", []experiment.Loss{{Law: gaussian, Size: 0.3, Times: 16}, {Law: gaussian, Size: 0.5, Times: 1}},
			Booked{Mu: 1.3, Rho: 0.845}},
		// −2 Φ⁻¹((1 − δ(0))/2), with 17 digits (SciPy 1.17), δ(0) = tanh(1/4) of a choice, 1 − e^−½ of Laplace noise.
		{"choice", []experiment.Loss{{Law: exponential, Size: 1, Times: 1}}, Booked{Pure: 1, Mu: 0.62389259, Rho: 0.125}},
		{"coordinate", []experiment.Loss{{Law: laplace, Size: 1, Times: 1}}, Booked{Pure: 1, Mu: 1.0300640, Rho: 1 / math.E}},
		{"answer", []experiment.Loss{{Law: response, Size: 1, Times: 1}}, Booked{Pure: 1, Mu: 1.2320354,
			Rho: math.Tanh(0.5)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Book(c.losses, 1e-9)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "mu", got.Mu, c.want.Mu, 1.1e-5)
			near(t, "rho", got.Rho, c.want.Rho, 1e-11)
			if got.Pure != c.want.Pure || got.MuDelta != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
	if one, err := Book([]experiment.Loss{{Law: gaussian, Size: 0.7, Times: 1}}, 0); err != nil || one.Mu != 0.7 {
		t.Errorf("the mu of a single Gaussian mechanism is %v, %v", one.Mu, err)
	}
}

// A μ that is a hundredth less does not cover a choice, Laplace noise or an answer at random at every ε.
func TestLeastGDP(t *testing.T) {
	for _, law := range []string{laplace, exponential, response} {
		for _, epsilon := range []float64{1e-3, 0.1, 1, 5, 20} {
			mu, err := gdp(experiment.Loss{Law: law, Size: epsilon, Times: 1})
			if err != nil {
				t.Fatal(err)
			}
			atZero := -math.Expm1(-epsilon / 2)
			if law == exponential {
				atZero = math.Tanh(epsilon / 4)
			}
			if law == response {
				atZero = math.Tanh(epsilon / 2)
			}
			got, err := mechanism.GaussianDelta(0, 1/mu)
			if err != nil || got < atZero {
				t.Errorf("%s of %g: delta(0) %g of mu %g is below %g, %v", law, epsilon, got, mu, atZero, err)
			}
			if less, err := mechanism.GaussianDelta(0, 1/(0.99*mu)); err != nil || less >= atZero {
				t.Errorf("%s of %g: a smaller mu than %g would do, %v", law, epsilon, mu, err)
			}
		}
	}
}

func TestStated(t *testing.T) {
	pure, err := Stated(2, 0)
	if err != nil || pure.Pure != 2 || pure.MuDelta != 0 {
		t.Errorf("%+v, %v", pure, err)
	}
	both, err := Stated(2, 1e-5)
	if err != nil || both.Pure != 0 || both.MuDelta != 1e-5 || both.Rho != 0 || both.Mu != pure.Mu {
		t.Errorf("%+v, %v", both, err)
	}
	near(t, "rho", pure.Rho, 2*math.Tanh(1), 1e-11)
	for _, bad := range [][2]float64{{0, 0}, {-1, 0}, {math.Inf(1), 0}, {1, 1}, {1, -1}, {1, math.NaN()}} {
		if b, err := Stated(bad[0], bad[1]); err == nil {
			t.Errorf("(%g, %g): %+v", bad[0], bad[1], b)
		}
	}
}

func TestGroup(t *testing.T) {
	pixels := []experiment.Loss{{Law: laplace, Size: 0.1, Times: 784}}
	pure, err := Group(pixels, 0, 10)
	if err != nil || pure != (experiment.Group{Rows: 10, Epsilon: 784}) {
		t.Errorf("%+v, %v", pure, err)
	}
	// Of Gaussian noise the group has k μ: ε of GDP 2 at 1e-5 with 12 digits (SciPy 1.17).
	noise, err := Group([]experiment.Loss{{Law: gaussian, Size: 0.4, Times: 1}}, 1e-5, 5)
	if err != nil || noise.Rows != 5 || noise.Delta != 1e-5 {
		t.Errorf("%+v, %v", noise, err)
	}
	near(t, "epsilon", noise.Epsilon, 9.997256146434, 2e-9)
	for _, law := range []string{subsampled, substituted} {
		if g, err := Group([]experiment.Loss{{Law: law, Size: 1, Times: 1, Rate: 0.1}}, 1e-5, 2); err == nil {
			t.Errorf("%s: %+v", law, g)
		}
	}
	if pixels[0].Size != 0.1 {
		t.Error("the losses have changed")
	}
}
