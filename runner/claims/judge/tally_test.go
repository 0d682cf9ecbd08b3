package judge_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"privkern/runner/claims/judge"
)

// Every value and every claim of the paper counts once, with the verdict of its
// headline variant.
func TestTally(t *testing.T) {
	const text = `paper: demo
tables:
  - name: demo/t
    kind: table
    title: T
    experiment: demo/traces
    metric: trace_weak
    deterministic: true
    headline: A
    tolerance: {absolute: 2, source: s}
    variants:
      - {name: A}
      - {name: B, params: {points: 3}}
      - {name: C, corrected: true}
    cells:
      - {row: inside, published: "1.0", id: one}
      - {row: again, published: "1.0", same_as: one}
      - {row: close, published: "2.0"}
      - {row: far, published: "4.0"}
      - {row: "judged by A, not by B", published: "1.0", variants: [A, B]}
      - {row: quoted, published: "1.0", quoted: true}
      - {row: ours, published: "7.0", ours: true}
      - {row: own}
      - {row: corrected, published: "1.0", variants: [C]}
      - {row: time, published: "3.0", times: true}
      - {row: elsewhere, published: "1.0", stand_in: simulated}
      - {row: missing, published: "1.0", params: {points: 4}, headline: B, variants: [B]}
  - name: demo/u
    kind: claims
    title: U
    experiment: demo/traces
    metric: trace_weak
    cells:
      - {row: again in another table, published: "1.0", same_as: one, deterministic: true}
      - {row: p, statement: holds, claim: both, holds: {op: "<", value: 2}}
      - {row: q, statement: holds too, claim: both, holds: {op: ">", value: 0}}
      - {row: p, statement: holds here, claim: half, holds: {op: "<", value: 2}}
      - {row: q, statement: but not here, claim: half, holds: {op: ">", value: 2}}
      - {row: r, statement: alone, holds: {op: "=", value: 1}}
      - {row: s, statement: a part has not run, claim: part, holds: {op: "=", value: 1}}
      - {row: t, statement: this one, claim: part, params: {points: 4}, holds: {op: "=", value: 1}}
      - {row: u, statement: ours, ours: true, holds: {op: "=", value: 1}}
`
	read, reg := tablesOf(t, text)
	index, err := judge.Index(slices.Values(append(traces(t, 1), other(t, 50)...)))
	if err != nil {
		t.Fatal(err)
	}
	var evaluated []*judge.Evaluation
	for _, table := range read {
		e, err := judge.Evaluate(table, reg, index)
		if err != nil {
			t.Fatal(err)
		}
		evaluated = append(evaluated, e)
	}
	got := judge.TallyOf(evaluated...)
	want := judge.Tally{Values: 8, Judged: 4, Inside: 2, Close: 1, Expected: 4, Sharp: 4, SharpInside: 2,
		SharpExpected: 4, Claims: 4, ClaimsJudged: 3, Hold: 2,
		Left: map[judge.Verdict]int{judge.Corrected: 1, judge.Slower: 0, judge.Faster: 1, judge.StandIn: 1, judge.NotRun: 2}}
	delete(want.Left, judge.Slower)
	if fmt.Sprint(got) != fmt.Sprint(want) || math.Abs(got.Expected-4) > 1e-12 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	sentence := "Of 8 distinct values of the paper 4 were judged: 2 inside, 4.0 expected if the reproduction " +
		"were exact; 1 outside is close. Of 4 claims in words 3 were judged: 2 hold. " +
		"Not judged: 1 faster, 1 stand-in, 1 corrected, 2 not run."
	if s := got.Sentence(); s != sentence {
		t.Errorf("got  %s\nwant %s", s, sentence)
	}
	var twice judge.Tally
	twice.Add(got)
	twice.Add(got)
	if twice.Values != 16 || twice.Left[judge.NotRun] != 4 || twice.Hold != 4 || twice.Expected != 8 ||
		twice.Sharp != 8 || twice.SharpInside != 4 || twice.SharpExpected != 8 {
		t.Errorf("twice: %+v", twice)
	}
}
