package privacygp

import (
	"context"
	"testing"

	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// Every setting does something: none is declared to do nothing.
func TestEverySettingDoesSomething(t *testing.T) {
	t.Run("example1", doesSomething(example1(), nil, func(s *example1Settings) []inert.Setting {
		return append(otherProcesses(&s.processSettings), inert.Values(&s.S, .3), inert.Values(&s.Xi, .4))
	}))
	t.Run("example2", doesSomething(example2(), func(s *example2Settings) { s.C.Number = .39 },
		func(s *example2Settings) []inert.Setting {
			return append(otherProcesses(&s.processSettings), inert.Values(&s.S1, .35), inert.Values(&s.S2, .7),
				inert.Values(&s.Xi1, .45), inert.Values(&s.Xi2, .45),
				inert.Values(&s.C, experiment.NumberOr[omission](.4), experiment.NumberOr[omission](.3)))
		}))
	t.Run("weak", doesSomething(weak(), nil, func(s *weakSettings) []inert.Setting {
		return append(otherProcesses(&s.processSettings), inert.Values(&s.SensitiveLow, .35),
			inert.Values(&s.SensitiveHigh, .7), inert.Values(&s.SensitiveCount, 3), inert.Values(&s.Xi, .4))
	}))
	t.Run("strong", doesSomethingAt(strong(), map[string]func(*strongSettings){
		"kernel": func(*strongSettings) {}, "weak": func(s *strongSettings) { s.Requirement = asWeak },
	}, func(s *strongSettings) []inert.Setting {
		return append(otherProcesses(&s.processSettings), inert.Values(&s.SensitiveLow, .35),
			inert.Values(&s.SensitiveHigh, .8), inert.Values(&s.SensitiveCount, 3), inert.Values(&s.Xi, .4),
			inert.Values(&s.Requirement, asWeak, kernelMatrix), inert.Values(&s.ThetaH, 8))
	}))
	t.Run("nested", doesSomething(nested(), nil, func(s *nestedSettings) []inert.Setting {
		return []inert.Setting{inert.Values(&s.Points, 6), inert.Values(&s.Theta, 8), inert.Values(&s.Theta0, 9),
			inert.Values(&s.C, .4), inert.Values(&s.Low, -.5), inert.Values(&s.High, 1.5), inert.Values(&s.Levels, 3)}
	}))
	t.Run("scaling", doesSomething(scaling(), func(s *scalingSettings) { s.Method = weakProgram },
		func(s *scalingSettings) []inert.Setting {
			return append(otherProcesses(&s.processSettings), inert.Values(&s.SensitiveLow, .35),
				inert.Values(&s.SensitiveHigh, .8), inert.Values(&s.SensitiveCount, 4), inert.Values(&s.Xi, .4),
				inert.Values(&s.Method, fastDraw))
		}))
	t.Run("uniform", doesSomething(uniform(), nil, func(s *uniformSettings) []inert.Setting {
		return []inert.Setting{inert.Values(&s.Points, 6), inert.Values(&s.Theta, 8), inert.Values(&s.Theta0, 9),
			inert.Values(&s.C, .4)}
	}))
	// On the boundary of the region, where the variants differ.
	t.Run("kernel-condition", doesSomething(kernelCondition(), func(s *kernelSettings) { s.Theta = 2.5 },
		func(s *kernelSettings) []inert.Setting {
			return []inert.Setting{inert.Values(&s.C, .4), inert.Values(&s.Theta, 8), inert.Values(&s.Theta0, 9),
				inert.Values(&s.D, 2), inert.Values(&s.Variant, asPublished)}
		}))
	t.Run("satellite", doesSomething(satellite(),
		func(s *satelliteSettings) { s.Points, s.Eccentricity, s.Alpha = 31, .05, .3 },
		func(s *satelliteSettings) []inert.Setting {
			return []inert.Setting{inert.Values(&s.Alpha, .4), inert.Values(&s.Quantity, angle),
				inert.Values(&s.Orbit, twoBody), inert.Values(&s.Eccentricity, .1), inert.Values(&s.Points, 30),
				inert.Values(&s.SegmentStart, .9), inert.Values(&s.SegmentEnd, 1.8),
				inert.Values(&s.Variant, asPublished)}
		}))
}

func otherProcesses(s *processSettings) []inert.Setting {
	return []inert.Setting{inert.Values(&s.Points, 6), inert.Values(&s.Theta, 8), inert.Values(&s.NoiseVariance, .02)}
}

func doesSomething[S, M any](
	x *experiment.Definition[S, M], base func(*S), others func(*S) []inert.Setting,
) func(*testing.T) {
	if base == nil {
		base = func(*S) {}
	}
	return doesSomethingAt(x, map[string]func(*S){"one": base}, others)
}

func doesSomethingAt[S, M any](
	x *experiment.Definition[S, M], bases map[string]func(*S), others func(*S) []inert.Setting,
) func(*testing.T) {
	return func(t *testing.T) {
		inert.Conditions[S, M]{Of: x, Bases: bases, Others: others,
			Run: func(s *S) (*experiment.Outcome[M], error) {
				return x.Compute(context.Background(), trialtest.New(t, options()), s)
			}}.Check(t)
	}
}
