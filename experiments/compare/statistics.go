package compare

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// ratio is the number of test rows over that of training rows, n₂/n₁ of the corrected test.
const ratio = HeldOut / (1 - HeldOut)

// level is the probability of a wrong distinction.
const level = 0.05

// Mean is a score over splits.
type Mean struct {
	Mean float64 `json:"mean"`
	// StandardError is that of the mean over the splits, S/√k; nil for one split.
	StandardError *float64 `json:"standard_error"`
}

// meanOf returns the mean of scores, one a split, of which there is at least one.
func meanOf(scores []float64) Mean {
	if len(scores) == 1 {
		return Mean{Mean: scores[0]}
	}
	mean, variance := stat.MeanVariance(scores, nil)
	se := math.Sqrt(variance / float64(len(scores)))
	return Mean{mean, &se}
}

// correctedT returns the two-sided p-value of the corrected resampled t-test that two methods are alike, from the
// differences of their scores on the same splits, two or more, and the ratio of test rows to training rows (Nadeau and
// Bengio 2003, Section 3). Differences that are all equal are no chance, unless they are zero.
func correctedT(differences []float64, ratio float64) float64 {
	k := float64(len(differences))
	mean, variance := stat.MeanVariance(differences, nil)
	if variance == 0 {
		if mean == 0 {
			return 1
		}
		return 0
	}
	t := mean / math.Sqrt((1/k+ratio)*variance)
	return 2 * distuv.StudentsT{Sigma: 1, Nu: k - 1}.CDF(-math.Abs(t))
}

// holm returns p-values adjusted for their number by Holm's procedure: those below a level are distinctions of which
// with that probability at most any is wrong.
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	out, most := make([]float64, len(p)), 0.0
	for rank, i := range order {
		most = max(most, min(1, float64(len(p)-rank)*p[i]))
		out[i] = most
	}
	return out
}
