package dpgp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// seed is a trial with two workers.
func seed(n uint64) trialtest.Options { return trialtest.Options{Seed: n, Workers: 2} }

// newSearchFor is the search of a trial whose settings are the defaults with some
// changes.
func newSearchFor(t *testing.T, change func(*searchSettings)) *search {
	t.Helper()
	settings := hyperparameters().With(change)
	if _, err := hyperparameters().Resolved(settings); err != nil {
		t.Fatal(err)
	}
	s, err := newSearch(trialtest.New(t, seed(4)), &settings.hyperparameterSettings)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Without privacy the settings of the data win: σ = 0.1, and the lengthscale 1
// that suits sin(2x)/(2x).
func TestSearchWithoutNoise(t *testing.T) {
	quiet := func(s *searchSettings) { s.Epsilon, s.Repeats, s.N = math.Inf(1), 5, 512 }
	out := trialtest.Compute(t, seed(1), hyperparameters(), quiet)
	if m := out.Metrics; m.Sigmas[sparse.MemberOf(0.1)] != 1 || m.Lengthscales[sparse.MemberOf(1)] != 1 || m.None != 0 ||
		*m.DrawsMean != 9 {
		t.Errorf("%+v", m)
	}
	if out.Privacy != nil {
		t.Errorf("a guarantee without noise: %v", out.Privacy)
	}
	// With less noise in the data, less is found.
	out = trialtest.Compute(t, seed(1), hyperparameters(), quiet,
		func(s *searchSettings) { s.Sigma = 0.033 })
	if m := out.Metrics; m.Sigmas[sparse.MemberOf(1.0/30)] != 1 {
		t.Errorf("σ = 0.033: %+v", m)
	}
}

// At ε = 30 the corrected rule finds the true noise level in nearly all
// searches, the printed one in few (Section 6.3: 0.96 and 0.10 of 100).
func TestSearchRules(t *testing.T) {
	with := func(rule mechanism.SelectionRule) hyperparameterMetrics {
		return trialtest.Compute(t, seed(2), hyperparameters(), func(s *searchSettings) {
			s.Epsilon, s.Repeats, s.Rule = 30, 25, rule
		}).Metrics
	}
	t.Run("corrected", func(t *testing.T) {
		m := with(mechanism.SelectionCorrected)
		if m.Sigmas[sparse.MemberOf(0.1)] < 0.8 || m.Lengthscales[sparse.MemberOf(1)] < 0.8 {
			t.Errorf("%+v", m)
		}
		trialtest.Near(t, "draws", *m.DrawsMean, 110, 60) // 100 ± 20 on the average
		// Section 4.2 with δ_tot = 1e-4 and γ = 0.01.
		trialtest.Near(t, "delta of a draw", *m.CandidateDelta, 3.0726684849e-15, 1e-24)
		trialtest.Near(t, "epsilon of a draw", *m.CandidateEpsilon, 9.9999999216, 1e-9)
		trialtest.Near(t, "most draws", *m.DrawsMost, 1175, 0)
	})
	t.Run("as published", func(t *testing.T) {
		if m := with(mechanism.SelectionAsPublished); m.Sigmas[sparse.MemberOf(1.0/30)] < 0.7 {
			t.Errorf("%+v", m)
		}
	})
}

func TestSearchShares(t *testing.T) {
	out := trialtest.Compute(t, seed(3), hyperparameters(), func(s *searchSettings) {
		s.Epsilon, s.Repeats, s.N, s.Gamma = 3, 8, 256, 0.5
	})
	for _, c := range []struct {
		name   string
		shares map[string]float64
	}{{"noise levels", out.Metrics.Sigmas}, {"lengthscales", out.Metrics.Lengthscales}} {
		t.Run(c.name, func(t *testing.T) {
			sum := out.Metrics.None
			for _, v := range c.shares {
				sum += v
			}
			if len(c.shares) != 3 || math.Abs(sum-1) > 1e-12 {
				t.Errorf("%d shares with a sum of %g in %v", len(c.shares), sum, c.shares)
			}
		})
	}
	if none := out.Metrics.None; none == 0 || none == 1 {
		t.Errorf("%g of the searches find nothing, want some", none)
	}
	found := 0
	for _, sigma := range out.Series["selections"]["sigma"] {
		if sigma == 0.1 {
			found++
		}
	}
	trialtest.Near(t, "those of the series with σ = 0.1", float64(found), 8*out.Metrics.Sigmas[sparse.MemberOf(0.1)],
		1e-9)
}

// A draw is Algorithm 1 and Eq. (18), computed here by inverses.
func TestDraw(t *testing.T) {
	s := newSearchFor(t, func(s *searchSettings) {
		s.Epsilon, s.N, s.Inducing.Count, s.Jitter = 10, 60, 4, 0.001
		s.Sigmas, s.Lengthscales = []float64{0.2}, []float64{0.7}
	})
	rng := rand.New(rand.NewPCG(1, 2))
	x, at := sparse.UniformInputs(30, rng), sparse.UniformInputs(25, rng)
	y := sparse.Observe(sparse.Values(sparse.Sinc, x), 0.2, rng)
	truth := sparse.Observe(sparse.Values(sparse.Sinc, at), 0.2, rng)
	c := s.candidates[0]
	d := &sample{search: s, parts: map[int]*lengthPart{}, x: x, y: y, validation: at, truth: truth}
	if err := s.fill(t.Context(), []*sample{d}); err != nil {
		t.Fatal(err)
	}
	noisy := c.noise.NoisyCopy(d.parts[0].sums, rand.New(rand.NewPCG(3, 4)))
	p, err := c.model.Infer(t.Context(), s.Engine, noisy, c.noise, s.Update)
	if err != nil {
		t.Fatal(err)
	}
	predictions, err := sparsegp.PredictAll(t.Context(), s.Engine,
		[]sparsegp.Draw{c.model.Draw(noisy, c.noise, s.Update, d.parts[0].at)})
	if err != nil {
		t.Fatal(err)
	}
	got := d.likelihoods(c, predictions[0].Mean, predictions[0].Variance)
	k := func(a, b float64) float64 { return math.Exp(-(a - b) * (a - b) / (2 * 0.7 * 0.7)) }
	z := []float64{-3, -1, 1, 3}
	K := mat.NewDense(4, 4, nil)
	sums := sparsegp.Sums{A: make([]float64, 4), B: mat.NewDense(4, 4, nil)}
	for i := range z {
		for j := range z {
			K.Set(i, j, k(z[i], z[j]))
			for n := range y {
				sums.B.Set(i, j, sums.B.At(i, j)+k(z[i], x.At(n, 0))*k(z[j], x.At(n, 0)))
			}
		}
		K.Set(i, i, 1.001)
		for n, v := range y {
			sums.A[i] += k(z[i], x.At(n, 0)) * v
		}
	}
	c.noise.Perturb(sums, rand.New(rand.NewPCG(3, 4)))
	var q, Q mat.Dense
	q.Scale(25, sums.B)
	q.Add(&q, K)
	for i := range z {
		q.Set(i, i, q.At(i, i)+c.noise.Ridge(c.model, 0.01, sparse.RegularisationPrinted))
	}
	if err := Q.Inverse(&q); err != nil {
		t.Fatal(err)
	}
	var mean mat.VecDense
	mean.MulVec(&Q, mat.NewVecDense(4, sums.A))
	mean.MulVec(K, &mean)
	mean.ScaleVec(25, &mean)
	for i := range z {
		trialtest.Near(t, fmt.Sprintf("mean at inducing input %d", i), p.Mean[i], mean.AtVec(i), 1e-9)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(K); err != nil {
		t.Fatal(err)
	}
	for i := range truth {
		kx := mat.NewVecDense(4, nil)
		for j := range z {
			kx.SetVec(j, k(z[j], at.At(i, 0)))
		}
		var w mat.VecDense
		w.MulVec(&inverse, kx)
		v := 1 - mat.Dot(kx, &w) + mat.Inner(&w, p.Cov, &w) + 0.04
		miss := truth[i] - mat.Dot(&w, &mean)
		want := -math.Log(2*math.Pi*v)/2 - miss*miss/(2*v)
		trialtest.Near(t, fmt.Sprintf("log-likelihood %d", i), got[i], want, 1e-8*math.Abs(want))
	}
}

// The interval of log-likelihoods is Eqs. (30) and (31), and each candidate has
// the noise of its own lengthscale.
func TestCandidates(t *testing.T) {
	s := newSearchFor(t, func(s *searchSettings) { s.Epsilon, s.OutputBound = 10, 2 })
	if len(s.candidates) != 9 {
		t.Fatalf("%d candidates", len(s.candidates))
	}
	rho, err := mechanism.ClassicZCDPFor(s.budget.Candidate.Epsilon, s.budget.Candidate.Delta)
	if err != nil {
		t.Fatal(err)
	}
	factor, err := mechanism.AnalyticGaussian(s.budget.Candidate.Epsilon, s.budget.Candidate.Delta)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.candidates {
		sigma := math.Sqrt(c.model.Noise)
		t.Run(fmt.Sprintf("sigma %.3g, lengthscale %.3g", sigma, c.model.Lengthscale), func(t *testing.T) {
			high := -math.Log(2*math.Pi)/2 - math.Log(sigma)
			trialtest.Near(t, "upper end", c.score.Centre+c.score.Radius, high, 1e-10)
			trialtest.Near(t, "lower end", c.score.Centre-c.score.Radius, high-4*2*2/(2*sigma*sigma), 1e-9)
			if len(c.score.Steps) != 12 || math.Abs(float64(c.score.Rho()/rho)-1) > 1e-12 ||
				math.Abs(float64(c.score.Steps[11]/rho)-0.75) > 1e-12 {
				t.Errorf("budgets %v of %g", c.score.Steps, rho)
			}
			kk, err := c.model.NormSquared(sparse.Eq7Printed, 0)
			if err != nil {
				t.Fatal(err)
			}
			if want := factor * sparse.JointSensitivity(1, 2, kk); c.noise.SigmaA != want || c.noise.SigmaB != want {
				t.Errorf("noise %g, %g, want %g", c.noise.SigmaA, c.noise.SigmaB, want)
			}
		})
	}
	if s.candidates[0].noise.SigmaA >= s.candidates[2].noise.SigmaA {
		t.Error("longer lengthscales need more noise")
	}
}

// Draws whose noise exceeds λ are never chosen, and end nothing.
func TestIndefiniteDraws(t *testing.T) {
	m := trialtest.Compute(t, seed(5), hyperparameters(), func(s *searchSettings) {
		s.Epsilon, s.Repeats, s.N, s.Rho = 0.5, 4, 64, 0.999
	}).Metrics
	if got := *m.IndefiniteMean; !(got > 0) || got >= *m.DrawsMean {
		t.Errorf("%g of %g draws were indefinite", got, *m.DrawsMean)
	}
}

func TestSearchWorkers(t *testing.T) {
	with := func(seed uint64, workers int) *experiment.Outcome[hyperparameterMetrics] {
		o := trialtest.Options{Seed: seed, Workers: workers}
		return trialtest.Compute(t, o, hyperparameters(), func(s *searchSettings) {
			s.Epsilon, s.Repeats, s.N, s.Gamma = 10, 6, 128, 0.1
		})
	}
	one := with(6, 1)
	text := func(o *experiment.Outcome[hyperparameterMetrics]) string {
		return fmt.Sprint(experiment.MetricValues(o.Metrics), o.Series)
	}
	for _, workers := range []int{2, 5} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			if got := text(with(6, workers)); got != text(one) {
				t.Errorf("%s, want %s", got, text(one))
			}
		})
	}
	if other := with(7, 2); reflect.DeepEqual(other.Series, one.Series) {
		t.Error("another seed gives the same")
	}
}

// A protected record holds nothing of the data but selections: metrics that depend on the number of
// draws are left out.
func TestSearchRecordThatProtects(t *testing.T) {
	secure := trialtest.Options{Seed: 8, Secure: true}
	out := trialtest.Compute(t, secure, hyperparameters(), func(s *searchSettings) {
		s.Epsilon, s.Repeats, s.N, s.Gamma = 10, 2, 64, 0.2
	})
	if m := out.Metrics; m.DrawsMean != nil || m.IndefiniteMean != nil {
		t.Errorf("draws %v, indefinite ones %v", m.DrawsMean, m.IndefiniteMean)
	}
	if len(out.Series) != 1 || len(out.Series["selections"]) != 4 {
		t.Errorf("%v", out.Series)
	}
	if out.Privacy.Guarantee != "(10, 0.0001)-DP" || !strings.Contains(out.Privacy.Notes[0], "timing") {
		t.Errorf("%v", out.Privacy)
	}
}

// Section 4.1: with a very small budget CoinPress as published returns values outside,
// with a large one it does not.
func TestCoinPressOutside(t *testing.T) {
	with := func(intervals mechanism.Intervals, epsilon float64) float64 {
		return *trialtest.Compute(t, seed(6), hyperparameters(), func(s *searchSettings) {
			s.Epsilon, s.Repeats, s.CoinPress = epsilon, 4, intervals
		}).Metrics.OutsideShare
	}
	published, cut := with(mechanism.IntervalsPublished, 1), with(mechanism.IntervalsCut, 1)
	if published < 0.3 || cut > 0.1 {
		t.Errorf("outside at ε = 1: %g as published, %g where intervals are cut", published, cut)
	}
	if v := with(mechanism.IntervalsPublished, 30); v != 0 {
		t.Errorf("outside at ε = 30: %g", v)
	}
}

func TestSearchTime(t *testing.T) {
	out := trialtest.Compute(t, seed(7), searchTime(), func(s *hyperparameterSettings) {
		s.Epsilon, s.Repeats, s.N = 30, 2, 100
	})
	if out.Metrics.Time <= 0 || out.Privacy == nil || out.Privacy.Guarantee != "" {
		t.Errorf("%g s, %+v", out.Metrics.Time, out.Privacy)
	}
}
