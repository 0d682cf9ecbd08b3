package infer

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"privkern/experiments/learn"
)

// Interval is a share of right answers with its interval of 95 %.
type Interval struct {
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Right int     `json:"right"`
	Of    int     `json:"of"`
	Units int     `json:"units"` // independent ones behind the answers
}

// confidence is that of intervals.
const confidence = .95

// IntervalOf returns the share of right answers (N) with Wilson's score interval. Answers about one unit depend on each
// other and units, of which there are numbers, do not; nil makes each answer a unit.
//
// The interval has the number of independent answers that would give the same standard error,
//
//	n = p(1 − p)/v · (t(N − 1)/t(U − 1))²,
//
// with the variance v of the share by the U units as clusters and quantiles t of Student's distribution (Korn and
// Graubard 1998, "Confidence intervals for proportions with small expected number of positive counts estimated from
// survey data"; Dean and Pagano 2015 find Wilson's interval with it reliable). It is at most N, and where all or no
// answers are right it is U. Of few units that differ much, near 0 or 1, no variance tells enough: with 4 to 8 of them,
// of which a rare one has many wrong answers, up to a tenth of the intervals are too high.
func IntervalOf(right []bool, units []int) Interval {
	out, values := Interval{Of: len(right)}, make([]float64, len(right))
	for i, r := range right {
		if r {
			out.Right++
			values[i] = 1
		}
	}
	if out.Of == 0 {
		out.High = 1
		return out
	}
	var variance float64
	out.Share, variance, out.Units = Clustered(values, units)
	n, u := float64(out.Of), float64(out.Units)
	effective := n
	switch {
	case out.Units == out.Of: // independent
	case out.Right == 0 || out.Right == out.Of || out.Units == 1:
		effective = u
	case variance > 0:
		t := Quantile(n-1) / Quantile(u-1)
		effective = min(n, out.Share*(1-out.Share)/variance*t*t)
	}
	out.Low, out.High = wilson(out.Share, effective)
	return out
}

// Clustered returns the mean of values (N), and its variance with units (N) as clusters, of which there are so many;
// nil makes each value a unit. The variance of one unit is 0.
func Clustered(values []float64, units []int) (mean, variance float64, clusters int) {
	if units == nil {
		units = learn.AllRows(len(values))
	}
	n := float64(len(values))
	mean = floats.Sum(values) / n
	groups := GroupsOf(units)
	for _, rows := range groups {
		sum := 0.0
		for _, i := range rows {
			sum += values[i]
		}
		d := sum - mean*float64(len(rows))
		variance += d * d
	}
	u := float64(len(groups))
	return mean, variance * (u / max(1, u-1) / (n * n)), len(groups)
}

// Quantile is that of Student's distribution at both ends of an interval.
func Quantile(freedom float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile((1 + confidence) / 2)
}

// wilson returns the ends of the score interval of a share of n answers (Wilson 1927).
func wilson(p, n float64) (low, high float64) {
	z := math.Sqrt2 * math.Erfinv(confidence)
	square := z * z / n
	half := z * math.Sqrt(p*(1-p)/n+square/(4*n))
	low, high = max(0, (p+square/2-half)/(1+square)), min(1, (p+square/2+half)/(1+square))
	return min(low, p), max(high, p) // which hold at 0 and 1 but for rounding
}

// String is the share with its interval, in per cent.
func (i Interval) String() string {
	return fmt.Sprintf("%.3g %% [%.3g, %.3g]", 100*i.Share, 100*i.Low, 100*i.High)
}
