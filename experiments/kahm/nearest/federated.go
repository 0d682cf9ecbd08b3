package nearest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"privkern/experiments/kahm/wide"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// Federated returns the experiment kahm/federated.
var Federated = experiment.Of(experiment.Declaration[*FederatedSettings, FederatedMetrics]{
	Name:    "kahm/federated",
	Version: 4,
	Summary: "digits, or your own rows, classified by the nearest machine of any party, and by machines of all in one " +
		"place",
	Source:   "Kumar, Moser and Fischer, Section 5.3 (Eq. 104), Section 6.3, Tables 8 to 10, Fig. 16",
	Datasets: func(s *FederatedSettings) []string { return []string{s.Dataset} },
	Tables:   func(s *FederatedSettings) []experiment.InputTable { return s.Spec(s.Dataset, s.Party).Tables() },
	Check:    checkFederated,
	Memory:   func(s *FederatedSettings) int64 { return memory(&s.Images, &s.Pipeline) },
	Instead: "it judges how good parties would be together, and has the rows of all in one place; each party makes a " +
		"file of its own rows, run trial kahm/classifier ... --rng secure --release NAME.json with the same inputs, low " +
		"and high, and run predict A.json B.json --at DATA unites them",
	Rules: []experiment.Rule[*FederatedSettings]{wide.VariantRule(
		func(s *FederatedSettings) (*wide.Data, *wide.Pipeline) { return &s.Data, &s.Pipeline })},
	Run: func(ctx context.Context, t *experiment.Trial, s *FederatedSettings,
	) (*experiment.Outcome[FederatedMetrics], error) {
		if s.isOwn() {
			return federateOwn(ctx, t, s)
		}
		d, err := s.read(t)
		if err != nil {
			return nil, err
		}
		return federateDigits(ctx, t, s, d)
	},
})

// checkFederated refuses parties without an image.
func checkFederated(s *FederatedSettings) error {
	if s.isOwn() {
		if s.Party == "" {
			return errors.New("party is not given: name the column that says whose a row is")
		}
		return checkOwn(&s.Images, &s.Table, &s.Pipeline, s.Party)
	}
	if err := s.check(); err != nil {
		return err
	}
	if s.Scenario == randomShares && s.Parties > s.Train {
		return fmt.Errorf("parties = %d: there are only %d training images to share", s.Parties, s.Train)
	}
	return s.CheckColumns(pixels)
}

// federateDigits shares the training samples out, and evaluates the global classifier.
func federateDigits(ctx context.Context, t *experiment.Trial, s *FederatedSettings, d *classData,
) (*experiment.Outcome[FederatedMetrics], error) {
	shares, parties := share(t, s, d)
	out, _, err := federate(ctx, t, s, &s.Pipeline, d, shares, parties)
	return out, err
}

// centralisedNote is the note on the privacy loss of two classifiers.
const centralisedNote = "epsilon and delta are those of each classifier alone: the parties' and the central one have " +
	"noise of their own on the same entries, and both together have (2ε, 2δ)"

// federate evaluates the global classifier of samples that are shared out among a number of
// parties, by machines of the pipeline p.
//
// The global classifier (Eq. 104) takes for each class the nearest machine of any party;
// it needs the distances of the parties' machines only, no party's samples. It is the
// classifier of one wide machine a class whose clusters are the parties' shares, each
// cut into branches in turn.
func federate(ctx context.Context, t *experiment.Trial, s *FederatedSettings, p *wide.Pipeline, d *classData,
	shares []wide.Source, number int) (*experiment.Outcome[FederatedMetrics], *classification, error) {
	e := engine.Of(t.Engine)
	b, err := wide.NewBuilder(t, e, s.Data, p)
	if err != nil {
		return nil, nil, err
	}
	defer frugal()()
	smallest := d.trainPoints
	for _, of := range shares {
		n, _ := of.Samples.Dims()
		smallest = min(smallest, n)
	}
	parties, err := classifyBy(ctx, t, b, shares, d)
	if err != nil {
		return nil, nil, err
	}
	out := new(experiment.Outcome[FederatedMetrics])
	out.Metrics = FederatedMetrics{Accuracy: parties.accuracy, Branches: float64(parties.machines),
		EvaluatedFraction: float64(parties.nearest.Evaluated) / float64(parties.nearest.Pairs),
		MissingClasses:    float64(number*d.classes - len(shares)), SmallestClass: float64(smallest)}
	unsafe, clustered := parties.nearest.Unsafe, parties.machines > len(shares)
	if s.Centralised {
		all := withSamples(d.train)
		central, err := classifyBy(ctx, t, b, all, d.unscored())
		if err != nil {
			return nil, nil, err
		}
		out.Metrics.AccuracyCentralised = &central.accuracy
		out.Metrics.Change = new(parties.accuracy - central.accuracy)
		unsafe += central.nearest.Unsafe
		clustered = clustered || central.machines > len(all)
	}
	out.Privacy, out.Warnings = d.privacy(b, clustered), e.Warnings()
	if out.Privacy != nil && s.Centralised {
		out.Privacy.Notes = append(out.Privacy.Notes, centralisedNote)
	}
	if unsafe > 0 {
		out.Warnings = append(out.Warnings, unsafeWarning(unsafe))
	}
	return out, parties, nil
}

// classifyBy builds the machines of all sources and classifies the test points by the
// nearest: a class that a source lacks has no machine there, and so an infinite
// distance.
func classifyBy(ctx context.Context, t *experiment.Trial, b *wide.Builder, sources []wide.Source, d *classData,
) (*classification, error) {
	model, err := b.Build(ctx, sources)
	if err != nil {
		return nil, err
	}
	return classify(ctx, t, model, d)
}

// unscored is the data set without a search of its own for the distances to all classes.
func (d *classData) unscored() *classData {
	other := *d
	other.scored = false
	return &other
}

// withSamples leaves out classes without samples. A class may have none where few
// training images are read.
func withSamples(sources []wide.Source) []wide.Source {
	return slices.DeleteFunc(slices.Clone(sources), func(s wide.Source) bool { return s.Samples.IsEmpty() })
}

// share gives every training image to one of a number of parties.
//
// Scenario 1 gives each class to one party of 10, scenario 2 the halves of each class to
// two of 20, scenario 3 random shares of all images to any number (Section 6.3). Parties
// are numbered from 1, in the order in which their sources come. Sizes differ by one at
// most in scenario 3.
func share(t *experiment.Trial, s *FederatedSettings, d *classData) (shares []wide.Source, parties int) {
	var party func(class, index, size int) int // from 1
	parties = 10
	switch s.Scenario {
	case classByParty:
		party = func(class, _, _ int) int { return class + 1 }
	case halvedClass:
		parties = 20
		party = func(class, index, size int) int {
			if index < size/2 {
				return 2*class + 1
			}
			return 2*class + 2
		}
	case randomShares:
		// As equal as possible, independently of the class.
		parties = s.Parties
		order := t.Stream("parties").Perm(d.trainPoints)
		next := 0
		party = func(int, int, int) int { next++; return order[next-1]%parties + 1 }
	}
	rows := make([][][]int, parties+1)
	for q := range rows {
		rows[q] = make([][]int, d.classes)
	}
	for c, of := range d.train {
		if of.Samples.IsEmpty() {
			continue
		}
		n, _ := of.Samples.Dims()
		for i := range n {
			q := party(c, i, n)
			rows[q][c] = append(rows[q][c], i)
		}
	}
	for q := 1; q <= parties; q++ {
		for c := range rows[q] {
			if of := rows[q][c]; of != nil {
				shares = append(shares, wide.Source{Class: c, Party: q, Samples: learn.SelectRows(d.train[c].Samples, of)})
			}
		}
	}
	return shares, parties
}
