package regress

import (
	"math"
	"testing"

	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
)

// Covariances by the formulas of Section 5.3 at the defaults, for both kernels.
func TestRegimes(t *testing.T) {
	eq := func(d, l float64) float64 { return math.Exp(-d * d / (2 * l * l)) }
	m := trialtest.Compute(t, trialtest.Options{}, Regimes()).Metrics
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"short", m.Short, eq(5, 5)}, {"long", m.Long, eq(5, 50)},
		{"across", m.Across, math.Sqrt(500.0/2525) * math.Exp(-25.0/2525)},
		{"share", m.CliqueShare, 20.0 / 21},
	} {
		trialtest.Near(t, c.what, c.got, c.want, 1e-4)
	}
	m = trialtest.Compute(t, trialtest.Options{}, Regimes(), func(s *regimeSettings) { s.Kernel = weightedSum }).Metrics
	trialtest.Near(t, "weighted sum, across", m.Across, 0.0475*(eq(5, 5)+eq(5, 50)), 1e-12)
	trialtest.Near(t, "weighted sum, short", m.Short, 0.9025*eq(5, 5)+0.0025*eq(5, 50), 1e-12)
	if m.BestRatio != nil {
		t.Errorf("a weighted sum has the best ratio %g", *m.BestRatio)
	}
}

// No lengthscale near the best one has a larger covariance.
func TestBestRatio(t *testing.T) {
	for _, d := range []float64{0.01, 0.3, 1, 4} {
		covariance := func(ratio float64) float64 {
			sum := ratio*ratio + 1
			return math.Sqrt(2*ratio/sum) * math.Exp(-d*d/sum)
		}
		best := bestRatio(d)
		for _, factor := range []float64{0.5, 0.99, 1.01, 2} {
			if covariance(best*factor) >= covariance(best) {
				t.Errorf("at distance %g the ratio %g is no worse than %g", d, best*factor, best)
			}
		}
	}
}

// A setting has no effect exactly where its declaration states so.
func TestWhereRegimeSettingsApply(t *testing.T) {
	inert.Conditions[regimeSettings, regimeMetrics]{
		Of: Regimes(), Run: trialtest.Runs(t, trialtest.Options{}, Regimes()),
		Bases: map[string]func(*regimeSettings){
			"defaults": func(*regimeSettings) {}, "weighted sum": func(s *regimeSettings) { s.Kernel = weightedSum },
		},
		Common: func(*regimeSettings) {},
		Others: func(s *regimeSettings) []inert.Setting {
			return []inert.Setting{
				inert.Values(&s.Kernel, weightedSum, gibbs), inert.Values(&s.Short, 4), inert.Values(&s.Long, 40),
				inert.Values(&s.Distance, 3), inert.Values(&s.Weight, 0.8), inert.Values(&s.Clique, 7),
				inert.Values(&s.Extent, 3), inert.Values(&s.Noise, 2),
			}
		},
	}.Check(t)
}
