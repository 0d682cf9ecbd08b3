package judge_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/runner/claims/judge"
)

// A mean of cells with too few seeds in common takes the mean of their deviations, own or
// pooled, and the fewest of their degrees of freedom.
func TestSpreadOfAMean(t *testing.T) {
	const header = "paper: demo\ntables:\n  - {name: demo/t, kind: table, title: T, experiment: demo/traces, " +
		"metric: trace_weak, "
	// Cell a has one trial and the deviation 1 of cell b, which has five. Cell c has six trials
	// of deviation 3.
	records := slices.Concat(other(t, 10), traces(t, 10, 10-math.Sqrt2, 10+math.Sqrt2, 10, 10))
	wide := 3 * math.Sqrt(2.5)
	for _, r := range other(t, 10, 10-wide, 10+wide, 10, 10, 10) {
		r.Key, r.Params = r.Key+"c", map[string]any{"points": 4}
		records = append(records, r)
	}
	index, err := judge.Index(slices.Values(records))
	if err != nil {
		t.Fatal(err)
	}
	const a, b = `{row: a, column: x, published: "10", params: {points: 3}, pool: p}, `,
		`{row: b, column: x, published: "10", seeds: 0..4, pool: p}, `
	const c = `{row: c, column: x, published: "10", params: {points: 4}, seeds: 0..5}, `
	for _, k := range []struct {
		name, pools, cells, mean string
		deviation, freedom       float64
		verdict                  judge.Verdict
		reason                   string
	}{
		{"one variance", "pools: [{name: p}], ", a + b, "10.000", 1, 4, judge.Match, ""},
		// t(4) = 2.7764, one draw and one trial: 2.7764·√2 = 3.9265
		{"inside", "pools: [{name: p}], ", a + b, "13.926", 1, 4, judge.Match, ""},
		{"outside", "pools: [{name: p}], ", a + b, "13.928", 1, 4, judge.Differs, ""},
		{"several variances", "pools: [{name: p}], ", a + b + c, "10.000", 5.0 / 3, 4, judge.Match, ""},
		{"logarithms", "pools: [{name: p, scale: log}], ", a + b, "10.000", 0, 4, judge.Match, ""},
		{"a cell without a pool", "pools: [{name: p}], ", strings.Replace(a, ", pool: p", "", 1) + b, "10.000", 0, 0,
			judge.Unjudged, `that of row "a", column "x", which the mean`},
	} {
		t.Run(k.name, func(t *testing.T) {
			tables, reg := tablesOf(t, header+k.pools+"cells: ["+k.cells+
				`{row: mean, published: "`+k.mean+`", mean_of: {column: x}}]}`+"\n")
			e, err := judge.Evaluate(tables[0], reg, index)
			if err != nil {
				t.Fatal(err)
			}
			got := e.Cells[len(e.Cells)-1]
			if got.Verdict != k.verdict || !strings.Contains(got.Reason, k.reason) {
				t.Fatalf("%s: %s", got.Verdict, got.Reason)
			}
			if got.Band == nil {
				return
			}
			if k.deviation == 0 { // that of the logarithms, a share of cell a, and cell b's own
				k.deviation = (10*logDeviation(10-math.Sqrt2, 10, 10+math.Sqrt2, 10, 10) + 1) / 2
			}
			if !(math.Abs(got.Band.Deviation-k.deviation) < 1e-12) || got.Band.DegreesOfFreedom != k.freedom ||
				!got.Band.Pooled {
				t.Errorf("got %+v, want a deviation of %g with %g degrees of freedom", *got.Band, k.deviation, k.freedom)
			}
		})
	}
}

func logDeviation(values ...float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range values {
		mean += math.Log(v) / float64(len(values))
	}
	for _, v := range values {
		sum += (math.Log(v) - mean) * (math.Log(v) - mean)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

// A value that stands in two places enters its pool once.
func TestPoolCountsAValueOnce(t *testing.T) {
	tables, reg := tablesOf(t, "paper: demo\ntables:\n  - {name: demo/t, kind: table, title: T, "+
		"experiment: demo/traces, metric: trace_weak, pools: [{name: p}], pool: p, cells: ["+
		`{row: r, published: "10", params: {points: 3}}, {row: a, published: "10", seeds: 0..2, id: one}, `+
		`{row: b, published: "10", seeds: 0..2, same_as: one}]}`+"\n")
	index, err := judge.Index(slices.Values(append(other(t, 10), traces(t, 9, 10, 11)...)))
	if err != nil {
		t.Fatal(err)
	}
	e, err := judge.Evaluate(tables[0], reg, index)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Cells[0]; got.Verdict != judge.Unjudged || !strings.Contains(got.Reason, `pool "p" have too few`) {
		t.Errorf("of two degrees of freedom in two places: %s (%s)", got.Verdict, got.Reason)
	}
}

// A tolerance below the rounding of the print does not make a band wide.
func TestToleranceBelowTheRounding(t *testing.T) {
	const exact = "deterministic: true, tolerance: {absolute: 0.01, source: s}, "
	if r := one(t, exact, `{row: r, published: "10.0"}`, traces(t, 10.04)...); r.Verdict != judge.Match {
		t.Errorf("a value that rounds to the print is %s", r.Verdict)
	}
}

// An exact reproduction of a bound is inside with the band of a number, or on the bound's own
// side.
func TestCoverageOfABound(t *testing.T) {
	values := []float64{10, 9, 11, 10, 10}
	number := one(t, "seeds: 0..4, ", `{row: r, published: "10.000"}`, traces(t, values...)...).Band.Coverage
	bound := one(t, "seeds: 0..4, ", `{row: r, published: "< 10.000"}`, traces(t, values...)...).Band.Coverage
	if !(math.Abs(number-0.95) < 1e-3) || bound != (1+number)/2 {
		t.Errorf("%g of a number, %g of a bound", number, bound)
	}
}
