package dpgp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"privkern/experiments/dpgp/classmodel"
	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

var classification = classifiers.Experiment

var classifiers = method.Of(method.Method[ClassificationSettings, classificationMetrics, *ownClassifier]{
	Declaration: experiment.Declaration[*ClassificationSettings, classificationMetrics]{
		Name:    "dpgp/classification",
		Version: 5, // 5: one bound for all inputs is none of levels
		Summary: "classes predicted with protection of inputs and labels, through Dirichlet likelihoods",
		Source:  "Honkela 2021, Section 5, Appendix D",
		Tables:  func(s *ClassificationSettings) []experiment.InputTable { return s.ownColumns.tables() },
		Rules: []experiment.Rule[*ClassificationSettings]{{
			To:        func(s *ClassificationSettings) []any { return []any{&s.Inducing} },
			DecidedBy: func(s *ClassificationSettings) []any { return []any{&s.InducingFile} },
			Words:     "inducing_file is none",
			Holds:     func(s *ClassificationSettings) bool { return s.InducingFile == withoutFile },
		}, {
			To:        func(s *ClassificationSettings) []any { return []any{&s.Bound, &s.Spacing} },
			DecidedBy: func(s *ClassificationSettings) []any { return []any{&s.Dataset, &s.Features} },
			Words:     "dataset is simulated, or features is kernel",
			Holds:     func(s *ClassificationSettings) bool { return !s.isOwn() || s.Features == sparse.KernelFeatures },
		}},
		Complete: completeClassification,
		Check:    checkClassification,
		Memory: func(s *ClassificationSettings) int64 {
			if c := s.method(); c.IsOwn() {
				return s.inducing(s.Inducing).Memory(c.Spec(), 7.5)
			}
			return s.Memory(s.N, 10)
		},
		Run:          runClassification,
		CheckRelease: checkClassRelease,
		Written:      experiment.FormModel,
	},
	Task:     method.Classification,
	Settings: (*ClassificationSettings).method,
	Prepare:  prepareClassifier,
	Metrics:  (*ownClassifier).metrics,
	Advice: method.Advice{
		Noise:    "use a larger epsilon, fewer inducing inputs, or more rows",
		Settings: "choose lengthscale and inducing inputs anew, without looking at the data",
	},
	LargestOfRows: true, // as version 5 has it
	Taken:         classmodel.Taken,
})

// method returns the settings that every method has.
func (s *ClassificationSettings) method() method.Settings {
	out := s.ownColumns.method(&s.Budget.Budget, s.Repeats)
	out.CommonRows, out.Recorded, out.Planted = s.CommonRows, s.Recorded, s.Planted
	return out
}

func checkClassification(s *ClassificationSettings) error {
	if total := s.Delta * float64(s.Classes); s.Composition == wholeBudgets && total >= 1 {
		return fmt.Errorf("delta = %s for each of %d classes is %s in all, which guarantees nothing",
			experiment.FormatNumber(s.Delta), s.Classes, experiment.FormatNumber(total))
	}
	if s.isOwn() {
		return s.checkColumns(s.Inducing)
	}
	if err := s.ownColumns.checkSimulated(); err != nil {
		return err
	}
	if s.Lengthscale.IsWord || s.Inducing.Word != "" {
		return errors.New("lengthscale and inducing are auto for your own data alone")
	}
	if len(s.Lengthscale.Numbers) > 1 {
		return fmt.Errorf("lengthscale = %s: simulated data have one input", s.Lengthscale)
	}
	if err := s.CheckRows(s.N); err != nil {
		return err
	}
	_, err := s.model().NormSquared(s.CheapBound(), s.AssumedSpacing())
	return err
}

// model is that of simulated data.
func (s *ClassificationSettings) model() *sparse.Model {
	kernel := sparse.EQKernel{Lengthscale: s.Lengthscale.Numbers[0], SignalVariance: s.SignalVariance}
	return s.InducingInputs.Model(kernel, 1, s.Jitter) // the weights carry the noise
}

func runClassification(
	ctx context.Context, t *experiment.Trial, s *ClassificationSettings,
) (*experiment.Outcome[classificationMetrics], error) {
	c, err := newClassifier(t, s)
	if err != nil {
		return nil, err
	}
	shares, err := sparse.Repeat(ctx, c.Problem, s.Repeats, c.classifyOnce)
	if err != nil {
		return nil, err
	}
	warnings := c.Engine.Warnings()
	comparable := !c.Publishes()
	for _, o := range shares {
		if o.withoutNoise != nil && comparable {
			comparable = false
			warnings = append(warnings, "accuracy_without_noise is left out: "+o.withoutNoise.Error())
		}
	}
	m := classificationMetrics{Sensitivity: c.Noise.Sensitivity}
	m.SigmaA = c.Noise.SigmaA
	exact, best := 0.0, 0.0
	for _, o := range shares {
		k := 1 / float64(len(shares))
		m.Accuracy += k * o.noisy
		exact += k * o.exact
		best += k * o.best
		m.AccuracyChance += k * o.chance
	}
	m.AccuracyBest = &best
	if comparable {
		m.AccuracyWithoutNoise = &exact
	}
	return &experiment.Outcome[classificationMetrics]{
		Metrics: m, Series: map[string]experiment.Series{"classes": shares[0].series},
		Privacy: c.privacy(), Warnings: warnings,
	}, nil
}

// bound describes the bound on the norm of the vectors that are summed.
func (c *classifier) bound() string {
	if c.Model.Whitened != nil {
		return "of whitened features, whose squared norms are at most kernel_variance"
	}
	return "bound " + c.settings.Bound.String()
}

// withoutLastDigits rounds away the last digits, which products perturb.
func withoutLastDigits(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// compositionNotes describe the budget that the classes share.
var compositionNotes = map[composition]string{
	jointly:     "the sums of all classes are released as one query, whose sensitivity counts them all",
	equalShares: "each class has an equal share of epsilon and of delta: a row has a part in the sums of all",
	wholeBudgets: "as published, each class is given the whole budget; a row has a part in the sums of all, so that " +
		"the guarantee is that of all classes composed",
}

// privacy describes the protection by the published posteriors of all classes; nil without noise.
func (c *classifier) privacy() *experiment.Privacy {
	if c.Noise.SigmaA == 0 {
		return nil
	}
	privacy := &experiment.Privacy{
		Unit: c.settings.Neighbours.Neighbours.Unit(method.Person{}, "input and class"),
		Mechanism: "analytic Gaussian mechanism (Balle and Wang 2018) on the weighted sums A and B of a sparse GP for " +
			"each class (Honkela 2021, Section 5, Appendix D), " + c.bound(),
		Notes: []string{
			sparse.SimulatedNote,
			compositionNotes[c.settings.Composition],
			fmt.Sprintf("the weights 1/sigma² of Appendix D depend on the private labels; they are at most %.4g, which "+
				"the sensitivity takes into account", slices.Max(c.labels.w[:])),
			"how many rows there are, which classes there are, the kernel, alpha and the inducing inputs are taken as public",
			"every data set that is fitted (repeats) spends a budget of its own",
		},
	}
	privacy.State(withoutLastDigits(c.total.Epsilon), withoutLastDigits(c.total.Delta))
	c.settings.Neighbours.Neighbours.State(privacy)
	if c.settings.Centre == leastCentre {
		privacy.Notes = append(privacy.Notes, fmt.Sprintf("%.6g is taken off the transformed labels, "+
			"which depends on public settings alone", c.labels.centre))
	}
	return privacy
}
