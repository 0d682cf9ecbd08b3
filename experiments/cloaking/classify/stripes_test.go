package classify

import (
	"testing"

	"privkern/experiments/internal/trialtest"
)

// The orders of Section 5.5, at fixed seeds: two noisy steps are worse than one,
// and one is worse than none with noise. The grid has 50 points of each class.
func TestStripes(t *testing.T) {
	_, truth := stripesTest(5)
	if positiveShare(truth) != 0.5 {
		t.Errorf("share of positive test points %g", positiveShare(truth))
	}
	accuracy := func(change func(*ClassifierSettings)) (sum float64) {
		for seed := range uint64(4) {
			r := trialtest.Compute(t, trialtest.Options{Seed: seed}, Stripes(), onStripes(change))
			sum += r.Metrics.Accuracy / 4
		}
		return sum
	}
	one := accuracy(func(*ClassifierSettings) {})
	two := accuracy(func(s *ClassifierSettings) { s.Iterations, s.Draws = steps(2), 10 })
	none := accuracy(noiseless)
	if !(two+0.05 < one && one+0.05 < none && none > 0.75 && two < 0.62) {
		t.Errorf("accuracy %.3f with two steps, %.3f with one, %.3f without noise", two, one, none)
	}
}

func TestStripesOfOneClass(t *testing.T) {
	_, err := trialtest.Try(t, trialtest.Options{}, Stripes(), func(s *stripesSettings) { s.Width = 100 })
	trialtest.Refuses(t, err, "all 200 training points are of one class")
}
