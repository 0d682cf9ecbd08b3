package cloak

import (
	"fmt"
	"math"

	"privkern/experiments/cloaking/design"
	"privkern/graphs/engine"
)

// Quality summarises a design: its certificate, and the directions that it leaves out.
type Quality struct {
	Rank, points     int     // directions released, of this number of predictions
	largest, dropped float64 // singular values: the largest, and the largest left out
	Gap, Norm        float64 // certificate, and largest Mahalanobis norm
	squared          bool    // the noise is scaled by the square of that norm
}

// QualityOf measures a design of a range.
func QualityOf(r *design.Range, d *design.Design) Quality {
	points, rank := r.U.Dims()
	return Quality{Rank: rank, points: points, largest: r.Scale[0], dropped: r.Dropped, Gap: d.Gap, Norm: d.MaxMahalanobis,
		squared: d.NoiseScale != d.MaxMahalanobis}
}

// QualityNumbers is how many numbers a quality is.
const QualityNumbers = 7

// Numbers are the quality as numbers, [QualityNumbers] of them.
func (q Quality) Numbers() []float64 {
	squared := 0.0
	if q.squared {
		squared = 1
	}
	return []float64{float64(q.Rank), float64(q.points), q.largest, q.dropped, q.Gap, q.Norm, squared}
}

// QualityOfNumbers is the quality of which the first numbers are.
func QualityOfNumbers(n []float64) Quality {
	return Quality{Rank: int(n[0]), points: int(n[1]), largest: n[2], dropped: n[3], Gap: n[4], Norm: n[5],
		squared: n[6] == 1}
}

// PrecisionWarnings warns where float32 leaves directions out whose singular values
// float64 distinguishes from zero, once for all designs of a trial: of the one that
// keeps the smallest part. Directions of exact repetitions are lost in both, and a
// given rank is the same in both.
func PrecisionWarnings(e *engine.Engine, all []Quality, s *Solver) []string {
	if !SinglePrecision(e) || !s.Rank.Is(FullRank) {
		return nil
	}
	var worst Quality
	affected := 0
	for _, q := range all {
		if q.dropped <= design.Tolerance64*q.largest {
			continue
		}
		affected++
		if affected == 1 || q.Rank*worst.points < worst.Rank*q.points {
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
	return []string{fmt.Sprintf("computed but suspect: the numerical rank was decided with float32's tolerance "+
		"(singular values above %g of the largest):%s %d of %d directions are released; float64 can release more, and then "+
		"adds more noise", design.Tolerance32, where, worst.Rank, worst.points)}
}

// DesignWarnings warns, once for all designs of a trial, of the design that is furthest
// from the smallest covariance, as only the gradient descent may be, and of the norm
// that is furthest from one.
func DesignWarnings(all []Quality) []string {
	gap, norm, what := 0.0, 1.0, "the largest"
	for _, q := range all {
		gap = max(gap, q.Gap)
		if q.squared {
			what = "the square of the largest"
		}
		if math.Abs(q.Norm-1) > math.Abs(norm-1) {
			norm = q.Norm
		}
	}
	var out []string
	if gap > 2*design.DefaultGap {
		out = append(out, fmt.Sprintf("solver=gradient: the noise is that after the given steps, an upper bound: the "+
			"log-determinant of its covariance may exceed the smallest by %.3g nats", gap))
	}
	if math.Abs(norm-1) > 1e-6 {
		out = append(out, fmt.Sprintf("noise from M alone does not fit the sensitivity: it is scaled by %s "+
			"Mahalanobis norm, %.6g", what, norm))
	}
	return out
}
