package recognise

import (
	"testing"

	"privkern/experiments/internal/inert"
	"privkern/runner/experiment"
)

// A setting has no effect exactly where its declaration states so.
func TestWhereSettingsApply(t *testing.T) {
	t.Run("recognition", func(t *testing.T) {
		trial, all := new(steps).trial(t, 2), movements(4)
		method := func(m string) func(*HARSettings) { return func(s *HARSettings) { s.Method = m } }
		c := experiment.NumberOr[CrossValidation, float64]
		inert.Conditions[HARSettings, RecognitionMetrics]{
			Of: har(),
			Bases: map[string]func(*HARSettings){
				"snr": method("snr"), "upr": method("upr"), "uniform": method("uniform"), "alignment": method("alignment"),
				"utility-privacy": method("utility-privacy"),
			},
			Others: func(s *HARSettings) []inert.Setting {
				return []inert.Setting{
					inert.Held(&s.Dataset, "there is one for the test"), inert.Values(&s.Experiment, 2),
					inert.Values(&s.Method, "uniform", "single:rbf:0.001"), inert.Values(&s.RhoSNR, 0.5),
					inert.Values(&s.Rho, 1), inert.Values(&s.RhoPrime, 0.5), inert.Values(&s.Components, 3, 1),
					inert.Values(&s.Split, SplitRandom), inert.Values(&s.C, c(1e6), c(0.01)),
					inert.Values(&s.Standardise, true), inert.Values(&s.Adversaries, AllAdversaries),
				}
			},
			Run: func(s *HARSettings) (*experiment.Outcome[RecognitionMetrics], error) {
				return recognise(t.Context(), trial, &s.Recognition, all, division{test: 3}, harKernels[s.Experiment-1])
			},
		}.Check(t)
	})
	t.Run("reference", func(t *testing.T) {
		trial := new(steps).trial(t, 2)
		inert.Conditions[ReferenceSettings, ReferenceMetrics]{
			Of:    reference(),
			Bases: map[string]func(*ReferenceSettings){"defaults": defaults[ReferenceSettings]},
			Others: func(s *ReferenceSettings) []inert.Setting {
				return []inert.Setting{
					inert.Values(&s.Rows, 30), inert.Values(&s.Features, 4), inert.Values(&s.Kernels, "linear"),
					inert.Values(&s.Rho, 1), inert.Values(&s.RhoPrime, 0.5), inert.Values(&s.Components, 1),
				}
			},
			Run: func(s *ReferenceSettings) (*experiment.Outcome[ReferenceMetrics], error) {
				return reference().Compute(t.Context(), trial, s)
			},
		}.Check(t)
	})
}
