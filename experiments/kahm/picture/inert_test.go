package picture

import (
	"math"
	"testing"

	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// heldImages returns the settings of the images, held because the tests give the samples.
func heldImages(s *Images) []inert.Setting {
	const given = "the test gives the data"
	return []inert.Setting{inert.Held(&s.Dataset, "it has one value"), inert.Held(&s.Digit, given),
		inert.Held(&s.Images, given)}
}

// A setting has no effect exactly where its declaration states it.
func TestWhereSettingsOfToyApply(t *testing.T) {
	inert.Conditions[ToySettings, ToyMetrics]{
		Of: Toy(),
		Common: func(s *ToySettings) {
			s.Shape, s.Samples, s.Grid, s.N, s.Layers = SwissRoll, 60, 20, experiment.NumberOr[wide.Whole](2), 2
		},
		Bases: map[string]func(*ToySettings){
			"original":                 func(*ToySettings) {},
			"noisy":                    func(s *ToySettings) { s.Data, s.Epsilon = wide.Noisy, 8 },
			"noisy, but without noise": func(s *ToySettings) { s.Data = wide.Noisy },
			"fabricated":               func(s *ToySettings) { s.Data, s.Epsilon = wide.Fabricated, 8 },
			"fabricated without noise": func(s *ToySettings) { s.Data = wide.Fabricated },
			"as published": func(s *ToySettings) {
				s.Data, s.Epsilon, s.Variant = wide.Fabricated, 8, wide.AsPublished
			},
		},
		Others: func(s *ToySettings) []inert.Setting {
			return []inert.Setting{
				inert.Values(&s.Shape, Spiral, Helix), inert.Values(&s.Samples, 40), inert.Values(&s.SD, 0.1),
				inert.Values(&s.Data, wide.Original, wide.Noisy, wide.Fabricated),
				inert.Values(&s.Epsilon, 2, math.Inf(1)), inert.Values(&s.Delta, 0.2), inert.Values(&s.D, 2),
				inert.Values(&s.Variant, wide.AsPublished, wide.Corrected), inert.Values(&s.Steps, 0, 1),
				inert.Values(&s.N, experiment.NumberOr[wide.Whole](3)), inert.Values(&s.Layers, 1),
				inert.Values(&s.Grid, 6),
			}
		},
		Run: func(s *ToySettings) (*experiment.Outcome[ToyMetrics], error) {
			return runToy(t.Context(), trialtest.New(t, trialtest.Options{Seed: 1, Workers: 2}), s)
		},
	}.Check(t)
}

func TestWhereSettingsOfFabricationApply(t *testing.T) {
	inert.Conditions[FabricationSettings, FabricationMetrics]{
		Of:     Fabrication(),
		Common: func(s *FabricationSettings) { s.Images.Images, s.N = 60, 4 },
		Bases: map[string]func(*FabricationSettings){
			"corrected":     func(*FabricationSettings) {},
			"without noise": func(s *FabricationSettings) { s.Epsilon = math.Inf(1) },
			"as published":  func(s *FabricationSettings) { s.Variant = wide.AsPublished },
		},
		Others: func(s *FabricationSettings) []inert.Setting {
			return append(heldImages(&s.Images),
				inert.Values(&s.Epsilon, 2, math.Inf(1)), inert.Values(&s.Delta, 0.2), inert.Values(&s.D, 2),
				inert.Values(&s.N, 3), inert.Values(&s.Variant, wide.AsPublished, wide.Corrected),
				inert.Values(&s.Steps, 0), inert.Values(&s.Shown, 2))
		},
		Run: func(s *FabricationSettings) (*experiment.Outcome[FabricationMetrics], error) {
			trial := trialtest.New(t, trialtest.Options{Seed: 1, Workers: 2})
			return runFabrication(t.Context(), trial, s, formulaImages())
		},
	}.Check(t)
}

func TestWhereSettingsOfLayersApply(t *testing.T) {
	inert.Conditions[LayersSettings, LayersMetrics]{
		Of:     Layers(),
		Common: func(s *LayersSettings) { s.Images.Images, s.N, s.Layers = 60, 4, 2 },
		Bases:  map[string]func(*LayersSettings){"two layers": func(*LayersSettings) {}},
		Others: func(s *LayersSettings) []inert.Setting {
			return append(heldImages(&s.Images),
				inert.Values(&s.N, 3), inert.Values(&s.Layers, 1), inert.Values(&s.Sample, 4))
		},
		Run: func(s *LayersSettings) (*experiment.Outcome[LayersMetrics], error) {
			trial := trialtest.New(t, trialtest.Options{Seed: 1, Workers: 2})
			return runLayers(t.Context(), trial, s, formulaImages())
		},
	}.Check(t)
}
