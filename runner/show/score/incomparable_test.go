package score

import (
	"math"
	"testing"

	"privkern/runner/claims/judge"
)

// Two values are compared where they have the same numbers of trials, even if rounding
// changes the degrees of freedom derived from them.
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
	mean := func(x float64) func(*judge.Comparison) { return func(c *judge.Comparison) { c.Ours.Mean = x } }
	holds := func(c *judge.Comparison) { c.Holds = &judge.Comparand{Value: 2} }
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
		{"chance here", value(), value(freedom(math.Inf(1))), "chance here, none there", false},
		{"chance there", value(freedom(math.Inf(1))), value(), "no chance here, some there", false},
		{"no band", value(), value(func(c *judge.Comparison) { c.Band = nil }), "", false},
		{"differences", value(minus(3)), value(minus(3), freedom(8.1)), "", false},
		{"differences of larger pools", value(minus(3)), value(minus(3), freedom(9)),
			"7.2 degrees of freedom of the spread here, 9 there", true},
		{"a trial more of what is subtracted", value(minus(3)), value(minus(4)),
			"of the value that is subtracted, 3 trials here, 4 there", true},
		{"what is subtracted is not known", value(minus(3)), value(freedom(8.1)), "", false},
		{"nothing here", value(func(c *judge.Comparison) { c.Ours = nil }), value(), "no result here", false},
		{"nothing there", value(), value(func(c *judge.Comparison) { c.Ours = nil }), "no result there", false},
		{"not planned here", nil, value(), "no result here", false},
		{"not planned there", value(), nil, "no result there", false},
		{"no right-hand side here", value(), value(holds), "no right-hand side here", false},
		{"no right-hand side there", value(holds), value(), "no right-hand side there", false},
		{"right-hand sides", value(holds), value(holds), "", false},
		{"no number here", value(mean(math.NaN())), value(), "NaN here, 1 there", false},
		{"no number there", value(), value(mean(math.Inf(-1))), "1 here, -Inf there", false},
		{"no number in both", value(mean(math.NaN())), value(mean(math.Inf(1))), "", false},
		{"other trials", value(), value(func(c *judge.Comparison) { c.Ours.Trials = 5 }), "3 trials here, 5 there", true},
		{"not run", value(verdict(judge.NotRun)), value(), "not run here, match there", false},
		{"unjudged", value(), value(verdict(judge.Unjudged)), "match here, unjudged there", false},
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

// A variant that only one of the two has swept is left out, and open where it counts.
func TestVariantOfOneRun(t *testing.T) {
	c := judge.Comparison{Row: "a", Variant: "v", Entry: "a", Headline: true, Primary: true, Verdict: judge.Match,
		Ours: &judge.Estimate{Mean: 1, Trials: 3}}
	other := judge.Comparison{Row: "b", Ours: &judge.Estimate{Mean: 1, Trials: 3}, Verdict: judge.Unpublished}
	with := &judge.Evaluation{Paper: "p", Table: "p/t", Cells: []judge.Comparison{other, c}}
	without := &judge.Evaluation{Paper: "p", Table: "p/t", Cells: []judge.Comparison{other}}
	for reason, of := range map[string][2]*judge.Evaluation{
		"no result there": {with, without}, "no result here": {without, with},
	} {
		var a Agreement
		got := a.table(of[0], of[1])
		if got.Compared != 1 || got.Open != 1 || got.Counted != 0 || len(a.LeftOut) != 1 || a.LeftOut[0].Reason != reason ||
			a.LeftOut[0].Variant != "v" || !a.LeftOut[0].Counts {
			t.Errorf("%s: %+v of %+v", reason, a, got)
		}
	}
	c.Times = true
	var a Agreement
	got := a.table(&judge.Evaluation{Cells: []judge.Comparison{c}}, &judge.Evaluation{})
	if got.Open != 0 || len(a.LeftOut) != 0 {
		t.Errorf("a time: %+v of %+v", a, got)
	}
}

// Entries of two papers with the same name are two.
func TestJudgedChanges(t *testing.T) {
	of := func(paper, name string, counts bool) Change {
		return Change{Cell: Cell{Counts: counts, entry: entry{paper, name}}}
	}
	a := Agreement{Changes: []Change{of("p", "x", true), of("p", "x", true), of("q", "x", true), of("q", "y", false)}}
	if n := a.JudgedChanges(); n != 2 {
		t.Errorf("%d", n)
	}
}

// The headline of the primary cell of a paper's entry counts.
func TestWhatCounts(t *testing.T) {
	for name, change := range map[string]func(*judge.Comparison){
		"":                 func(*judge.Comparison) {},
		"another variant":  func(c *judge.Comparison) { c.Headline = false },
		"printed again":    func(c *judge.Comparison) { c.Primary = false },
		"an entry of ours": func(c *judge.Comparison) { c.Own = true },
	} {
		c := judge.Comparison{Headline: true, Primary: true, Verdict: judge.Match, Ours: &judge.Estimate{Mean: 1}}
		change(&c)
		e := &judge.Evaluation{Cells: []judge.Comparison{c}}
		if got := new(Agreement).table(e, e); got.Compared != 1 || (got.Counted == 1) != (name == "") {
			t.Errorf("%q: %+v", name, got)
		}
	}
}

// A table with times only has no results to compare.
func TestTimesAreNoResults(t *testing.T) {
	of := func(times bool) *Board {
		return &Board{Evaluated: []*judge.Evaluation{{Table: "p/t", Cells: []judge.Comparison{
			{Row: "a", Times: true, Ours: &judge.Estimate{}}, {Row: "b", Times: times, Ours: &judge.Estimate{}},
		}}}}
	}
	if a := of(false).Against(of(true)); len(a.TablesLeftOut) != 1 || len(a.LeftOut) != 0 {
		t.Errorf("%+v", a)
	}
}
