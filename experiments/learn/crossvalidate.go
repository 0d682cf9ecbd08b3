package learn

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// CChoice is the result of [CrossValidateC].
// It has one accuracy for each C, in the order of the grid.
type CChoice struct {
	C        float64
	Accuracy []float64 // of each C of the grid, mean of the folds
}

// CrossValidateC returns the C of the grid with which a support vector machine predicts most
// accurately in cross-validation, the smallest of equals. The folds are [StratifiedFolds] from rng,
// the same for every C. The other options are those of [TrainSVM], whose errors it returns too.
//
// It trains folds × len(grid) machines. The accuracy of a fold counts 1/folds for every size, so
// that for folds of unequal sizes it is not the share of all rows.
func CrossValidateC(
	x *mat.Dense, labels []int, grid []float64, folds int, rng *rand.Rand, opts SVMOptions,
) (*CChoice, error) {
	if len(grid) == 0 {
		return nil, fmt.Errorf("cross-validation: no C to choose from")
	}
	if err := checkSamples("cross-validation", x, labels); err != nil {
		return nil, err
	}
	parts, err := StratifiedFolds(labels, folds, rng)
	if err != nil {
		return nil, err
	}
	choice := &CChoice{Accuracy: make([]float64, len(grid))}
	for _, part := range parts {
		train, test := SelectRows(x, part.Train), SelectRows(x, part.Test)
		trainLabels, testLabels := Select(labels, part.Train), Select(labels, part.Test)
		machines, failed, err := trainGrid(train, trainLabels, grid, opts)
		if err != nil {
			return nil, fmt.Errorf("cross-validation, C = %g: %w", grid[failed], err)
		}
		for g, m := range machines {
			choice.Accuracy[g] += Accuracy(m.Predict(test), testLabels) / float64(folds)
		}
	}
	best := slices.Max(choice.Accuracy)
	for g, c := range grid {
		// Sums in the same order: equal accuracies are equal to the last bit.
		if choice.Accuracy[g] == best && (choice.C == 0 || c < choice.C) {
			choice.C = c
		}
	}
	return choice, nil
}
