package choose

import (
	"fmt"
	"reflect"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/trialtest"
	"privkern/runner/experiment"
)

// Trials that differ in how a configuration is chosen evaluate the grid once, and have the results,
// in every bit, that they have alone; different evaluations are not shared.
func TestEvaluationsAreSharedAcrossChoices(t *testing.T) {
	folder := cloaktest.Census(t)
	grid := func(s *selectionSettings) {
		lengthscales(5, 25, 125)(s)
		s.Folds.Folds = 3
	}
	random := func(s *selectionSettings) {
		s.Algorithm, s.Steps, s.Start = cloak.Gradient, 5, trialtest.WordOr[float64](cloak.RandomStart)
	}
	drawn := func(s *selectionSettings) { s.NoiseInErrors = experiment.NumberOr[Expectation](3) }
	kept := new(trialtest.Kept)
	for i, c := range []struct {
		seed   uint64
		change change
		new    bool
	}{
		{1, unchanged, true},
		{1, func(s *selectionSettings) { s.Threshold = atMost(5) }, false},
		{1, func(s *selectionSettings) { s.Cut = atMost(1000) }, false},
		{1, func(s *selectionSettings) { s.SelectionEpsilon = 3 }, false},
		{2, unchanged, false}, // nothing is drawn
		{1, asPublished, true},
		{1, all(asPublished, func(s *selectionSettings) { s.Threshold = atMost(9.5) }), false},
		{1, noiseless, true},
		{1, func(s *selectionSettings) { s.Epsilon = 0.5 }, true},
		{1, func(s *selectionSettings) { s.Sensitivity = 90 }, true},
		{1, func(s *selectionSettings) { s.PublicLow = 70 }, true},
		{1, func(s *selectionSettings) { s.Normalisation = cloak.AsPublished }, true},
		{1, func(s *selectionSettings) { s.Split = EveryOther }, true},
		{1, func(s *selectionSettings) { s.Folds.Folds = 4 }, true},
		{1, func(s *selectionSettings) { s.FoldScheme = cloak.Interleaved }, true},
		{1, func(s *selectionSettings) { s.Lengthscales = []float64{5, 25, 126} }, true},
		{1, func(s *selectionSettings) { s.NoiseVariances = []float64{2} }, true},
		{1, func(s *selectionSettings) { s.Inputs = cloak.AgeAndWeight }, true},
		{1, func(s *selectionSettings) { s.Algorithm, s.Steps = cloak.Gradient, 5 }, true},
		{1, random, true},
		{2, random, true},
		{1, all(random, func(s *selectionSettings) { s.Steps = 6 }), true},
		{1, all(random, func(s *selectionSettings) { s.Starts = 2 }), true},
		{1, all(random, func(s *selectionSettings) { s.StartBelow = 0.2 }), true},
		{1, all(random, func(s *selectionSettings) { s.LearningRate = 0.1 }), true},
		{1, all(random, func(s *selectionSettings) { s.Columns = cloak.Separate }), true},
		{1, all(random, func(s *selectionSettings) { s.Scaling = cloak.Squared }), true},
		{1, all(random, func(s *selectionSettings) { s.Inverse = cloak.Pseudo }), true},
		{1, drawn, true},
		{2, drawn, true},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			alone := compute(t, trialtest.Options{Folder: folder, Seed: c.seed}, grid, c.change)
			before := kept.Done["evaluated models"]
			found := compute(t, trialtest.Options{Folder: folder, Seed: c.seed, Keeper: kept}, grid, c.change)
			if !reflect.DeepEqual(found, alone) {
				t.Errorf("with shared work %+v\nwithout %+v", found, alone)
			}
			if done := kept.Done["evaluated models"] > before; done != c.new {
				t.Errorf("evaluated anew: %v", done)
			}
		})
	}
}
