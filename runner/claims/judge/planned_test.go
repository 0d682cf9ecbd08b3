package judge_test

import (
	"slices"
	"strings"
	"testing"

	"privkern/runner/claims/claimtest"
	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
)

// A sweep may run a table's settings with other seeds, or some of its variants
// only, and the table is made of them.
func TestPlannedTrials(t *testing.T) {
	const text = `paper: demo
tables:
  - name: demo/t
    kind: table
    title: T
    experiment: demo/traces
    metric: trace_weak
    seeds: 0..1
    headline: first
    variants:
      - {name: first}
      - {name: second, params: {points: 5}}
    cells: [{row: r, published: "13"}]
`
	l, err := ledger.Read("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	reg := claimtest.Registry()
	e, err := reg.Lookup("demo/traces")
	if err != nil {
		t.Fatal(err)
	}
	params := func(given map[string]any) experiment.Params {
		p, err := e.Resolve(given)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	index, err := judge.Index(slices.Values(traces(t, 12, 13, 14)))
	if err != nil {
		t.Fatal(err)
	}
	evaluated := func() *judge.Evaluation {
		out, err := judge.Evaluate(l.Tables[0], reg, index)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := evaluated(); len(got.Cells) != 2 || got.Cells[0].Ours.Trials != 2 || got.Cells[1].Verdict != judge.NotRun {
		t.Errorf("the ledger's own trials: %+v", got.Cells)
	}
	expect := func(seed int64) {
		t.Helper()
		if err := index.Expect("demo/traces", params(nil), seed); err != nil {
			t.Fatal(err)
		}
	}
	expect(0)
	if got := evaluated().Cells[0]; got.Ours.Wanted != 1 ||
		!slices.Equal(got.Warnings, []string{"planned with 1 of the table's 2 trials"}) {
		t.Errorf("planned with one seed of two: %+v, warnings %q", *got.Ours, got.Warnings)
	}
	for seed := range int64(4) {
		expect(seed)
	}
	got := evaluated()
	if len(got.Cells) != 1 || got.Cells[0].Ours.Trials != 3 || got.Cells[0].Ours.Wanted != 4 {
		t.Errorf("planned with four seeds, of which three have run: %+v", got.Cells)
	}
	if len(got.Variants) != 1 || !strings.Contains(strings.Join(got.Footnotes, "\n"), "Not part of this sweep: second.") {
		t.Errorf("variants %v, footnotes %q", got.Variants, got.Footnotes)
	}
}
