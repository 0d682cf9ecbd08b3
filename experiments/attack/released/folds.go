package released

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"privkern/experiments/learn"
	"privkern/experiments/learn/boost"
)

// parts is the number of folds in which the adversary without the file learns.
const parts = 5

// streamOf is the random stream of folds, which are no secret.
func streamOf() *rand.Rand { return rand.New(rand.NewPCG(2024, parts)) }

// partsOf are folds with a share of the members and of the others in each: the part of each unit.
func partsOf(member []bool) []int {
	labels, part := make([]int, len(member)), make([]int, len(member))
	for i, m := range member {
		if m {
			labels[i] = 1
		}
	}
	folds, err := learn.StratifiedFolds(labels, parts, streamOf())
	if err != nil {
		panic("released: " + err.Error()) // there are more units than parts
	}
	for k, f := range folds {
		for _, row := range f.Test {
			part[row] = k
		}
	}
	return part
}

// among returns the units of a part for which keep holds, and with inside = false those of the other parts.
func among(part []int, k int, inside bool, keep func(unit int) bool) (out []int) {
	for unit, p := range part {
		if (p == k) == inside && (keep == nil || keep(unit)) {
			out = append(out, unit)
		}
	}
	return out
}

// options are those of the learner without the file: small trees, since tables may have a hundred rows.
func options(rows int) boost.Options {
	return boost.Options{Rounds: 50, Leaves: 8, Least: max(5, min(20, rows/20))}
}

// classify learns labels at the rows of x (N×d), and returns scores of the classes at those of at (C×P).
func classify(x *mat.Dense, labels []int, classes int, at *mat.Dense) ([][]float64, error) {
	m, err := boost.Classification(x, labels, classes, options(len(labels)))
	if err != nil {
		return nil, err
	}
	return m.Scores(at), nil
}

// regress learns values at the rows of x (N×d), and returns predictions at those of at (P).
func regress(x *mat.Dense, values []float64, at *mat.Dense) ([]float64, error) {
	m, err := boost.Regression(x, values, options(len(values)))
	if err != nil {
		return nil, err
	}
	return m.Scores(at)[0], nil
}

// beside joins matrices of the same rows.
func beside(a, b *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Augment(a, b)
	return &out
}

// largest is the class with the largest score at row i.
func largest(scores [][]float64, i int) int {
	column := make([]float64, len(scores))
	for c := range scores {
		column[c] = scores[c][i]
	}
	return floats.MaxIdx(column)
}
