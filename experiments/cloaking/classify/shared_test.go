package classify

import (
	"fmt"
	"reflect"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/method"
)

// Trials that differ in kernel or noise place their inducing inputs once, and have the results,
// in every bit, that they have alone.
func TestInducingInputsAreShared(t *testing.T) {
	folder := t.TempDir()
	cloaktest.Digits(t, folder)
	small := func(s *digitsSettings) { s.Train, s.Test, s.Draws, s.Inducing, s.Method = 30, 10, 2, 4, cloak.Sparse }
	kept := new(trialtest.Kept)
	for i, c := range []struct {
		seed   uint64
		change func(*digitsSettings)
		new    bool
	}{
		{1, func(*digitsSettings) {}, true},
		{1, func(s *digitsSettings) { s.Lengthscale = method.LengthscalesOf(300) }, false},
		{1, func(s *digitsSettings) { noiseless(&s.ClassifierSettings) }, false},
		{2, func(*digitsSettings) {}, true},
		{1, func(s *digitsSettings) { s.Inducing = 5 }, true},
		{1, func(s *digitsSettings) { s.Train = 29 }, true},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			alone := trialtest.Compute(t, trialtest.Options{Folder: folder, Seed: c.seed}, Digits(), small, c.change)
			before := kept.Done["inducing inputs"]
			found := trialtest.Compute(t, trialtest.Options{Folder: folder, Seed: c.seed, Keeper: kept}, Digits(), small,
				c.change)
			if !reflect.DeepEqual(found, alone) {
				t.Errorf("with shared work %+v\nwithout %+v", found, alone)
			}
			if done := kept.Done["inducing inputs"] > before; done != c.new {
				t.Errorf("placed anew: %v", done)
			}
		})
	}
}
