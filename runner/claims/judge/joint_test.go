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
	"privkern/runner/record"
)

// ramp returns records of five settings over n seeds, whose values go evenly from −1 to 1 around
// the number of points, in an order of their own; of the fifth from −.001 to .001.
func ramp(t *testing.T, n int) []*record.Record {
	t.Helper()
	var out []*record.Record
	for points := 2; points <= 6; points++ {
		for seed := range n {
			at := float64((seed*7)%n)/float64(max(n-1, 1))*2 - 1
			if points == 6 {
				at *= 1e-3
			}
			out = append(out, claimtest.Record(t, fmt.Sprintf("%d-%d", points, seed), "demo/traces",
				map[string]any{"points": points}, int64(seed),
				map[string]float64{"trace_weak": float64(points) + at, "trace_strong": 1}))
		}
	}
	return out
}

// jointTable is a table of two cells with its terms.
func jointTable(terms, first, second string) string {
	return `paper: demo
tables:
  - name: demo/t
    kind: table
    title: T
    experiment: demo/traces
    metric: trace_weak
` + terms + `    cells:
      - {row: a, params: {points: 2}, ` + first + `}
      - {row: b, params: {points: 4}, ` + second + `}
`
}

// evaluated evaluates the first table of a ledger.
func evaluated(t *testing.T, text string, records []*record.Record) *judge.Evaluation {
	t.Helper()
	read, reg := tablesOf(t, text)
	index, err := judge.Index(slices.Values(records))
	if err != nil {
		t.Fatal(err)
	}
	e, err := judge.Evaluate(read[0], reg, index)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestJoint(t *testing.T) {
	const seeds = "    seeds: 0..198\n"
	for _, c := range []struct {
		name, terms, first, second string
		trials                     int
		want                       []string
	}{
		{"consistent", seeds, `published: "2.1"`, `published: "3.9"`, 199,
			[]string{"Jointly, trace_weak: consistent, p = .96 (ours above the print in 1 of 2, below in 1; 199 draws)."}},
		{"shifted", seeds, `published: "1.0"`, `published: "2.5"`, 199,
			[]string{"trace_weak: shifted by +80 %, p ≤ .005 (ours above the print in 2 of 2, below in 0; 199 draws)."}},
		{"shifted down", seeds, `published: "4.0"`, `published: "8.0"`, 199, []string{"shifted by −50 %, p ≤ .005 ("}},
		{"rounded", seeds, `published: "1"`, `published: "3"`, 199,
			[]string{"consistent, p = .5"}},
		{"printed nearly alike", seeds, `published: "2.1"`, `published: "3.9"}
      - {row: c, params: {points: 6}, published: "8.0"`, 199,
			[]string{"consistent, p = .96 (ours above the print in 1 of 2, below in 1; 199 draws)."}},
		{"more digits", seeds, `published: "2.1"`, `published: "3.9"}
      - {row: c, params: {points: 6}, published: "8.0000"`, 199,
			[]string{"shifted by −4.8 %, p ≤ .005 (ours above the print in 1 of 3, below in 2; 199 draws)."}},
		{"all printed alike", seeds, `metric: trace_strong, published: "2.0"`, `metric: trace_strong, published: "2.5"`, 199,
			nil},
		{"few", "    seeds: 0..17\n", `published: "1.0"`, `published: "2.5"`, 18,
			[]string{"Jointly, trace_weak: cannot tell: 18 draws, 19 are needed (ours above the print in 2 of 2, below in 0)."}},
		{"blocks", "    seeds: 0..39\n    draws: 2\n", `published: "1.0"`, `published: "2.5"`, 40, []string{"; 20 draws)."}},
		{"a block and a draw", "    seeds: 0..39\n", `published: "1.0", draws: 2`, `published: "2.5"`, 40,
			[]string{"; 20 draws)."}},
		{"averages", seeds + "    draws: 0.01\n", `published: "1.0"`, `published: "2.5"`, 199,
			[]string{"Jointly, trace_weak: cannot tell: the print is of 0.01 of our trials."}},
		{"draws of its own", "    seeds: 0..4\n    draws: 0.01\n    joint: {seeds: 0..198, params: {points: 3}}\n",
			`published: "3.1"`, `published: "2.9"`, 199, []string{"consistent, p = .9"}},
		{"one value", seeds, `published: "1.0"`, `published: "2.5", deterministic: true`, 199, nil},
		{"a bound", seeds, `published: "1.0"`, `published: "< 2.5"`, 199, nil},
		{"not run", seeds, `published: "1.0"`, `published: "2.5"`, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := jointTable(c.terms, c.first, c.second)
			if c.name == "draws of its own" { // parameters of a joint verdict take precedence over the cell's
				text = strings.Replace(text, "points: 4", "points: 5", 1)
			}
			got := evaluated(t, text, ramp(t, c.trials)).Jointly()
			if len(got) != len(c.want) || len(got) > 0 && !strings.Contains(got[0], c.want[0]) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Each reading that the ledger names has a verdict, which does not count; corrected ones have none.
func TestJointReadings(t *testing.T) {
	const variants = "    seeds: 0..4\n    headline: A\n" +
		"    variants: [{name: A}, {name: B, params: {points: 9}}, {name: C, corrected: true}]\n"
	text := jointTable(variants+"    joint: {seeds: 0..40, variants: [B]}\n", `published: "2.1"`, `published: "3.9"`)
	e := evaluated(t, text, ramp(t, 41))
	got := e.Jointly()
	if len(got) != 2 || !strings.HasPrefix(got[0], "Jointly, trace_weak, A: consistent") ||
		!strings.HasPrefix(got[1], "Jointly, not counted, trace_weak, B: consistent") || e.Cells[0].Ours.Trials != 5 {
		t.Errorf("%q, of %d trials in a cell", got, e.Cells[0].Ours.Trials)
	}
	for _, c := range []struct{ entry, want string }{
		{"{}", `give "seeds", "params" or "variants"`},
		{"{variants: [D]}", `unknown variant "D"`},
		{"{variants: [C]}", `"C" is corrected`},
		{"{params: {pionts: 3}}", `unknown parameter "pionts"; did you mean "points"?`},
		{"{seed: 3}", `unknown key "seed"; did you mean "seeds"?`},
		{"{seeds: 3..1}", "seeds are written as"},
	} {
		l, err := ledger.Read("t.yaml", []byte(jointTable(variants+"    joint: "+c.entry+"\n", `published: "2.1"`,
			`published: "3.9"`)))
		if err == nil {
			err = l.Validate(claimtest.Registry())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.entry, err, c.want)
		}
	}
}

// A plan of exactly the tables' trials leaves each cell its own seeds; one of other seeds replaces
// them, those of the joint verdict too.
func TestJointOfAPlan(t *testing.T) {
	read, reg := tablesOf(t, jointTable("    seeds: 0..4\n    joint: {seeds: 0..40}\n", `published: "2.1"`,
		`published: "3.9"`))
	trials, err := read[0].Trials(reg)
	if err != nil {
		t.Fatal(err)
	}
	for planned, want := range map[int64]string{41: "5 trials, 41 draws", 30: "30 trials, 30 draws"} {
		index, err := judge.Index(slices.Values(ramp(t, 41)))
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range trials {
			if id.Seed < planned {
				if err := index.Expect(id.Experiment, id.Params, id.Seed); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := index.ExpectTables(trials); err != nil {
			t.Fatal(err)
		}
		e, err := judge.Evaluate(read[0], reg, index)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d trials, %d draws", e.Cells[0].Ours.Trials, e.Joint[0].Draws); got != want {
			t.Errorf("%d seeds planned: %s, want %s", planned, got, want)
		}
	}
}

// The p-values of a paper's tests are adjusted together, and never decrease with their rank.
func TestHolm(t *testing.T) {
	test := func(p float64, headline bool) *judge.Joint {
		return &judge.Joint{P: p, Headline: headline, Draws: 199, Values: 2, Verdict: judge.Consistent}
	}
	tests := []*judge.Joint{test(0.02, true), test(0.005, true), test(0.03, true), test(0.9, true), test(0.04, false)}
	few := &judge.Joint{P: 1, Headline: true, Verdict: judge.CannotTell}
	other := test(0.04, true)
	judge.Holm(&judge.Evaluation{Paper: "a", Joint: tests[:2]},
		&judge.Evaluation{Paper: "b", Joint: []*judge.Joint{other}},
		&judge.Evaluation{Paper: "a", Joint: append(tests[2:], few)})
	for i, want := range []float64{0.06, 0.02, 0.06, 0.9} {
		if math.Abs(tests[i].Holm-want) > 1e-12 || (tests[i].Verdict == judge.Shifted) != (want <= 0.05) {
			t.Errorf("p = %g is %g and %s, want %g", tests[i].P, tests[i].Holm, tests[i].Verdict, want)
		}
	}
	if other.Verdict != judge.Shifted || few.Verdict != judge.CannotTell || tests[4].Holm != 0 {
		t.Errorf("another paper's: %s, without a test: %s, not counted: %g", other.Verdict, few.Verdict, tests[4].Holm)
	}
}
