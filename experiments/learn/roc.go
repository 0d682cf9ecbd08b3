package learn

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// ROC returns the receiver operating characteristic of a score that is to be
// larger for the positive rows: the shares of the negative and of the positive
// rows whose score is at least a threshold, for every threshold from above the
// largest score down, one point for each distinct score. Both run from 0 to 1
// and never fall; rows of equal score share a point.
//
// Scores may be infinite. It returns an error where a list is empty or holds
// NaN.
// It takes O(n log n) operations.
func ROC(positive, negative []float64) (fpr, tpr []float64, err error) {
	fpr, tpr = []float64{0}, []float64{0}
	err = eachThreshold(positive, negative, func(above, aboveNegative int) {
		tpr = append(tpr, float64(above)/float64(len(positive)))
		fpr = append(fpr, float64(aboveNegative)/float64(len(negative)))
	})
	if err != nil {
		return nil, nil, err
	}
	return fpr, tpr, nil
}

// AUC returns the area under the [ROC] curve: the probability that a random
// positive row has a larger score than a random negative one, equal scores
// counted half (the Mann-Whitney statistic, exact in integers). The errors are
// those of ROC.
// Each threshold adds a trapezium: the step in the false positives times the mean of the
// true positives before and after it, which counts pairs of equal scores half.
func AUC(positive, negative []float64) (float64, error) {
	var area float64 // twice the area, in pairs of rows: exact below 2^53
	var tp, fp int
	err := eachThreshold(positive, negative, func(above, aboveNegative int) {
		area += float64(above+tp) * float64(aboveNegative-fp)
		tp, fp = above, aboveNegative
	})
	if err != nil {
		return math.NaN(), err
	}
	return area / 2 / float64(len(positive)) / float64(len(negative)), nil
}

// Advantage returns the largest |TPR − FPR| over all thresholds, the gain over a coin of the best
// attacker who compares the score with a threshold (the membership advantage of Yeom, Giacomelli,
// Fredrikson and Jha, "Privacy risk in machine learning", CSF 2018; also the two-sample
// Kolmogorov-Smirnov distance). The errors are those of [ROC].
func Advantage(positive, negative []float64) (float64, error) {
	best := 0.0
	err := eachThreshold(positive, negative, func(above, aboveNegative int) {
		best = max(best, math.Abs(float64(above)/float64(len(positive))-float64(aboveNegative)/float64(len(negative))))
	})
	if err != nil {
		return math.NaN(), err
	}
	return best, nil
}

// MacroAUC returns the mean over the classes of the [AUC] of one class against
// all others. scores (n×C) are larger the more a row looks like the class of
// the column; labels are the n classes, from 0. It returns an error where the
// lengths differ, a label is out of range, a class has no rows or all of them,
// or a score is NaN.
// Each class counts the same, however few its rows.
func MacroAUC(scores *mat.Dense, labels []int) (float64, error) {
	n, classes := scores.Dims()
	if n != len(labels) {
		return math.NaN(), fmt.Errorf("AUC: scores of %d rows, but %d labels", n, len(labels))
	}
	for i, l := range labels {
		if l < 0 || l >= classes {
			return math.NaN(), fmt.Errorf("AUC: row %d has label %d; the scores are for the classes 0 to %d", i, l, classes-1)
		}
	}
	sum := 0.0
	var own, others []float64
	for c := range classes {
		own, others = own[:0], others[:0]
		for i, l := range labels {
			if v := scores.At(i, c); l == c {
				own = append(own, v)
			} else {
				others = append(others, v)
			}
		}
		a, err := AUC(own, others)
		if err != nil {
			return math.NaN(), fmt.Errorf("class %d against the others: %w", c, err)
		}
		sum += a
	}
	return sum / float64(classes), nil
}

// eachThreshold calls visit for every distinct score, the largest first, with
// how many positive and how many negative rows have at least that score.
func eachThreshold(positive, negative []float64, visit func(above, aboveNegative int)) error {
	p, err := descending("positive", positive)
	if err != nil {
		return err
	}
	n, err := descending("negative", negative)
	if err != nil {
		return err
	}
	i, j := 0, 0
	for i < len(p) || j < len(n) {
		threshold := math.Inf(-1)
		if i < len(p) {
			threshold = p[i]
		}
		if j < len(n) {
			threshold = max(threshold, n[j])
		}
		for i < len(p) && p[i] == threshold {
			i++
		}
		for j < len(n) && n[j] == threshold {
			j++
		}
		visit(i, j)
	}
	return nil
}

// descending returns a sorted copy of scores; NaN has no place in an order.
func descending(name string, scores []float64) ([]float64, error) {
	if len(scores) == 0 {
		return nil, fmt.Errorf("AUC: no %s rows; both kinds are required", name)
	}
	for i, v := range scores {
		if math.IsNaN(v) {
			return nil, fmt.Errorf("AUC: the score of %s row %d is NaN; a number is required", name, i)
		}
	}
	s := slices.Clone(scores)
	slices.Sort(s)
	slices.Reverse(s)
	return s, nil
}
