package classify

import (
	"math"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
)

func TestSuspiciousClassifications(t *testing.T) {
	s := trialtest.Options{File: cloaktest.Wave(t)}
	for _, c := range []struct {
		name           string
		output         string
		epsilon, delta float64
		want           []string
	}{
		{"fine", "high", 3, 1e-5, nil},
		{"fine without noise", "high", math.Inf(1), 0.5, nil},
		{"noise", "seldom", 0.01, 1e-5,
			[]string{"is below the share of the larger class, 0.9; epsilon=inf shows how much of it is noise",
				"and the shares of the classes have 0.325; do not use the probabilities"}},
		{"the larger class, always", "seldom", math.Inf(1), 1e-5, nil},
		{"delta of a tenth of 1/n", "high", 3, 0.00025, []string{"delta = 0.00025 is not below a tenth of 1/n"}},
		{"delta of 1/n", "high", 3, 0.01, []string{"delta = 0.01 is not below 1/n = 0.0025 of the 400 rows"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := validated(t, s, ownFile("x", c.output, 0, 1), func(s *classificationSettings) {
				s.Method, s.Inducing, s.Lengthscale, s.Draws = cloak.Sparse, 8, method.LengthscalesOf(4), 3
				s.Epsilon, s.Delta, s.Calibration = c.epsilon, c.delta, mechanism.Analytic
			})
			cloaktest.WantSuspects(t, r.Warnings, c.want)
		})
	}
}
