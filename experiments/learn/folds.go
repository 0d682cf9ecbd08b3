package learn

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Fold is one split of the rows 0..n-1. Both lists are in increasing order.
type Fold struct {
	Train, Test []int
}

// ContiguousFolds splits the rows 0..n-1 into k blocks of neighbouring rows,
// the first n mod k of them one row longer than the others (the sizes of
// numpy.array_split and of scikit-learn's KFold). It returns an error unless
// 2 ≤ k ≤ n.
// Neighbouring rows may be alike, as in a time series: a contiguous part is then harder
// to predict, and more honest, than a random one.
func ContiguousFolds(n, k int) ([]Fold, error) {
	rows := AllRows(n)
	return blocks(rows, k)
}

// InterleavedFolds puts row i into the test part of fold i mod k. It returns
// an error unless 2 ≤ k ≤ n.
// Every part then has its share of a file that is sorted.
func InterleavedFolds(n, k int) ([]Fold, error) {
	if err := checkFolds(n, k); err != nil {
		return nil, err
	}
	part := make([]int, n)
	for i := range part {
		part[i] = i % k
	}
	return FoldsOf(part, k), nil
}

// RandomFolds is [ContiguousFolds] of a random permutation of the rows.
func RandomFolds(n, k int, rng *rand.Rand) ([]Fold, error) {
	return blocks(rng.Perm(n), k)
}

// StratifiedFolds splits rows with class labels into k test parts at random,
// each with its share of every class: the numbers of rows of a class in two
// parts differ by one at most, and so do those of all rows. It returns an error
// unless 2 ≤ k ≤ the number of rows.
// Rows of a class are dealt in random order, each class where the one before it ended.
func StratifiedFolds(labels []int, k int, rng *rand.Rand) ([]Fold, error) {
	if err := checkFolds(len(labels), k); err != nil {
		return nil, err
	}
	_, members := byClass(labels)
	part := make([]int, len(labels))
	next := 0
	for _, rows := range members {
		for _, at := range rng.Perm(len(rows)) {
			part[rows[at]] = next % k
			next++
		}
	}
	return FoldsOf(part, k), nil
}

// blocks cuts the rows, in the order given, into k consecutive test parts.
func blocks(rows []int, k int) ([]Fold, error) {
	n := len(rows)
	if err := checkFolds(n, k); err != nil {
		return nil, err
	}
	part := make([]int, n)
	next := 0
	for f := range k {
		size := n / k
		if f < n%k {
			size++
		}
		for range size {
			part[rows[next]] = f
			next++
		}
	}
	return FoldsOf(part, k), nil
}

// FoldsOf lists, for every part, the rows inside it (test) and outside it
// (train).
func FoldsOf(part []int, k int) []Fold {
	folds := make([]Fold, k)
	for row, p := range part {
		for f := range folds {
			if f == p {
				folds[f].Test = append(folds[f].Test, row)
			} else {
				folds[f].Train = append(folds[f].Train, row)
			}
		}
	}
	return folds
}

// checkFolds is the error of all kinds of folds.
func checkFolds(n, k int) error {
	switch {
	case k < 2:
		return fmt.Errorf("%d folds: cross-validation needs at least 2", k)
	case k > n:
		return fmt.Errorf("%d folds of %d rows: there cannot be more folds than rows", k, n)
	}
	return nil
}

// SelectRows returns the given rows of x (len(rows)×d), in their order.
func SelectRows(x *mat.Dense, rows []int) *mat.Dense {
	_, d := x.Dims()
	out := mat.NewDense(len(rows), d, nil)
	for i, r := range rows {
		out.SetRow(i, x.RawRowView(r))
	}
	return out
}

// Select returns the values of the given rows, in their order.
func Select[T any](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = values[row]
	}
	return out
}

// AllRows returns the numbers from 0 below n.
func AllRows(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
