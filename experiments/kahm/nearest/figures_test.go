package nearest

import (
	"fmt"
	"math"
	"os"
	"testing"

	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/printed"
	"privkern/experiments/kahm/wide"
	"privkern/runner/experiment"
)

// paperLedger returns the values that the paper prints.
func paperLedger(t *testing.T) *printed.Ledger {
	t.Helper()
	text, err := os.ReadFile("../ledger.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return printed.Read(text)
}

// finished returns an observation with the given metrics, as published but for a change.
func finished(data wide.Data, epsilon, accuracy, mis float64, change func(*ClassifierSettings)) experiment.Observation {
	s := Classifier().With(func(s *ClassifierSettings) {
		s.Data, s.Epsilon, s.Variant = data, epsilon, wide.AsPublished
		change(s)
	})
	return trialtest.Observe(Classifier(), s, 1, &experiment.Outcome[TrialMetrics]{
		Metrics: TrialMetrics{ClassifierMetrics: ClassifierMetrics{Accuracy: accuracy, MIS: &mis}},
		Series: map[string]experiment.Series{
			"distances": {"x": {1, 2, 3}, "train": {0.5, 0.5, 0}, "test": {0, 0.5, 0.5}},
		},
	})
}

func asItIs(*ClassifierSettings)      {}
func corrected(s *ClassifierSettings) { s.Variant = wide.Corrected }

func TestFigure12(t *testing.T) {
	var trials []experiment.Observation
	for _, data := range []wide.Data{wide.Noisy, wide.Fabricated} {
		for _, epsilon := range []float64{4, 1, 32} {
			trials = append(trials, finished(data, epsilon, 0.9, epsilon*1e-4-2e-4, asItIs))
		}
		trials = append(trials, finished(data, 32, 0.8, 0.1, func(s *ClassifierSettings) { s.N = 10 }))
	}
	trials = append(trials,
		finished(wide.Noisy, 4, 0.8, 6e-4, asItIs),   // another seed
		finished(wide.Noisy, 4, 0.7, 0.1, corrected), // one value is no curve
	)
	figure := Figure12(paperLedger(t))
	panels := trialtest.Panels(t, figure, trials)
	if len(panels) != 4 {
		t.Fatalf("%d panels", len(panels))
	}
	if got, want := panels[1].Title, "as-published: mis over ε"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	for _, l := range panels[0].Lines {
		if l.Name == "noisy (Def. 12)" && fmt.Sprint(l.X, l.Y) != "[1 4 32] [0.9 0.8500000000000001 0.9]" {
			t.Errorf("accuracy %v over %v", l.Y, l.X)
		}
		if l.Name == "fabricated (Def. 15), published" && (l.X[0] != 1 || l.Y[0] != 0.9491) {
			t.Errorf("published: %v over %v", l.Y, l.X)
		}
	}
	if n := len(panels[0].Lines); n != 4 {
		t.Errorf("%d lines of accuracy, want 2 and 2 published ones", n)
	}
	if n := len(panels[1].Lines); n != 5 {
		t.Errorf("%d lines of mis, want 2, 2 published ones and the noise", n)
	}
	if y := panels[1].Points[0].Y[0]; y != misFloor {
		t.Errorf("a negative score is drawn at %g", y)
	}
	if x := panels[2].Lines[0].X; fmt.Sprint(x) != "[10 20]" {
		t.Errorf("over n: %v", x)
	}
}

// Printed values are of all images, and are not drawn with trials of a few.
func TestFigure12OfAFewImages(t *testing.T) {
	few := func(s *ClassifierSettings) { s.Train = 2000 }
	panels := Figure12(paperLedger(t)).Draw([]experiment.Observation{
		finished(wide.Noisy, 1, 0.5, 1e-3, few), finished(wide.Noisy, 2, 0.6, 2e-3, few),
	})
	if len(panels) != 2 || len(panels[0].Lines) != 1 {
		t.Errorf("%+v", panels)
	}
}

// Trials without the score have curves of their accuracy alone.
func TestFigure12WithoutScores(t *testing.T) {
	var trials []experiment.Observation
	for _, epsilon := range []float64{1, 2} {
		s := Classifier().With(func(s *ClassifierSettings) {
			s.Data, s.Epsilon, s.Score.Score = wide.Noisy, epsilon, false
		})
		trials = append(trials, trialtest.Observe(Classifier(), s, 1, &experiment.Outcome[TrialMetrics]{
			Metrics: TrialMetrics{ClassifierMetrics: ClassifierMetrics{Accuracy: 0.9}},
		}))
	}
	panels := Figure12(paperLedger(t)).Draw(trials)
	if len(panels) != 1 || panels[0].YLabel != "accuracy" {
		t.Errorf("%+v", panels)
	}
}

func TestFigure13(t *testing.T) {
	before := finished(wide.Original, math.Inf(1), 0.9, 0.36, corrected)
	trials := []experiment.Observation{
		finished(wide.Fabricated, 1, 0.9, 0.01, asItIs),
		before,
		finished(wide.Fabricated, 16, 0.9, 0.06, corrected),
		finished(wide.Fabricated, 16, 0.9, 0.05, asItIs),
		finished(wide.Fabricated, 32, 0.9, 0.07, asItIs),
	}
	panels := trialtest.Panels(t, Figure13(), trials)
	if len(panels) != 2 || panels[0].Title != "training samples: mis 0.36" ||
		panels[1].Title != "fabricated, ε = 16, as-published: mis 0.05" {
		t.Fatalf("%+v", panels)
	}
	if got := panels[0].Bars[0].Edges; fmt.Sprint(got) != "[0.5 1.5 2.5 3.5]" {
		t.Errorf("edges %v of the bins 1, 2, 3", got)
	}
	if got := Figure13().Draw(trialtest.WithoutSeries(trials)); got != nil {
		t.Errorf("%d panels of trials without series", len(got))
	}
	if panels := Figure13().Draw([]experiment.Observation{before}); len(panels) != 1 {
		t.Errorf("%d panels of the original samples alone", len(panels))
	}
	// Original samples of another subspace are no counterpart.
	other := finished(wide.Original, math.Inf(1), 0.9, 0.36, func(s *ClassifierSettings) { s.Layers = 4 })
	if panels := Figure13().Draw([]experiment.Observation{other, trials[0]}); len(panels) != 1 {
		t.Errorf("%d panels of machines with other layers", len(panels))
	}
}
