// Package report writes one self-contained HTML file about a sweep: published
// values beside reproduced ones, figures, what did not finish and why, settings,
// privacy, errata and provenance. The page needs no script and no other file, so
// that it can be archived and opened from disk.
package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"privkern/runner/claims"
	"privkern/runner/experiment"
	"privkern/runner/summary"
)

// Data is what a report shows. What is empty is left out.
type Data struct {
	Title     string
	Generated time.Time
	Version   string // of the program that writes the report
	Plan      Plan
	Tables    []*claims.Evaluated
	Figures   []Figure
	// Metrics are the means over the seeds of all settings; see package summary.
	Metrics []*summary.Table
	Trials  *Trials
	Papers  []Paper
}

// Plan is the frozen plan in brief.
type Plan struct {
	Sources   []string // sweep files, perhaps with their digests
	Overrides []string // name=value from the command line
	Backend   string
	DType     string
	Digest    string
	Trials    int
}

// Paper is what the report says of a paper.
type Paper struct {
	Name, Title, Citation string
	Errata                []claims.Erratum
}

// PaperOf takes from a ledger what the report says of its paper.
func PaperOf(l *claims.Ledger) Paper {
	return Paper{Name: l.Paper, Title: l.Title, Citation: l.Citation, Errata: l.Errata}
}

// Figure is a plot. SVG must come from package plot: it becomes part of the
// page as it is. Where the plot could not be drawn, Error says why.
type Figure struct {
	Name, Title, Caption string
	SVG                  []byte
	Error                string
}

//go:embed report.html.tmpl style.css
var files embed.FS

var page = template.Must(template.New("report.html.tmpl").Funcs(template.FuncMap{
	"anchor":   anchor,
	"estimate": estimate,
	"count":    count,
	"duration": duration,
	"bytes":    bytesText,
	"sentence": func(s string) bool { return utf8.RuneCountInString(s) > 40 },  // gets a comfortable width
	"whole":    func(s string) bool { return utf8.RuneCountInString(s) <= 24 }, // not to be broken
	"value":    experiment.FormatValue,
	"class":    func(v claims.Verdict) string { return strings.ReplaceAll(string(v), " ", "-") },
	"join":     strings.Join,
	"add":      func(a, b int) int { return a + b },
}).ParseFS(files, "report.html.tmpl"))

// Write writes the report. Equal data give equal bytes.
func Write(w io.Writer, d Data) error {
	style, err := files.ReadFile("style.css")
	if err != nil {
		return err
	}
	v := view{Data: d, Style: template.CSS(style)}
	if v.Trials == nil {
		v.Trials = NewTrials(nil)
	}
	v.settle()
	if err := page.Execute(w, v); err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	return nil
}

// view is Data arranged for the template.
type view struct {
	Data
	Style      template.CSS
	Published  []table
	Loose      []figure // figures that belong to no table
	Summaries  []metrics
	Verdicts   []verdictCount
	Violations []claims.Violation
	HasErrata  bool
}

type verdictCount struct {
	Verdict claims.Verdict
	Count   int
}

type figure struct {
	Figure
	Drawing template.HTML
}

// table is an evaluated table with its figure.
type table struct {
	*claims.Evaluated
	Grid   *claims.Grid
	Lines  []line
	Counts []verdictCount
	Figure *figure
}

// line is a line of a table. The first label stands once for the lines that
// share it: Rows is how many they are, 0 where the label stands above.
type line struct {
	Rows   int
	Fields []claims.Field
	Shaded bool // every other group
}

// maxSideBySide is how many variants stand side by side before they go below
// one another.
const maxSideBySide = 2

func (v *view) settle() {
	total := map[claims.Verdict]int{}
	used := map[string]bool{}
	for _, e := range v.Tables {
		t := table{Evaluated: e, Grid: claims.Layout(e, e.Kind != claims.KindClaims && len(e.Variants) <= maxSideBySide)}
		t.Lines = groupLines(t.Grid)
		t.Counts = counts(e.Summary())
		for verdict, n := range e.Summary() {
			total[verdict] += n
		}
		for i := range v.Figures {
			if v.Figures[i].Name == e.Figure && e.Figure != "" && !used[e.Figure] {
				t.Figure = draw(v.Figures[i])
				used[e.Figure] = true
			}
		}
		v.Published = append(v.Published, t)
		v.Violations = append(v.Violations, claims.Check(e)...)
	}
	for _, f := range v.Figures {
		if !used[f.Name] {
			v.Loose = append(v.Loose, *draw(f))
		}
	}
	v.Verdicts = counts(total)
	for _, s := range v.Metrics {
		v.Summaries = append(v.Summaries, arrange(s))
	}
	v.HasErrata = slices.ContainsFunc(v.Papers, func(p Paper) bool { return len(p.Errata) > 0 })
}

func draw(f Figure) *figure {
	return &figure{Figure: f, Drawing: template.HTML(f.SVG)} //nolint:gosec // written by package plot, which escapes
}

func counts(n map[claims.Verdict]int) []verdictCount {
	var out []verdictCount
	for _, v := range claims.Verdicts {
		if n[v] > 0 {
			out = append(out, verdictCount{v, n[v]})
		}
	}
	return out
}

func groupLines(g *claims.Grid) []line {
	out := make([]line, len(g.Lines))
	shaded := true
	first := 0
	for i, l := range g.Lines {
		out[i].Fields = l
		if i > 0 && len(g.Columns) > 0 && g.Columns[0].Label && g.Repeated(i)[0] {
			out[first].Rows++
		} else {
			first, shaded = i, !shaded
			out[i].Rows = 1
		}
		out[i].Shaded = shaded
	}
	return out
}

// anchor makes an identifier of a name; equal names give equal identifiers, and
// the names of tables and figures stay distinct by the prefix.
func anchor(prefix, name string) string {
	return prefix + "-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, name)
}
