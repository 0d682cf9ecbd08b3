package simulated

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/internal/trialtest"
	"privkern/graphs/engine"
	"privkern/graphs/sparsegp"
	"privkern/runner/experiment"
)

// Coverages by hand, two noise levels with two values of ε each.
func TestScenarioMetrics(t *testing.T) {
	s := scenarios().With(func(s *scenarioSettings) {
		s.Sigmas, s.Epsilons = []float64{0.1, 0.3}, []float64{30, 1} // in any order
	})
	// below is a coverage that is by so much below each level.
	below := func(fromFull, fromNaive float64) shares {
		out := shares{}
		for _, level := range levels {
			out[level] = [2]float64{float64(level)/100 - fromFull, float64(level)/100 - fromNaive}
		}
		return out
	}
	m := s.compare(map[scenario]shares{
		{0.1, 1}: below(0.2, 0.4), {0.1, 30}: below(0.1, 0.1), {0.3, 1}: below(-0.01, 0.1), {0.3, 30}: below(0.05, 0.06),
	})
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"error, full", m.ErrorFull, (0.2 + 0.1 + 0.01 + 0.05) / 4},
		{"error, naive", m.ErrorNaive, (0.4 + 0.1 + 0.1 + 0.06) / 4},
		{"gain at σ = 0.1", m.GainOfSigma["0_1"], 0.2 / 2},
		{"gain at σ = 0.3", m.GainOfSigma["0_3"], (0.09 + 0.01) / 2},
		{"gain at ε = 1", m.GainOfEpsilon["1"], (0.2 + 0.09) / 2},
		{"gain at ε = 30", m.GainOfEpsilon["30"], 0.01 / 2},
		{"naive at σ = 0.1", m.NaiveOfSigma["0_1"], 0.5 / 2},
		{"naive at ε = 30", m.NaiveOfEpsilon["30"], 0.16 / 2},
		{"change at σ = 0.1, full", m.ChangeFull["0_1"], 0.1},
		{"change at σ = 0.3, naive", m.ChangeNaive["0_3"], 0.04},
		{"overconfident", m.OverconfidentShare, 12.0 / 16},
		{"improved", m.ImprovedShare, 12.0 / 16},
		{"scenarios", m.Scenarios, 16},
	} {
		t.Run(c.name, func(t *testing.T) { trialtest.Near(t, c.name, c.got, c.want, 1e-12) })
	}
}

// A scenario is a calibration with its settings, of the same functions.
func TestScenariosAreCalibrations(t *testing.T) {
	sigmas, epsilons := []float64{0.1, 0.3}, []float64{1, 30}
	out := trialtest.Compute(t, seed(4), scenarios(), func(s *scenarioSettings) {
		s.Sigmas, s.Epsilons, s.N, s.Repeats, s.Inducing.Count, s.OutputBound = sigmas, epsilons, 200, 3, 6, 1.5
	})
	want := 0.0
	for _, sigma := range sigmas {
		for _, epsilon := range epsilons {
			m := trialtest.Compute(t, seed(4), calibration(), func(s *calibrationSettings) {
				s.Sigma, s.Epsilon, s.N, s.Repeats, s.Inducing.Count, s.OutputBound = sigma, epsilon, 200, 3, 6, 1.5
			}).Metrics
			for _, c := range [][2]float64{
				{m.Coverage50Full, 0.5}, {m.Coverage80Full, 0.8}, {m.Coverage95Full, 0.95}, {m.Coverage99Full, 0.99},
			} {
				want += math.Abs(c[0]-c[1]) / 16
			}
		}
	}
	trialtest.Near(t, "error", out.Metrics.ErrorFull, want, 1e-12)
	if out.Metrics.Time <= 0 || out.Privacy == nil || out.Privacy.Guarantee != "" {
		t.Errorf("%g s, guarantee %v", out.Metrics.Time, out.Privacy)
	}
}

// With one inducing input the distribution is known: E_b is normal, and the bound on it σ_b
// √log(2/ρ)for every form of λ.
func TestRegularisationOfOneInput(t *testing.T) {
	const rho, repeats = 0.5, 4000
	m := trialtest.Compute(t, seed(5), regularisation(), func(s *regularisationSettings) {
		s.Inducing.Count, s.N, s.Rho, s.Repeats = 1, 30, rho, repeats
	}).Metrics
	inside := 2*distuv.UnitNormal.CDF(math.Sqrt(math.Log(2/rho))) - 1
	trialtest.Near(t, "bound", m.BoundShare, inside, 3*math.Sqrt(inside*(1-inside)/repeats))
	if m.PrintedShare != m.BoundShare || m.CorrectedShare != m.BoundShare {
		t.Errorf("%g, %g and %g: factors of one", m.BoundShare, m.PrintedShare, m.CorrectedShare)
	}
	// σ²K + B + E_b > 0, K = 1.
	definite := distuv.UnitNormal.CDF((m.LeastEigenvalue + 0.01) / m.SigmaB)
	trialtest.Near(t, "definite without λ", m.DefiniteNaive, definite, 0.03)
	above := distuv.UnitNormal.CDF((m.LeastEigenvalue+0.01)/m.SigmaB + math.Sqrt(math.Log(2/rho)))
	trialtest.Near(t, "definite with λ", m.DefinitePrinted, above, 0.03)
	trialtest.Near(t, "mean norm", m.NormOverBound, math.Sqrt(2/math.Pi)/math.Sqrt(math.Log(2/rho)), 0.03)

	low, high, err := extremeEigenvalues(mat.NewDense(2, 2, []float64{2, 3, 3, 2}))
	if err != nil || math.Abs(low+1) > 1e-12 || math.Abs(high-5) > 1e-12 {
		t.Errorf("eigenvalues %g and %g, %v", low, high, err)
	}
}

// The largest move is one: no substitution at random moves the weighted sums by more,
// and some move them by nearly as much. The printed factor falls short of it for small
// variances.
func TestHeteroscedasticSensitivity(t *testing.T) {
	s := heteroscedastic().With(func(s *heteroscedasticSettings) {
		s.Inducing.Count, s.VarianceLow, s.VarianceHigh, s.Ratio, s.OutputBound = 4, 0.2, 0.8, 1.5, 0.7
	})
	out, err := runHeteroscedastic(t.Context(), nil, s)
	if err != nil {
		t.Fatal(err)
	}
	m := out.Metrics
	if !(m.LargestMove <= m.SensitivityValid && m.LargestMove > m.SensitivityPrinted) {
		t.Errorf("%+v", m)
	}
	trialtest.Near(t, "printed", m.SensitivityPrinted, 0.8*m.Sensitivity, 1e-12)
	trialtest.Near(t, "valid", m.SensitivityValid, m.Sensitivity/0.2, 1e-12)
	model, rng, largest := s.InducingInputs.Model(s.EQKernel, 1, 0), rand.New(rand.NewPCG(6, 7)), 0.0
	row := func() (k []float64, y, w float64) {
		y = s.OutputBound * max(-1, min(1, 3*rng.Float64()-1.5))
		return model.Vector([]float64{8*rng.Float64() - 4}), y, 1 / max(0.2, 0.8*rng.Float64())
	}
	for range 20000 {
		k, y, w := row()
		l, z, v := row()
		square := 0.0
		for i := range k {
			square += (w*y*k[i] - v*z*l[i]) * (w*y*k[i] - v*z*l[i])
			for j := range k {
				d := s.Ratio * (w*k[i]*k[j] - v*l[i]*l[j])
				square += d * d
			}
		}
		largest = max(largest, math.Sqrt(square))
	}
	if largest > m.LargestMove*1.001 || largest < 0.9*m.LargestMove {
		t.Errorf("a row at random moves the sums by %g; of the grid %g", largest, m.LargestMove)
	}
}

// Appendix D reduces to Section 3.3 where all observations have the same noise: sums with
// weights 1/σ² and noise scaled like them give the posterior of Eq. (9).
func TestEqualNoiseIsOneNoise(t *testing.T) {
	const sigma, n = 0.4, 60
	e := engine.Of(trialtest.New(t, seed(8)).Engine)
	z := &sparse.InducingInputs{Inducing: experiment.Points{Count: 5}, Low: -3, High: 3}
	kernel := sparse.EQKernel{Lengthscale: 1, SignalVariance: sparse.SignalVariance{KernelVariance: 1}}
	rng := rand.New(rand.NewPCG(8, 9))
	x := sparse.UniformInputs(n, rng)
	y := sparse.Observe(sparse.Values(sparse.Sinc, x), sigma, rng)
	noise := sparse.Noise{SigmaA: 0.3, SigmaB: 0.3}
	posterior := func(variance, weight float64) *sparse.Posterior {
		t.Helper()
		weights := make([]float64, n)
		for i := range weights {
			weights[i] = weight
		}
		m := z.Model(kernel, math.Sqrt(variance), 0)
		sums, err := sparsegp.SumDouble(t.Context(), e, m.Inducing, x, y, weights)
		if err != nil {
			t.Fatal(err)
		}
		scaled := sparse.Noise{SigmaA: weight * noise.SigmaA, SigmaB: weight * noise.SigmaB}
		scaled.Perturb(sums, rand.New(rand.NewPCG(10, 11)))
		p, err := m.Infer(t.Context(), e, sums, scaled, sparse.Update{Rho: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one, equal := posterior(sigma*sigma, 1), posterior(1, 1/(sigma*sigma))
	trialtest.Near(t, "λ", equal.Ridge, one.Ridge, 1e-12*one.Ridge)
	for i, v := range one.Mean {
		trialtest.Near(t, "mean", equal.Mean[i], v, 1e-10)
		for j := range one.Mean {
			trialtest.Near(t, "covariance", equal.Cov.At(i, j), one.Cov.At(i, j), 1e-10)
		}
	}
}
