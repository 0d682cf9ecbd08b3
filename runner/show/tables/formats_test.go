package tables_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"privkern/runner/claims/claimtest"
	"privkern/runner/claims/judge"
	"privkern/runner/record"
	"privkern/runner/show/tables"
)

var update = flag.Bool("update", false, "write the golden files anew")

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

// The golden files show the output; read them as the documentation of the
// formats.
func TestFormats(t *testing.T) {
	for _, table := range []string{"demo/table1", "demo/claims", "demo/comparison"} {
		e := evaluate(t, table, claimtest.Records(t))
		base := strings.ReplaceAll(table, "/", "-")
		for _, f := range tables.Formats {
			format := tables.Format(f)
			t.Run(table+"/"+f, func(t *testing.T) {
				golden(t, base+format.Extension(), render(t, e, format, tables.TextOptions{}))
			})
		}
		golden(t, base+"-color.txt", render(t, e, tables.FormatText, tables.TextOptions{Color: true}))
		golden(t, base+"-all.txt", render(t, e, tables.FormatText, tables.TextOptions{AllVariants: true}))
		for _, width := range []int{20, 80} {
			golden(t, fmt.Sprintf("%s-%d.txt", base, width), render(t, e, tables.FormatText, tables.TextOptions{Width: width}))
		}
	}
}

func render(t *testing.T, e *judge.Evaluation, f tables.Format, o tables.TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := tables.Write(&b, f, o, e); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the tests with -update)", err)
	}
	if got != string(want) {
		t.Errorf("differs from %s:\n%s", path, got)
	}
}

func TestTextFitsTheTerminal(t *testing.T) {
	for _, table := range []string{"demo/table1", "demo/claims", "demo/comparison"} {
		e := evaluate(t, table, claimtest.Records(t))
		for _, width := range []int{1, 7, 20, 33, 60, 80, 100, 140} {
			for _, all := range []bool{false, true} {
				s := render(t, e, tables.FormatText, tables.TextOptions{Width: width, AllVariants: all})
				for line := range strings.Lines(s) {
					if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > max(width, len("stand-in, ours")) {
						t.Errorf("%s at %d columns has a line of %d: %q", table, width, n, line)
					}
					if strings.HasSuffix(line, " \n") {
						t.Errorf("a line ends in a space: %q", line)
					}
				}
			}
		}
	}
}

// A variant on a stand-in stands for a headline that has not run, as in the tally.
func TestStandInsAreShown(t *testing.T) {
	e := evaluate(t, "demo/table1", claimtest.Records(t))
	for i := range e.Cells[:2] {
		e.Cells[i].Verdict = map[bool]judge.Verdict{true: judge.NotRun, false: judge.StandIn}[e.Cells[i].Headline]
		e.Cells[i].StandIn, e.Cells[i].Reason = "other people", ""
	}
	got := render(t, e, tables.FormatText, tables.TextOptions{})
	if !strings.Contains(got, "13.80 ± 0.06  3  stand-in\n") || !strings.Contains(got, "\n  stand-in: other people.\n") {
		t.Errorf("%s", got)
	}
}

// Nothing of a table without data is there but a line with the way to them.
func TestTableWithoutData(t *testing.T) {
	e := evaluate(t, "demo/table1", nil)
	for i := range e.Cells {
		e.Cells[i].Reason = "skipped: the data set is not there; run: run data fetch kung"
	}
	got := render(t, e, tables.FormatText, tables.TextOptions{})
	if strings.Contains(got, "standard cloaking") || strings.Count(got, "run data fetch kung") != 1 ||
		!strings.Contains(got, "\n  skipped: 4 cells for lack of data: ") || strings.Count(got, "\n") > 6 {
		t.Errorf("%s", got)
	}
}

func TestGridOf(t *testing.T) {
	g := tables.GridOf([]string{"paper", "values", "left", "pair"}, []bool{false, true, false, false},
		[][]string{{"demo", "12", "3 not run, 1 fitted", "(1, 1e-06), mu 2"}, {"other", "1", "", "nothing"}})
	for width, want := range map[int]string{
		60: "paper  values  left                 pair\n" +
			"─────  ──────  ───────────────────  ────────────────\n" +
			"demo       12  3 not run, 1 fitted  (1, 1e-06), mu 2\nother       1                       nothing\n",
		42: "paper  values  left          pair\n─────  ──────  ────────────  ─────────────\n" +
			"demo       12  3 not run, 1  (1, 1e-06),\n               fitted        mu 2\n" +
			"other       1                nothing\n",
		24: "paper  values  left\n─────  ──────  ─────────\n" +
			"demo       12  3 not\n               run, 1\n               fitted\nother       1\n\n" +
			"paper  pair\n─────  ────────────────\ndemo   (1, 1e-06), mu 2\nother  nothing\n",
		9: "paper:\n  demo\nvalues:\n  12\nleft: 3\n  not\n  run, 1\n  fitted\npair:\n  (1,\n  1e-06),\n  mu 2\n\n" +
			"paper:\n  other\nvalues:\n  1\npair:\n  nothing\n",
	} {
		if got := g.Text(width); got != want {
			t.Errorf("%d columns:\n%s", width, got)
		}
	}
}

func TestCSVHasOneLinePerCellAndVariant(t *testing.T) {
	e := evaluate(t, "demo/table1", claimtest.Records(t))
	lines, err := csv.NewReader(strings.NewReader(render(t, e, tables.FormatCSV, tables.TextOptions{}))).ReadAll()
	if err != nil {
		t.Fatal(err) // also when a line has another number of fields than the header
	}
	if len(lines) != 1+len(e.Cells) {
		t.Errorf("%d lines for %d results and a header", len(lines), len(e.Cells))
	}
}

func TestJSONKeepsTheContract(t *testing.T) {
	e := evaluate(t, "demo/table1", nil)
	var got struct {
		Schema  int
		Table   string
		Cells   []map[string]json.RawMessage
		Summary map[string]int
	}
	if err := json.Unmarshal([]byte(render(t, e, tables.FormatJSON, tables.TextOptions{})), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != 1 || got.Table != "demo/table1" || got.Summary["not run"] != 7 {
		t.Errorf("got schema %d, table %s, summary %v", got.Schema, got.Table, got.Summary)
	}
	for _, key := range []string{"row", "column", "variant", "statement", "metric", "unit",
		"published", "ours", "difference",
		"verdict", "reason", "settings_stated", "note", "reference", "trial_keys"} {
		if _, ok := got.Cells[0][key]; !ok {
			t.Errorf("the cell has no member %q", key)
		}
	}
	if string(got.Cells[0]["ours"]) != "null" || string(got.Cells[0]["trial_keys"]) != "[]" {
		t.Errorf("a cell that was not run has ours %s and trial_keys %s", got.Cells[0]["ours"], got.Cells[0]["trial_keys"])
	}
}

// No page holds a float of many lines, so that a long table is none; its heading
// is repeated, and it names the package that it needs.
func TestLongTablesBreakAcrossPages(t *testing.T) {
	e := evaluate(t, "demo/table1", nil)
	short := render(t, e, tables.FormatLaTeX, tables.TextOptions{})
	if strings.Contains(short, "longtable") || !strings.Contains(short, `\begin{table}`) {
		t.Errorf("a short table is no float:\n%s", short)
	}
	for len(e.Cells) < 200 {
		e.Cells = append(e.Cells, e.Cells...)
	}
	long := render(t, e, tables.FormatLaTeX, tables.TextOptions{})
	if strings.Contains(long, `\begin{table}`) || strings.Count(long, `\toprule`) != 2 ||
		!strings.Contains(long, `\usepackage{array,booktabs,longtable}`) {
		t.Errorf("a long table:\n%.900s", long)
	}
}

func TestHostileTextIsEscaped(t *testing.T) {
	e := evaluate(t, "demo/table1", nil)
	e.Cells = e.Cells[:1]
	e.Cells[0].Row = `a|b_c*<script>&$x^2%#~\{}"[1]` + "\nnext"
	md := render(t, e, tables.FormatMarkdown, tables.TextOptions{})
	if strings.Contains(md, "<script>") || !strings.Contains(md, `a\|b\_c\*`) {
		t.Errorf("Markdown:\n%s", md)
	}
	tex := render(t, e, tables.FormatLaTeX, tables.TextOptions{})
	if !strings.Contains(tex, `a$|$b\_c*$<$script$>$\&\$x\textasciicircum{}2\%\#\textasciitilde{}\textbackslash{}\{\}`+
		"``[1] next") {
		t.Errorf("LaTeX:\n%s", tex)
	}
	for i, c := range []byte(tex) {
		if c >= 0x80 {
			t.Fatalf("LaTeX has a byte that is not ASCII at %d: %q", i, tex[max(0, i-20):i+5])
		}
	}
}
