package multikernel

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/internal/fault"
	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

var recognitionMetrics = []experiment.Metric{
	{Name: "utility_percent", Unit: "%", Doc: "test samples of which the support vector machine recognises the activity"},
	{Name: "privacy_percent", Unit: "%", Doc: "test samples of which the same machine, with the same C, recognises the person: what the paper calls privacy, where small is good"},
	{Name: "adversary_percent", Unit: "%", Doc: "the largest of the adversary_*_percent: what of the person the compressed features tell at least"},
	{Name: "adversary_svm_percent", Unit: "%", Doc: "people recognised by an RBF machine on standardised features, its C and γ cross-validated"},
	{Name: "adversary_knn_percent", Unit: "%", Doc: "people recognised by nearest neighbours on standardised features, their number cross-validated"},
	{Name: "adversary_forest_percent", Unit: "%", Doc: "people recognised by a random forest of 300 trees"},
	{Name: "c", Doc: "C of the machine behind utility_percent and privacy_percent: as given, or as cross-validated for activities"},
	{Name: "rank", Doc: "rank of the multi-kernel"},
	{Name: "train_samples", Doc: "samples trained on"},
	{Name: "test_samples", Doc: "samples tested on"},
	{Name: "weight_*", Doc: "weight_rbf: weight of the kernel; kernels of one family are numbered from 1 in their order, as weight_rbf_1"},
	{Name: "snr_*", Doc: "score of the kernel (Eq. 20), with the method snr"},
	{Name: "upr_*", Doc: "utility-to-privacy ratio of the kernel (Eq. 23), with the method upr"},
}

// checkRecognition refuses what would fail after the data were read.
func checkRecognition(p experiment.Params, kernels []string, activities int) error {
	if q := p.Int("components"); q > activities-1 {
		return fmt.Errorf("%d components: %d activities have %d directions that tell them apart; further ones hold noise alone", q, activities, activities-1)
	}
	_, err := specOf(p, kernels)
	return err
}

// steps of a trial besides its kernels.
const recognitionSteps = 5

// recognise trains and tests on compressed features of the samples.
func recognise(ctx context.Context, t *experiment.Trial, all Samples, d division, kernels []string) (result *experiment.Result, err error) {
	spec, err := specOf(t.Params, kernels)
	if err != nil {
		return nil, err
	}
	if err := all.complete(); err != nil {
		return nil, err
	}
	trainRows, testRows, err := d.split(all, t.Params.Text("split"), t.Stream("split"))
	if err != nil {
		return nil, err
	}
	train, test := all.take(trainRows), all.take(testRows)
	var warnings []string
	if t.Params.Flag("standardise") {
		standardise(train.X, test.X)
	}
	if n := constantColumns(train.X); n > 0 {
		_, columns := train.X.Dims()
		warnings = append(warnings, fmt.Sprintf("%d of %d features are constant over the training samples and tell nothing", n, columns))
	}
	e, err := engine.Open(t.Backend, t.DType, t.Workers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	total := len(spec.kernels) + recognitionSteps
	f, err := MakeFeatures(ctx, e, train, test.X, spec, func(done, _ int, what string) { t.Progress(done, total, what) })
	if err != nil {
		return nil, err
	}
	r := recognition{Trial: t, searches: fault.Capped(ctx, learn.SVMIterations), features: f, train: train, test: test,
		metrics: featureMetrics(spec, f), done: len(spec.kernels), total: total}
	r.metrics["train_samples"], r.metrics["test_samples"] = float64(len(trainRows)), float64(len(testRows))
	for _, step := range []func() error{r.utility, r.privacy, r.adversarySVM, r.adversaryNeighbours, r.adversaryForest} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := step(); err != nil {
			return nil, err
		}
	}
	r.metrics["adversary_percent"] = max(r.metrics["adversary_svm_percent"], r.metrics["adversary_knn_percent"], r.metrics["adversary_forest_percent"])
	return &experiment.Result{Metrics: r.metrics, Privacy: claimedPrivacy(), Warnings: slices.Concat(warnings, r.warnings, e.Warnings())}, nil
}

// claimedPrivacy says that there is no guarantee.
func claimedPrivacy() *experiment.Privacy {
	out := &experiment.Privacy{
		Unit:      "which person a sample is of",
		Mechanism: "compression of kernels, without noise (Chanyaswad, Chang and Kung 2017)",
		Notes: []string{
			"the paper calls people protected because a support vector machine with its settings names them about as often as by chance (privacy_percent); that is the failure of one classifier and bounds no other",
			"adversary_percent is what other classifiers read off the same features, which follow from the kernel between test and training samples",
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
	for _, p := range distinct(s.Privacy) {
		for _, u := range distinct(s.Utility) {
			if !seen[group{p, u}] {
				return fmt.Errorf("person %d has no samples at activity %d (counted from 0): every person must have every activity", p, u)
			}
		}
	}
	return nil
}

func distinct(labels []int) []int {
	d := slices.Clone(labels)
	slices.Sort(d)
	return slices.Compact(d)
}

func constantColumns(x *mat.Dense) int {
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

// recognition is what the classifiers of a trial share.
type recognition struct {
	*experiment.Trial
	searches    int // cap on the iterations of a support vector machine
	features    *Features
	train, test Samples
	metrics     map[string]float64
	warnings    []string
	c           float64
	done, total int
	// Standardised features, for adversaries.
	scaledTrain, scaledTest *mat.Dense
}

func (r *recognition) finish(metric string, predicted, labels []int, what string) {
	r.metrics[metric] = 100 * learn.Accuracy(predicted, labels)
	r.done++
	r.Progress(r.done, r.total, what)
}

// penalties are what C is cross-validated over. Kernels of trace one have
// entries of about 1/N, so that C is large; and windows that overlap fall into
// different folds, which favours large ones further.
var penalties = []float64{100, 1e3, 1e4, 1e5, 1e6, 1e7}

const crossValidationFolds = 5

func (r *recognition) utility() error {
	if r.Params.Text("c") == "cv" {
		choice, err := learn.CrossValidateC(r.features.Train, r.train.Utility, penalties, crossValidationFolds,
			r.Stream("cross-validation of C"), learn.SVMOptions{Iterations: r.searches})
		if err != nil {
			return fmt.Errorf("utility_percent: %w; or give c", err)
		}
		r.c = choice.C
		if r.c == penalties[len(penalties)-1] {
			r.warnings = append(r.warnings, fmt.Sprintf("cross-validation of C: the best is %g, the largest that was tried", r.c))
		}
	} else {
		r.c = r.Params.Float("c")
	}
	r.metrics["c"] = r.c
	return r.machine("utility_percent", r.train.Utility, r.test.Utility, "activities recognised")
}

func (r *recognition) privacy() error {
	return r.machine("privacy_percent", r.train.Privacy, r.test.Privacy, "people recognised")
}

func (r *recognition) machine(metric string, train, test []int, what string) error {
	m, err := learn.TrainSVM(r.features.Train, train, learn.SVMOptions{C: r.c, Iterations: r.searches})
	if err != nil {
		return fmt.Errorf("%s: %w", metric, err)
	}
	r.finish(metric, m.Predict(r.features.Test), test, what)
	return nil
}
