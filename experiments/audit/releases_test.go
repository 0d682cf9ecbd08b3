package audit

import (
	"context"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/mechanism"
	"privkern/experiments/release"
	"privkern/runner/experiment"
)

// Nothing is found in releases that are as they claim. The numbers of draws find the
// mutants of their paths ("audit: ..." in tests/mutants).
func TestReleases(t *testing.T) {
	long(t)
	for _, c := range []struct {
		name  string
		draws int
		of    func(context.Context) (Subject, error)
	}{
		{"predictions", 50_000, predictions},
		{"model", 12_000, sparseGP},
		{"classes", 12_000, twoSteps},
		{"person", 12_000, cloakingPerson},
		{"class person", 12_000, cloakingClassPerson},
		{"rows", 12_000, hullRelease},
		{"hull person", 50_000, hullPerson},
		{"choice", 12_000, cloakingSelection},
		{"two inputs", 2500, sparseGPInputs},
		{"classifier", 2500, sparseClassifier},
		{"person", 2500, sparseGPPerson},
		{"person of a classifier", 2500, sparseClassifierPerson},
		{"class means", 12_000, classMeans},
		{"largest class", 12_000, largestClass},
		{"blocks", 1500, func(ctx context.Context) (Subject, error) { return sparseChoice(ctx, 3) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := c.of(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s.Name = c.name
			if r := audit(t, s, Options{Draws: c.draws, Confidence: 0.999, Seed: 1}); r.Violation {
				t.Errorf("found: %v", r.Findings)
			}
		})
	}
}

func predictions(ctx context.Context) (Subject, error) {
	return cloakingRegression(ctx, mechanism.Analytic)
}

func twoSteps(ctx context.Context) (Subject, error) {
	return cloakingClassification(ctx, 2, [][]float64{oneInput})
}

// The searches reach the sensitivity: neighbours are as far apart as the Gaussian noise is
// calibrated for, and not further.
func TestNeighboursAreTheWorst(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    func(context.Context) (Subject, error)
		least float64
	}{
		{"predictions", predictions, 0.999},
		{"classes", func(ctx context.Context) (Subject, error) {
			return cloakingClassification(ctx, 1, [][]float64{classInputs})
		}, 0.999},
		{"two steps", twoSteps, 0.999},
		{"person", cloakingPerson, 0.999},
		{"class person", cloakingClassPerson, 0.999},
		{"model", sparseGP, 0.9},
		{"person", sparseGPPerson, 0.9},
		{"person of a classifier", sparseClassifierPerson, 0.9},
		{"class means", classMeans, 0.999},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := c.of(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if apart := s.Pairs[0].apart * s.Sigma; !(apart >= c.least && apart <= 1) {
				t.Errorf("the neighbours are %g of the sensitivity apart", apart)
			}
		})
	}
}

// A release depends on the data through its noisy numbers alone: equal numbers give equal
// releases. One with a private number besides them is found.
func TestReleasesFollowFromNoisyNumbers(t *testing.T) {
	for name, of := range map[string]func(context.Context) (Subject, error){
		"predictions": predictions,
		"two steps": func(ctx context.Context) (Subject, error) {
			return cloakingClassification(ctx, 2, [][]float64{classInputs})
		},
		"model":       sparseGP,
		"person":      sparseGPPerson,
		"rows":        hullRelease,
		"hull person": hullPerson,
		"class means": classMeans, "largest class": largestClass,
	} {
		t.Run(name, func(t *testing.T) {
			s, err := of(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range s.Pairs {
				if text, err := p.Follows(t.Context()); text != "" || err != nil {
					t.Errorf("%s: found %q, %v", p.Name, text, err)
				}
			}
		})
	}
	noise, err := release.Gaussian(oneNumber, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := planned{free: []*release.Plan{{
		Publish: func(_ context.Context, private *mat.Dense, source *release.Source) (*experiment.Release, error) {
			row, err := source.Add(noise, []float64{private.At(0, 0)})
			return &experiment.Release{Rows: [][]float64{{row[0], private.At(0, 1)}}}, err
		},
	}}}
	first, second := mat.NewDense(1, 2, []float64{0, 0.125}), mat.NewDense(1, 2, []float64{1, 0.25})
	want := "equal noisy numbers give"
	if text, err := p.follows(t.Context(), first, second); !strings.Contains(text, want) || err != nil {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
	second.Set(0, 1, 0.125)
	if text, err := p.follows(t.Context(), first, second); text != "" || err != nil {
		t.Errorf("with an equal second number %q, %v", text, err)
	}
}
