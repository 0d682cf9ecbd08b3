package score_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	out := t.TempDir()
	if err := os.CopyFS(out, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(out, "demo-table1.csv")
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

// Two folders with the same tables agree to the last bit; another mean, verdict and number of
// trials are found, each where it is, and what has no counterpart is not compared.
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
		{"a mean that is not finite", "reference_ok", "true", "ours_mean", "+Inf", 0, 0, 1, 0, 0, 0, 2},
		{"one that counts", "verdict", "match", "ours_mean", "+Inf", 0, 0, 1, 0, 0, 1, 2},
		{"no number", "verdict", "match", "ours_mean", "NaN", 0, 0, 1, 0, 0, 1, 2},
		{"a verdict that counts", "verdict", "match", "verdict", "differs", 0, 1, 0, 0, 1, 0, 0},
		{"the number of trials", "verdict", "match", "ours_trials", "77", 1, 1, 1, 1, 0, 1, 0},
		{"no result", "verdict", "match", "verdict", "not run", 1, 1, 1, 0, 0, 1, 0},
		{"too little to judge", "verdict", "match", "verdict", "unjudged", 1, 1, 1, 1, 0, 1, 0},
		{"a larger pool", "verdict", "match", "degrees_of_freedom", "77", 1, 1, 1, 1, 0, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := read(t, book, changed(t, folder, c.where, c.is, c.column, c.value))
			for _, a := range []*score.Agreement{b.Against(before), before.Against(b)} {
				got := a.All()
				if got.Compared != all.Compared-c.compared || got.Same != all.Same-c.verdicts ||
					got.Equal != all.Equal-c.equal || got.Uneven != c.uneven || a.JudgedChanges() != c.judged ||
					got.Open != c.open || got.Counted != all.Counted-c.compared ||
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
	t.Run("no number in both", func(t *testing.T) {
		none := changed(t, folder, "verdict", "match", "ours_mean", "NaN")
		if got := read(t, book, none).Against(read(t, book, none)).All(); got.Equal != all.Equal || got.Open != 0 {
			t.Errorf("%+v; before %+v", got, all)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		if a := before.Against(read(t, book)); len(a.Tables) != 0 || a.All().Compared != 0 {
			t.Errorf("%+v", a)
		}
	})
}

// Another verdict of a variant that is not judged is listed, and does not count.
func TestAgainstOfAVariant(t *testing.T) {
	book := demo(t, "demo", "demo")
	folder, _ := written(t, book)
	b := read(t, book, changed(t, folder, "verdict", "fitted", "verdict", "differs"))
	a := b.Against(read(t, book, folder))
	if len(a.Changes) != 1 || a.Changes[0].Judged || a.JudgedChanges() != 0 || a.Changes[0].Variant == "" {
		t.Fatalf("%+v", a)
	}
	for f, want := range map[tables.Format][]string{
		tables.FormatText:     {"\nall ", "\n  demo/table1, ", "; there ", "(does not count)", "to the last bit"},
		tables.FormatMarkdown: {"\n| all | ", "\n- `demo/table1`, ", "; there "},
		tables.FormatJSON:     {`"schema": 1`, `"other_verdict": "`, `"all": {`, `"judged": false`},
	} {
		var out bytes.Buffer
		if err := score.WriteAgreement(&out, a, f); err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s has no %q:\n%s", f, text, out.String())
			}
		}
		if f == tables.FormatJSON && !json.Valid(out.Bytes()) {
			t.Errorf("no JSON: %s", out.String())
		}
	}
	if err := score.WriteAgreement(&bytes.Buffer{}, a, tables.FormatCSV); err == nil {
		t.Error("CSV has it")
	}
}
