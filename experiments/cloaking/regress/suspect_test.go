package regress

import (
	"math"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

func TestSuspiciousRegressions(t *testing.T) {
	s := trialtest.Options{File: cloaktest.Wave(t)}
	wave := func(s *regressionSettings) {
		ownFile("x", "y", 0, 100)(s)
		s.Method, s.Inducing = cloak.Sparse, placed(8)
		s.Lengthscale, s.KernelVariance, s.NoiseVariance = experiment.Several{4}, 400, 4
		s.Calibration, s.Delta, s.Draws = mechanism.Analytic, 1e-5, 3
	}
	budget := func(epsilon, delta float64) func(*regressionSettings) {
		return func(s *regressionSettings) { s.Epsilon, s.Delta = epsilon, delta }
	}
	for _, c := range []struct {
		name string
		over func(*regressionSettings)
		want []string
	}{
		{"fine", budget(3, 1e-5), nil},
		{"fine without noise", budget(math.Inf(1), 0.5), nil},
		{"noise", budget(0.01, 1e-5), []string{
			"more than the public range of the output, 100; use a larger epsilon",
			"the middle of the public range, which costs no privacy, has 2"}},
		{"no fit", func(s *regressionSettings) {
			ownFile("x", "coin", 0, 1)(s)
			s.Epsilon, s.Method = math.Inf(1), cloak.Standard
			s.Lengthscale, s.KernelVariance, s.NoiseVariance = experiment.Several{0.3}, 1, 1e-3
		}, []string{"has 0.5; choose lengthscale, kernel_variance and noise_variance anew"}},
		{"delta of a tenth of 1/n", budget(3, 0.00025),
			[]string{"delta = 0.00025 is not below a tenth of 1/n = 0.0025 of the 400 rows"}},
		{"delta of 1/n", budget(3, 0.01), []string{"delta = 0.01 is not below 1/n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cloaktest.WantSuspects(t, validated(t, s, wave, c.over).Warnings, c.want)
		})
	}
	t.Run("the census is not judged", func(t *testing.T) {
		r := validated(t, trialtest.Options{Folder: cloaktest.Census(t)}, budget(0.01, 0.01), draws(1))
		cloaktest.WantSuspects(t, r.Warnings, nil)
	})
}
