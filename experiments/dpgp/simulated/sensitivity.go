package simulated

import (
	"context"

	"privkern/experiments/dpgp/sparse"
	"privkern/runner/experiment"
)

var sensitivities = experiment.Of(experiment.Declaration[*sensitivitySettings, sensitivityMetrics]{
	Name:     "dpgp/sensitivity",
	Version:  3,
	Summary:  "the bounds on the sensitivity of a sparse GP's sums over the data",
	Source:   "Honkela 2021, Sections 3.1 and 3.2, Eqs. (4) to (8)",
	Seedless: func(*sensitivitySettings) bool { return true },
	Check: func(s *sensitivitySettings) error {
		if err := s.InducingInputs.Check(); err != nil {
			return err
		}
		_, err := s.model().NormSquared(sparse.Eq7, s.AssumedSpacing())
		return err
	},
	Run: runSensitivity,
})

// model has no observations, and so no noise.
func (s *sensitivitySettings) model() *sparse.Model { return s.InducingInputs.Model(s.EQKernel, 0, 0) }

func runSensitivity(
	_ context.Context, _ *experiment.Trial, s *sensitivitySettings,
) (*experiment.Outcome[sensitivityMetrics], error) {
	out, model := new(experiment.Outcome[sensitivityMetrics]), s.model()
	m := &out.Metrics
	for _, v := range []struct {
		bound                    sparse.Bound
		normSquared, sensitivity *float64
	}{
		{sparse.Eq4, &m.NormSquaredEq4, &m.SensitivityEq4},
		{sparse.Eq7Printed, &m.NormSquaredEq7Printed, &m.SensitivityEq7Printed},
		{sparse.Eq7, &m.NormSquaredEq7, &m.SensitivityEq7},
		{sparse.Eq8, &m.NormSquaredEq8, &m.SensitivityEq8},
		{sparse.Exact, &m.NormSquaredExact, &m.SensitivityExact},
	} {
		kk, err := model.NormSquared(v.bound, s.AssumedSpacing())
		if err != nil {
			return nil, err
		}
		*v.normSquared, *v.sensitivity = kk, sparse.JointSensitivity(s.Ratio, s.OutputBound, kk)
	}
	return out, nil
}
