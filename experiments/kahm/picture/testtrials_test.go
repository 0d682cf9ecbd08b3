package picture

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/fit"
	"privkern/runner/experiment"
)

// formulaImages are 60 samples of twelve columns in place of images of a digit.
func formulaImages() *mat.Dense { return fit.FormulaClass(0, 60, 12) }

// fabricate runs kahm/fabrication on formulaImages, with 5 directions and a change.
func fabricate(t *testing.T, workers int, change func(*FabricationSettings),
) (*FabricationSettings, *experiment.Outcome[FabricationMetrics]) {
	t.Helper()
	s := Fabrication().With(func(s *FabricationSettings) { s.Images.Images, s.N = 60, 5; change(s) })
	if _, err := Fabrication().Resolved(s); err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(t, trialtest.Options{Seed: 1, Workers: workers})
	out, err := runFabrication(t.Context(), trial, s, formulaImages())
	if err != nil {
		t.Fatal(err)
	}
	checkOutcome(t, out)
	return s, out
}

// passThrough runs kahm/layers on formulaImages, with a change.
func passThrough(t *testing.T, change func(*LayersSettings)) (*LayersSettings, *experiment.Outcome[LayersMetrics]) {
	t.Helper()
	s := Layers().With(func(s *LayersSettings) { s.Images.Images = 60; change(s) })
	if _, err := Layers().Resolved(s); err != nil {
		t.Fatal(err)
	}
	out, err := runLayers(t.Context(), trialtest.New(t, trialtest.Options{Seed: 1}), s, formulaImages())
	if err != nil {
		t.Fatal(err)
	}
	checkOutcome(t, out)
	return s, out
}

// runOfToy runs kahm/toy with a change.
func runOfToy(t *testing.T, workers int, change func(*ToySettings)) (*ToySettings, *experiment.Outcome[ToyMetrics]) {
	t.Helper()
	s := Toy().With(change)
	out, err := Toy().Compute(t.Context(), trialtest.New(t, trialtest.Options{Seed: 1, Workers: workers}), s)
	if err != nil {
		t.Fatal(err)
	}
	checkOutcome(t, out)
	return s, out
}

// checkOutcome fails the test where a metric is no number, and where the columns of a
// series differ in length.
func checkOutcome[M any](t *testing.T, out *experiment.Outcome[M]) {
	t.Helper()
	for name, v := range experiment.MetricValues(out.Metrics) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s is %g", name, v)
		}
	}
	for name, s := range out.Series {
		if len(s["x"]) == 0 {
			t.Errorf("the series %s has no x", name)
		}
		for column, v := range s {
			if len(v) != len(s["x"]) {
				t.Errorf("series %s, column %s has %d values for %d", name, column, len(v), len(s["x"]))
			}
		}
	}
}
