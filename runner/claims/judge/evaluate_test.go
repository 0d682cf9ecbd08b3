package judge_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"privkern/runner/claims/claimtest"
	"privkern/runner/claims/judge"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

func evaluate(t *testing.T, table string, records []*record.Record) *judge.Evaluation {
	t.Helper()
	index, err := judge.Index(slices.Values(records))
	if err != nil {
		t.Fatal(err)
	}
	e, err := judge.Evaluate(claimtest.Table(t, table), claimtest.Registry(), index)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// one evaluates a ledger of one cell, given as flow YAML, against records.
func one(t *testing.T, table, cell string, records ...*record.Record) judge.Comparison {
	t.Helper()
	text := "paper: demo\ntables:\n  - {name: demo/t, kind: table, title: T, experiment: demo/traces, metric: " +
		"trace_weak, " +
		table + "cells: [" + cell + "]}\n"
	tables, reg := tablesOf(t, text)
	index, err := judge.Index(slices.Values(records))
	if err != nil {
		t.Fatal(err)
	}
	e, err := judge.Evaluate(tables[0], reg, index)
	if err != nil {
		t.Fatal(err)
	}
	return e.Cells[0]
}

// traces are records of one setting, one a seed.
func traces(t *testing.T, values ...float64) []*record.Record {
	t.Helper()
	var out []*record.Record
	for seed, v := range values {
		out = append(out, claimtest.Record(t, fmt.Sprintf("k%d", seed), "demo/traces", nil, int64(seed),
			map[string]float64{"trace_weak": v, "trace_strong": 10}))
	}
	return out
}

func TestVerdicts(t *testing.T) {
	const known, few = "deterministic: true, ", "seeds: 0..1, "
	const five, three = "seeds: 0..4, ", "seeds: 0..2, "
	around := func(mean float64) []float64 { // standard deviation 1
		return []float64{mean - math.Sqrt2, mean, mean + math.Sqrt2, mean, mean}
	}
	cases := []struct {
		name, table, cell string
		ours              []float64
		want              judge.Verdict
	}{
		{"rounds to the print", known, `{row: r, published: "13.3"}`, []float64{13.349}, judge.Match},
		{"half a unit of the last digit counts as inside", known, `{row: r, published: "13.3"}`, []float64{13.35},
			judge.Match},
		{"does not round to the print", known, `{row: r, published: "13.3"}`, []float64{13.36}, judge.Differs},
		{"a trailing zero narrows the rounding", known, `{row: r, published: "13.30"}`, []float64{13.31}, judge.Differs},
		{"seeds that differ where none should", known + few, `{row: r, published: "13.3"}`, []float64{13.3, 13.31},
			judge.Unjudged},
		{"seeds that agree as they should", known + few, `{row: r, published: "13.3"}`, []float64{13.3, 13.3}, judge.Match},
		{"one trial has no spread", "", `{row: r, published: "13.3"}`, []float64{13.3}, judge.Unjudged},
		{"three degrees of freedom are too few", "seeds: 0..3, ", `{row: r, published: "13.3"}`,
			[]float64{13, 13.2, 13.4, 13.6}, judge.Unjudged},
		// t(4) = 2.7764, s = 1, k = 1, n = 5: 2.7764·√1.2 = 3.0414; h = 0.0005
		{"inside the band", five, `{row: r, published: "10.000"}`, around(13.041), judge.Match},
		{"outside the band", five, `{row: r, published: "10.000"}`, around(13.042), judge.Differs},
		// 2.7764·√(0.1 + 0.2) = 1.5207
		{"ten draws behind the print", five + "draws: 10, ", `{row: r, published: "10.000"}`, around(11.520), judge.Match},
		{"ten draws narrow the band", five + "draws: 10, ", `{row: r, published: "10.000"}`, around(11.522), judge.Differs},
		// 2.7764·√(100 + 0.2) = 27.79
		{"a hundredth of a draw", five, `{row: r, published: "10.000", draws: 0.01}`, around(37.79), judge.Match},
		{"and no less", five, `{row: r, published: "10.000", draws: 0.01}`, around(37.80), judge.Differs},
		// h = 5: 2.7764·√(1.2 + 25/3) = 8.573
		{"the rounding counts as a variance", five, `{row: r, published: "1e1"}`, around(18.57), judge.Match},
		{"and not as a margin", five, `{row: r, published: "1e1"}`, around(18.58), judge.Differs},
		{"a printed ± is no part of the band", five, `{row: r, published: "10.000 ± 9.000"}`, around(13.1), judge.Differs},
		// 2.7764·√(4 + 0.2) = 5.690
		{"but for that of repetitions", five + "uncertainty_of: repetitions, ", `{row: r, published: "10.000 ± 2.000"}`,
			around(15.69), judge.Match},
		{"which is in the place of the draws", five + "uncertainty_of: repetitions, ",
			`{row: r, published: "10.000 ± 2.000"}`, around(15.70), judge.Differs},
		{"folds are no repetitions", five + "uncertainty_of: 14 folds, ", `{row: r, published: "10.000 ± 2.000"}`,
			around(15.69), judge.Differs},
		{"inside a band wider than the tolerance", five + "tolerance: {absolute: 3, source: s}, ",
			`{row: r, published: "10.000"}`, around(10), judge.Wide},
		{"inside a band within the tolerance", five + "tolerance: {absolute: 3.1, source: s}, ",
			`{row: r, published: "10.000"}`, around(10), judge.Match},
		{"outside, within the tolerance", five + "tolerance: {relative: 0.4, source: s}, ",
			`{row: r, published: "10.000"}`, around(14), judge.Close},
		{"beyond both", five + "tolerance: {relative: 0.4, source: s}, ", `{row: r, published: "10.000"}`,
			around(14.1), judge.Differs},
		{"the larger of two tolerances", five + "tolerance: {absolute: 5, relative: 0.4, source: s}, ",
			`{row: r, published: "10.000"}`, around(14.1), judge.Close},
		{"a cell's own tolerance", five + "tolerance: {absolute: 5, source: s}, ",
			`{row: r, published: "10.000", tolerance: {absolute: 4, source: s}}`, around(14.1), judge.Differs},
		{"explicit value and rounding", known, `{row: r, published: "about a dozen", value: 12, rounding: 0.5}`,
			[]float64{12.4}, judge.Match},
		{"below a printed bound", known, `{row: r, published: "< 0.5"}`, []float64{-7}, judge.Match},
		{"above a printed bound", known, `{row: r, published: "< 0.5"}`, []float64{0.6}, judge.Differs},
		{"assumed settings do not change a verdict", known + "settings: {assumed: [{text: a, source: ours}]}, ",
			`{row: r, published: "1"}`, []float64{3}, judge.Differs},
		{"a setting that was fitted to the cell",
			known + "settings: {assumed: [{text: a, source: ours, fitted: [{row: r}]}]}, ",
			`{row: r, published: "1"}`, []float64{1}, judge.Fitted},
		{"and not to another", known + "settings: {assumed: [{text: a, source: ours, fitted: [{row: q}]}]}, ",
			`{row: r, published: "1"}, {row: q, published: "2"}`, []float64{1}, judge.Match},
		{"other data than the paper's", known + "stand_in: simulated, ", `{row: r, published: "1"}`, []float64{1},
			judge.StandIn},
		{"a corrected variant", known + "variants: [{name: c, corrected: true}], ", `{row: r, published: "1"}`, []float64{1},
			judge.Corrected},
		{"a shorter time", "", `{row: r, published: "1", times: true}`, []float64{0.9}, judge.Faster},
		{"a longer time", "", `{row: r, published: "1", times: true}`, []float64{1.1}, judge.Slower},
		{"nothing printed", "", `{row: r}`, []float64{2}, judge.Unpublished},
		{"a statement that holds", "", `{statement: s, holds: {op: "<", metric: trace_strong}}`, []float64{2}, judge.Match},
		{"a strict statement on the border", "", `{statement: s, holds: {op: "<", metric: trace_strong}}`,
			[]float64{10}, judge.Differs},
		{"a weak statement on the border", "", `{statement: s, holds: {op: ">=", metric: trace_strong}}`,
			[]float64{10}, judge.Match},
		{"a statement that fails", "", `{statement: s, holds: {op: ">", value: 3}}`, []float64{2}, judge.Differs},
		{"a statement with a trial missing", three, `{statement: s, holds: {op: "<", value: 3}}`, []float64{2, 2},
			judge.Unjudged},
		{"a statement within its tolerance", "", `{statement: s, holds: {op: "=", value: 0.5, tolerance: 1e-6}}`,
			[]float64{0.5 + 9e-7}, judge.Match},
		{"a statement outside its tolerance", "", `{statement: s, holds: {op: "=", value: 0.5, tolerance: 1e-6}}`,
			[]float64{0.5 + 2e-6}, judge.Differs},
		{"an equality without tolerance", "", `{statement: s, holds: {op: "=", value: 1}}`, []float64{1}, judge.Match},
		// t(4)·√(1/5) = 1.2416
		{"an equality of two means within their scatter", five, `{statement: s, holds: {op: "=", params: {points: 3}}}`,
			around(11.24), judge.Match},
		{"an equality of two means beyond it", five, `{statement: s, holds: {op: "=", params: {points: 3}}}`,
			around(11.25), judge.Differs},
		{"words in print, decided by the statement", "", `{row: r, published: "hardly any", holds: {op: "<", value: 0.1}}`,
			[]float64{0.05}, judge.Match},
		{"no trial", "", `{row: r, published: "1"}`, nil, judge.NotRun},
		{"no trial of other data", "stand_in: simulated, ", `{row: r, published: "1"}`, nil, judge.NotRun},
		// Differences to 10 of mean −1 and standard error √(1/5): t = 2.236, p = 0.089
		{"a paired test that cannot decide", five, `{statement: s, holds: {op: "<", params: {points: 3}, paired: true}}`,
			around(9), judge.Unjudged},
		{"at a level at which it can", five,
			`{statement: s, holds: {op: "<", params: {points: 3}, paired: true, alpha: 0.09}}`, around(9), judge.Match},
		// t = 2.795 and 2.773 around 2.776
		{"a paired test that finds what is claimed", five,
			`{statement: s, holds: {op: "<", params: {points: 3}, paired: true}}`, around(8.75), judge.Match},
		{"a paired test just below its level", five,
			`{statement: s, holds: {op: "<", params: {points: 3}, paired: true}}`, around(8.76), judge.Unjudged},
		{"a paired test that finds the opposite", five,
			`{statement: s, holds: {op: "<", params: {points: 3}, paired: true}}`, around(12), judge.Differs},
		{"a test of differences against a value", five,
			`{statement: s, minus: {params: {points: 3}}, holds: {op: ">=", value: -3, paired: true}}`, around(9), judge.Match},
		{"one pair decides nothing", "", `{statement: s, holds: {op: "<", params: {points: 3}, paired: true}}`,
			[]float64{1}, judge.Unjudged},
		{"but where there is no chance", known, `{statement: s, holds: {op: "<", params: {points: 3}, paired: true}}`,
			[]float64{1}, judge.Match},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			records := append(traces(t, c.ours...), other(t, slices.Repeat([]float64{10}, len(c.ours))...)...)
			if r := one(t, c.table, c.cell, records...); r.Verdict != c.want {
				t.Errorf("got %q (%s), band %+v, test %+v, want %q", r.Verdict, r.Reason, r.Band, r.Test, c.want)
			}
		})
	}
}

// With few trials the variance is that of the cells that share it, under one variant.
func TestPooledVariance(t *testing.T) {
	const cells = `{row: r, published: "10.000", seeds: 0}, {row: q, published: "1.0", params: {points: 3}, seeds: 0..4}`
	at := func(scale string, ours float64, values ...float64) judge.Comparison {
		return one(t, "pools: [{name: p"+scale+"}], pool: p, ", cells, append(traces(t, ours), other(t, values...)...)...)
	}
	// t(4)·√2 = 3.9265
	linear := []float64{5 - math.Sqrt2, 5, 5 + math.Sqrt2, 5, 5}
	for ours, want := range map[float64]judge.Verdict{13.926: judge.Match, 13.927: judge.Differs} {
		if r := at("", ours, linear...); r.Verdict != want || !r.Band.Pooled || r.Band.DegreesOfFreedom != 4 {
			t.Errorf("%v: %s, %+v", ours, r.Verdict, r.Band)
		}
	}
	// The deviation of the logarithms is 0.1: 12 ± t(4)·√2·1.2 = 4.712
	var scores []float64
	for _, v := range linear {
		scores = append(scores, 1e-3*math.Exp(0.1*(v-5)))
	}
	for ours, want := range map[float64]judge.Verdict{16.46: judge.Match, 16.48: judge.Differs} {
		if r := at(", scale: log", ours, scores...); r.Verdict != want {
			t.Errorf("on the log scale %v: %s, %+v", ours, r.Verdict, r.Band)
		}
	}
	if r := at("", 10, linear[:3]...); r.Verdict != judge.Unjudged ||
		!strings.Contains(r.Reason, `pool "p" have too few`) {
		t.Errorf("of two degrees of freedom: %s, %s", r.Verdict, r.Reason)
	}
	if r := at(", scale: log", 10, -1, 1, 2, 3, 4); r.Verdict != judge.Unjudged {
		t.Errorf("on the log scale of a negative value: %s", r.Verdict)
	}
	// Each variant has its own.
	r := one(t, "pools: [{name: p}], pool: p, headline: A, variants: [{name: A}, {name: B, params: {points: 3}}], ",
		`{row: r, published: "10", seeds: 0, variants: [A]}, {row: q, published: "1", seeds: 0..4, variants: [B]}`,
		append(traces(t, 10), other(t, linear...)...)...)
	if r.Verdict != judge.Unjudged {
		t.Errorf("from the trials of another variant: %s", r.Verdict)
	}
}

// A difference of two independent means has the degrees of freedom of Welch and
// Satterthwaite: (1/5 + 4/6)² / ((1/5)²/4 + (4/6)²/5) = 7.596.
func TestDifferenceOfIndependentMeans(t *testing.T) {
	left := traces(t, 3-math.Sqrt2, 3, 3+math.Sqrt2, 3, 3)
	right := other(t, 1-math.Sqrt(10), 1, 1+math.Sqrt(10), 1, 1, 1)
	for _, r := range right {
		r.Seed += 5
	}
	r := one(t, "seeds: 0..4, ", `{row: r, published: "2.0", minus: {params: {points: 3}, seeds: 5..10}}`,
		append(left, right...)...)
	if r.Verdict != judge.Match || math.Abs(r.Band.DegreesOfFreedom-7.5955) > 1e-4 ||
		math.Abs(r.Band.Deviation-math.Sqrt(5)) > 1e-12 {
		t.Errorf("%s, %+v", r.Verdict, r.Band)
	}
}

func TestMeanAndStandardError(t *testing.T) {
	r := one(t, "seeds: 0..3, ", `{row: r, published: "2"}`, traces(t, 1, 2, 3, 6)...)
	// By hand: mean 3, squares 4+1+0+9 = 14, sd √(14/3), SE √(14/12).
	if r.Ours.Mean != 3 || math.Abs(r.Ours.StandardError-math.Sqrt(14.0/12)) > 1e-15 ||
		r.Ours.Trials != 4 || *r.Difference != 1 {
		t.Errorf("got %+v, difference %v", *r.Ours, *r.Difference)
	}
	if got := strings.Join(r.TrialKeys, " "); got != "k0 k1 k2 k3" {
		t.Errorf("trial keys %s", got)
	}
	// The mean of six times 0.1 rounds to another number; that is no scatter.
	if r := one(t, "seeds: 0..5, ", `{row: r, published: "2"}`, traces(t, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)...); r.Ours.Mean ==
		0.1 || r.Ours.StandardError != 0 {
		t.Errorf("equal values have a standard error of %v", r.Ours.StandardError)
	}
	if r := one(t, "", `{row: r, published: "2"}`, traces(t, 5)...); r.Ours.StandardError != 0 {
		t.Errorf("one trial has a standard error of %v", r.Ours.StandardError)
	}
}

func TestWhyACellWasNotRun(t *testing.T) {
	cell := `{row: r, published: "2", reference: [{value: 2, tolerance: 1}]}`
	broken := func(status record.Status, reason string) *record.Record {
		return claimtest.Fail(traces(t, 0)[0], status, reason)
	}
	nan := traces(t, math.NaN())[0]
	cases := []struct {
		name    string
		records []*record.Record
		want    string
	}{
		{"nothing", nil, "no trial of this setting has run"},
		{"failed", []*record.Record{broken(record.Failed, "not positive definite")}, "failed: not positive definite"},
		{"skipped", []*record.Record{broken(record.Skipped, "run: run data fetch kung")},
			"skipped: run: run data fetch kung"},
		{"infinite", traces(t, math.Inf(1)), "the trial reports no finite trace_weak"},
		{"not a number", []*record.Record{nan}, "the trial reports no finite trace_weak"},
		{"another setting", []*record.Record{claimtest.Record(t, "x", "demo/traces", map[string]any{"points": 3}, 0,
			map[string]float64{"trace_weak": 2})}, "no trial of this setting has run"},
		{"another seed", traces(t, 1, 2)[1:], "no trial of this setting has run"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := one(t, "", cell, c.records...)
			if r.Verdict != judge.NotRun || r.Reason != c.want || r.Ours != nil || r.Difference != nil || r.Reference.OK {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// Trials that are missing are reported, and never make a check pass.
func TestPartOfTheTrials(t *testing.T) {
	r := one(t, "seeds: 0..3, ", `{row: r, published: "2", reference: [{value: 2, tolerance: 1}]}`,
		append(traces(t, 2, 2), claimtest.Fail(claimtest.Record(t, "k2", "demo/traces", nil, 2, nil),
			record.Failed, "timeout"))...)
	if r.Ours.Trials != 2 || r.Ours.Wanted != 4 || r.Complete() {
		t.Errorf("got %+v", *r.Ours)
	}
	want := []string{"only 2 of 4 trials: seed 2 failed: timeout; seed 3 no trial of this setting has run"}
	if !slices.Equal(r.Warnings, want) {
		t.Errorf("warnings %q", r.Warnings)
	}
	if v := judge.Check(&judge.Evaluation{Table: "demo/t", Cells: []judge.Comparison{r}}); len(v) != 1 ||
		v[0].String() != "demo/t: r: only 2 of 4 trials have run" {
		t.Errorf("violations %v", v)
	}
}

func TestCheck(t *testing.T) {
	var got []string
	for _, table := range []string{"demo/table1", "demo/claims"} {
		for _, v := range judge.Check(evaluate(t, table, claimtest.Records(t))) {
			got = append(got, v.String())
		}
	}
	want := []string{
		"demo/table1: 1d / sparse cloaking / set A: only 2 of 3 trials have run",
		"demo/claims: Example 1 / variance at 0.5: variance_at_s1 is 0.50000001, outside 0.5 ± 1e-09",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if n := len(judge.Check(evaluate(t, "demo/table1", nil))); n != 3 {
		t.Errorf("%d violations without any trial, want one for each of the 3 values with a reference", n)
	}
}

func TestReferenceBand(t *testing.T) {
	for ours, ok := range map[float64]bool{0.9: false, 1: true, 2: true, 3: true, 3.1: false} {
		t.Run(fmt.Sprintf("%v within 1 of 2", ours), func(t *testing.T) {
			r := one(t, "", `{row: r, reference: [{value: 2, tolerance: 1}]}`, traces(t, ours)...)
			if r.Reference.OK != ok {
				t.Errorf("%v in 2 ± 1: %v", ours, r.Reference.OK)
			}
		})
	}
}

func TestReferenceOfAVariantGoesBeforeTheGeneralOne(t *testing.T) {
	r := one(t, "variants: [{name: A}], ",
		`{row: r, reference: [{value: 1, tolerance: 0}, {variant: A, value: 2, tolerance: 0}]}`, traces(t, 2)...)
	if r.Reference.Value != 2 || !r.Reference.OK {
		t.Errorf("got %+v", *r.Reference)
	}
}

// Warnings about a trial's times are shown with times only.
func TestWarningsAboutTimes(t *testing.T) {
	suspect, shared := "computed but suspect: condition 2e14", record.TimedBeside(0.5, 2)
	for metric, want := range map[string][]string{"trace_weak": {suspect}, "time_s": {suspect, shared}} {
		t.Run(metric, func(t *testing.T) {
			records := traces(t, 1)
			records[0].Metrics = map[string]float64{"trace_weak": 1, "time_s": 2}
			records[0].Warnings = []string{suspect, shared}
			if r := one(t, "", `{row: r, metric: `+metric+`}`, records...); !slices.Equal(r.Warnings, want) {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
	}
}

// Two digests of a data set, or two backends, give two records of a setting.
func TestSeveralRecordsOfOneSetting(t *testing.T) {
	cuda := traces(t, 3)[0]
	cuda.Key, cuda.Backend, cuda.DType = "a", "cuda", "float32"
	broken := claimtest.Fail(traces(t, 0)[0], record.Failed, "timeout")
	broken.Key = "b"
	cpu := traces(t, 2)[0]
	r := one(t, "", `{row: r}`, cuda, broken, cpu)
	if r.Ours.Mean != 2 || len(r.Warnings) != 1 ||
		!strings.HasPrefix(r.Warnings[0], "several records of seed 0 (cpu float64, cuda float32") {
		t.Errorf("got %+v with warnings %q; float64 on the CPU is the reference", *r.Ours, r.Warnings)
	}
	precise := traces(t, 4)[0]
	precise.Key, precise.Backend = "z", "cuda"
	if r := one(t, "", `{row: r}`, cuda, precise); r.Ours.Mean != 4 {
		t.Errorf("got %+v; without the CPU's, float64 goes before float32", *r.Ours)
	}
	if r := one(t, "", `{row: r}`, broken, cpu); r.Ours.Mean != 2 || len(r.Warnings) != 0 {
		t.Errorf("a failed record beside a good one: %+v", r)
	}
}

func TestOrderOfRecordsDoesNotMatter(t *testing.T) {
	records := claimtest.Records(t)
	want := evaluate(t, "demo/table1", records)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		if got := evaluate(t, "demo/table1", records); !reflect.DeepEqual(got, want) {
			t.Fatal("another order of the same records gives another table")
		}
	}
}

// A quoted value is of another method: it asks for no trial, and no check can
// fail by it.
func TestQuotedValues(t *testing.T) {
	const cell = `{row: r, published: "3.11", quoted: true, note: n}`
	r := one(t, "variants: [{name: A}, {name: B}], headline: A, "+
		"settings: {assumed: [{text: unstated, source: ours}]}, ", cell)
	if r.Verdict != judge.Quoted || r.Variant != "" || *r.Published.Value != 3.11 || r.Ours != nil || r.Reason != "" ||
		!r.SettingsStated() || r.Note != "n" {
		t.Errorf("got %+v", r)
	}
	tb, err := claimtest.Ledger(t).Table("demo/comparison")
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := tb.Trials(claimtest.Registry())
	if err != nil {
		t.Fatal(err)
	}
	if len(wanted) != 7 {
		t.Errorf("%d trials, want 2 seeds of 3 settings and one of what a cell is compared with", len(wanted))
	}
	if v := judge.Check(evaluate(t, "demo/comparison", nil)); len(v) != 0 {
		t.Errorf("violations %v", v)
	}
}

// The notes under a table are those that its cells, variants and records need, each
// once, and no others.
func TestFootnotes(t *testing.T) {
	const text = `paper: demo
tables:
  - name: demo/t
    kind: claims
    title: T
    experiment: demo/traces
    metric: trace_weak
    seeds: 0..1
    settings: {stated: true, note: those of Section 5}
    baseline: ridge 1.2 ± 0.1 at (1, 0)
    variants: [{name: A, note: as printed}, {name: B, params: {points: 3}}]
    cells:
      - {row: r, published: "2", headline: A}
      - {row: s, published: "10", headline: A, metric: trace_strong}
`
	records := traces(t, 2, 2)
	stated := (&experiment.Privacy{Unit: "one row", Mechanism: "noise"}).State(1, 0)
	secure, seeded := *stated.Judged(true), *stated.Judged(false)
	for _, c := range []struct {
		name    string
		privacy []experiment.Privacy
		kinds   int
		planned bool
		want    []string
	}{
		{"one kind of noise", []experiment.Privacy{secure, secure}, 1, false, []string{
			"Settings: those of Section 5.", "A: as printed.", "Mechanism: (1, 0)-DP for one row; noise.",
			"Best baseline: ridge 1.2 ± 0.1 at (1, 0)."}},
		{"two kinds, of a part of the variants", []experiment.Privacy{secure, seeded}, 2, true, []string{
			"Settings: those of Section 5.", "Not part of this sweep: B.", "A: as printed.",
			"Mechanism: (1, 0)-DP for one row; noise.",
			"Mechanism: (1, 0)-DP for one row; noise. Seeded noise reproduces the paper and protects nobody.",
			"Best baseline: ridge 1.2 ± 0.1 at (1, 0)."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tables, reg := tablesOf(t, text)
			for i := range records {
				records[i].Privacy = &c.privacy[i]
			}
			index, err := judge.Index(slices.Values(records))
			if err != nil {
				t.Fatal(err)
			}
			demo, err := reg.Lookup("demo/traces")
			if err != nil {
				t.Fatal(err)
			}
			p, err := demo.Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range int64(2) {
				if c.planned {
					if err := index.Expect("demo/traces", p, seed); err != nil {
						t.Fatal(err)
					}
				}
			}
			e, err := judge.Evaluate(tables[0], reg, index)
			if err != nil {
				t.Fatal(err)
			}
			const first = 3 // number of trials, rule, rule of the one verdict
			if len(e.Footnotes) < first || !slices.Equal(e.Footnotes[first:], c.want) {
				t.Errorf("got  %q\nwant %q", e.Footnotes, c.want)
			}
			if len(e.Privacy) != c.kinds {
				t.Errorf("%d kinds of noise, want %d", len(e.Privacy), c.kinds)
			}
			if h := e.Headlines(); len(h) != 1 || h[e.Cells[0].Verdict] != 2 {
				t.Errorf("%v of the variants that are judged, want two of a kind", h)
			}
			if name := e.Classes.Names()[0]; e.Classes[name] != len(records) {
				t.Errorf("%d trials of %s, want each once", e.Classes[name], name)
			}
		})
	}
}
