package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Honkela's split: 12 steps, 3/4 for the last.
func TestSplitZCDP(t *testing.T) {
	steps, err := SplitZCDP(0.44, 12, 0.75)
	if err != nil || len(steps) != 12 {
		t.Fatal(steps, err)
	}
	for _, rho := range steps[:11] {
		near(t, "an early step", float64(rho), 0.01, 1e-14)
	}
	near(t, "the last step", float64(steps[11]), 0.33, 1e-14)
	near(t, "all", float64(CoinPress{Radius: 1, Steps: steps}.Rho()), 0.44, 1e-14)
	if one, err := SplitZCDP(2, 1, 0.75); err != nil || !slices.Equal(one, []ZCDP{2}) {
		t.Errorf("one step gets %v, %v", one, err)
	}
}

// With a budget so large that there is no noise to speak of, the steps are those
// of the authors' code, by hand: values 10 (three) and 11 in 0 ± 100. The first
// interval is cut to the prior one. γ = 3.80818..., so that the second radius is
// γ/2 and the second interval 10.25 ± √(γ²/4 + 3γ + γ²).
func TestCoinPressSteps(t *testing.T) {
	m := CoinPress{Centre: 0, Radius: 100, Steps: []ZCDP{1e20, 1e20}}
	steps, err := m.Trace([]float64{10, 10, 10, 11}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if s := steps[0]; s.Low != -100 || s.High != 100 || math.Abs(s.Mean-10.25) > 1e-6 {
		t.Errorf("the first step is %+v", s)
	}
	near(t, "tail bound", coinPressTail, 3.8081849252045097, 1e-14)
	half := math.Sqrt(1.9040924626023*1.9040924626023 + 6*1.9040924626023 + 3.8081849252045*3.8081849252045)
	near(t, "low", steps[1].Low, 10.25-half, 1e-7)
	near(t, "high", steps[1].High, 10.25+half, 1e-7)
	near(t, "mean", steps[1].Mean, 10.25, 1e-6)
	near(t, "sigma", steps[1].Sigma, 2*half/4/math.Sqrt(2e20), 1e-7)
}

// Values beyond the interval of a step count as its ends: the noise is for its width.
func TestCoinPressClips(t *testing.T) {
	values := []float64{math.Inf(-1), -500, 10, 10, 300}
	for _, intervals := range []Intervals{IntervalsCut, IntervalsPublished} {
		t.Run(intervals.Choices()[intervals], func(t *testing.T) {
			m := CoinPress{Radius: 100, Steps: []ZCDP{1e20}, Intervals: intervals}
			got, err := m.Mean(values, rand.New(rand.NewPCG(1, 2)))
			if err != nil {
				t.Fatal(err)
			}
			near(t, "mean", got, (-100-100+10+10+100)/5., 1e-6)
		})
	}
}

// As published, by hand: the first interval is wider than the prior one, ±√(100² + 600 +
// γ²), and its noise with it; values beyond the prior one are clipped to that.
func TestCoinPressAsPublished(t *testing.T) {
	m := CoinPress{Centre: 0, Radius: 100, Steps: []ZCDP{1e20, 1e20}, Intervals: IntervalsPublished}
	steps, err := m.Trace([]float64{10, 10, 10, 102}, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	half := math.Sqrt(100*100 + 600 + 3.8081849252045097*3.8081849252045097)
	near(t, "low", steps[0].Low, -half, 1e-12)
	near(t, "high", steps[0].High, half, 1e-12)
	near(t, "mean", steps[0].Mean, 32.5, 1e-6)
	near(t, "sigma", steps[0].Sigma, 2*half/4/math.Sqrt(2e20), 1e-12)

	// With hardly any budget the mean is outside the prior interval now and then, and
	// the following interval around it: no step is cut.
	m.Steps = []ZCDP{1e-3, 1e-3}
	outside, rng := 0, rand.New(rand.NewPCG(3, 4))
	for range 100 {
		steps, err := m.Trace([]float64{99, 99, 99, 99}, rng)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(steps[0].Mean) > 100 {
			outside++
		}
		near(t, "centre of the next interval", (steps[1].Low+steps[1].High)/2, steps[0].Mean, 1e-9)
	}
	if outside < 50 {
		t.Errorf("%d of 100 means are outside, at a noise of six times the interval", outside)
	}
}

// For any data and noise, an interval lies in the prior one, is not
// empty, and the noise is the sensitivity over √(2ρ).
func TestCoinPressStaysInside(t *testing.T) {
	// Noise of more than about four standard deviations leaves nothing.
	far := CoinPress{Centre: 1, Radius: 2}
	for _, centre := range []float64{30, -30} {
		if low, high := far.interval(centre, 1); low != -1 || high != 3 {
			t.Errorf("around %g the interval is [%g, %g], want the prior one", centre, low, high)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		m := CoinPress{Centre: 20 * rng.NormFloat64(), Radius: math.Exp(3 * rng.NormFloat64())}
		// A tiny budget throws the mean far out of the prior interval.
		m.Steps, _ = SplitZCDP(ZCDP(math.Exp(-6*rng.Float64())), 5, 0.75)
		values := make([]float64, 1+rng.IntN(8))
		for i := range values {
			values[i] = m.Centre + 3*m.Radius*rng.NormFloat64()
		}
		values[0] = math.Inf(1 - 2*rng.IntN(2))
		steps, err := m.Trace(values, rng)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range steps {
			if !(m.Centre-m.Radius <= s.Low && s.Low < s.High && s.High <= m.Centre+m.Radius) || math.IsNaN(s.Mean) {
				t.Fatalf("step %d is %+v with the prior %g ± %g", i, s, m.Centre, m.Radius)
			}
			near(t, "rho of the step", math.Pow((s.High-s.Low)/float64(len(values))/s.Sigma, 2)/2, float64(m.Steps[i]), 1e-12)
		}
	}
}

// From a wide prior interval, the error is that of a
// single Gaussian release with the interval's final width, not with the first.
func TestCoinPressIsAccurate(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n, rho = 1000, 0.05
	steps, err := SplitZCDP(rho, 12, 0.75)
	if err != nil {
		t.Fatal(err)
	}
	m := CoinPress{Centre: -200, Radius: 200, Steps: steps}
	square, repeats := 0.0, 300
	for range repeats {
		values, mean := make([]float64, n), 0.0
		for i := range values {
			values[i] = -3 + rng.NormFloat64()
			mean += values[i] / n
		}
		got, err := m.Mean(values, rng)
		if err != nil {
			t.Fatal(err)
		}
		square += (got - mean) * (got - mean) / float64(repeats)
	}
	// Half-width about 4, share 3/4: 8/n/√(1.5ρ) = 0.029. In one step it is 1.26.
	if rms := math.Sqrt(square); !(rms > 0.02 && rms < 0.04) {
		t.Errorf("the root mean square error is %g, want about 0.03", rms)
	}
}

func TestCoinPressRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := []ZCDP{1}
	at := func(centre, radius float64, steps []ZCDP) CoinPress {
		return CoinPress{Centre: centre, Radius: radius, Steps: steps}
	}
	for _, c := range []struct {
		m         CoinPress
		parameter string
	}{
		{at(nan, 1, good), "centre"}, {at(inf, 1, good), "centre"},
		{at(0, 0, good), "radius"}, {at(0, -1, good), "radius"}, {at(0, inf, good), "radius"},
		{at(0, nan, good), "radius"}, {at(1e300, 1, good), "radius"}, {at(0, 1.5e308, good), "radius"},
		{at(0, 1, nil), "steps"}, {at(0, 1, []ZCDP{1, 0}), "rho"}, {at(0, 1, []ZCDP{ZCDP(inf)}), "rho"},
		{at(0, 1, []ZCDP{ZCDP(nan)}), "rho"},
	} {
		t.Run(fmt.Sprintf("%+v", c.m), func(t *testing.T) {
			var refused *Error
			if _, err := c.m.Mean([]float64{1}, rand.New(rand.NewPCG(1, 1))); !errors.As(err, &refused) ||
				refused.Parameter != c.parameter {
				t.Errorf("%+v: %v; want a refusal of %s", c.m, err, c.parameter)
			}
		})
	}
	m := at(0, 1, good)
	for want, values := range map[string][]float64{"no values": nil, "value 1 is NaN": {0, nan}} {
		t.Run(want, func(t *testing.T) {
			if _, err := m.Mean(values, rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v; want an error with %q", values, err, want)
			}
		})
	}
	for _, c := range []struct {
		rho   ZCDP
		steps int
		last  float64
	}{{0, 2, .5}, {-1, 2, .5}, {ZCDP(nan), 2, .5}, {ZCDP(inf), 2, .5}, {1, 0, .5}, {1, 2, 0}, {1, 2, 1}, {1, 2, nan}} {
		t.Run(fmt.Sprintf("rho %g, %d steps, last %g", c.rho, c.steps, c.last), func(t *testing.T) {
			var refused *Error
			if _, err := SplitZCDP(c.rho, c.steps, c.last); !errors.As(err, &refused) {
				t.Errorf("SplitZCDP(%g, %d, %g): %v; want a refusal", c.rho, c.steps, c.last, err)
			}
		})
	}
}
