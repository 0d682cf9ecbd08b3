package choose

import (
	"math"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

// change is of the settings of a trial.
type change = func(*selectionSettings)

// oneOf is a grid of one configuration.
func oneOf(lengthscale, noise, kernel float64) change {
	return func(s *selectionSettings) {
		s.candidates = candidates{[]float64{lengthscale}, []float64{noise}, []float64{kernel}}
	}
}

// lengthscales is a grid of them, with variances of one.
func lengthscales(values ...float64) change {
	return func(s *selectionSettings) { s.candidates = candidates{values, []float64{1}, []float64{1}} }
}

func noiseless(s *selectionSettings) { s.Epsilon = math.Inf(1) }

func asPublished(s *selectionSettings) { s.Bound = Published }

// none is a bound that is absent, and atMost one that is not.
var none = trialtest.WordOr[float64](method.Absent)

func atMost(v float64) method.End { return experiment.NumberOr[method.None](v) }

// all makes one change of several.
func all(changes ...change) change {
	return func(s *selectionSettings) {
		for _, c := range changes {
			c(s)
		}
	}
}

func unchanged(*selectionSettings) {}

// compute runs a trial, which must not fail.
func compute(t *testing.T, s trialtest.Options, changes ...change) *experiment.Outcome[selectionMetrics] {
	t.Helper()
	return trialtest.Compute(t, s, Selection(), changes...)
}

// openSelector is a selector of a trial.
func openSelector(t *testing.T, folder string, changes ...change) *selector {
	t.Helper()
	settings := Selection().With(changes...)
	if _, err := Selection().Resolved(settings); err != nil {
		t.Fatal(err)
	}
	s, err := newSelector(trialtest.New(t, trialtest.Options{Folder: folder}), settings)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
