package nearest

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/kahm/own"
	"privkern/experiments/kahm/wide"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

const (
	// given is why the settings of the data sets keep their values.
	given = "the test gives the data"
	alone = "it has one value"
	above = "TestWhereSettingsOfPipelinesApply has it"
	// members is why membership keeps its value.
	members = "TestMembership has it"
)

// The scenario has an effect on digits only.
func TestWhereScenariosApply(t *testing.T) {
	p := Federated().Params
	i := slices.IndexFunc(p, func(p experiment.Param) bool { return p.Name == "scenario" })
	if got := Federated().Applies(p[i].Name); got != "where dataset is mnist" {
		t.Errorf("scenario applies %s", got)
	}
}

// machines returns a number of branches.
func machines(n int) experiment.Or[wide.Rounding, int] { return experiment.NumberOr[wide.Rounding](n) }

// heldImages returns the settings of the data, held.
func heldImages(s *Images) []inert.Setting {
	return []inert.Setting{inert.Held(&s.Dataset, alone), inert.Held(&s.Train, given), inert.Held(&s.Test, given),
		inert.Held(&s.Pixels, given)}
}

// heldOwn returns the settings of the user's own data, held for TestWhereSettingsOfOwnDataApply.
func heldOwn(d *own.Table) (held []inert.Setting) {
	for _, field := range []any{&d.Inputs, &d.Output, &d.Low, &d.High, &d.Holdout, &d.SplitSource, &d.Person.Person,
		&d.RowsPerPerson, &d.Invalid.Invalid} {
		held = append(held, inert.Held(field, "TestWhereSettingsOfOwnDataApply has it"))
	}
	return held
}

// heldPipeline returns the settings that all classifiers share, held.
func heldPipeline(p *wide.Pipeline) (held []inert.Setting) {
	for _, field := range []any{&p.Epsilon, &p.Delta, &p.D, &p.N, &p.Layers, &p.Branches, &p.Lambda, &p.Variant,
		&p.Clusters, &p.Starts, &p.Smoothing} {
		held = append(held, inert.Held(field, above))
	}
	return held
}

// A setting has no effect exactly where its declaration states it.
func TestWhereSettingsOfPipelinesApply(t *testing.T) {
	inert.Conditions[ClassifierSettings, TrialMetrics]{
		Of: Classifier(),
		Common: func(s *ClassifierSettings) {
			s.N, s.Layers, s.Branches, s.Epsilon, s.Score.Score = 4, 2, machines(3), 4, false
		},
		Bases: map[string]func(*ClassifierSettings){
			"original":                 func(s *ClassifierSettings) { s.Data = wide.Original },
			"noisy":                    func(s *ClassifierSettings) { s.Data = wide.Noisy },
			"noisy, but without noise": func(s *ClassifierSettings) { s.Data, s.Epsilon = wide.Noisy, math.Inf(1) },
			"noisy clusters":           func(s *ClassifierSettings) { s.Data, s.Clusters = wide.Noisy, wide.NoisyClusters },
			"one machine a class":      func(s *ClassifierSettings) { s.Data, s.Branches = wide.Noisy, machines(1) },
			"fabricated":               func(s *ClassifierSettings) { s.Data = wide.Fabricated },
			"fabricated without noise": func(s *ClassifierSettings) { s.Data, s.Epsilon = wide.Fabricated, math.Inf(1) },
			"as published":             func(s *ClassifierSettings) { s.Data, s.Variant = wide.Fabricated, wide.AsPublished },
		},
		Others: func(s *ClassifierSettings) []inert.Setting {
			return append(append(heldImages(&s.Images), heldOwn(&s.Table)...), inert.Held(&s.Membership, members),
				inert.Values(&s.Data, wide.Original, wide.Noisy, wide.Fabricated),
				inert.Values(&s.Epsilon, 2, math.Inf(1)), inert.Values(&s.Delta, 0.2), inert.Values(&s.D, 2),
				inert.Values(&s.N, 3, 2, 1), inert.Values(&s.Layers, 1, 3),
				inert.Values(&s.Branches, machines(2), machines(3)),
				inert.Values(&s.Lambda, wide.Exact, wide.Authors),
				inert.Values(&s.Variant, wide.AsPublished, wide.Corrected),
				inert.Values(&s.Clusters, wide.OriginalClusters, wide.NoisyClusters),
				inert.Values(&s.Starts, 20), inert.Values(&s.Smoothing, 0, 1),
				inert.Held(&s.Score.Score, "below"), inert.Held(&s.Points, "below"), inert.Held(&s.Grid, "below"))
		},
		Run: func(s *ClassifierSettings) (*experiment.Outcome[TrialMetrics], error) {
			return classifiedWithDistances(t, s)
		},
	}.Check(t)
}

// classifiedWithDistances returns an outcome with the distances of the test points, because
// accuracies differ for few settings.
func classifiedWithDistances(t *testing.T, s *ClassifierSettings) (*experiment.Outcome[TrialMetrics], error) {
	trial, d := trialtest.New(t, trialtest.Options{Seed: 3, Workers: 2}), formulaData()
	r, err := evaluate(t.Context(), trial, s.Data, &s.Pipeline, &s.Score, d)
	if err != nil {
		return nil, err
	}
	b, err := wide.NewBuilder(trial, engine.Of(trial.Engine), s.Data, &s.Pipeline)
	if err != nil {
		return nil, err
	}
	c, err := classifyBy(t.Context(), trial, b, d.train, d)
	if err != nil {
		return nil, err
	}
	r.series["test"] = experiment.Series{"distance": mat.Col(nil, 0, c.nearest.Distance)}
	return outcomeOf(r), nil
}

func outcomeOf(r *evaluation) *experiment.Outcome[TrialMetrics] {
	return &experiment.Outcome[TrialMetrics]{Metrics: TrialMetrics{ClassifierMetrics: r.ClassifierMetrics},
		Series: r.series, Privacy: r.privacy,
		Warnings: r.warnings}
}

func TestWhereSettingsOfScoresApply(t *testing.T) {
	inert.Conditions[ClassifierSettings, TrialMetrics]{
		Of: Classifier(),
		Common: func(s *ClassifierSettings) {
			s.N, s.Layers, s.Points = 4, 2, trialtest.WordOr[int](wide.All)
		},
		Bases: map[string]func(*ClassifierSettings){
			"with":    func(*ClassifierSettings) {},
			"without": func(s *ClassifierSettings) { s.Score.Score = false },
		},
		Others: func(s *ClassifierSettings) []inert.Setting {
			return append(slices.Concat(heldImages(&s.Images), heldOwn(&s.Table), heldPipeline(&s.Pipeline)),
				inert.Held(&s.Data, above), inert.Held(&s.Membership, members), inert.Values(&s.Score.Score, true, false),
				inert.Values(&s.Points, experiment.NumberOr[wide.Whole](50)),
				inert.Values(&s.Grid, PublishedGrid))
		},
		Run: func(s *ClassifierSettings) (*experiment.Outcome[TrialMetrics], error) {
			trial := trialtest.New(t, trialtest.Options{Seed: 3, Workers: 2})
			r, err := evaluate(t.Context(), trial, s.Data, &s.Pipeline, &s.Score, formulaData())
			if err != nil {
				return nil, err
			}
			return outcomeOf(r), nil
		},
	}.Check(t)
}

func TestWhereSettingsOfPartiesApply(t *testing.T) {
	inert.Conditions[FederatedSettings, FederatedMetrics]{
		Of:     Federated(),
		Common: func(s *FederatedSettings) { s.N, s.Layers = 4, 2 },
		Bases: map[string]func(*FederatedSettings){
			"halves":    func(s *FederatedSettings) { s.Scenario = halvedClass },
			"at random": func(s *FederatedSettings) { s.Scenario, s.Parties = randomShares, 2 },
		},
		Others: func(s *FederatedSettings) []inert.Setting {
			return append(slices.Concat(heldImages(&s.Images), heldOwn(&s.Table), heldPipeline(&s.Pipeline)),
				inert.Held(&s.Party, "TestFederationOfOwnRows has it"), inert.Held(&s.Scenario, "below"),
				inert.Values(&s.Parties, 3),
				inert.Values(&s.Data, wide.Original), inert.Values(&s.Centralised, false))
		},
		Run: func(s *FederatedSettings) (*experiment.Outcome[FederatedMetrics], error) {
			return federateDigits(t.Context(), trialtest.New(t, trialtest.Options{Seed: 3, Workers: 2}), s, formulaData())
		},
	}.Check(t)
}
