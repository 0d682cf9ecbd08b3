package score_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/runner/claims/claimtest"
	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/record"
	"privkern/runner/show/score"
	"privkern/runner/show/tables"
)

const jointLedger = `paper: demo
title: "A demonstration paper"
tables:
  - name: demo/t
    kind: table
    title: T
    experiment: demo/traces
    metric: trace_weak
    seeds: 0..4
    joint: {seeds: 0..40}
    tolerance: {absolute: 0.01, source: "a test"}
    cells:
      - {row: a, params: {points: 2}, published: "1.0"}
      - {row: b, params: {points: 3}, published: "2.0"}
      - {row: c, metric: trace_strong, published: "8.0"}
      - {row: d, metric: trace_strong, params: {points: 2}, published: "8.1"}
`

// jointBook opens a ledger of a table with joint verdicts.
func jointBook(text string) *ledger.Book {
	return ledger.Open([]experiment.Paper{{Name: "demo", Experiments: claimtest.Experiments(), Ledger: []byte(text)}})
}

// A table as CSV has its joint verdicts, which the scoreboard reads, adjusts, counts and lists.
func TestScoreOfJointVerdicts(t *testing.T) {
	book := jointBook(jointLedger)
	var records []*record.Record
	for points := 2; points <= 3; points++ {
		for seed := range 41 {
			records = append(records, claimtest.Record(t, fmt.Sprint(points, seed), "demo/traces",
				map[string]any{"points": points}, int64(seed), map[string]float64{
					"trace_weak": float64(points) + 0.5*float64(seed*7%41)/41}))
		}
	}
	index, err := judge.Index(slices.Values(records))
	if err != nil {
		t.Fatal(err)
	}
	table, err := book.Table("demo/t")
	if err != nil {
		t.Fatal(err)
	}
	e, err := judge.Evaluate(table, book.Experiments, index)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	var raw bytes.Buffer
	if err := tables.Write(&raw, tables.FormatCSV, tables.TextOptions{}, e); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(folder, "t.csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := func(b *score.Board) string {
		var out bytes.Buffer
		if err := score.WriteJoint(&out, b, tables.FormatMarkdown, 0); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	write(raw.String())
	const want = "- `demo/t`, trace\\_weak: shifted by +93 %, p ≤ .024 (ours above the print in 2 of 2, below in 0; " +
		"41 draws).\n"
	b := read(t, book, folder)
	if got := list(b); got != want || len(b.Skipped) != 0 || e.Jointly() == nil {
		t.Errorf("got %q, without %q", got, b.Skipped)
	}
	if a := b.All(); a.Sharp != 0 || a.WideOutside != 2 || a.Wide != 0 || a.Judged != 2 {
		t.Errorf("%+v", a)
	}
	var out bytes.Buffer
	if err := score.Write(&out, b, tables.FormatJSON, 0); err != nil {
		t.Fatal(err)
	}
	var read1 struct{ Joint []map[string]any }
	if err := json.Unmarshal(out.Bytes(), &read1); err != nil || len(read1.Joint) != 1 ||
		read1.Joint[0]["verdict"] != "shifted" || read1.Joint[0]["table"] != "demo/t" {
		t.Errorf("%v: %v", err, read1)
	}
	out.Reset()
	if err := score.Write(&out, b, tables.FormatMarkdown, 0); err != nil ||
		!strings.Contains(out.String(), "| 1 shifted |") {
		t.Errorf("%v:\n%s", err, out.String())
	}

	for _, c := range []struct {
		name, is, as string
		want         score.JointAgreement
		changes      int
		words        string
	}{
		{"as it is", "shifted", "shifted", score.JointAgreement{Compared: 1, Same: 1}, 0,
			"jointly: of 1 verdict of as many draws 1 the same"},
		{"another p-value", ",41,0.023809523809523808,", ",41,0.5,", score.JointAgreement{Compared: 1}, 1,
			"demo/t, jointly, trace_weak: p = .5, consistent; there p ≤ .024, shifted"},
		{"other draws", ",41,0.023809523809523808,", ",30,0.04,", score.JointAgreement{Open: 1}, 0,
			"jointly, trace_weak: left out, shifted of 30 draws here, shifted of 41 there"},
		{"no test", "shifted", "cannot tell", score.JointAgreement{Open: 1}, 0,
			"left out, cannot tell of 41 draws here, shifted of 41 there"},
	} {
		write(strings.ReplaceAll(raw.String(), c.is, c.as))
		a := read(t, book, folder).Against(b)
		page := strings.Join(strings.Fields(agreement(t, a, tables.FormatText)), " ")
		if a.Joint != c.want || a.JudgedChanges() != c.changes || !strings.Contains(page, c.words) {
			t.Errorf("%s: %+v, %d changes:\n%s", c.name, a.Joint, a.JudgedChanges(), page)
		}
	}

	const nothing = "No table here has the draws of a joint verdict.\n"
	changed := jointBook(strings.Replace(jointLedger, "seeds: 0..40}", "seeds: 0..60}", 1))
	if b := read(t, changed, folder); list(b) != nothing || len(b.Skipped) != 1 ||
		!strings.Contains(b.Skipped[0], "the trials of a joint verdict have changed") {
		t.Errorf("of other seeds: %q, without %q", list(b), b.Skipped)
	}
	write(strings.ReplaceAll(raw.String(), ",0.023809523809523808,", ",7,"))
	if b := read(t, book, folder); len(b.Skipped) != 1 || !strings.Contains(b.Skipped[0], "joint_p_value is 7") {
		t.Errorf("of a p-value of 7: without %q", b.Skipped)
	}
	write(strings.Replace(raw.String(), "joint_verdict", "joint_older", 1)) // of an older program
	if b := read(t, book, folder); list(b) != nothing || b.All().Judged != 2 || len(b.Skipped) != 0 {
		t.Errorf("of an older file: %q, %+v, without %q", list(b), b.All(), b.Skipped)
	}
	if err := score.WriteJoint(&out, b, tables.FormatCSV, 0); err == nil {
		t.Error("CSV has them")
	}
}
