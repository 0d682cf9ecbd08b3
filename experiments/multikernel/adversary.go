package multikernel

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/graphs/engine"
	"privkern/graphs/kernel"
)

// What the adversaries choose from. γ is per feature of variance one.
var (
	adversaryPenalties  = []float64{1, 10, 100}
	adversaryGammas     = []float64{.5, 2}
	adversaryNeighbours = []int{1, 3, 9, 27}
)

const (
	adversaryFolds = 3
	adversaryTrees = 300
)

// scaled returns the features with every column scaled to mean zero and variance
// one over the training samples: directions in which people differ count as much
// as those in which activities do.
func (r *recognition) scaled() (train, test *mat.Dense) {
	if r.scaledTrain == nil {
		r.scaledTrain, r.scaledTest = mat.DenseCopyOf(r.features.Train), mat.DenseCopyOf(r.features.Test)
		standardise(r.scaledTrain, r.scaledTest)
	}
	return r.scaledTrain, r.scaledTest
}

// adversarySVM recognises people by an RBF machine. A program computes the kernel of all
// training samples once for each γ, in float64; the searches read their rows from it.
func (r *recognition) adversarySVM() error {
	train, test := r.scaled()
	samples, columns := train.Dims()
	e := engine.Of(r.Engine)
	var best struct {
		accuracy float64
		kernel   kernel.Kernel
		gram     *mat.Dense // N×N
		c        float64
	}
	best.accuracy = -1
	for _, g := range adversaryGammas {
		rbf := kernel.RBF(g / float64(columns))
		gram, err := rbf.Matrix64(r.ctx, e, train, train)
		if err != nil {
			return fmt.Errorf("adversary: %w", err)
		}
		// Equal names give equal streams: all γ see the same folds.
		choice, err := learn.CrossValidateC(learn.RowNumbers(0, samples), r.train.Privacy, adversaryPenalties,
			adversaryFolds, r.Stream("cross-validation of an adversary"),
			learn.SVMOptions{Kernel: learn.MatrixKernel(gram), Iterations: r.searches})
		if err != nil {
			return fmt.Errorf("adversary: %w", err)
		}
		for i, c := range adversaryPenalties {
			if c == choice.C && choice.Accuracy[i] > best.accuracy {
				best.accuracy, best.kernel, best.gram, best.c = choice.Accuracy[i], rbf, gram, c
			}
		}
	}
	cross, err := best.kernel.Matrix64(r.ctx, e, test, train)
	if err != nil {
		return fmt.Errorf("adversary: %w", err)
	}
	m, err := learn.TrainSVM(learn.RowNumbers(0, samples), r.train.Privacy, learn.SVMOptions{C: best.c,
		Kernel: learn.MatrixKernel(best.gram, cross), Iterations: r.searches})
	if err != nil {
		return fmt.Errorf("adversary: %w", err)
	}
	tested, _ := test.Dims()
	numbers := learn.RowNumbers(samples, tested)
	person, activity := r.pooled(m, numbers, func(int) int { return 0 }), r.pooled(m, numbers,
		func(i int) int { return r.test.Utility[i] })
	r.metrics.AdversaryPerson, r.metrics.AdversaryActivity = person, activity
	r.metrics.AdversarySVM = r.score(m.Predict(numbers), r.test.Privacy, "adversary: support vector machine")
	return nil
}

// pooled returns the share, in per cent, of groups of test samples whose person the
// machine names from all of them. A group is of one person, and of one part.
func (r *recognition) pooled(m *learn.SVM, samples *mat.Dense, part func(i int) int) float64 {
	type key struct{ person, part int }
	place := map[key]int{}
	var groups [][]int
	var people []int
	for i, person := range r.test.Privacy {
		k := key{person, part(i)}
		g, seen := place[k]
		if !seen {
			g = len(groups)
			place[k], groups, people = g, append(groups, nil), append(people, person)
		}
		groups[g] = append(groups[g], i)
	}
	return 100 * learn.Accuracy(m.PredictTogether(samples, groups), people)
}

func (r *recognition) adversaryNeighbours() error {
	train, test := r.scaled()
	parts, err := learn.StratifiedFolds(r.train.Privacy, adversaryFolds, r.Stream("cross-validation of an adversary"))
	if err != nil {
		return fmt.Errorf("adversary: %w", err)
	}
	e := engine.Of(r.Engine)
	sums := make([]float64, len(adversaryNeighbours))
	for _, part := range parts {
		var ks []int // in increasing order: those that there are samples for come first
		for _, k := range adversaryNeighbours {
			if k <= len(part.Train) {
				ks = append(ks, k)
			}
		}
		predicted, err := learn.NearestNeighbours(r.ctx, e, learn.SelectRows(train, part.Train),
			choose(r.train.Privacy, part.Train), learn.SelectRows(train, part.Test), ks...)
		if err != nil {
			return fmt.Errorf("adversary: %w", err)
		}
		for i := range ks {
			sums[i] += learn.Accuracy(predicted[i], choose(r.train.Privacy, part.Test))
		}
	}
	chosen := adversaryNeighbours[slices.Index(sums, slices.Max(sums))]
	predicted, err := learn.NearestNeighbours(r.ctx, e, train, r.train.Privacy, test, chosen)
	if err != nil {
		return fmt.Errorf("adversary: %w", err)
	}
	r.metrics.AdversaryNeighbours = r.score(predicted[0], r.test.Privacy, "adversary: nearest neighbours")
	return nil
}

func (r *recognition) adversaryForest() error {
	train, test := r.scaled()
	forest, err := learn.TrainForest(train, r.train.Privacy, r.Stream("forest of an adversary"),
		learn.ForestOptions{Trees: adversaryTrees, Workers: r.Workers})
	if err != nil {
		return fmt.Errorf("adversary: %w", err)
	}
	r.metrics.AdversaryForest = r.score(forest.Predict(test), r.test.Privacy, "adversary: random forest")
	return nil
}

// choose returns the elements at the given places.
func choose(labels, rows []int) []int {
	out := make([]int, len(rows))
	for i, row := range rows {
		out[i] = labels[row]
	}
	return out
}
