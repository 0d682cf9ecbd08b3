package regress

import (
	"fmt"
	"math"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// Certified designs for the census' ages. The first two rows are values of an
// independent implementation; log|M| of the third was computed with 40 digits
// (mpmath), where double precision loses six of them.
func TestDesignOfTheCensus(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.RealCensus(t)}
	for _, c := range []struct {
		lengthscale, noise       float64
		logdet, trace, frobenius float64
		tolerance                float64
	}{
		{5, 1, -71.1883863156, .189931814, .923471575, 1e-8},
		{15, 2, -150.4284717, .080303372, .576402759, 1e-6},
		{25, 0.3, -222.14738048814, .1445412, .6311895848, 2e-5},
	} {
		t.Run(fmt.Sprintf("lengthscale %g", c.lengthscale), func(t *testing.T) {
			m := trialtest.Compute(t, census, Design(), func(s *designSettings) {
				s.Lengthscale, s.NoiseVariance = method.LengthscalesOf(c.lengthscale), c.noise
			}).Metrics
			trialtest.Near(t, "log-determinant", m.LogDet, c.logdet, c.tolerance)
			trialtest.Near(t, "trace", m.Trace, c.trace, 1e-6)
			trialtest.Near(t, "norm of C", m.FrobeniusC, c.frobenius, 1e-9)
			trialtest.Near(t, "sum of the weights", m.SumLambda, 13, 1e-9)
			trialtest.Near(t, "largest Mahalanobis norm", m.MaxMahalanobis, 1, 1e-8)
			if m.Rank != 13 || m.Gap > 1e-8 || m.Iterations > 17 {
				t.Errorf("rank %g, gap %g, %g steps", m.Rank, m.Gap, m.Iterations)
			}
		})
	}
}

// synthetic designs need no data.
func synthetic(s *designSettings) { s.Inputs = cloak.Synthetic }

// designed computes a synthetic design.
func designed(t *testing.T, changes ...func(*designSettings)) *experiment.Outcome[designMetrics] {
	t.Helper()
	return trialtest.Compute(t, trialtest.Options{}, Design(), append([]func(*designSettings){synthetic}, changes...)...)
}

// The synthetic design needs no data, and adds less noise in total than
// spherical noise of the needed size.
func TestDesignSynthetic(t *testing.T) {
	p, err := Design().Resolved(Design().With(synthetic))
	if sets := Design().Datasets(p); err != nil || sets != nil {
		t.Errorf("it asks for %v, %v", sets, err)
	}
	r := designed(t)
	m := r.Metrics
	if m.Gap > 1e-8 || m.Rank != 13 {
		t.Errorf("gap %g, rank %g", m.Gap, m.Rank)
	}
	if !(m.Trace < 13*m.LargestColumn) {
		t.Errorf("trace %g against %g for spherical noise", m.Trace, 13*m.LargestColumn)
	}
	// The diagonal of M in the series adds up to its trace.
	sum := 0.0
	for _, sd := range r.Series["noise_over_age"]["noise_sd"] {
		sum += sd * sd
	}
	trialtest.Near(t, "sum of the noise variances", sum, m.Trace, 1e-9)
	total := 0.0
	for _, w := range r.Series["weights_over_age"]["lambda"] {
		total += w
	}
	trialtest.Near(t, "sum of the weights", total, 13, 1e-9)
}

// Inducing inputs bound the rank, and omitted directions are noted.
func TestDesignSparse(t *testing.T) {
	for _, points := range []experiment.Points{placed(5), given(5, 20, 35, 50, 65)} {
		t.Run(experiment.FormatValue(points), func(t *testing.T) {
			r := designed(t, func(s *designSettings) { s.Method, s.Inducing = cloak.Sparse, points })
			if r.Metrics.Rank != 5 || !says(r.Warnings, "rank 5 of 13") {
				t.Errorf("rank %g, warnings %q", r.Metrics.Rank, r.Warnings)
			}
		})
	}
}

func TestDesignRank(t *testing.T) {
	last := math.Inf(1)
	for _, n := range []int{13, 9, 5, 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			m := designed(t, func(s *designSettings) { s.Rank = rank(n) }).Metrics
			if !(m.Trace < last) {
				t.Errorf("trace %g, not below %g", m.Trace, last)
			}
			last = m.Trace
		})
	}
	t.Run("full", func(t *testing.T) {
		all := designed(t, func(s *designSettings) { s.Rank = rank(13) }).Metrics
		if full := designed(t).Metrics; full.Trace != all.Trace {
			t.Errorf("trace %g, of 13 directions %g", full.Trace, all.Trace)
		}
	})
}

// The paper's descent gets near the same design; its covariance satisfies the
// bound after scaling.
func TestDesignByGradientDescent(t *testing.T) {
	short := func(s *designSettings) { s.Lengthscale = method.LengthscalesOf(5) }
	best := designed(t, short).Metrics
	for _, start := range []experiment.Or[cloak.Weights, float64]{
		trialtest.WordOr[float64](cloak.UniformStart), experiment.NumberOr[cloak.Weights](0.7),
	} {
		t.Run(start.String(), func(t *testing.T) {
			r := designed(t, short, func(s *designSettings) { s.Algorithm, s.Steps, s.Start = cloak.Gradient, 3000, start })
			m := r.Metrics
			feasible := m.LogDet + 2*13*math.Log(m.MaxMahalanobis)
			if excess := feasible - best.LogDet; excess > m.Gap+1e-9 || excess < -1e-8 || m.Gap > 0.05 {
				t.Errorf("%g above the optimum with a gap of %g", excess, m.Gap)
			}
			if len(r.Warnings) == 0 {
				t.Error("a gap above 1e-6 goes without a warning")
			}
		})
	}
	t.Run("a hopeless learning rate", func(t *testing.T) {
		_, err := trialtest.Try(t, trialtest.Options{}, Design(), synthetic, short, func(s *designSettings) {
			s.Algorithm, s.LearningRate = cloak.Gradient, 1e6
		})
		trialtest.Refuses(t, err, "learning_rate")
	})
}

func TestDesignRefusals(t *testing.T) {
	refusals{
		{map[string]any{"rank": 14}, "only 13 test_points"},
		{map[string]any{"rank": 0}, "rank"},
		{map[string]any{"inputs": "synthetic", "method": "sparse", "inducing_points": 121}, "only 120 training rows"},
		{map[string]any{"method": "sparse", "inducing_points": 288}, "only 287 training rows"},
		{map[string]any{"test_points": "0,inf"}, "test_points"},
		{map[string]any{"test_points": ""}, "test_points"},
		{map[string]any{"test_points": "0..84 step 0.01"}, "at most 2000"},
		{map[string]any{"method": "sparse", "inducing_points": "5,20,5"}, "5 is given twice"},
		{map[string]any{"rank": 1e15}, "rank"},
		{map[string]any{"kernel_variance": -1}, "kernel_variance"},
	}.check(t, Design().Experiment)
	t.Run("equal test points leave fewer directions than points", func(t *testing.T) {
		_, err := trialtest.Try(t, trialtest.Options{}, Design(), synthetic, func(s *designSettings) {
			s.TestPoints, s.Rank = []float64{5, 5, 9}, rank(3)
		})
		trialtest.Refuses(t, err, "numerical rank 2")
	})
}

// Between the certificate that is aimed at and one that is useless.
func TestDesignWarnings(t *testing.T) {
	for _, c := range []struct {
		gap, norm float64
		want      int
	}{{1e-8, 1, 0}, {1e-7, 1, 1}, {0, 0.9, 1}, {2.2, 1.5, 2}} {
		t.Run(fmt.Sprintf("gap %g, norm %g", c.gap, c.norm), func(t *testing.T) {
			fine := cloak.Quality{Norm: 1}
			if got := cloak.DesignWarnings([]cloak.Quality{fine, {Gap: c.gap, Norm: c.norm}, fine}); len(got) != c.want {
				t.Errorf("%q, want %d warnings", got, c.want)
			}
		})
	}
}

// The gradient descent takes the given steps: its noise is an upper bound, and the record notes the
// bounded quantity.
func TestGradientDescentIsABound(t *testing.T) {
	five := func(s *designSettings) { s.TestPoints = []float64{0, 20, 40, 60, 80} }
	best := designed(t, five).Metrics
	for _, steps := range []int{1, 30, 3000} {
		t.Run(fmt.Sprint(steps), func(t *testing.T) {
			r := designed(t, five, func(s *designSettings) { s.Algorithm, s.Steps = cloak.Gradient, steps })
			m := r.Metrics
			scaled := m.LogDet + 2*m.Rank*math.Log(m.MaxMahalanobis)
			if above := scaled - best.LogDet; above < -1e-7 || above > m.Gap+1e-7 {
				t.Errorf("log-determinant %g above the smallest, and gap %g", above, m.Gap)
			}
			said := says(r.Warnings, "solver=gradient: the noise is that after the given steps, an upper bound")
			if m.Gap > 1e-6 && !said {
				t.Errorf("warnings %q", r.Warnings)
			}
			if steps < 3000 && !(m.Gap > 1e-6) {
				t.Errorf("a gap of %g after %d steps leaves nothing to say", m.Gap, steps)
			}
		})
	}
}
