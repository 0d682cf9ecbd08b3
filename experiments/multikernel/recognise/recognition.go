package recognise

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/learn/infer"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// check refuses settings that would fail after the data were read.
func (r *Recognition) check(kernels string, activities int) error {
	if q := r.Components; q > activities-1 {
		return fmt.Errorf("%d components: %d activities have %d directions that distinguish them; "+
			"further ones hold noise alone", q, activities, activities-1)
	}
	_, err := r.spec(kernels)
	return err
}

// steps of a trial besides its kernels.
const recognitionSteps = 5

// recognise trains and tests on compressed features of the samples.
func recognise(ctx context.Context, t *experiment.Trial, s *Recognition, all Samples, d division,
	kernels string) (*experiment.Outcome[RecognitionMetrics], error) {
	r, err := newRecognition(ctx, t, s, all, d, kernels)
	if err != nil {
		return nil, err
	}
	return r.run()
}

// newRecognition computes the features that all classifiers of a trial share.
func newRecognition(ctx context.Context, t *experiment.Trial, s *Recognition, all Samples, d division,
	kernels string) (*recognition, error) {
	spec, err := s.spec(kernels)
	if err != nil {
		return nil, err
	}
	if err := all.complete(); err != nil {
		return nil, err
	}
	trainRows, testRows, err := d.split(all, s.Split, t.Stream("split"))
	if err != nil {
		return nil, err
	}
	train, test := all.take(trainRows), all.take(testRows)
	var warnings []string
	if s.Standardise {
		standardise(train.X, test.X)
	}
	_, columns := train.X.Dims()
	if n := ConstantColumns(train.X); n > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d features are constant over the training samples and carry "+
			"no information", n, columns))
	}
	e := engine.Of(t.Engine)
	total := len(spec.Kernels) + recognitionSteps
	if s.Adversaries == AllAdversaries {
		total += len(infer.Adversaries)
	}
	f, err := MakeFeatures(ctx, t, e, train, test.X, spec,
		func(done, _ int, what string) { t.Progress(done, total, what) })
	if err != nil {
		return nil, err
	}
	if w := NotCompressed(s.Components, f.Weights, columns); w != "" {
		warnings = append(warnings, w)
	}
	r := &recognition{Trial: t, ctx: ctx, settings: s, searches: learn.SVMIterations, features: f,
		train: train, test: test, warnings: warnings, done: len(spec.Kernels), total: total}
	r.metrics.addFeatures(spec, f)
	r.metrics.TrainSamples, r.metrics.TestSamples = float64(len(trainRows)), float64(len(testRows))
	return r, nil
}

// run trains the classifiers and tests them.
func (r *recognition) run() (*experiment.Outcome[RecognitionMetrics], error) {
	for _, step := range []func() error{r.utility, r.privacy, r.disclose, r.discloseMore} {
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	return &experiment.Outcome[RecognitionMetrics]{Metrics: r.metrics, Privacy: claimedPrivacy(),
		Warnings: slices.Concat(r.warnings, engine.Of(r.Engine).Warnings())}, nil
}

// claimedPrivacy states that there is no guarantee.
func claimedPrivacy() *experiment.Privacy {
	out := &experiment.Privacy{
		Unit:      "which person a sample is of",
		Mechanism: "compression of kernels, without noise (Chanyaswad, Chang and Kung 2017)",
		Notes: []string{
			"the paper calls people protected because a support vector machine with its settings names them about as often " +
				"as by chance (privacy_percent); that is the failure of one classifier and bounds no other",
			"adversary_percent is what other classifiers read off the same features, which follow from the kernel between " +
				"test and training samples",
		},
	}
	out.Withdraw("the kernels are compressed without noise, and there is no (epsilon, delta)")
	return out
}

// complete wants samples of every person at every activity.
func (s Samples) complete() error {
	if len(s.Utility) == 0 {
		return errors.New("there are no samples of these activities")
	}
	type group struct{ person, activity int }
	seen := map[group]bool{}
	for i, u := range s.Utility {
		seen[group{s.Privacy[i], u}] = true
	}
	for _, p := range Distinct(s.Privacy) {
		for _, u := range Distinct(s.Utility) {
			if !seen[group{p, u}] {
				return fmt.Errorf("person %d has no samples at activity %d (counted from 0): every person must have every "+
					"activity", p, u)
			}
		}
	}
	return nil
}

// NotCompressed warns where the compressed features of the kernels that have a weight
// are not fewer than the features of the samples, as the paper requires: ΣQ < M
// (Section III-D). It returns "" where they are.
func NotCompressed(components int, weights []float64, features int) string {
	sum := 0
	for _, w := range weights {
		if w != 0 {
			sum += components
		}
	}
	if sum < features {
		return ""
	}
	return fmt.Sprintf("nothing is compressed: the kernels have %d components together and the samples %d features; the "+
		"paper requires fewer components than features", sum, features)
}

// Distinct are the different labels, in increasing order.
func Distinct(labels []int) []int {
	d := slices.Clone(labels)
	slices.Sort(d)
	return slices.Compact(d)
}

// ConstantColumns is the number of columns with one value.
func ConstantColumns(x *mat.Dense) int {
	n, columns := x.Dims()
	varies := make([]bool, columns)
	first := x.RawRowView(0)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			varies[j] = varies[j] || v != first[j]
		}
	}
	constant := 0
	for _, v := range varies {
		if !v {
			constant++
		}
	}
	return constant
}

// recognition is the state that the classifiers of a trial share.
type recognition struct {
	*experiment.Trial
	ctx         context.Context
	settings    *Recognition
	searches    int // cap on the iterations of a support vector machine
	features    *Features
	train, test Samples
	metrics     RecognitionMetrics
	warnings    []string
	c           float64
	done, total int
}

// step reports that a step is done.
func (r *recognition) step(what string) {
	r.done++
	r.Progress(r.done, r.total, what)
}

// score returns the share of labels that are predicted, in per cent, and reports that
// a step is done.
func (r *recognition) score(predicted, labels []int, what string) float64 {
	r.step(what)
	return 100 * learn.Accuracy(predicted, labels)
}

// penalties is the grid over which C is cross-validated. Kernels of trace one have entries of about
// 1/N, so that C is large; and windows that overlap fall into different folds, which favours large
// ones further.
var penalties = []float64{100, 1e3, 1e4, 1e5, 1e6, 1e7}

const crossValidationFolds = 5

func (r *recognition) utility() (err error) {
	r.c = r.settings.C.Number
	if r.settings.C.Is(CrossValidated) {
		choice, err := learn.CrossValidateC(r.features.Train, r.train.Utility, penalties, crossValidationFolds,
			r.Stream("cross-validation of C"), learn.SVMOptions{Iterations: r.searches})
		if err != nil {
			return fmt.Errorf("utility_percent: %w; or give c", err)
		}
		r.c = choice.C
		if r.c == penalties[len(penalties)-1] {
			r.warnings = append(r.warnings, fmt.Sprintf("cross-validation of C: the best is %g, the largest that was tried",
				r.c))
		}
	}
	r.metrics.C = r.c
	if r.metrics.Utility, err = r.machine(r.train.Utility, r.test.Utility, "activities recognised"); err != nil {
		return fmt.Errorf("utility_percent: %w", err)
	}
	return nil
}

func (r *recognition) privacy() (err error) {
	if r.metrics.Privacy, err = r.machine(r.train.Privacy, r.test.Privacy, "people recognised"); err != nil {
		return fmt.Errorf("privacy_percent: %w", err)
	}
	return nil
}

func (r *recognition) machine(train, test []int, what string) (percent float64, err error) {
	m, err := learn.TrainSVM(r.features.Train, train, learn.SVMOptions{C: r.c, Iterations: r.searches})
	if err != nil {
		return 0, err
	}
	return r.score(m.Predict(r.features.Test), test, what), nil
}

func (r *recognition) disclose() error {
	d, err := Disclose(r.ctx, r.Trial, r.features, r.train, r.test, r.step)
	m := &r.metrics
	m.AdversarySVM, m.AdversaryActivity, m.AdversaryPerson = d.SVM, d.Activity, d.Person
	m.AdversaryNeighbours, m.AdversaryForest, m.Adversary = d.Neighbours, d.Forest, d.Strongest()
	return err
}
