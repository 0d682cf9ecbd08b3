package score_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privkern/runner/claims/judge"
	"privkern/runner/show/score"
	"privkern/runner/show/tables"
)

// lines are those of a table that was written.
func lines(t *testing.T, file string) [][]string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// changed is a copy of the demonstration's tables in which a field of the first line of the
// first table that has a value in a column is another.
func changed(t *testing.T, folder, where, is, column, value string) string {
	t.Helper()
	return changedIn(t, folder, "demo-table1.csv", where, is, column, value)
}

// changedIn is [changed] of another table.
func changedIn(t *testing.T, folder, table, where, is, column, value string) string {
	t.Helper()
	out := t.TempDir()
	if err := os.CopyFS(out, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(out, table)
	lines := lines(t, file)
	at, to := slices.Index(lines[0], where), slices.Index(lines[0], column)
	k := slices.IndexFunc(lines, func(l []string) bool { return l[at] == is })
	if k < 0 {
		t.Fatalf("%s has no line whose %s is %q", file, where, is)
	}
	lines[k][to] = value
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// agreement is one that was written.
func agreement(t *testing.T, a *score.Agreement, f tables.Format) string {
	t.Helper()
	var out bytes.Buffer
	if err := score.WriteAgreement(&out, a, f, 100); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// lacking are the texts of a list that a page has not.
func lacking(page string, texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return strings.Contains(page, s) })
}

// Two folders with the same tables agree to the last bit; another mean, verdict and number of
// trials are found with their positions, and values without a counterpart are left out.
func TestAgainst(t *testing.T) {
	book := demo(t, "demo", "demo")
	folder, _ := written(t, book)
	before := read(t, book, folder)
	same := before.Against(read(t, book, folder))
	all := same.All()
	if len(same.Tables) < 2 || all.Compared < 5 || all.Same != all.Compared || all.Equal != all.Compared ||
		all.Largest != 0 || all.Uneven != 0 || len(same.Changes) != 0 {
		t.Fatalf("a folder against itself: %+v", same)
	}
	for _, c := range []struct {
		name, where, is, column, value                  string
		compared, verdicts, equal, uneven, judged, open int // less than before, and changes that count
		largest                                         float64
	}{
		{"a mean", "reference_ok", "true", "ours_mean", "99", 0, 0, 1, 0, 0, 0, 0.8},
		{"a mean that is not finite", "reference_ok", "true", "ours_mean", "+Inf", 1, 1, 1, 0, 0, 0, 0},
		{"one that counts", "verdict", "match", "ours_mean", "+Inf", 1, 1, 1, 0, 0, 1, 0},
		{"no number", "verdict", "match", "ours_mean", "NaN", 1, 1, 1, 0, 0, 1, 0},
		{"a standard error", "verdict", "match", "ours_standard_error", "0.05773502691896289", 0, 0, 1, 0, 0, 0, 0},
		{"a verdict that counts", "verdict", "match", "verdict", "differs", 0, 1, 0, 0, 1, 0, 0},
		{"the number of trials", "verdict", "match", "ours_trials", "77", 1, 1, 1, 1, 0, 1, 0},
		{"no result", "verdict", "match", "verdict", "not run", 1, 1, 1, 0, 0, 1, 0},
		{"too little to judge", "verdict", "match", "verdict", "unjudged", 1, 1, 1, 0, 0, 1, 0},
		{"a larger pool", "verdict", "match", "degrees_of_freedom", "77", 1, 1, 1, 1, 0, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := read(t, book, changed(t, folder, c.where, c.is, c.column, c.value))
			for _, a := range []*score.Agreement{b.Against(before), before.Against(b)} {
				got := a.All()
				if got.Compared != all.Compared-c.compared || got.Same != all.Same-c.verdicts ||
					got.Equal != all.Equal-c.equal || got.Uneven != c.uneven || a.JudgedChanges() != c.judged ||
					got.Open != c.open || got.Counted != all.Counted-c.open ||
					(c.largest > 0) != (got.Largest > 0) || got.Largest < c.largest || got.Largest > 2 {
					t.Errorf("%+v, %d changes that count; before %+v", got, a.JudgedChanges(), all)
				}
				if (c.largest > 0) != strings.HasPrefix(got.Place, "demo/table1, ") {
					t.Errorf("the largest difference is at %q", got.Place)
				}
			}
		})
	}
	t.Run("times", func(t *testing.T) {
		book := demo(t, "    uncertainty_of: ", "    times: true\n    uncertainty_of: ")
		folder, _ := written(t, book)
		got := read(t, book, folder).Against(read(t, book, folder)).All()
		if got.Compared == 0 || got.Compared >= all.Compared || got.Uneven != 0 {
			t.Errorf("%+v; before %+v", got, all)
		}
	})
	t.Run("a right-hand side", func(t *testing.T) {
		there := changedIn(t, folder, "demo-claims.csv", "holds_value", "5.5883", "holds_value", "6")
		got := read(t, book, there).Against(before).All()
		if got.Compared != all.Compared || got.Equal != all.Equal-1 || got.Same != all.Same ||
			math.Abs(got.Largest-0.4117/6) > 1e-9 || got.Place != "demo/claims, Theorem 2(1)" {
			t.Errorf("%+v; before %+v", got, all)
		}
	})
	t.Run("a single trial", func(t *testing.T) { // had the standard error 0 in earlier versions
		there := changedIn(t, folder, "demo-claims.csv", "holds_value", "5.5883", "ours_standard_error", "0")
		if got := read(t, book, there).Against(before).All(); got != all {
			t.Errorf("%+v; before %+v", got, all)
		}
	})
	t.Run("the larger one", func(t *testing.T) { // is the reference of a difference
		b := read(t, book, changed(t, folder, "reference_ok", "true", "ours_mean", "27.6"))
		for _, a := range []*score.Agreement{b.Against(before), before.Against(b)} {
			if got := a.All().Largest; got != 0.5 {
				t.Errorf("%v", got)
			}
		}
	})
	t.Run("no number in both", func(t *testing.T) {
		none := changed(t, folder, "verdict", "match", "ours_mean", "NaN")
		if got := read(t, book, none).Against(read(t, book, none)).All(); got.Equal != all.Equal || got.Open != 0 {
			t.Errorf("%+v; before %+v", got, all)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		if a := before.Against(read(t, book)); len(a.Tables) != 0 || a.All().Compared != 0 || len(a.LeftOut) != 0 ||
			len(a.TablesLeftOut) < 2 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("a table that one has not", func(t *testing.T) {
		less := t.TempDir()
		if err := os.CopyFS(less, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(less, "demo-claims.csv")); err != nil {
			t.Fatal(err)
		}
		for _, a := range []*score.Agreement{before.Against(read(t, book, less)), read(t, book, less).Against(before)} {
			if !slices.Equal(a.TablesLeftOut, []string{"demo/claims"}) || a.All().Open != 0 || a.All().Compared == 0 {
				t.Errorf("%+v", a)
			}
			if text := agreement(t, a, tables.FormatText); !strings.Contains(text, "not compared: 1 table of which only one") {
				t.Error(text)
			}
		}
	})
}

// A change names the statement, the variant and both values; omissions that count are listed
// after the changes, with the reason.
func TestAgainstNamesWhatDiffers(t *testing.T) {
	book := demo(t, "demo", "demo")
	folder, _ := written(t, book)
	before := read(t, book, folder)
	there := changedIn(t, folder, "demo-claims.csv", "holds_value", "5.5883", "verdict", "differs")
	there = changedIn(t, there, "demo-claims.csv", "holds_value", "5.5883", "ours_mean", "7.25")
	there = changedIn(t, there, "demo-claims.csv", "holds_value", "3.1", "ours_mean", "") // another part of the claim
	there = changed(t, there, "verdict", "match", "ours_trials", "77")
	there = changed(t, there, "verdict", "fitted", "ours_trials", "78")
	a := before.Against(read(t, book, there))
	if len(a.Changes) != 1 || a.JudgedChanges() != 1 || len(a.LeftOut) != 3 {
		t.Fatalf("%+v", a)
	}
	c := a.Changes[0]
	if c.Table != "demo/claims" || !strings.HasPrefix(c.Statement, "Tr(weak)") || !strings.HasPrefix(c.Ours, "5.32992") ||
		c.Verdict != judge.Match || !strings.HasPrefix(c.Other, "7.25") || c.OtherVerdict != judge.Differs {
		t.Errorf("%+v", c)
	}
	reasons := map[string]bool{}
	for _, l := range a.LeftOut {
		reasons[fmt.Sprintf("%s %s %s %v", l.Table, l.Variant, l.Reason, l.Counts)] = true
	}
	for _, want := range []string{
		"demo/table1 set B 3 trials here, 77 there true",
		"demo/table1 set A 1 trial here, 78 there false",
		"demo/claims  no result there true",
	} {
		if !reasons[want] {
			t.Errorf("no %q in %v", want, reasons)
		}
	}
	for _, f := range []tables.Format{tables.FormatText, tables.FormatMarkdown} {
		text := strings.Join(strings.Fields(agreement(t, a, f)), " ")
		if missing := lacking(text, []string{
			"compared: values and statements that both have",
			"left out: 3 cells, of which 2 for different numbers of trials; 2 count, and are listed",
			"Tr(weak) ≤ Tr(strong)", "match; there 7.25", ", set B: left out, 3 trials here, 77 there",
			"left out, no result there",
		}); len(missing) > 0 {
			t.Errorf("%s has no %q:\n%s", f, missing, text)
		}
		if strings.Contains(text, "78 there") {
			t.Errorf("%s lists what does not count:\n%s", f, text)
		}
	}
	if text := agreement(t, before.Against(before), tables.FormatText); strings.Contains(text, "left out") {
		t.Error(text)
	}
}

// A value or claim that is printed twice counts once.
func TestAgainstCountsAnEntryOnce(t *testing.T) {
	book := demo(t, "demo", "demo")
	folder, _ := written(t, book)
	there := folder
	for _, value := range []string{"5.5883", "3.1"} { // two parts of the claim "traces"
		there = changedIn(t, there, "demo-claims.csv", "holds_value", value, "verdict", "close")
	}
	a := read(t, book, folder).Against(read(t, book, there))
	if len(a.Changes) != 2 || a.JudgedChanges() != 1 {
		t.Errorf("%d that count of %+v", a.JudgedChanges(), a.Changes)
	}
}

// Another verdict of a variant that is not judged is listed, and does not count.
func TestAgainstOfAVariant(t *testing.T) {
	book := demo(t, "demo", "demo")
	folder, _ := written(t, book)
	b := read(t, book, changed(t, folder, "verdict", "fitted", "verdict", "differs"))
	a := b.Against(read(t, book, folder))
	if len(a.Changes) != 1 || a.Changes[0].Counts || a.JudgedChanges() != 0 || a.Changes[0].Variant == "" {
		t.Fatalf("%+v", a)
	}
	for f, want := range map[tables.Format][]string{
		tables.FormatText:     {"\nall ", "\n  demo/table1, ", "; there ", "(does not count)", "to the last bit"},
		tables.FormatMarkdown: {"\n| all | ", "\n- `demo/table1`, ", "; there "},
		tables.FormatJSON:     {`"schema": 1`, `"other_verdict": "`, `"all": {`, `"judged": false`},
	} {
		text := agreement(t, a, f)
		if missing := lacking(text, want); len(missing) > 0 {
			t.Errorf("%s has no %q:\n%s", f, missing, text)
		}
		if f == tables.FormatJSON && !json.Valid([]byte(text)) {
			t.Errorf("no JSON: %s", text)
		}
	}
	if err := score.WriteAgreement(&bytes.Buffer{}, a, tables.FormatCSV, 100); err == nil {
		t.Error("CSV has it")
	}
}
