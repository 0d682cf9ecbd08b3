package cloaking

import (
	"fmt"
	"math"

	"privkern/experiments/cloaking/design"
	"privkern/graphs/engine"
	"privkern/runner/experiment"
)

// quality is what is kept of a design where there are many: how good it is, and
// what it leaves out.
type quality struct {
	rank, points     int     // directions released, of so many predictions
	largest, dropped float64 // singular values: the largest, and the largest left out
	gap, norm        float64 // certificate, and largest Mahalanobis norm
}

// gapMeaning is what the metric gap says.
const gapMeaning = "by how many nats at most the log-determinant of the noise covariance is above the smallest; " +
	"with solver=gradient it is an upper bound, of the given steps"

func qualityOf(r *design.Range, d *design.Design) quality {
	points, rank := r.U.Dims()
	return quality{rank: rank, points: points, largest: r.Scale[0], dropped: r.Dropped, gap: d.Gap, norm: d.MaxMahalanobis}
}

// precisionWarnings says where float32 leaves directions out that float64 would
// tell from zero, once for all designs of a trial: of the one that keeps the
// smallest part. Directions of exact repetitions are lost in both, and a given
// rank is the same in both.
func precisionWarnings(e *engine.Engine, all []quality, p experiment.Params) []string {
	if !singlePrecision(e) || rankOf(p) != design.FullRank {
		return nil
	}
	var worst quality
	affected := 0
	for _, q := range all {
		if q.dropped <= design.Tolerance64*q.largest {
			continue
		}
		affected++
		if affected == 1 || q.rank*worst.points < worst.rank*q.points {
			worst = q
		}
	}
	if affected == 0 {
		return nil
	}
	where := ""
	if len(all) > 1 {
		where = fmt.Sprintf(" in %d of %d sets of predictions, at worst", affected, len(all))
	}
	return []string{fmt.Sprintf("computed but suspect: the numerical rank was decided with float32's tolerance (singular values above %g of the largest):%s %d of %d directions are released; float64 can release more, and then adds more noise", design.Tolerance32, where, worst.rank, worst.points)}
}

// designWarnings says, once for all designs of a trial, how far the worst is from
// the smallest covariance, which only the gradient descent may be, and which norm
// is furthest from one.
func designWarnings(all []quality) []string {
	gap, norm := 0.0, 1.0
	for _, q := range all {
		gap = max(gap, q.gap)
		if math.Abs(q.norm-1) > math.Abs(norm-1) {
			norm = q.norm
		}
	}
	var out []string
	if gap > 2*design.DefaultGap {
		out = append(out, fmt.Sprintf("solver=gradient: the noise is that after the given steps, an upper bound: the "+
			"log-determinant of its covariance may exceed the smallest by %.3g nats", gap))
	}
	if math.Abs(norm-1) > 1e-6 {
		out = append(out, fmt.Sprintf("noise from M alone does not fit the sensitivity: it is scaled by the largest Mahalanobis norm, %.6g", norm))
	}
	return out
}
