package judge_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privkern/runner/claims/claimtest"
	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/record"
)

// mean evaluates the mean of two values of a column, the second at
// the given number of points.
func mean(t *testing.T, points int, records ...*record.Record) judge.Comparison {
	t.Helper()
	cells := fmt.Sprintf(`{row: mean, column: c, published: "2.0", mean_of: {column: c}},
      {row: a, column: c, published: "1"}, {row: b, column: c, published: "3", params: {points: %d}},
      {row: q, column: c, published: "50", quoted: true}, {row: b, column: d, published: "70"}`, points)
	return one(t, "seeds: 0..2, ", cells, records...)
}

func TestMeanOfACell(t *testing.T) {
	other := func(values ...float64) []*record.Record { return other(t, values...) }
	// By hand: per seed (1+3)/2, (2+4)/2, (3+2)/2 = 2, 3, 2.5.
	r := mean(t, 3, append(traces(t, 1, 2, 3), other(3, 4, 2)...)...)
	if r.Ours.Mean != 2.5 || math.Abs(r.Ours.StandardError-0.5/math.Sqrt(3)) > 1e-15 || r.Ours.Trials != 3 ||
		!r.Complete() || *r.Difference != 0.5 {
		t.Errorf("got %+v, difference %v", *r.Ours, *r.Difference)
	}
	if got := strings.Join(r.TrialKeys, " "); got != "k0 other k0 k1 other k1 k2 other k2" || r.Metric != "trace_weak" {
		t.Errorf("trial keys %s, metric %s", got, r.Metric)
	}
	// A setting that a column has twice is no second draw.
	if r := mean(t, 9, traces(t, 1, 2, 3)...); r.Ours.Mean != 2 || math.Abs(r.Ours.StandardError-1/math.Sqrt(3)) > 1e-15 ||
		len(r.TrialKeys) != 3 {
		t.Errorf("of the same trials twice: %+v of %v", *r.Ours, r.TrialKeys)
	}
	// Changes from seed to seed that cancel in the mean are not part of its scatter.
	if r := mean(t, 3, append(traces(t, 1, 2, 3), other(3, 2, 1)...)...); r.Ours.Mean != 2 || r.Ours.StandardError != 0 {
		t.Errorf("of opposite values: %+v", *r.Ours)
	}
	r = mean(t, 3, append(traces(t, 1, 2, 3), other(3, 4)...)...)
	if r.Ours.Trials != 2 || r.Complete() ||
		!slices.Equal(r.Warnings,
			[]string{"only 2 of 3 trials: seed 2 missing 1 of the 2 values: no trial of this setting has run"}) {
		t.Errorf("without one of the values: %+v, warnings %q", *r.Ours, r.Warnings)
	}
	r = mean(t, 3, traces(t, 1, 2, 3)...)
	if r.Verdict != judge.NotRun || r.Reason != "missing 1 of the 2 values: no trial of this setting has run" {
		t.Errorf("without one of the cells: %q, %q", r.Verdict, r.Reason)
	}
}

// A mean is of the seeds that all its cells have: a cell with more of them lacks nothing.
func TestMeanOfCellsWithUnequalSeeds(t *testing.T) {
	for name, c := range map[string]struct {
		a, b   string
		trials int
		mean   float64 // per seed 2, 3, 2.5
	}{
		"the first has more": {"0..2", "0..1", 2, 2.5}, "the second has more": {"0", "0..2", 1, 2},
		"some in common": {"0..1", "1..2", 1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := one(t, "", fmt.Sprintf(`{row: mean, column: c, published: "2.0", mean_of: {column: c}},
      {row: a, column: c, published: "1", seeds: %s},
      {row: b, column: c, published: "3", params: {points: 3}, seeds: %s}`,
				c.a, c.b), append(traces(t, 1, 2, 3), other(t, 3, 4, 2)...)...)
			if r.Ours.Trials != c.trials || r.Ours.Mean != c.mean || !r.Complete() || len(r.Warnings) != 0 {
				t.Errorf("got %+v, warnings %q", *r.Ours, r.Warnings)
			}
		})
	}
}

// So is a mean of differences: the subtrahends need no other seeds.
func TestMeanOfDifferencesWithUnequalSeeds(t *testing.T) {
	cells := `{row: mean, column: c, mean_of: {column: c}},
      {row: a, column: c, seeds: 0..2, minus: {params: {points: 3}, seeds: 0..1}},
      {row: b, column: c, seeds: 0..1, params: {points: 7}, minus: {params: {points: 3}, seeds: 0..1}}`
	seven := other(t, 3, 4)
	for i, r := range seven {
		seven[i] = claimtest.Record(t, "seven "+r.Key, "demo/traces", map[string]any{"points": 7}, r.Seed, r.Metrics)
	}
	// Per seed (1+3)/2 − 2 and (2+4)/2 − 3.
	r := one(t, "", cells, append(append(traces(t, 1, 2, 4), seven...), other(t, 2, 3)...)...)
	if r.Ours.Trials != 2 || r.Ours.Mean != 0 || r.Ours.StandardError != 0 || !r.Complete() {
		t.Errorf("got %+v, less %+v", *r.Ours, *r.Minus)
	}
}

// other are records of a second setting, at another number of points.
func other(t *testing.T, values ...float64) []*record.Record {
	t.Helper()
	out := traces(t, values...)
	for i, r := range out {
		out[i] = claimtest.Record(t, "other "+r.Key, "demo/traces", map[string]any{"points": 3}, r.Seed, r.Metrics)
	}
	return out
}

func TestDifference(t *testing.T) {
	const paired = `{row: r, published: "-2", minus: {params: {points: 3}}}`
	const single = `{row: r, published: "-2", minus: {params: {points: 3}, seeds: 0}}`
	const several = `{row: r, published: "-2", minus: {params: {points: 3}, seeds: 5..6}}`
	later := func(values ...float64) []*record.Record {
		out := other(t, values...)
		for _, r := range out {
			r.Seed += 5
		}
		return out
	}
	cases := []struct {
		name, table, cell string
		left, right       []*record.Record
		mean, squared     float64 // of the standard error
		minus             float64
		trials            int
		warnings          []string
	}{
		{"one seed", "", paired, traces(t, 1), other(t, 3), -2, 0, 3, 1, nil},
		// Differences -2, -3, -4: standard deviation 1.
		{"seed by seed", "seeds: 0..2, ", paired, traces(t, 1, 2, 3), other(t, 3, 5, 7), -3, 1.0 / 3, 5, 3, nil},
		{"equal differences have no scatter", "seeds: 0..2, ", paired, traces(t, 0.9384, 0.1, 0.7),
			other(t, 0.9478, 0.1094, 0.7094), -0.0094, 0,
			(0.9478 + 0.1094 + 0.7094) / 3, 3, nil},
		{"seeds that only one has", "seeds: 0..2, ", paired, traces(t, 1, 2, 3), other(t, 3, 5), -2.5, 0.25, 4, 2,
			[]string{"only 2 of 3 trials: seed 2 what is subtracted: no trial of this setting has run"}},
		{"one value for all seeds", "seeds: 0..2, ", single, traces(t, 1, 2, 3), other(t, 4), -2, 1.0 / 3, 4, 3, nil},
		// Standard errors 1/√3 and 1.
		{"other seeds", "seeds: 0..2, ", several, traces(t, 1, 2, 3), later(3, 5), -2, 1.0/3 + 1, 4, 3, nil},
		{"a part of other seeds", "seeds: 0..2, ", several, traces(t, 1, 2, 3), later(4), -2, 1.0 / 3, 4, 3,
			[]string{"what is subtracted: only 1 of 2 trials: seed 6 no trial of this setting has run"}},
		{"a part of the cell's own", "seeds: 0..2, ", single, traces(t, 1, 3), other(t, 4), -2, 1, 4, 2,
			[]string{"only 2 of 3 trials: seed 2 no trial of this setting has run"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := one(t, c.table, c.cell, append(c.left, c.right...)...)
			if r.Ours == nil || math.Abs(r.Ours.Mean-c.mean) > 1e-15 ||
				math.Abs(r.Ours.StandardError-math.Sqrt(c.squared)) > 1e-15 || r.Ours.Trials != c.trials {
				t.Fatalf("got %+v: %s", r.Ours, r.Reason)
			}
			if r.Minus.Experiment != "demo/traces" || r.Minus.Metric != "trace_weak" || math.Abs(r.Minus.Mean-c.minus) > 1e-15 {
				t.Errorf("subtracted %+v", r.Minus)
			}
			if !slices.Equal(r.Warnings, c.warnings) {
				t.Errorf("warnings %q", r.Warnings)
			}
			if n := len(r.TrialKeys); n < c.trials+1 {
				t.Errorf("only %d trial keys", n)
			}
		})
	}

	// Where a number is on the border, rounding does not decide.
	if r := one(t, "", `{statement: s, minus: {params: {points: 3}}, holds: {op: ">", value: -0.01}}`,
		append(traces(t, 0.9384), other(t, 0.9484)...)...); r.Verdict != judge.Differs {
		t.Errorf("0.9384 − 0.9484 > -0.01: %s, difference %v", r.Verdict, *r.Difference)
	}
	// Another metric of the same trial.
	if r := one(t, "", `{row: r, minus: {metric: trace_strong}}`, traces(t, 12)...); r.Ours.Mean != 2 ||
		len(r.TrialKeys) != 1 {
		t.Errorf("of the same trial: %+v of %v", *r.Ours, r.TrialKeys)
	}
	for want, records := range map[string][]*record.Record{
		"what is subtracted: no trial of this setting has run":                                   traces(t, 1, 2, 3),
		"no trial of this setting has run":                                                       other(t, 1, 2, 3),
		"no trial of this setting has run; what is subtracted: no trial of this setting has run": nil,
	} {
		t.Run(want, func(t *testing.T) {
			cell := paired
			if records != nil {
				cell = single
			}
			if r := one(t, "seeds: 0..2, ", cell, records...); r.Verdict != judge.NotRun || r.Reason != want ||
				r.Ours != nil || r.Minus != nil {
				t.Errorf("got %q, want %q", r.Reason, want)
			}
		})
	}
}

func TestMeanOfDifferences(t *testing.T) {
	cells := func(seeds string) string {
		minus := fmt.Sprintf("minus: {params: {points: 3}, seeds: %s}", seeds)
		return fmt.Sprintf(`{row: mean, column: c, mean_of: {column: c}}, {row: a, column: c, %s}, {row: b, column: c, `+
			`metric: trace_weak, params: {points: 7}, %s}`, minus, minus)
	}
	seven := other(t, 3, 4, 8)
	for i, r := range seven {
		seven[i] = claimtest.Record(t, "seven "+r.Key, "demo/traces", map[string]any{"points": 7}, r.Seed, r.Metrics)
	}
	records := append(append(traces(t, 1, 2, 4), seven...), other(t, 2, 2, 5)...)
	// By hand: per seed (1+3)/2 − 2, (2+4)/2 − 2, (4+8)/2 − 5 = 0, 1, 1.
	if r := one(t, "seeds: 0..2, ", cells("0..2"), records...); math.Abs(r.Ours.Mean-2.0/3) > 1e-15 ||
		math.Abs(r.Ours.StandardError-1.0/3) > 1e-15 || r.Minus.Mean != 3 {
		t.Errorf("seed by seed: %+v, less %+v", *r.Ours, *r.Minus)
	}
	// Means 2, 3, 6 less 2, which both cells share.
	if r := one(t, "seeds: 0..2, ", cells("0"), records...); math.Abs(r.Ours.Mean-5.0/3) > 1e-15 ||
		math.Abs(r.Ours.StandardError-math.Sqrt(13)/3) > 1e-15 || r.Minus.Trials != 1 {
		t.Errorf("less one value: %+v, less %+v", *r.Ours, *r.Minus)
	}
	// The subtracted mean is shared, too: its error counts once, not averaged away.
	for _, r := range records[6:] {
		r.Seed += 5
	}
	r := one(t, "seeds: 0..2, ", cells("5..7"), records...)
	if math.Abs(r.Ours.StandardError-math.Sqrt(13.0/9+1)) > 1e-15 {
		t.Errorf("less another mean: %+v, less %+v", *r.Ours, *r.Minus)
	}
}

// A deterministic subtrahend has no spread: one trial of it leaves the degrees of
// freedom of the others.
func TestDifferenceFromAValueWithoutChance(t *testing.T) {
	const text = `paper: demo
tables:
  - name: demo/t
    kind: table
    title: T
    experiment: demo/traces
    metric: trace_weak
    seeds: 0..5
    cells:
      - {row: r, published: "-2", minus: {params: {points: 3}, seeds: 0}}
`
	for seedless, freedom := range map[bool]float64{true: 5, false: 0} {
		t.Run(fmt.Sprint(seedless), func(t *testing.T) {
			reg := claimtest.Registry()
			demo, err := reg.Lookup("demo/traces")
			if err != nil {
				t.Fatal(err)
			}
			demo.Seedless = func(p experiment.Params) bool { return seedless && strings.Contains(fmt.Sprint(p), "points:3") }
			l, err := ledger.Read("demo/ledger.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			index, err := judge.Index(slices.Values(append(traces(t, 1, 2, 3, 4, 5, 6), other(t, 4)...)))
			if err != nil {
				t.Fatal(err)
			}
			e, err := judge.Evaluate(l.Tables[0], reg, index)
			if err != nil {
				t.Fatal(err)
			}
			got := 0.0
			if b := e.Cells[0].Band; b != nil {
				got = b.DegreesOfFreedom
			}
			if got != freedom {
				t.Errorf("%g degrees of freedom, want %g: %s %s", got, freedom, e.Cells[0].Verdict, e.Cells[0].Reason)
			}
		})
	}
}
