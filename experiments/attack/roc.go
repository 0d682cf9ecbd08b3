package attack

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a mean over models, with its interval of 95 % by Student's distribution.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// intervalOf returns the mean of independent values of two models or more.
func intervalOf(values []float64) Interval {
	mean, sd := stat.MeanStdDev(values, nil)
	n := float64(len(values))
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(.975) * sd / math.Sqrt(n)
	return Interval{Mean: mean, Low: mean - half, High: mean + half}
}

// within brings the ends of an interval of a share into [0, 1].
func (i Interval) within() Interval {
	i.Low, i.High = max(0, i.Low), min(1, i.High)
	return i
}

// auc is the probability that a member has a larger score than another unit, where equal ones count half.
func auc(scores []float64, member []bool) float64 {
	order := make([]int, len(scores))
	floats.ArgsortStable(slices.Clone(scores), order)
	ranks, members := 0.0, 0
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && scores[order[j]] == scores[order[i]] {
			j++
		}
		for _, unit := range order[i:j] {
			if member[unit] {
				ranks, members = ranks+float64(i+j+1)/2, members+1
			}
		}
		i = j
	}
	others := len(scores) - members
	return (ranks - float64(members)*float64(members+1)/2) / (float64(members) * float64(others))
}

// Thresholds returns the least scores that at most a share of the scores of non-members exceed, for each share.
func Thresholds(others []float64, shares []float64) []float64 {
	slices.SortFunc(others, func(a, b float64) int { return cmp.Compare(b, a) })
	out := make([]float64, len(shares))
	for i, share := range shares {
		out[i] = others[min(len(others)-1, int(share*float64(len(others))))]
	}
	return out
}

// Rates are the shares of members and of others whose scores exceed a threshold.
func Rates(scores []float64, member []bool, threshold float64) (found, alarms float64) {
	members, others := 0.0, 0.0
	for unit, s := range scores {
		claim := 0.0
		if s > threshold {
			claim = 1
		}
		if member[unit] {
			members, found = members+1, found+claim
		} else {
			others, alarms = others+1, alarms+claim
		}
	}
	return found / members, alarms / others
}

// Curve is a receiver operating characteristic: shares of members that are found, by shares of others that are taken
// for members.
type Curve struct {
	FPR []float64 `json:"fpr"`
	TPR []float64 `json:"tpr"`
}

// CurveOf is that of the pooled scores of several models, from the first false positives on that
// tell a share.
func CurveOf(scores []float64, member []bool) Curve {
	order := make([]int, len(scores))
	floats.ArgsortStable(slices.Clone(scores), order)
	slices.Reverse(order)
	members := membersOf(member)
	var c Curve
	found, wrong := 0, 0
	for i, unit := range order {
		if member[unit] {
			found++
		} else {
			wrong++
		}
		last := i == len(order)-1 || scores[order[i+1]] != scores[unit]
		if !last || wrong < Alarms || found == 0 { // axes are logarithmic
			continue
		}
		fpr, tpr := float64(wrong)/float64(len(scores)-members), float64(found)/float64(members)
		if n := len(c.FPR); n > 0 && fpr < c.FPR[n-1]*curveStep && fpr < 1 {
			continue
		}
		c.FPR, c.TPR = append(c.FPR, fpr), append(c.TPR, tpr)
	}
	return c
}

// membersOf counts the members.
func membersOf(member []bool) (n int) {
	for _, m := range member {
		if m {
			n++
		}
	}
	return n
}

// curveStep is the factor by which shares of successive points of a curve differ at least.
const curveStep = 1.05
