package judge_test

import (
	"slices"
	"strings"
	"testing"

	"privkern/runner/claims/claimtest"
	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// Differences without a spread, or without pairs, leave a statement unjudged with the reason.
func TestPairedTestWithoutSpreadOrPairs(t *testing.T) {
	const apart = `{statement: s, minus: {params: {points: 3}, seeds: 5..6}, holds: {op: ">", value: 0, paired: true}}`
	const pairs = `{statement: s, holds: {op: ">", params: {points: 3}, paired: true}}`
	later := func(values ...float64) []*record.Record {
		out := other(t, values...)
		for _, r := range out {
			r.Seed += 5
		}
		return out
	}
	for _, c := range []struct {
		name, table, cell string
		ours, others      []*record.Record
		want              judge.Verdict
		reason            string
	}{
		{"a difference of other seeds", "seeds: 0..4, ", apart, traces(t, 1, 1.1, 0.9, 1, 1.05), later(-10, 11),
			judge.Unjudged, "other seeds"},
		{"five equal differences", "seeds: 0..4, ", pairs, traces(t, 1, 2, 3, 4, 5), other(t, 0, 1, 2, 3, 4),
			judge.Match, ""},
		{"four equal differences", "seeds: 0..3, ", pairs, traces(t, 1, 2, 3, 4), other(t, 0, 1, 2, 3), judge.Unjudged,
			"4 pairs without a spread are too few"},
		{"five times no difference", "seeds: 0..4, ", pairs, traces(t, 1, 2, 3, 4, 5), other(t, 1, 2, 3, 4, 5),
			judge.Unjudged, "finds no difference"},
		// The mean of six ones, summed as sixths, is less than one by a rounding.
		{"six times the value itself", "seeds: 0..5, ", `{statement: s, holds: {op: ">=", value: 1, paired: true}}`,
			traces(t, 1, 1, 1, 1, 1, 1), nil, judge.Unjudged, "finds no difference"},
		{"declared to be without chance, and it is not", "seeds: 0..2, deterministic: true, ", pairs,
			traces(t, 1, 2, 3), other(t, 0, 1, 2.5), judge.Unjudged, "but seeds differ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := one(t, c.table, c.cell, append(c.ours, c.others...)...)
			if r.Verdict != c.want || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("got %s (%s), test %+v, want %s (%s)", r.Verdict, r.Reason, r.Test, c.want, c.reason)
			}
		})
	}
}

// The deviation of a logarithm does not apply to a value without one.
func TestPoolOnTheLogScaleOfAValueWithoutLogarithm(t *testing.T) {
	for _, ours := range []float64{0, -10} {
		r := one(t, "pools: [{name: p, scale: log}], pool: p, ",
			`{row: r, published: "10", seeds: 0}, {row: q, published: "1", params: {points: 3}, seeds: 0..4}`,
			append(traces(t, ours), other(t, 1, 2, 3, 4, 5)...)...)
		if r.Verdict != judge.Unjudged || !strings.Contains(r.Reason, "logarithms") {
			t.Errorf("%v: %s (%s), band %+v", ours, r.Verdict, r.Reason, r.Band)
		}
	}
}

// Numbers whose squares overflow have no band, which would hold everything.
func TestVarianceBeyondTheLargestNumber(t *testing.T) {
	r := one(t, "seeds: 0..4, ", `{row: r, published: "1e300"}`, traces(t, 1e200, 1e308, 1e308, 1e300, 1)...)
	if r.Verdict != judge.Unjudged || r.Band != nil {
		t.Errorf("%s (%s), band %+v", r.Verdict, r.Reason, r.Band)
	}
}

// A printed bound that holds by more than the band is no question of more trials.
func TestWideBandOfABound(t *testing.T) {
	// The band is t(4)·√(2.5·1.2) and a little: 4.81.
	for published, want := range map[string]judge.Verdict{"< 100": judge.Match, "< 8": judge.Match, "< 7": judge.Wide,
		"> -2": judge.Match, "> -1": judge.Wide, "< -1": judge.Wide, "< -2": judge.Differs} {
		r := one(t, "seeds: 0..4, tolerance: {absolute: 0.6, source: s}, ", `{row: r, published: "`+published+`"}`,
			traces(t, 1, 2, 3, 4, 5)...)
		if r.Verdict != want {
			t.Errorf("%s: %s, want %s; band %+v", published, r.Verdict, want, r.Band)
		}
	}
}

// tablesOf reads a valid ledger.
func tablesOf(t *testing.T, text string) ([]*ledger.Table, *experiment.Registry) {
	t.Helper()
	l, err := ledger.Read("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	reg := claimtest.Registry()
	if err := l.Validate(reg); err != nil {
		t.Fatal(err)
	}
	return l.Tables, reg
}

// A claim with a part in a variant that is not part of the sweep is not judged.
func TestClaimWithAPartOutsideTheSweep(t *testing.T) {
	const text = `paper: demo
tables:
  - name: demo/t
    kind: claims
    title: T
    experiment: demo/traces
    metric: trace_weak
    variants: [{name: A}, {name: B, params: {points: 3}}]
    cells:
      - {row: r, statement: "s", claim: both, variants: [A], holds: {op: "<", value: 2}}
      - {row: r, statement: "t", claim: both, variants: [B], holds: {op: "<", value: 2}}
`
	tables, reg := tablesOf(t, text)
	tb := tables[0]
	index, err := judge.Index(slices.Values(traces(t, 1)))
	if err != nil {
		t.Fatal(err)
	}
	e, err := reg.Lookup("demo/traces")
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := index.Expect("demo/traces", p, 0); err != nil {
		t.Fatal(err)
	}
	got, err := judge.Evaluate(tb, reg, index)
	if err != nil {
		t.Fatal(err)
	}
	if s := got.Sentence(); len(got.Cells) != 1 || s != "Of 1 claim in words 0 were judged. Not judged: 1 not run." {
		t.Errorf("%d cells: %s", len(got.Cells), s)
	}
}

// The part of a claim that fails decides, also where another was only run on other data;
// and of a value's cells the one that is not the same as another.
func TestTallyOfPartsOnOtherData(t *testing.T) {
	part := func(entry string, v judge.Verdict, headline, primary, claim bool) judge.Comparison {
		return judge.Comparison{Entry: entry, Verdict: v, Headline: headline, Primary: primary, Claim: claim}
	}
	got := judge.TallyOf(&judge.Evaluation{Cells: []judge.Comparison{
		part("claim c", judge.NotRun, true, true, true), part("claim c", judge.StandIn, false, true, true),
		part("claim c", judge.Differs, true, true, true),
		part("claim d", judge.Match, true, true, true), part("claim d", judge.NotRun, true, true, true),
		part("claim d", judge.StandIn, false, true, true),
		part("value v", judge.NotRun, true, false, false), part("value v", judge.StandIn, false, false, false),
		part("value v", judge.Match, true, true, false),
	}})
	if got.ClaimsJudged != 1 || got.Hold != 0 || got.Left[judge.StandIn] != 1 || got.Left[judge.NotRun] != 0 ||
		got.Judged != 1 || got.Inside != 1 {
		t.Errorf("%+v", got)
	}
}
