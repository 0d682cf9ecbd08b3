package regression

import (
	"testing"

	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// end is an end of a range.
func end(v float64) method.End { return experiment.NumberOr[method.None](v) }

// A setting has no effect exactly where its declaration states so.
func TestWhereSettingsApply(t *testing.T) {
	path := csv(t, "x,y,z,w\n0,0.1,1,1\n1,0.9,0,3\n2,0.2,2,2\n3,-0.7,1.5,1\n4,0.4,0.2,0\n5,0.1,3,2\n"+
		"6,0.5,1,1\n7,0.8,0.3,2\n8,0.1,1.2,0\n")
	own := func(s *Settings) {
		s.Dataset, s.Inputs, s.Output, s.Sensitive, s.Folds = "csv:"+path, "x+z", "y", "x:2..3", 3
		known("2", 0.7, 0.01)(s)
	}
	places := csv(t, "x,z,keep,less\n2,2,0.5,0.4\n5.5,1,0.2,0.1\n")
	others := csv(t, "x,z,keep,less\n2,2,0.5,0.4\n5,0.3,0.2,0.1\n")
	inert.Conditions[Settings, Metrics]{
		Of: Experiment(),
		Bases: map[string]func(*Settings){
			"simulated": known("0.2", 0.8, 0.03), "own": own,
			"own, estimated": func(s *Settings) { own(s); s.Hyperparameters = estimated },
			"own, of ranges": func(s *Settings) {
				own(s)
				s.Hyperparameters, s.Low, s.High = ranged, end(-1), end(1)
				s.InputLow, s.InputHigh = experiment.SeveralOf[method.None](0), experiment.SeveralOf[method.None](8)
			},
			"without noise":     func(s *Settings) { own(s); s.Noise = none },
			"own, of one input": func(s *Settings) { own(s); s.Inputs, s.Hyperparameters = "x", estimated },
			"a mean is given":   func(s *Settings) { own(s); s.Mean = number(0.2) },
			"a file of places":  func(s *Settings) { own(s); s.Sensitive = "csv:" + places },
			"tolerances in it": func(s *Settings) {
				own(s)
				s.Sensitive, s.XiColumn = "csv:"+places, "keep"
			},
			"a kernel condition":           func(s *Settings) { own(s); s.Requirement = byKernel },
			"a kernel condition, no noise": func(s *Settings) { own(s); s.Requirement, s.Noise = byKernel, none },
		},
		Others: func(s *Settings) []inert.Setting {
			return []inert.Setting{
				inert.Held(&s.Dataset, "the bases vary it"), inert.Values(&s.Inputs, "x", "x+z"), inert.Values(&s.Output, "w"),
				inert.Values(&s.Sensitive, "x:4..5", "x:0.1..0.3", "csv:"+others),
				inert.Values(&s.Xi, xi(0.3)), inert.Values(&s.XiUnit, ofOutput),
				inert.Values(&s.XiColumn, "less", noColumn), inert.Values(&s.Requirement, byKernel, byTolerance),
				inert.Values(&s.HKernel, hKernelName(4)), inert.Values(&s.HVariance, 0.2),
				inert.Values(&s.HLengthscales, "2.2"),
				inert.Values(&s.Noise, weak, strong, none), inert.Values(&s.Resolution, experiment.NumberOr[automatic](0.3)),
				inert.Values(&s.Kernel, 2), inert.Values(&s.Hyperparameters, given, estimated), inert.Values(&s.ARD, false),
				inert.Values(&s.Low, end(-2)), inert.Values(&s.High, end(3)),
				inert.Values(&s.InputLow, experiment.SeveralOf[method.None](-1)),
				inert.Values(&s.InputHigh, experiment.SeveralOf[method.None](9)),
				inert.Values(&s.Lengthscales, "1.5"), inert.Values(&s.ProcessVariance, 0.9), inert.Values(&s.NoiseVariance, 0.02),
				inert.Values(&s.Mean, number(0.4)), inert.Values(&s.Folds, 4), inert.Values(&s.Exports, 3),
				inert.Held(&s.Inducing, "the bases estimate a mean, which it refuses"),
				inert.Held(&s.MostRows, "it refuses rows and changes no result"),
			}
		},
		Run: func(s *Settings) (*experiment.Outcome[Metrics], error) {
			return Experiment().Compute(t.Context(), trialtest.New(t, trialtest.Options{}), s)
		},
	}.Check(t)
}
