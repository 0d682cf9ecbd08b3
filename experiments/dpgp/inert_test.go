package dpgp

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/experiments/dpgp/sparse"
	"privkern/experiments/dpgp/sparse/sparsetest"
	"privkern/experiments/internal/inert"
	"privkern/experiments/internal/trialtest"
	"privkern/experiments/mechanism"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

func (s *severalKernel) others() []inert.Setting {
	return []inert.Setting{inert.Values(&s.Lengthscale, method.LengthscalesOf(1.3)),
		inert.Values(&s.KernelVariance, 1.2)}
}

// others are for [ownFile].
func (o *ownColumns) others() []inert.Setting {
	return []inert.Setting{
		inert.Held(&o.Dataset, "the bases vary it"), inert.Values(&o.Inputs, "z"), inert.Values(&o.Output, "v"),
		inert.Values(&o.InputLow, experiment.SeveralOf[method.None](-2)),
		inert.Values(&o.InputHigh, experiment.SeveralOf[method.None](7)),
		inert.Values(&o.InducingFile, "csv:rows.csv", withoutFile), inert.Values(&o.Holdout, 0.4),
		inert.Values(&o.Person.Person, "id", method.NoColumn), inert.Values(&o.RowsPerPerson, 2),
		inert.Values(&o.Invalid.Invalid, method.Clamp),
	}
}

// ownFile is a user's file with two inputs, x and z, labels or numbers y and v, texts, and persons.
func ownFile(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,z,y,v,kind,id\n")
	for i := range 40 {
		x, z := 0.13*float64(i), float64(7*i%11)/2
		fmt.Fprintf(&b, "%g,%g,%d,%d,%s,%d\n", x, z, (i/5+i*i%3)%2, i/10%2, []string{"low", "middle", "high"}[i/14],
			i%20)
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkConditions holds the conditions of an experiment against its trials, on [ownFile].
func checkConditions[S, M any](t *testing.T, c inert.Conditions[S, M]) {
	t.Helper()
	file := ownFile(t)
	c.Run = func(s *S) (*experiment.Outcome[M], error) {
		return c.Of.Compute(t.Context(), trialtest.New(t, trialtest.Options{File: file}), s)
	}
	t.Run(c.Of.Name, c.Check)
}

// A setting has no effect exactly where its declaration states so.
func TestWhereSettingsApply(t *testing.T) {
	checkConditions(t, classificationConditions())
	checkConditions(t, hyperparameterConditions())
}

// ownClasses are the settings of a trial on [ownFile].
func ownClasses(s *ClassificationSettings) {
	s.Dataset, s.Delta, s.Epsilon, s.Repeats, s.Jitter = "csv:rows.csv", 0.01, 4, 30, 1e-4
	s.InputLow, s.InputHigh = experiment.SeveralOf[method.None](0), experiment.SeveralOf[method.None](5)
	s.Regularisation = sparse.RegularisationCorrected
}

func classificationConditions() inert.Conditions[ClassificationSettings, classificationMetrics] {
	return inert.Conditions[ClassificationSettings, classificationMetrics]{
		Of: classification(),
		Common: func(s *ClassificationSettings) {
			s.N, s.Inducing.Count, s.Repeats, s.Epsilon = 60, 4, 1, 5
		},
		Bases: map[string]func(*ClassificationSettings){
			"noise": func(*ClassificationSettings) {}, "no noise": func(s *ClassificationSettings) { s.Epsilon = math.Inf(1) },
			"Eq. (4)": func(s *ClassificationSettings) { s.Bound = sparse.Eq4 },
			"a list":  func(s *ClassificationSettings) { s.Inducing = sparsetest.Seven() },
			"own":     ownClasses,
			"own, whitened": func(s *ClassificationSettings) {
				ownClasses(s)
				s.Features = sparse.WhitenedFeatures
			},
			"own, persons": func(s *ClassificationSettings) {
				ownClasses(s)
				s.Person.Person = "id"
			},
			"own, inducing inputs in a file": func(s *ClassificationSettings) {
				ownClasses(s)
				s.InducingFile = "csv:rows.csv"
			},
		},
		Others: func(s *ClassificationSettings) []inert.Setting {
			out := slices.Concat(
				sparsetest.OtherBudgets(&s.Budget), sparsetest.OtherInducingInputs(&s.InducingInputs),
				s.severalKernel.others(), sparsetest.OtherRatios(&s.NoiseRatio),
				sparsetest.OtherRowBounds(&s.RowBound), sparsetest.OtherUpdates(&s.UpdateSettings), s.ownColumns.others())
			return append(out, inert.Values(&s.Composition, equalShares),
				inert.Values(&s.Neighbours.Neighbours, method.AddRemove),
				inert.Values(&s.Features, sparse.WhitenedFeatures, sparse.KernelFeatures), inert.Values(&s.Centre, leastCentre),
				inert.Values(&s.Alpha, 0.1), inert.Held(&s.Probabilities, "TestJudgedProbabilities has it"),
				inert.Values(&s.Classes, 4), inert.Values(&s.N, 50), inert.Values(&s.Repeats, 2),
				inert.Values(&s.SplitSource, method.CommonSplits),
				inert.Held(&s.Membership, "it records what an attack reads, and changes no metric"),
				inert.Held(&s.Canaries, "TestCanaries of package method has it"))
		},
	}
}

// ownChoices are the settings of a choice from [ownFile].
func ownChoices(s *searchSettings) {
	end := endAt
	s.Dataset, s.Output, s.Epsilon, s.Repeats, s.Inducing.Count = "csv:rows.csv", "y", 5, 6, 3
	s.Features = sparse.WhitenedFeatures
	s.InputLow, s.InputHigh = experiment.SeveralOf[method.None](0), experiment.SeveralOf[method.None](5)
	s.OutputLow, s.OutputHigh, s.Blocks, s.Jitter = end(0), end(1), 4, 1e-4
}

func hyperparameterConditions() inert.Conditions[searchSettings, hyperparameterMetrics] {
	return inert.Conditions[searchSettings, hyperparameterMetrics]{
		Of: hyperparameters(),
		Common: func(s *searchSettings) {
			s.N, s.Inducing.Count, s.Repeats, s.Gamma, s.Epsilon, s.Delta = 200, 7, 3, 0.2, 5000, 0.01
			s.Sigmas, s.Lengthscales = []float64{0.1, 0.3}, []float64{1, 2}
		},
		Bases: map[string]func(*searchSettings){
			"noise": func(*searchSettings) {}, "no noise": func(s *searchSettings) { s.Epsilon = math.Inf(1) },
			"Eq. (4)": func(s *searchSettings) { s.Bound = sparse.Eq4 },
			"a list":  func(s *searchSettings) { s.Inducing = sparsetest.Seven() },
			"own":     ownChoices,
			"own, persons": func(s *searchSettings) {
				ownChoices(s)
				s.Person.Person = "id"
			},
			"own, inducing inputs in a file": func(s *searchSettings) {
				ownChoices(s)
				s.InducingFile = "csv:rows.csv"
			},
		},
		Others: func(s *searchSettings) []inert.Setting {
			out := slices.Concat(
				sparsetest.OtherBudgets(&s.Budget), sparsetest.OtherInducingInputs(&s.InducingInputs),
				sparsetest.OtherOutputBounds(&s.ClippedOutputs), sparsetest.OtherRatios(&s.NoiseRatio),
				sparsetest.OtherRowBounds(&s.RowBound), sparsetest.OtherUpdates(&s.UpdateSettings), s.ownColumns.others())
			end := endAt
			out = append(out, inert.Values(&s.OutputLow, end(-0.5)), inert.Values(&s.OutputHigh, end(2)),
				inert.Values(&s.Blocks, 3), inert.Values(&s.ScoreRange, 0.01, 0.1, 30))
			return append(out, inert.Values(&s.Gamma, 0.3), inert.Values(&s.KernelVariance, 1.2),
				inert.Values(&s.Rule, mechanism.SelectionAsPublished),
				inert.Values(&s.CoinPress, mechanism.IntervalsPublished), inert.Values(&s.Sigmas, []float64{0.1, 0.4}),
				inert.Values(&s.Lengthscales, []float64{0.5, 2}), inert.Values(&s.N, 50), inert.Values(&s.Sigma, 0.2),
				inert.Values(&s.Repeats, 2), inert.Held(&s.Features, "own data have whitened ones alone, which is checked"))
		},
	}
}
