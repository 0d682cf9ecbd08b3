package multikernel

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
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

// adversarySVM recognises people by an RBF machine.
func (r *recognition) adversarySVM() error {
	train, test := r.scaled()
	_, columns := train.Dims()
	best, options := -1.0, learn.SVMOptions{}
	for _, g := range adversaryGammas {
		kernel := learn.RBFKernel(g / float64(columns))
		// Equal names give equal streams: all γ see the same folds.
		choice, err := learn.CrossValidateC(train, r.train.Privacy, adversaryPenalties, adversaryFolds,
			r.Stream("cross-validation of an adversary"), learn.SVMOptions{Kernel: kernel, Iterations: r.searches})
		if err != nil {
			return fmt.Errorf("adversary: %w", err)
		}
		for i, c := range adversaryPenalties {
			if c == choice.C && choice.Accuracy[i] > best {
				best, options = choice.Accuracy[i], learn.SVMOptions{C: c, Kernel: kernel, Iterations: r.searches}
			}
		}
	}
	m, err := learn.TrainSVM(train, r.train.Privacy, options)
	if err != nil {
		return fmt.Errorf("adversary: %w", err)
	}
	r.metrics.AdversarySVM = r.score(m.Predict(test), r.test.Privacy, "adversary: support vector machine")
	return nil
}

func (r *recognition) adversaryNeighbours() error {
	train, test := r.scaled()
	parts, err := learn.StratifiedFolds(r.train.Privacy, adversaryFolds, r.Stream("cross-validation of an adversary"))
	if err != nil {
		return fmt.Errorf("adversary: %w", err)
	}
	best, chosen := -1.0, 0
	for _, k := range adversaryNeighbours {
		sum := 0.0
		for _, part := range parts {
			if k > len(part.Train) {
				continue
			}
			predicted, err := learn.NearestNeighbours(learn.SelectRows(train, part.Train),
				choose(r.train.Privacy, part.Train), learn.SelectRows(train, part.Test), k)
			if err != nil {
				return fmt.Errorf("adversary: %w", err)
			}
			sum += learn.Accuracy(predicted, choose(r.train.Privacy, part.Test))
		}
		if sum > best {
			best, chosen = sum, k
		}
	}
	predicted, err := learn.NearestNeighbours(train, r.train.Privacy, test, chosen)
	if err != nil {
		return fmt.Errorf("adversary: %w", err)
	}
	r.metrics.AdversaryNeighbours = r.score(predicted, r.test.Privacy, "adversary: nearest neighbours")
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
