// Package report writes one self-contained HTML file about a sweep: published and
// reproduced values, figures with their numbers, the trials of every value, failures
// with reasons, settings, privacy, errata and provenance. All of it is in the HTML, so
// that the page is complete without scripts and on paper; its script adds sorting,
// filtering and panels of trials, which it fills from a block of data. The page loads
// no other file and can be archived and opened from disk.
package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
	"privkern/runner/experiment"
	"privkern/runner/show/summary"
	"privkern/runner/show/tables"
)

// Content is the content of a report. Empty parts are left out.
type Content struct {
	Title     string
	Generated time.Time // shown in UTC
	Version   string    // of the program that writes the report
	Plan      PlanSummary
	Tables    []*judge.Evaluation
	Figures   []Plot
	// Metrics are the means over the seeds of all settings; see package summary.
	Metrics []*summary.MetricTable
	Trials  *TrialTally
	Papers  []*ledger.Ledger
	// Progress is nil unless trials run while the report is written.
	Progress    *Progress
	Comparisons []Comparison // where the trials are those of comparisons
}

// Comparison is the outcome of a comparison of methods. Empty texts are left out.
type Comparison struct {
	Caption string
	Header  []string
	Rows    [][]string // one field is a heading
	Legend  string
	// Sentences state the outcome, and Remarks failures, suspicions and methods that take no part.
	Sentences, Remarks []string
	Releases           []Release
	Looking            string // the cost of looking
}

// Release is a command that releases a method.
type Release struct{ Title, Command string }

// Progress makes a report one of a sweep that runs: it states so, with the trials that
// have a record, and reloads itself.
type Progress struct {
	Running []string      // trials that run
	Reload  time.Duration // until the page reloads itself; whole seconds
}

// Seconds is Reload for the page.
func (p *Progress) Seconds() int { return int(p.Reload.Seconds()) }

const reload = `<meta http-equiv="refresh"`

// headSize is an upper bound on the size of a page up to the element that reloads it.
const headSize = 1 << 10

// Reloads reads the beginning of a report, and reports whether it was written while a sweep ran.
func Reloads(page io.Reader) (bool, error) {
	head, err := io.ReadAll(io.LimitReader(page, headSize))
	return bytes.Contains(head, []byte(reload)), err
}

// PlanSummary describes the frozen plan.
type PlanSummary struct {
	Sources   []string // sweep files, perhaps with their digests
	Overrides []string // name=value from the command line
	Backend   string
	DType     string
	BLASClass string // of the machine that made it; it may be empty
	Digest    string
	Trials    int
}

// Plot is a drawn figure. SVG must come from package plot, because it is part of the page
// unchanged. Error is the reason where the plot could not be drawn.
type Plot struct {
	Name, Title, Caption string
	SVG                  []byte
	File                 string             // in the same folder, for a drawing that is too large for the page
	Panels               []experiment.Panel // of SVG, for the table of its numbers
	Numbers              Numbers            // in place of those of the panels
	Error                string
}

// Numbers are the numbers of a plot as one table; nil for none. Each yields its Len rows.
type Numbers interface {
	Header() []string
	Len() int
	Each(yield func(row []string) bool)
}

//go:embed *.tmpl style.css report.js
var files embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"anchor":   anchor,
	"estimate": estimate,
	"count":    count,
	"duration": duration,
	"bytes":    bytesText,
	"sentence": isSentence,                                                     // gets a comfortable width
	"whole":    func(s string) bool { return utf8.RuneCountInString(s) <= 24 }, // not to be broken
	"label":    func(s string) bool { return utf8.RuneCountInString(s) <= 32 },
	"value":    experiment.FormatValue,
	"class":    func(v judge.Verdict) string { return strings.ReplaceAll(string(v), " ", "-") },
	"meaning":  func(v judge.Verdict) string { return meanings[v] },
	"heading":  columnTitle,
	"percent":  func(part, whole int) string { return fmt.Sprintf("%.4g", 100*float64(part)/float64(max(whole, 1))) },
	"join":     strings.Join,
	"add":      func(a, b int) int { return a + b },
	"marks":    func(id string, notes []int) marks { return marks{id, notes} },
}).ParseFS(files, "*.tmpl"))

// Write writes the report. Equal data give equal bytes.
func Write(w io.Writer, d Content) error {
	v, err := newView(d)
	if err != nil {
		return err
	}
	if v.Frame, err = newFrame(d.Title); err != nil {
		return err
	}
	if err := pages.ExecuteTemplate(w, "report.html.tmpl", v); err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	return nil
}

// frame is the page around its content: title, style, script, and the policy that allows
// only these.
type frame struct {
	Title  string
	Style  template.CSS
	Script template.JS
	Policy string
}

// newFrame returns the frame of the page.
func newFrame(title string) (frame, error) {
	style, err := files.ReadFile("style.css")
	if err != nil {
		return frame{}, err
	}
	script, err := files.ReadFile("report.js")
	if err != nil {
		return frame{}, err
	}
	sum := sha256.Sum256(script)
	return frame{
		Title: title, Style: template.CSS(style), Script: template.JS(script), //nolint:gosec // files of this package
		Policy: "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
			"script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
	}, nil
}

// view is the content arranged for the templates.
type view struct {
	Content
	Frame      frame
	Published  []table
	Loose      []figure // figures that belong to no table
	Summaries  []metrics
	Verdicts   []verdictCount
	Values     int     // with a verdict that counts
	Scores     []score // of the papers, in the order of their tables
	Violations []judge.Violation
	HasErrata  bool
	// Block is the data of trials for the script, in pieces, because a template copies each
	// value several times. See block.
	Block iter.Seq[template.JS]
}

// score is the tally of a paper's values and claims in words.
type score struct{ Paper, Sentence string }

type verdictCount struct {
	Verdict judge.Verdict
	Count   int
}

type figure struct {
	Plot
	Drawing template.HTML // empty where the drawing is only in its file
	Data    []dataTable
}

// Size returns the size of the drawing.
func (f figure) Size() string { return fmt.Sprintf("%.1f MB", float64(len(f.SVG))/1e6) }

// table is an evaluated table with its figure.
type table struct {
	*judge.Evaluation
	Grid   *tables.Grid
	Lines  []line
	Counts []verdictCount
	Judged int // values with a verdict that counts
	Figure *figure
	Values []value // behind the fields that are links
}

// Heading is for the templates.
func (t table) Heading() string { return tables.Heading(t.Evaluation) }

// value is a value of ours with its trials.
type value struct {
	ID                          string
	Place                       string // row, column and variant
	Published, Ours, Difference string
	Verdict                     judge.Verdict
	Metric, Mechanism           string
	Trials, Wanted              int
	Links                       []link
	More                        int // trials without a link
	Remarks                     []string
}

// link is a link to a trial.
type link struct{ Seed, Target string }

// marks are the numbers of notes below the table of that anchor.
type marks struct {
	ID    string
	Notes []int
}

// Trials returns the number of trials of a folded variant.
func (l line) Trials() int {
	for _, f := range l.Fields {
		if f.Result != nil && f.Result.Ours != nil {
			return f.Result.Ours.Trials
		}
	}
	return 0
}

// line is a line of a table.
type line struct {
	Again  bool // the first label repeats the one above, and is blank
	Fields []field
	Shaded bool   // every other group
	Others []line // the folded variants
}

// field is a tables.Field, with the identifier of the value behind it.
type field struct {
	tables.Field
	ID    string
	Again bool // a sentence that repeats the one above, and is blank
}

func newView(d Content) (*view, error) {
	v := &view{Content: d}
	if v.Trials == nil {
		v.Trials = NewTrialTally(nil)
	}
	total := map[judge.Verdict]int{}
	used := map[string]bool{}
	drawn, drawings := draw(v.Figures)
	b, err := v.Trials.encode(max(room-drawings, leastData))
	if err != nil {
		return nil, err
	}
	for _, e := range v.Tables {
		t := v.arrange(e, b)
		for verdict, n := range e.Headlines() {
			total[verdict] += n
			v.Values += n
		}
		for i := range v.Figures {
			if v.Figures[i].Name == e.Figure && e.Figure != "" && !used[e.Figure] {
				t.Figure = &drawn[i]
				used[e.Figure] = true
			}
		}
		v.Published = append(v.Published, t)
		v.Violations = append(v.Violations, judge.Check(e)...)
	}
	for _, f := range drawn {
		if !used[f.Name] {
			v.Loose = append(v.Loose, f)
		}
	}
	v.Verdicts, v.Scores = counts(total), scores(v.Tables)
	left := maxFields
	for i, s := range v.Metrics {
		var m metrics
		m, left = arrange(s, fmt.Sprintf("metrics-%d", i+1), v.Trials, b, left)
		v.Summaries = append(v.Summaries, m)
	}
	v.HasErrata = slices.ContainsFunc(v.Papers, func(p *ledger.Ledger) bool { return len(p.Errata) > 0 })
	v.Block, err = b.pieces()
	return v, err
}

// arrange lays a table out, and links its values to their trials.
func (v *view) arrange(e *judge.Evaluation, b *block) table {
	t := table{Evaluation: e, Grid: tables.Layout(e), Counts: counts(e.Headlines())}
	verdictFirst(t.Grid)
	alignPublished(t.Grid)
	for _, n := range t.Counts {
		t.Judged += n.Count
	}
	id := anchor("table", e.Table)
	lines := groupLines(t.Grid)
	for i := range lines {
		for c := range lines[i].Fields {
			f := &lines[i].Fields[c]
			if f.Result == nil || f.Text == "" || len(f.Result.TrialKeys) == 0 {
				continue
			}
			f.ID = fmt.Sprintf("%s-value-%d", id, len(t.Values)+1)
			t.Values = append(t.Values, v.value(f.ID, t.Grid, i, c))
			b.link(f.ID, v.Trials.numbers(f.Result.TrialKeys), len(f.Result.TrialKeys))
		}
	}
	for i, l := range lines {
		if last := len(t.Lines) - 1; t.Grid.Lines[i].Folded && last >= 0 {
			t.Lines[last].Others = append(t.Lines[last].Others, l)
			continue
		}
		t.Lines = append(t.Lines, l)
	}
	return t
}

// scores returns the score of each paper.
func scores(all []*judge.Evaluation) []score {
	var out []score
	byPaper := map[string][]*judge.Evaluation{}
	for _, e := range all {
		if byPaper[e.Paper] == nil {
			out = append(out, score{Paper: e.Paper})
		}
		byPaper[e.Paper] = append(byPaper[e.Paper], e)
	}
	for i := range out {
		t := judge.TallyOf(byPaper[out[i].Paper]...)
		out[i].Sentence = t.Sentence()
		if joint := judge.JointCounts(byPaper[out[i].Paper]...); joint != "" {
			out[i].Sentence += " Values judged together, by table and metric: " + joint + "."
		}
	}
	return out
}

// verdictFirst moves the verdict behind the labels of the line.
func verdictFirst(g *tables.Grid) {
	from := slices.IndexFunc(g.Columns, func(c tables.Column) bool { return c.Title == "verdict" })
	to := slices.IndexFunc(g.Columns, func(c tables.Column) bool { return c.Title != "row" && c.Title != "column" })
	if from < to || to < 0 {
		return
	}
	g.Columns = moved(g.Columns, from, to)
	for i := range g.Lines {
		g.Lines[i].Fields = moved(g.Lines[i].Fields, from, to)
	}
}

// moved returns the list with the element at from before that at to.
func moved[T any](list []T, from, to int) []T {
	out := slices.Delete(slices.Clone(list), from, from+1)
	return slices.Insert(out, to, list[from])
}

// value returns the value of a line and column of a grid.
func (v *view) value(id string, g *tables.Grid, at, column int) value {
	fields := g.Lines[at].Fields
	r := fields[column].Result
	out := value{ID: id, Ours: fields[column].Text, Verdict: r.Verdict, Metric: r.Metric,
		Mechanism: r.Mechanism, Published: r.Statement}
	out.Place = strings.Join(slices.DeleteFunc([]string{r.Row, r.Column, r.Variant},
		func(s string) bool { return s == "" }), " · ")
	if r.Published != nil {
		out.Published = strings.TrimPrefix(r.Statement+": "+r.Published.Text, ": ")
	}
	if column+1 < len(g.Columns) && g.Columns[column+1].Title == "diff" {
		out.Difference = fields[column+1].Text
	}
	if r.Ours != nil {
		out.Trials, out.Wanted = r.Ours.Trials, r.Ours.Wanted
	}
	out.Remarks = tables.JoinAlike(r.Warnings)
	for _, s := range []string{r.Reason, r.Note} {
		if s != "" {
			out.Remarks = append(out.Remarks, s)
		}
	}
	for _, key := range r.TrialKeys[:min(len(r.TrialKeys), maxLinks)] {
		out.Links = append(out.Links, link{v.Trials.seedText(key), v.Trials.link(key)})
	}
	out.More = len(r.TrialKeys) - len(out.Links)
	return out
}

// alignPublished aligns printed values to the right, like ours, where all of them are numbers.
func alignPublished(g *tables.Grid) {
	c := slices.IndexFunc(g.Columns, func(c tables.Column) bool { return c.Title == "published" })
	if c < 0 {
		return
	}
	for _, l := range g.Lines {
		text := l.Fields[c].Text
		if _, err := ledger.ParsePrinted(text); err != nil && text != "" {
			return
		}
	}
	g.Columns[c].Right = true
}

// draw puts the drawings into the page while there is room, and returns their bytes.
func draw(plots []Plot) (out []figure, bytes int) {
	for _, f := range plots {
		drawn := figure{Plot: f, Data: numbersOf(f.Panels)}
		if f.Numbers != nil {
			drawn.Data = []dataTable{tableOf(f.Title, f.Numbers)}
		}
		if n := len(f.SVG); bytes+n <= maxDrawings || f.File == "" {
			bytes += n
			drawn.Drawing = template.HTML(f.SVG) //nolint:gosec // written by package plot, which escapes
		}
		out = append(out, drawn)
	}
	return out, bytes
}

func counts(n map[judge.Verdict]int) []verdictCount {
	var out []verdictCount
	for _, v := range judge.Verdicts {
		if n[v] > 0 {
			out = append(out, verdictCount{v, n[v]})
		}
	}
	return out
}

func isSentence(s string) bool { return utf8.RuneCountInString(s) > 40 }

func groupLines(g *tables.Grid) []line {
	out := make([]line, len(g.Lines))
	shaded := true
	for i, l := range g.Lines {
		for c, f := range l.Fields {
			again := i > 0 && c > 0 && g.Columns[c].Label && isSentence(f.Text) && f.Text == g.Lines[i-1].Fields[c].Text &&
				l.Fields[0].Text == g.Lines[i-1].Fields[0].Text
			out[i].Fields = append(out[i].Fields, field{Field: f, Again: again})
		}
		if out[i].Again = i > 0 && len(g.Columns) > 0 && g.Columns[0].Label && g.Repeated(i)[0]; !out[i].Again {
			shaded = !shaded
		}
		out[i].Shaded = shaded
	}
	return out
}

// anchor returns an identifier for a name; the prefix distinguishes tables from figures.
func anchor(prefix, name string) string {
	return prefix + "-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, name)
}
