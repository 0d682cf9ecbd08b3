package regress

import (
	"math"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
)

func TestSuspiciousRegressions(t *testing.T) {
	s := trialtest.Options{File: cloaktest.Wave(t)}
	wave := func(s *regressionSettings) {
		ownFile("x", "y", 0, 100)(s)
		s.Method, s.Inducing = cloak.Sparse, placed(8)
		s.Lengthscale, s.KernelVariance, s.NoiseVariance = method.LengthscalesOf(4), 1, 0.01
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
			s.Lengthscale, s.KernelVariance, s.NoiseVariance = method.LengthscalesOf(0.3), 1, 1e-3
		}, []string{"has 0.5; choose lengthscale, kernel_variance and noise_variance anew",
			"the standard deviations are too small"}},
		{"a range that is far too wide", func(s *regressionSettings) {
			ownFile("x", "y", 0, 1e5)(s)
			s.Epsilon, s.Draws = 3, 30
		}, []string{"and the mean of the outputs has 2"}},
		{"too narrow", func(s *regressionSettings) {
			s.Epsilon, s.KernelVariance, s.NoiseVariance = math.Inf(1), 0.04, 4e-4
		}, []string{"the standard deviations are too small; use a larger noise_variance or kernel_variance, or a shorter " +
			"lengthscale; both variances are in squares of a quarter of the public range"}},
		{"too wide", func(s *regressionSettings) { s.Epsilon, s.KernelVariance, s.NoiseVariance = 3, 400, 4 },
			[]string{"regions of 95 % hold too many of the 400 test outputs, 100 %: the standard deviations are too large; " +
				"use a smaller noise_variance or kernel_variance"}},
		{"not all directions", func(s *regressionSettings) { s.Epsilon, s.Rank = 3, rank(1) },
			[]string{"too small; directions beyond rank are left out, and what they would add is not known: use rank=full; " +
				"otherwise use a larger noise_variance"}},
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

// The share of outputs inside regions of 95 % is that of the law of the noise: an output at
// distance b from its prediction is inside with probability Φ((h − b)/s) − Φ((−h − b)/s), for
// noise of standard deviation s and half a region h = 1.96 √(o² + s²), o² being the variance of
// an observation.
func TestCoverage(t *testing.T) {
	const draws = 4000
	file, _ := cloaktest.SmallOwn(t)
	s := Regression().With(smallOwn, func(s *regressionSettings) {
		s.Epsilon, s.Calibration, s.NoiseVariance, s.Draws, s.Folds.Folds = 20, mechanism.Analytic, 0.5, draws, 3
	})
	v, err := newValidation(trialtest.New(t, trialtest.Options{File: file}), s)
	if err != nil {
		t.Fatal(err)
	}
	releases, err := v.releasesOfFolds(t.Context(), 0, len(v.folds))
	if err != nil {
		t.Fatal(err)
	}
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for i, r := range releases {
		got, err := v.score(t.Context(), i, &r)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for j, row := range v.folds[i].Test {
			b, sd := r.mean[j]-v.data.Output[row], r.noiseSD[j]
			half := 1.959963984540054 * math.Hypot(r.observationSD[j], sd)
			want += (phi((half-b)/sd) - phi((-half-b)/sd)) / float64(len(v.folds[i].Test))
		}
		if want < 0.3 || want > 0.99 {
			t.Errorf("fold %d: a coverage of %g tells little", i, want)
		}
		trialtest.Near(t, "coverage", got.coverage, want, 5*0.5/math.Sqrt(draws))
	}
}
