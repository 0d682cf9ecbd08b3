package infer

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
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
// answers are right it is U.
func IntervalOf(right []bool, units []int) Interval {
	type cluster struct{ right, of float64 }
	clusters, out := map[int]*cluster{}, Interval{Of: len(right)}
	var order []int // sums in an order of their own
	for i, r := range right {
		unit := i
		if units != nil {
			unit = units[i]
		}
		if clusters[unit] == nil {
			clusters[unit] = new(cluster)
			order = append(order, unit)
		}
		c := clusters[unit]
		if c.of++; r {
			c.right++
			out.Right++
		}
	}
	out.Units = len(clusters)
	if out.Of == 0 {
		out.High = 1
		return out
	}
	n := float64(out.Of)
	out.Share = float64(out.Right) / n
	effective := n
	if u := float64(out.Units); out.Units < out.Of {
		variance := 0.0
		for _, unit := range order {
			d := clusters[unit].right - out.Share*clusters[unit].of
			variance += d * d
		}
		variance *= u / max(1, u-1) / (n * n)
		switch {
		case out.Right == 0 || out.Right == out.Of || out.Units == 1:
			effective = u
		case variance > 0:
			t := quantile(n-1) / quantile(u-1)
			effective = min(n, out.Share*(1-out.Share)/variance*t*t)
		}
	}
	out.Low, out.High = wilson(out.Share, effective)
	return out
}

// quantile is that of Student's distribution at both ends of an interval.
func quantile(freedom float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile((1 + confidence) / 2)
}

// wilson returns the ends of the score interval of a share of n answers (Wilson 1927).
func wilson(p, n float64) (low, high float64) {
	z := math.Sqrt2 * math.Erfinv(confidence)
	square := z * z / n
	half := z * math.Sqrt(p*(1-p)/n+square/(4*n))
	return max(0, (p+square/2-half)/(1+square)), min(1, (p+square/2+half)/(1+square))
}

// String is the share with its interval, in per cent.
func (i Interval) String() string {
	return fmt.Sprintf("%.3g %% [%.3g, %.3g]", 100*i.Share, 100*i.Low, 100*i.High)
}
