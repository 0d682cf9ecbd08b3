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
	"privkern/runner/plan"
	"privkern/runner/plan/sweep"
	"privkern/runner/record"
	"privkern/runner/show/score"
	"privkern/runner/show/tables"
	"privkern/runner/store"
	"privkern/runner/store/disk"
)

// demo returns the demonstration ledger with one text replaced.
func demo(t *testing.T, old, replacement string) *ledger.Book {
	t.Helper()
	if !bytes.Contains(claimtest.Text, []byte(old)) {
		t.Fatalf("the demonstration ledger has no %q", old)
	}
	return ledger.Open([]experiment.Paper{{Name: "demo", Experiments: claimtest.Experiments(),
		Ledger:  bytes.Replace(claimtest.Text, []byte(old), []byte(replacement), 1),
		Figures: []experiment.Figure{{Name: "demo/figure1"}}}})
}

// written evaluates the demonstration records, and writes the tables as CSV.
func written(t *testing.T, book *ledger.Book) (folder string, want judge.Tally) {
	t.Helper()
	index, err := judge.Index(slices.Values(claimtest.Records(t)))
	if err != nil {
		t.Fatal(err)
	}
	l, err := book.Ledger("demo")
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	var all []*judge.Evaluation
	for _, table := range l.Tables {
		e, err := judge.Evaluate(table, book.Experiments, index)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := tables.Write(&b, tables.FormatCSV, tables.TextOptions{}, e); err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(table.Name, "/", "-") + ".csv"
		if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return folder, judge.TallyOf(all...)
}

func read(t *testing.T, book *ledger.Book, folders ...string) *score.Board {
	t.Helper()
	b, err := score.Read(disk.System, book, folders)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// CSV tables give the same scoreboard as the records that they were made from.
func TestScoreOfWrittenTables(t *testing.T) {
	book := demo(t, "demo", "demo")
	folder, want := written(t, book)
	b := read(t, book, folder)
	if got := b.Papers[0].Tally; fmt.Sprint(got) != fmt.Sprint(want) || got.Judged == 0 || got.ClaimsJudged == 0 ||
		b.Files != 3 || len(b.Skipped) != 0 {
		t.Errorf("got  %+v\nwant %+v\nof %d files, without %q", got, want, b.Files, b.Skipped)
	}
	narrow := demo(t, "tolerance: {absolute: 1,", "tolerance: {absolute: 0.5,")
	folder, want = written(t, narrow)
	if got := read(t, narrow, folder).Papers[0].Tally; fmt.Sprint(got) != fmt.Sprint(want) || got.Wide == 0 ||
		got.Settle == got.Wide {
		t.Errorf("of wide values:\ngot  %+v\nwant %+v", got, want)
	}
	if nothing := read(t, book).Papers[0].Tally; nothing.Judged != 0 || nothing.Values != want.Values ||
		nothing.Left[judge.NotRun] != want.Values+want.Claims {
		t.Errorf("of nothing: %+v", nothing)
	}
}

// Written tables pass and fail the check against reference values as the records did; a mean
// out of its band, a trial too few and no result at all are found in them.
func TestCheckOfWrittenTables(t *testing.T) {
	book := demo(t, "demo", "demo")
	folder, _ := written(t, book)
	lines := lines(t, filepath.Join(folder, "demo-table1.csv"))
	column := func(name string) int { return slices.Index(lines[0], name) }
	at := slices.IndexFunc(lines, func(l []string) bool { return l[column("reference_ok")] == "true" })
	if at < 0 {
		t.Fatal("no value of the table has a reference and lies in its band")
	}
	name := strings.Join([]string{"demo/table1: " + lines[at][column("row")], lines[at][column("column")]}, " / ")
	if b := read(t, book, folder); b.References != 4 || violations(b, name) != nil {
		t.Fatalf("%d values have references, want 4; not passed: %q", b.References, violations(b, name))
	}
	for _, c := range []struct{ column, value, want string }{
		{"ours_mean", "99", "is 99, outside"},
		{"ours_trials", "1", "only 1 of"},
		{"verdict", "not run", "not run"},
		{"terms", "of something else", "not run"},
	} {
		t.Run(c.column, func(t *testing.T) {
			b := read(t, book, changed(t, folder, "reference_ok", "true", c.column, c.value))
			if got := violations(b, name); len(got) != 1 || !strings.Contains(got[0], c.want) {
				t.Errorf("got %q, want one with %q", got, c.want)
			}
		})
	}
}

// Each value outside its band and each claim that does not hold is listed once, with our value
// and the note, for tables and records alike.
func TestOutside(t *testing.T) {
	book := demo(t, `note: "not in the paper; stands`, `note: "not in the paper, and stands`)
	folder, want := written(t, book)
	b := read(t, book, folder)
	values, claims := 0, 0
	for _, o := range b.Outside {
		if o.Table == "demo/claims" {
			claims += len(o.Cells)
		} else {
			values += len(o.Cells)
		}
		for _, c := range o.Cells {
			if c.Trials == 0 || c.Place == "" || c.Published == "" || c.Ours == "–" {
				t.Errorf("%s: %+v", o.Table, c)
			}
		}
	}
	if values+claims == 0 || values != want.Judged-want.Inside || claims != want.ClaimsJudged-want.Hold {
		t.Errorf("%d values and %d claims lie outside, the scoreboard has %d and %d: %+v",
			values, claims, want.Judged-want.Inside, want.ClaimsJudged-want.Hold, b.Outside)
	}
	for _, f := range []tables.Format{tables.FormatText, tables.FormatMarkdown} {
		var out bytes.Buffer
		if err := score.WriteOutside(&out, b, f, 100); err != nil || strings.Count(out.String(), "demo/") != len(b.Outside) {
			t.Errorf("%s, error %v:\n%s", f, err, out.String())
		}
	}
	if err := score.WriteOutside(&bytes.Buffer{}, b, tables.FormatCSV, 100); err == nil {
		t.Error("CSV has it")
	}
}

// violations are those of the board that begin with a name.
func violations(b *score.Board, name string) []string {
	var out []string
	for _, v := range b.Violations {
		if strings.HasPrefix(v.String(), name) {
			out = append(out, v.String())
		}
	}
	return out
}

// The verdicts of a table are ignored where the ledger's terms have changed.
func TestScoreOfChangedTerms(t *testing.T) {
	folder, want := written(t, demo(t, "demo", "demo"))
	for _, c := range []struct{ old, replacement string }{
		{"draws: 0.1", "draws: 0.2"}, {"tolerance: {absolute: 1,", "tolerance: {absolute: 2,"},
		{`published: "13.3 ± 3.2"`, `published: "13.4 ± 3.2"`},
		{`text: "lengthscale 25"`, `text: "lengthscale 25", fitted: [{row: "1d"}]`},
		{`params: {method: standard, epsilon: 1}`, `params: {method: standard, epsilon: 7}`},
		{`seeds: 0..2`, `seeds: 0..3`}, {`op: "<", params: {points: 5}`, `op: "<", tolerance: 9, params: {points: 5}`},
	} {
		t.Run(c.replacement, func(t *testing.T) {
			b := read(t, demo(t, c.old, c.replacement), folder)
			if got := b.Papers[0]; got.Judged+got.ClaimsJudged >= want.Judged+want.ClaimsJudged || len(b.Skipped) != 1 ||
				!strings.Contains(b.Skipped[0], "the ledger or the experiments have changed for") {
				t.Errorf("%d judged, not used: %q", got.Judged, b.Skipped)
			}
		})
	}
}

func TestFormats(t *testing.T) {
	book := demo(t, "demo", "demo")
	folder, want := written(t, book)
	b := read(t, book, folder)
	for _, f := range tables.Formats {
		var out bytes.Buffer
		if err := score.Write(&out, b, tables.Format(f), 100); err != nil {
			t.Fatal(err)
		}
		if tables.Format(f) == tables.FormatJSON {
			var got struct {
				Papers []map[string]any
				All    struct{ Values, Judged, Hold int }
				Sharp  []score.SharpValue
			}
			err := json.Unmarshal(out.Bytes(), &got)
			inside := 0
			for _, v := range got.Sharp {
				if v.Inside {
					inside++
				}
			}
			if err != nil || got.All.Judged != want.Judged || got.All.Values != want.Values || got.All.Hold != want.Hold ||
				got.Papers[0]["paper"] != "demo" || len(got.Sharp) != want.Sharp || inside != want.SharpInside || inside == 0 {
				t.Errorf("%v: %s", err, out.String())
			}
			continue
		}
		for _, name := range []string{"demo", "all"} {
			found := false
			for l := range strings.Lines(out.String()) {
				fields := strings.FieldsFunc(l, func(r rune) bool { return strings.ContainsRune(" |&,", r) })
				found = found || len(fields) > 4 && fields[0] == name && fields[1] == fmt.Sprint(want.Values) &&
					fields[2] == fmt.Sprint(want.Judged) && fields[3] == fmt.Sprint(want.Inside)
			}
			if !found {
				t.Errorf("%s has no line of %q:\n%s", f, name, out.String())
			}
		}
	}
	if err := score.Write(&bytes.Buffer{}, b, "html", 100); err == nil {
		t.Error("an unknown format is written")
	}
}

// Unusable parts of a folder are named, and so is a folder without results.
func TestScoreOfBadFiles(t *testing.T) {
	book := demo(t, "demo", "demo")
	for name, c := range map[string]struct{ file, text, want string }{
		"nothing":       {"", "", "it has no output folders and no tables as CSV"},
		"another CSV":   {"x.csv", "a,b\n1,2\n", "it has no output folders and no tables as CSV"},
		"no CSV":        {"x.csv", "a,\"b\n1,2\n", "x.csv: record on line 1"},
		"an empty file": {"x.csv", "", "it has no output folders and no tables as CSV"},
		"a short line":  {"x.csv", strings.Join(head(t, book), ",") + "\n1,2\n", "wrong number of fields"},
		"no share": {"x.csv", strings.Join(head(t, book), ",") + "\n" + strings.Repeat("1e999,", len(head(t, book))-1) + "\n",
			`expected_inside is "1e999"`},
		"half a trial": {"x.csv",
			strings.Join(head(t, book), ",") + "\n" + strings.Repeat("0.5,", len(head(t, book))-1) + "\n",
			"expected a whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if c.file != "" {
				if err := os.WriteFile(filepath.Join(folder, c.file), []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if b := read(t, book, folder); len(b.Skipped) != 1 || !strings.Contains(b.Skipped[0], c.want) {
				t.Errorf("not used: %q, want %q", b.Skipped, c.want)
			}
		})
	}
}

// A row with a number that cannot be read is not counted.
func TestScoreOfDamagedRow(t *testing.T) {
	book := demo(t, "demo", "demo")
	folder, want := written(t, book)
	path := filepath.Join(folder, "demo-table1.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(head(t, book), "ours_trials")
	lines := strings.SplitAfter(string(text), "\n")
	match := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, ",match,") })
	fields := strings.Split(lines[match], ",")
	fields[at] = "x"
	if err := os.WriteFile(path, []byte(lines[0]+strings.Join(fields, ",")), 0o600); err != nil {
		t.Fatal(err)
	}
	b := read(t, book, folder)
	if got := b.Papers[0]; got.Judged != 0 || want.Judged == 0 || len(b.Skipped) != 1 ||
		!strings.Contains(b.Skipped[0], `ours_trials is "x"`) {
		t.Errorf("%d of %d judged, not used: %q", got.Judged, want.Judged, b.Skipped)
	}
}

// head are the columns of a table as CSV.
func head(t *testing.T, book *ledger.Book) []string {
	t.Helper()
	folder, _ := written(t, book)
	text, err := os.ReadFile(filepath.Join(folder, "demo-table1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.Split(first, ",")
}

// ran is an output folder in which the trials of a table have run.
func ran(t *testing.T, book *ledger.Book, table string, make func(x plan.Trial) *record.Record) (string, *plan.Plan) {
	t.Helper()
	trials, err := book.Trials(table)
	if err != nil {
		t.Fatal(err)
	}
	var wanted []sweep.Assignment
	for _, x := range trials {
		wanted = append(wanted, sweep.Assignment{Experiment: lookup(t, book, x.Experiment), Params: x.Params, Seed: x.Seed})
	}
	p, err := plan.New(wanted, nil, plan.Options{Title: "T", Backend: "cpu", DType: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s, err := store.Create(disk.System, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.FreezePlan(p, book.Experiments, false); err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Trials {
		if err := s.Put(make(x)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, p
}

// good is a record with a result.
func good(t *testing.T, book *ledger.Book, x plan.Trial) *record.Record {
	t.Helper()
	r := claimtest.Record(t, x.Key, x.Experiment, x.Params, x.Seed, map[string]float64{"trace_weak": 1, "trace_strong": 2,
		"variance_at_s1": 0.5})
	r.ResultVersion = lookup(t, book, x.Experiment).Version
	return r
}

// A torn record is named, and a trial that failed in one folder counts from another.
func TestScoreOfTornAndFailedRecords(t *testing.T) {
	book := demo(t, "demo", "demo")
	failed, _ := ran(t, book, "demo/claims", func(x plan.Trial) *record.Record {
		return claimtest.Fail(good(t, book, x), record.Failed, "why")
	})
	folder, p := ran(t, book, "demo/claims", func(x plan.Trial) *record.Record { return good(t, book, x) })
	b := read(t, book, failed, folder)
	if got := b.Papers[0]; got.ClaimsJudged == 0 || len(b.Skipped) != 0 {
		t.Errorf("failed in one, run in the other: %+v, not used %q", got, b.Skipped)
	}
	torn := filepath.Join(folder, "trials", p.Trials[0].Key+".json")
	if err := os.WriteFile(torn, []byte(`{"schema": 1, "ke`), 0o600); err != nil {
		t.Fatal(err)
	}
	if b := read(t, book, folder); len(b.Skipped) != 1 || !strings.Contains(b.Skipped[0], torn+": not a whole record") {
		t.Errorf("a torn record: not used %q", b.Skipped)
	}
}

// The source of a table covers exactly its trials: two programs, and the sum of their times.
func TestSources(t *testing.T) {
	book := demo(t, "demo", "demo")
	revision := "def"
	folder, p := ran(t, book, "demo/claims", func(x plan.Trial) *record.Record {
		r := good(t, book, x)
		r.Timing.CPUS = 90
		r.Provenance = record.Provenance{Version: "1.0", Revision: revision, Go: "go1.26.8 linux/amd64", CPU: "a | processor",
			BLAS: "privkern (avx512)"}
		revision = "abc"
		return r
	})
	b := read(t, book, folder)
	at := slices.IndexFunc(b.Sources, func(s score.Source) bool { return s.Table == "demo/claims" })
	if at < 0 {
		t.Fatalf("no source of the table: %+v", b.Sources)
	}
	got := b.Sources[at]
	by := got.ComputedBy
	if len(p.Trials) != 4 || got.Trials != 2 || got.CPUS != 180 || // two have the metrics that the table shows
		got.Seeds != "0" || len(by) != 2 ||
		by[0].Revision != "abc" || by[1].Revision != "def" || by[0].Class != "privkern" ||
		by[0].Backend != "cpu" || by[0].DType != "float64" || len(got.Data) != 0 {
		t.Errorf("of %d trials: %+v", len(p.Trials), got)
	}
	for f, want := range map[tables.Format][]string{
		tables.FormatText: {"demo/claims ", " 0 ", " (1) (2)\n", "(2) privkern 1.0; revision def;", "\n  (1)"},
		tables.FormatMarkdown: {"| demo/claims | ", " | 0 | ", " | (1) (2) |  |\n", "- (2) privkern 1.0; revision def;",
			`; a \| processor; cpu, float64; BLAS privkern`, "\n\n- (1)"},
	} {
		var out bytes.Buffer
		if err := score.WriteSources(&out, b, f, 100); err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s has no %q:\n%s", f, text, out.String())
			}
		}
	}
	if err := score.WriteSources(&bytes.Buffer{}, b, tables.FormatCSV, 100); err == nil {
		t.Error("CSV has it")
	}
	csv, _ := written(t, book)
	var out bytes.Buffer
	if err := score.WriteSources(&out, read(t, book, csv), tables.FormatText, 100); err != nil ||
		!strings.Contains(out.String(), "not known") {
		t.Errorf("of tables alone: %v, %s", err, out.String())
	}
}

func lookup(t *testing.T, book *ledger.Book, name string) *experiment.Experiment {
	t.Helper()
	e, err := book.Experiments.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
