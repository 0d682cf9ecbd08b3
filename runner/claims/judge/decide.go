package judge

import (
	"fmt"
	"math"

	"privkern/runner/claims/ledger"
	"privkern/runner/text"
)

// judge sets the verdict and its reasons, independently of the origin of the settings.
func (e *evidence) judge(shared pools) {
	cl := e.claim
	switch {
	case cl.Cell.Quoted:
		e.Verdict = Quoted
		return
	case e.Reason != "":
		e.Verdict = NotRun
		return
	case cl.Cell.Holds != nil:
		e.statement()
	case cl.Printed != nil:
		e.number(shared)
	default:
		e.Verdict = Unpublished
		return
	}
	switch { // the numbers remain, but they are not comparable with the print
	case cl.Corrected:
		e.Verdict, e.Reason = Corrected, ""
	case cl.StandIn != "":
		e.Verdict, e.Reason = StandIn, ""
	case cl.Fitted:
		e.Verdict, e.Reason = Fitted, ""
	}
}

// number judges a printed number.
func (e *evidence) number(shared pools) {
	p, cl := e.claim.Printed, e.claim
	diff := e.Ours.Mean - p.Value
	e.Difference = &diff
	if cl.Times {
		if e.Verdict = Slower; diff < 0 {
			e.Verdict = Faster
		}
		return
	}
	spread, unknown := shared.spreadOf(cl, e.left)
	if unknown != "" {
		e.Verdict, e.Reason = Unjudged, unknown
		return
	}
	e.Band = newBand(p.Rounding, printedVariance(cl, spread), spread)
	if p.Relation != ledger.Equal { // any value on its own side of a bound is inside
		e.Band.Coverage = (1 + e.Band.Coverage) / 2
	}
	e.Verdict = decide(e.Ours.Mean, p, e.Band.HalfWidth, e.Tolerance)
}

// decide compares a value with a print, a band and a tolerance, which may be nil. A band that
// exceeds the tolerance only by the rounding of the print is not wide, because more trials
// cannot narrow it. A bound that holds by more than the band needs no more trials.
func decide(ours float64, p *ledger.Number, band float64, tolerance *float64) Verdict {
	switch {
	case p.Relation.Holds(ours, p.Value, band):
		clear := p.Relation != ledger.Equal && p.Relation.Holds(ours, p.Value, -band)
		if tolerance != nil && band > max(*tolerance, p.Rounding) && !clear {
			return Wide
		}
		return Match
	case tolerance != nil && p.Relation.Holds(ours, p.Value, *tolerance):
		return Close
	}
	return Differs
}

// PairedTest is a two-sided paired t-test of the differences of a statement.
type PairedTest struct {
	Pairs         int     `json:"pairs"`
	Mean          float64 `json:"mean"` // of the differences
	StandardError float64 `json:"standard_error"`
	P             float64 `json:"p_value"` // probability of |t| or more without a difference
	Alpha         float64 `json:"alpha"`   // level of the test
}

// statement judges a statement.
func (e *evidence) statement() {
	h := e.claim.Cell.Holds
	e.Holds = &Comparand{Op: h.Op, Tolerance: h.Tolerance}
	if e.right == nil {
		e.Holds.Value = *h.Value
	} else {
		e.Holds.Value, e.Holds.Metric = e.right.estimate().Mean, e.right.side.Metric
	}
	diff := e.Ours.Mean - e.Holds.Value
	e.Difference = &diff
	for _, s := range []*sample{e.left, e.right} {
		if s != nil && s.missing != "" {
			e.Verdict, e.Reason = Unjudged, onlySome(s)
			return
		}
	}
	if h.Paired {
		e.paired()
		return
	}
	tolerance := h.Tolerance
	if e.right != nil && h.Op == ledger.Equal {
		tolerance += e.chance()
	}
	if e.Verdict = Differs; h.Op.Holds(e.Ours.Mean, e.Holds.Value, tolerance) {
		e.Verdict = Match
	}
}

// chance returns the distance within which two means of equal expectation lie with 95 %
// probability, 0 where too little is known of their spread.
func (e *evidence) chance() float64 {
	both := make([]spread, 2)
	for i, s := range []*sample{e.left, e.right} {
		v, _ := variance(s.values)
		n := float64(len(s.values))
		both[i] = spread{trial: v, mean: v / n, freedom: n - 1}
	}
	sum := welch(both[0], both[1])
	if sum.mean == 0 || sum.freedom < leastFreedom {
		return 0
	}
	return quantile((1+level)/2, sum.freedom) * math.Sqrt(sum.mean)
}

// paired decides a statement by a paired test: it holds where the differences are
// significant and have the claimed sign, and fails where they have the opposite sign.
func (e *evidence) paired() {
	h := e.claim.Cell.Holds
	if e.left.apart && !math.IsInf(e.left.other.freedom, 1) {
		e.Verdict, e.Reason = Unjudged, "what is subtracted has other seeds, so there are no pairs"
		return
	}
	differences := e.left.values
	if e.pairs != nil {
		differences = e.pairs.values
	}
	v, mean := variance(differences)
	if e.claim.Deterministic && v > 0 {
		e.Verdict, e.Reason = Unjudged, seedsDiffer
		return
	}
	if e.right == nil {
		mean = subtract(mean, *h.Value) // equal values differ by exactly 0
	}
	n := float64(len(differences))
	test := &PairedTest{Pairs: len(differences), Mean: mean, StandardError: math.Sqrt(v / n), P: 1, Alpha: 0.05}
	if h.Alpha != nil {
		test.Alpha = *h.Alpha
	}
	switch {
	case e.claim.Deterministic || n > leastFreedom && v == 0:
		if mean != 0 {
			test.P = 0
		}
	case v > 0:
		test.P = 2 * cumulative(-math.Abs(mean)/test.StandardError, n-1)
	}
	e.Test = test
	switch {
	case test.P == 1 && v == 0 && mean != 0:
		e.Verdict, e.Reason = Unjudged, fmt.Sprintf("%s without a spread are too few for a test",
			text.Count(test.Pairs, "pair"))
	case test.P >= test.Alpha:
		e.Verdict, e.Reason = Unjudged, "the paired test finds no difference either way"
	case h.Op.Holds(mean, 0, 0):
		e.Verdict = Match
	default:
		e.Verdict = Differs
	}
}
