package choose

import (
	"math"
	"regexp"
	"testing"

	"privkern/experiments/cloaking/cloak"
	"privkern/experiments/cloaking/internal/cloaktest"
	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// A setting has no effect exactly where its declaration states so.
func TestWhereSettingsApply(t *testing.T) {
	census := trialtest.Options{Folder: cloaktest.Census(t), Workers: 2}
	rank, start := experiment.NumberOr[cloak.Full, int], experiment.NumberOr[cloak.Weights, float64]
	inert.Conditions[selectionSettings, selectionMetrics]{
		Of: Selection(),
		Run: func(s *selectionSettings) (*experiment.Outcome[selectionMetrics], error) {
			return Selection().Compute(t.Context(), trialtest.New(t, census), s)
		},
		Common: func(s *selectionSettings) {
			lengthscales(5, 25)(s)
			s.Folds.Folds = 2
		},
		Bases: map[string]change{
			"defaults": unchanged, "no noise": noiseless,
			"gradient": func(s *selectionSettings) { s.Algorithm, s.Steps = cloak.Gradient, 20 },
			"gradient, random": func(s *selectionSettings) {
				s.Algorithm, s.Steps, s.Start = cloak.Gradient, 20, trialtest.WordOr[float64](cloak.RandomStart)
			},
			"as published":  func(s *selectionSettings) { s.Normalisation = cloak.AsPublished },
			"auto, Eq. (9)": asPublished,
		},
		Others: func(s *selectionSettings) []inert.Setting {
			return []inert.Setting{
				inert.Values(&s.Inputs, cloak.AgeAndWeight), inert.Values(&s.Lengthscales, []float64{5, 30}),
				inert.Values(&s.NoiseVariances, []float64{1, 4}), inert.Values(&s.KernelVariances, []float64{2}),
				inert.Values(&s.SelectionEpsilon, 2), inert.Values(&s.Bound, Published, Exact),
				inert.Values(&s.Threshold, atMost(2), atMost(1.2), atMost(9.1)), inert.Values(&s.Cut, atMost(3), atMost(10)),
				inert.Values(&s.Split, All), inert.Values(&s.Folds.Folds, 3, 5), inert.Values(&s.FoldScheme, cloak.Interleaved),
				inert.Values(&s.Epsilon, 0.5, math.Inf(1)), inert.Values(&s.Delta, 0.001),
				inert.Values(&s.Calibration, mechanism.Analytic, mechanism.Hall), inert.Values(&s.Sensitivity, 90),
				inert.Values(&s.Normalisation, cloak.Public, cloak.AsPublished), inert.Values(&s.PublicLow, 70),
				inert.Values(&s.Algorithm, cloak.Gradient, cloak.Certified), inert.Values(&s.Rank, rank(2), rank(1)),
				inert.Values(&s.Steps, 3, 50), inert.Values(&s.LearningRate, 0.01, 1),
				inert.Values(&s.Start, start(0.3), start(0.01), start(3)), inert.Values(&s.StartBelow, 0.3),
				inert.Values(&s.Starts, 3, 12), inert.Values(&s.Columns, cloak.Separate), inert.Values(&s.Scaling, cloak.Squared),
				inert.Values(&s.Inverse, cloak.Pseudo),
				inert.Values(&s.NoiseInErrors, experiment.NumberOr[Expectation](2)),
			}
		},
	}.Check(t)
}

// Auto stands for the value that the bound requires.
func TestNormalisation(t *testing.T) {
	for _, c := range []struct {
		bound       Bound
		given, want cloak.Normalisation
	}{
		{Exact, cloak.Automatic, cloak.Public},
		{Exact, cloak.AsPublished, cloak.AsPublished},
		{Exact, cloak.Public, cloak.Public},
		{Published, cloak.Automatic, cloak.AsPublished},
		{Published, cloak.AsPublished, cloak.AsPublished},
		{Published, cloak.Public, cloak.Public},
	} {
		t.Run(experiment.NameOf(c.bound)+", "+experiment.NameOf(c.given), func(t *testing.T) {
			s := Selection().With(func(s *selectionSettings) {
				s.Bound, s.Normalisation, s.Sensitivity, s.PublicLow = c.bound, c.given, 80, 70
			})
			want := cloak.Heights{Sensitivity: 80, Normalisation: c.want, PublicLow: 70}
			if got := *s.heights(); got != want || s.Normalisation != c.given {
				t.Errorf("%+v of %+v, want %+v", got, s.Heights, want)
			}
		})
	}
}

// Where the lower end of the interval does nothing, both settings that decide so are
// named.
func TestPublicLowNamesWhatDecides(t *testing.T) {
	s := Selection().With(asPublished)
	p, err := Selection().Resolved(s)
	if err != nil {
		t.Fatal(err)
	}
	inert := Selection().Inert(Selection().SettingAt(s, &s.PublicLow), p)
	if inert == nil || inert.Where != "normalisation is auto and sensitivity is as-published" {
		t.Errorf("%+v", inert)
	}
}

// A design that stops at its cap, short of its tolerance, fails the trial with the reached and the
// wanted tolerance and the remedy.
func TestSelectionThatStopsShortFails(t *testing.T) {
	x := trialtest.New(t, trialtest.Options{Folder: cloaktest.Census(t)})
	s, err := newSelector(x, Selection().With(oneOf(5, 1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s.steps = 1
	want := regexp.MustCompile(`the interior-point method stopped after 1 steps at a certified gap of \d\S+ nats, and ` +
		`at most 2e-08 is wanted; use a smaller rank`)
	if _, err := s.run(t.Context()); err == nil || !want.MatchString(err.Error()) {
		t.Errorf("%v; it should match %s", err, want)
	}
}
