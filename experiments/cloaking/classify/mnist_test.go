package classify

import (
	"testing"

	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
)

func TestDigits(t *testing.T) {
	folder := t.TempDir()
	cloaktest.Digits(t, folder)
	s := trialtest.Options{Folder: folder}
	clean := trialtest.Compute(t, s, Digits(), func(s *digitsSettings) { noiseless(&s.ClassifierSettings) }).Metrics
	noisy := trialtest.Compute(t, s, Digits()).Metrics
	if a, b := clean.Accuracy, noisy.Accuracy; !(a > 0.7 && b > 0.6 && b < a) {
		t.Errorf("accuracy %g without noise, %g with it", a, b)
	}
	if *noisy.Rank != 15 || clean.Rank != nil {
		t.Errorf("rank %g with 15 inducing inputs, %v without noise", *noisy.Rank, clean.Rank)
	}
	if clean.Chance < 0.5 || clean.Chance > 0.6 || clean.Chance != noisy.Chance {
		t.Errorf("chance %g without noise, %g with it", clean.Chance, noisy.Chance)
	}
	_, err := Digits().Resolve(map[string]any{"inducing": 257})
	trialtest.Refuses(t, err, "only 256 training rows")
}
