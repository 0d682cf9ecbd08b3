package simulated

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

// maxScenarios bounds the pairs of noise level and ε, each of which is a calibration.
const maxScenarios = 400

var scenarios = experiment.Of(experiment.Declaration[*scenarioSettings, scenarioMetrics]{
	Name:    "dpgp/scenarios",
	Version: 1,
	Summary: "calibration over noise levels, privacy levels and central regions together: what holds across them",
	Source:  "Honkela 2021, Section 6.2, Fig. 2",
	Check:   checkScenarios,
	Memory:  func(s *scenarioSettings) int64 { return s.Memory(s.N, 10) },
	Run:     runScenarios,
})

// at are the settings of dpgp/calibration for one pair.
func (s *scenarioSettings) at(sigma, epsilon float64) *calibrationSettings {
	return calibration().With(func(c *calibrationSettings) {
		c.Epsilon, c.Delta = epsilon, s.Delta
		c.InducingGrid, c.EQKernel, c.N = s.InducingGrid, s.EQKernel, s.N
		c.Sigma, c.OutputBound, c.NoiseRatio, c.RowBound = sigma, s.OutputBound, s.NoiseRatio, s.RowBound
		c.Covariance, c.Regularisation, c.Rho, c.Jitter = s.Covariance, s.Regularisation, s.Rho, s.Jitter
		c.Cover, c.Repeats = s.Cover, s.Repeats
	})
}

func checkScenarios(s *scenarioSettings) error {
	if len(s.Epsilons) < 2 {
		return fmt.Errorf("epsilons: two values or more are compared")
	}
	for name, values := range map[string][]float64{"sigmas": s.Sigmas, "epsilons": s.Epsilons} {
		if err := sparse.CheckCandidates(name, values); err != nil {
			return err
		}
	}
	if n := len(s.Sigmas) * len(s.Epsilons); n > maxScenarios {
		return fmt.Errorf("%d noise levels and %d values of epsilon are %d fits; at most %d are possible",
			len(s.Sigmas), len(s.Epsilons), n, maxScenarios)
	}
	for _, sigma := range s.Sigmas {
		for _, epsilon := range s.Epsilons {
			if err := checkCalibration(s.at(sigma, epsilon)); err != nil {
				return err
			}
		}
	}
	return nil
}

// shares are the mean coverages of one pair, by level.
type shares map[int][2]float64 // full and naive

// errors are the distances of the coverages from the level.
func (s shares) errors(level int) (fromFull, fromNaive float64) {
	want := float64(level) / 100
	return math.Abs(s[level][full] - want), math.Abs(s[level][naive] - want)
}

// runScenarios fits the same functions, observed with the same standard normal draws,
// in every scenario: their differences are not those of different functions.
func runScenarios(
	ctx context.Context, t *experiment.Trial, s *scenarioSettings,
) (*experiment.Outcome[scenarioMetrics], error) {
	start := time.Now()
	found := map[scenario]shares{}
	var warnings []string
	for _, sigma := range s.Sigmas {
		for _, epsilon := range s.Epsilons {
			c := s.at(sigma, epsilon)
			p, err := newSimulation(t, c.fit())
			if err != nil {
				return nil, err
			}
			coverages, err := sparse.Repeat(ctx, p.Problem, c.Repeats,
				func(ctx context.Context, repeat int) (coverage, error) { return p.coverOnce(ctx, c.Cover, repeat) })
			if err != nil {
				return nil, fmt.Errorf("sigma = %g, epsilon = %g: %w", sigma, epsilon, err)
			}
			found[scenario{sigma, epsilon}] = meanShares(coverages)
			warnings = p.Engine.Warnings()
		}
	}
	out := s.compare(found)
	out.Time = time.Since(start).Seconds()
	return &experiment.Outcome[scenarioMetrics]{Metrics: out, Privacy: manyFits(), Warnings: warnings}, nil
}

// manyFits notes that a record of several fits, which compares them by statistics of their data,
// protects nothing.
func manyFits() *experiment.Privacy {
	out := &experiment.Privacy{
		Unit: "one row, input and output, substituted by any other",
		Mechanism: "analytic Gaussian mechanism (Balle and Wang 2018) on the sums A and B of a sparse GP together " +
			"(Honkela 2021, Algorithm 1), for every fit anew",
		Notes: []string{sparse.SimulatedNote},
	}
	out.Withdraw("every fit spends a budget of its own, and the record compares them with the data that they protect")
	return out
}

// meanShares are the means over the repeats.
func meanShares(coverages []coverage) shares {
	out := shares{}
	for _, level := range levels {
		var mean [2]float64
		for _, k := range []kind{full, naive} {
			for _, c := range coverages {
				mean[k] += c.share[coverageColumn(level, k)] / float64(len(coverages))
			}
		}
		out[level] = mean
	}
	return out
}

// compare takes means over the scenarios.
func (s *scenarioSettings) compare(found map[scenario]shares) scenarioMetrics {
	m := scenarioMetrics{
		GainOfSigma: map[string]float64{}, GainOfEpsilon: map[string]float64{},
		NaiveOfSigma: map[string]float64{}, NaiveOfEpsilon: map[string]float64{},
		ChangeFull: map[string]float64{}, ChangeNaive: map[string]float64{},
		Scenarios: float64(len(levels) * len(found)),
	}
	overconfident, improved := 0, 0
	ofSigma := float64(len(levels) * len(s.Epsilons))
	ofEpsilon := float64(len(levels) * len(s.Sigmas))
	for _, sigma := range s.Sigmas {
		for _, epsilon := range s.Epsilons {
			for _, level := range levels {
				c := found[scenario{sigma, epsilon}]
				fromFull, fromNaive := c.errors(level)
				m.ErrorFull += fromFull / m.Scenarios
				m.ErrorNaive += fromNaive / m.Scenarios
				m.GainOfSigma[sparse.MemberOf(sigma)] += (fromNaive - fromFull) / ofSigma
				m.GainOfEpsilon[sparse.MemberOf(epsilon)] += (fromNaive - fromFull) / ofEpsilon
				m.NaiveOfSigma[sparse.MemberOf(sigma)] += fromNaive / ofSigma
				m.NaiveOfEpsilon[sparse.MemberOf(epsilon)] += fromNaive / ofEpsilon
				if c[level][full] < float64(level)/100 {
					overconfident++
				}
				if fromFull < fromNaive {
					improved++
				}
			}
		}
	}
	m.OverconfidentShare, m.ImprovedShare = float64(overconfident)/m.Scenarios, float64(improved)/m.Scenarios
	least, largest := slices.Min(s.Epsilons), slices.Max(s.Epsilons)
	for _, sigma := range s.Sigmas {
		from, to := found[scenario{sigma, least}], found[scenario{sigma, largest}]
		for k, change := range []map[string]float64{full: m.ChangeFull, naive: m.ChangeNaive} {
			for _, level := range levels {
				change[sparse.MemberOf(sigma)] += math.Abs(to[level][k]-from[level][k]) / float64(len(levels))
			}
		}
	}
	return m
}
