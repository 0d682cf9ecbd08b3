package score

import (
	"math"
	"testing"

	"privkern/runner/claims/judge"
)

// Two comparisons are held against each other where they are made of the same numbers of
// trials, whatever rounding does to what is derived from them.
func TestIncomparable(t *testing.T) {
	value := func(change ...func(*judge.Comparison)) *judge.Comparison {
		c := &judge.Comparison{Ours: &judge.Estimate{Mean: 1, Trials: 3}, Band: &judge.Band{DegreesOfFreedom: 7.2},
			Verdict: judge.Match}
		for _, f := range change {
			f(c)
		}
		return c
	}
	freedom := func(x float64) func(*judge.Comparison) {
		return func(c *judge.Comparison) { c.Band.DegreesOfFreedom = x }
	}
	minus := func(n int) func(*judge.Comparison) {
		return func(c *judge.Comparison) { c.Minus = &judge.Baseline{Estimate: judge.Estimate{Trials: n}} }
	}
	verdict := func(v judge.Verdict) func(*judge.Comparison) { return func(c *judge.Comparison) { c.Verdict = v } }
	for _, c := range []struct {
		name   string
		a, b   *judge.Comparison
		reason string
		trials bool
	}{
		{"the same", value(), value(), "", false},
		{"rounding of the spread", value(), value(freedom(7.6)), "", false},
		{"a trial more in the pool", value(), value(freedom(8.2)),
			"7.2 degrees of freedom of the spread here, 8.2 there", true},
		{"a trial less", value(), value(freedom(6.6)), "7.2 degrees of freedom of the spread here, 6.6 there", true},
		{"no chance in both", value(freedom(math.Inf(1))), value(freedom(math.Inf(1))), "", false},
		{"chance in one", value(), value(freedom(math.Inf(1))),
			"7.2 degrees of freedom of the spread here, +Inf there", true},
		{"no band", value(), value(func(c *judge.Comparison) { c.Band = nil }), "", false},
		{"differences", value(minus(3)), value(minus(3), freedom(9)), "", false},
		{"a trial more of what is subtracted", value(minus(3)), value(minus(4)),
			"of the value that is subtracted, 3 trials here, 4 there", true},
		{"what is subtracted is not known", value(minus(3)), value(freedom(9)),
			"7.2 degrees of freedom of the spread here, 9 there", true},
		{"nothing here", value(func(c *judge.Comparison) { c.Ours = nil }), value(), "no result here", false},
		{"nothing there", value(), value(func(c *judge.Comparison) { c.Ours = nil }), "no result there", false},
		{"other trials", value(), value(func(c *judge.Comparison) { c.Ours.Trials = 5 }), "3 trials here, 5 there", true},
		{"not run", value(verdict(judge.NotRun)), value(), "not run here, match there", true},
		{"unjudged", value(), value(verdict(judge.Unjudged)), "match here, unjudged there", true},
		{"both unjudged", value(verdict(judge.Unjudged)), value(verdict(judge.Unjudged)), "", false},
		{"another verdict", value(), value(verdict(judge.Differs)), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if reason, trials := incomparable(c.a, c.b); reason != c.reason || trials != c.trials {
				t.Errorf("%q, %v", reason, trials)
			}
		})
	}
}
