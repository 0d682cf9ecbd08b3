package tables_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
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
	for _, width := range []int{80, 100, 140} {
		for _, table := range []string{"demo/table1", "demo/claims", "demo/comparison"} {
			s := render(t, evaluate(t, table, claimtest.Records(t)), tables.FormatText, tables.TextOptions{Width: width})
			for line := range strings.Lines(s) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%s at %d columns has a line of %d: %q", table, width, n, line)
				}
				if strings.HasSuffix(line, " \n") {
					t.Errorf("a line ends in a space: %q", line)
				}
			}
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
