package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// standard draws noise of a law in units of its scale, rounded to a grid.
func standard(law Law, releases, d int, scale, grid float64, seed uint64) NoiseSample {
	rng := rand.New(rand.NewPCG(seed, 7))
	s := NoiseSample{D: d, Law: law, Grid: grid, Values: make([]float64, releases*d)}
	for i := range s.Values {
		v := rng.NormFloat64()
		if law == Laplace {
			v = rng.ExpFloat64()
			if rng.Uint64()&1 == 0 {
				v = -v
			}
		}
		v *= scale
		if grid > 0 {
			v = math.RoundToEven(v/grid) * grid
		}
		s.Values[i] = v
	}
	return s
}

// The power that is stated: at the default size noise ×.95, too large as well as
// too small, is found with every seed, and noise as stated is rejected with none.
func TestPowerOfNoiseTests(t *testing.T) {
	for _, c := range []struct {
		law   Law
		scale float64
		found bool
	}{
		{Gaussian, 1, false}, {Gaussian, 0.95, true}, {Gaussian, 1.05, true},
		{Laplace, 1, false}, {Laplace, 0.95, true},
	} {
		t.Run(fmt.Sprintf("%s × %g", c.law, c.scale), func(t *testing.T) {
			for seed := range seeds(20) {
				r, err := TestNoise(standard(c.law, NoiseDraws, 1, c.scale, 0x1p-10, seed))
				if err != nil {
					t.Fatal(err)
				}
				if (len(r.Rejected) > 0) != c.found {
					t.Errorf("seed %d: rejected by %+v", seed, r.Rejected)
				}
			}
		})
	}
}

// Noise that is not independent or not of the law is found by the test for it.
func TestNoiseFaults(t *testing.T) {
	const releases, d = 20_000, 3
	for _, c := range []struct {
		test  string
		spoil func(v []float64) // release after release
	}{
		{"", func([]float64) {}},
		{"chi-squared, coordinate 2", func(v []float64) {
			for i := 1; i < len(v); i += d {
				v[i] *= 0.9
			}
		}},
		{"Kolmogorov-Smirnov, coordinate 3", func(v []float64) {
			for i := 2; i < len(v); i += d {
				v[i] += 0.1
			}
		}},
		{"Kolmogorov-Smirnov, all coordinates", func(v []float64) { // uniform, of variance 1
			rng := rand.New(rand.NewPCG(3, 3))
			for i := range v {
				v[i] = (2*rng.Float64() - 1) * math.Sqrt(3)
			}
		}},
		{"correlation between coordinates", func(v []float64) {
			for i := 0; i < len(v); i += d {
				v[i+2] = 0.1*v[i] + math.Sqrt(0.99)*v[i+2]
			}
		}},
		{"correlation with the release before", func(v []float64) {
			for i := len(v) - d; i >= d; i -= d {
				v[i] = 0.1*v[i-d+1] + math.Sqrt(0.99)*v[i]
			}
		}},
		{"pairs of releases with the same noise", func(v []float64) { // every second, far away
			for i := 0; i < len(v)/2; i += 2 * d {
				copy(v[i:i+d], v[len(v)/2+i:])
			}
		}},
	} {
		t.Run("found by "+c.test, func(t *testing.T) {
			s := standard(Gaussian, releases, d, 1, 0x1p-10, 1)
			c.spoil(s.Values)
			r, err := TestNoise(s)
			if err != nil {
				t.Fatal(err)
			}
			found := c.test == "" && len(r.Rejected) == 0
			for _, rejected := range r.Rejected {
				found = found || rejected.Name == c.test
			}
			if !found {
				t.Errorf("rejected by %+v", r.Rejected)
			}
		})
	}
}

// At a level of 1 in 20 each test rejects about 1 in 20 honest samples, and no
// more where a rounding or Chebyshev's inequality makes it conservative.
func TestLevelOfNoiseTests(t *testing.T) {
	const samples, level = 400, 0.05
	for _, law := range []Law{Gaussian, Laplace} {
		t.Run(fmt.Sprint(law), func(t *testing.T) {
			rejected := map[string]int{}
			for seed := range uint64(samples) {
				for _, test := range standard(law, 2000, 2, 1, 0, seed).tests() {
					if test.P < level {
						rejected[test.Name]++
					} else {
						rejected[test.Name] += 0
					}
				}
			}
			for name, n := range rejected {
				conservative := name == "pairs of releases with the same noise"
				// 20 are expected; 20 ± 4.5 deviations.
				if n > 40 || (n < 4 && !conservative) {
					t.Errorf("%s: %s rejects %d of %d honest samples at the level %g", law, name, n, samples, level)
				}
			}
		})
	}
}

// The tails of Kolmogorov's law and of χ² with 125,000 degrees of freedom are those
// of SciPy 1.17.1, kstwobign.isf and chi2.sf.
func TestTails(t *testing.T) {
	for x, want := range map[float64]float64{
		1.2238478702170823: 0.1, 1.3580986393225507: 0.05, 1.6276236115189504: 0.01, 1.9494746035043753: 0.001,
		2.5396082203846047: 5e-6,
	} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			if got := kolmogorovTail(x); math.Abs(got-want) > 1e-9*want {
				t.Errorf("the tail at %g is %g, want %g", x, got, want)
			}
		})
	}
	for x, want := range map[float64]float64{
		125000: 0.4994680769121844, 126000: 0.022965662589320025, 127500: 3.3757044211131774e-07,
	} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			if got := math.Erfc(wilsonHilferty(x, 125000)/math.Sqrt2) / 2; math.Abs(got-want) > 1e-3*want {
				t.Errorf("the tail of χ² at %g is %g, want %g", x, got, want)
			}
		})
	}
}

func TestNoiseRefusals(t *testing.T) {
	good := standard(Gaussian, 1000, 2, 1, 0, 1)
	for name, s := range map[string]NoiseSample{
		"no coordinates": {Values: good.Values, Law: Gaussian},
		"half a release": {Values: good.Values[1:], D: 2, Law: Gaussian},
		"too few":        {Values: good.Values[2:], D: 2, Law: Gaussian},
		"no law":         {Values: good.Values, D: 2},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := TestNoise(s); err == nil {
				t.Errorf("%s is accepted", name)
			}
		})
	}
}
