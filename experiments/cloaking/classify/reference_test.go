package classify

import (
	"testing"

	"privkern/experiments/internal/trialtest"
)

// The values of the check values of classifiers, at the same ten points.
func TestReference(t *testing.T) {
	t.Run("mode", func(t *testing.T) {
		m := trialtest.Compute(t, trialtest.Options{}, Reference()).Metrics
		each(t,
			checked{"mean after one step", m.StepMean, 0.2603572842241785, 1e-12},
			checked{"f(0) at the mode", *m.ModeLatent, 0.5165556061294527, 1e-10},
		)
		if m.Steps < 3 || m.StepLatent == *m.ModeLatent || m.StepMean == *m.ModeMean {
			t.Errorf("%+v", m)
		}
	})
	t.Run("mode at the first step", func(t *testing.T) {
		flat := func(s *referenceSettings) { s.KernelVariance = 1e-12 }
		m := trialtest.Compute(t, trialtest.Options{}, Reference(), flat).Metrics
		if m.Steps != 1 || m.ModeLatent != nil || m.ModeMean != nil {
			t.Errorf("%+v", m)
		}
	})
}
