package tables

import (
	"fmt"
	"slices"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
)

// Grid is a table laid out for readers, shared by all formats except CSV and JSON.
type Grid struct {
	Columns []Column // their titles, in order
	Lines   []Line
	Notes   []string // numbered from 1
}

// Line is one comparison. The variants of a cell are adjacent: the headline first, and the
// others folded beneath.
type Line struct {
	Fields []Field // one for each column
	Folded bool
	Result *judge.Comparison
}

// Column is a column of a grid.
type Column struct {
	Title string
	Right bool // aligned to the right
	Label bool // names the line; narrowed first, and blank where it repeats
}

// Field is the text of a line in a column.
type Field struct {
	Text    string
	Indent  bool              // names a folded variant
	Verdict judge.Verdict     // in the column of verdicts, for colour
	Notes   []int             // numbers of notes
	Result  *judge.Comparison // in the column of our values
}

// Layout returns the layout of a table.
func Layout(e *judge.Evaluation) *Grid {
	b := newGridBuilder(e)
	for _, variants := range cells(e) {
		for i, r := range variants {
			b.g.Lines = append(b.g.Lines, b.line(r, i > 0))
		}
	}
	b.g.dropEmpty()
	return b.g
}

// cells returns the comparisons of each cell, the headline first.
func cells(e *judge.Evaluation) (out [][]*judge.Comparison) {
	for start := 0; start < len(e.Cells); {
		end := start + 1
		for end < len(e.Cells) && e.Cells[end].Cell == e.Cells[start].Cell {
			end++
		}
		var order []*judge.Comparison
		for _, headline := range []bool{true, false} {
			for i := start; i < end; i++ {
				if e.Cells[i].Headline == headline {
					order = append(order, &e.Cells[i])
				}
			}
		}
		out, start = append(out, order), end
	}
	return out
}

// Titles of columns.
const variantTitle, differenceTitle, settingsTitle, dataTitle = "variant", "diff", "settings", "data"

type gridBuilder struct {
	e             *judge.Evaluation
	g             *Grid
	units, counts bool
	joined        map[string]string // notes of warnings
	brief         bool              // without remarks of the ledger and tests
}

// newGridBuilder returns a builder of a grid without lines.
func newGridBuilder(e *judge.Evaluation) *gridBuilder {
	b := &gridBuilder{e: e, g: &Grid{}, units: differentUnits(e), counts: differentCounts(e), joined: joinedWarnings(e)}
	b.heading()
	return b
}

func (b *gridBuilder) heading() {
	published := "published"
	if b.e.Kind == ledger.KindClaims {
		published = "claim"
	}
	b.g.Columns = []Column{{Title: "row", Label: true}, {Title: "column", Label: true},
		{Title: published, Label: true}, {Title: variantTitle}, {Title: "ours", Right: true},
		{Title: differenceTitle, Right: true}}
	if b.counts {
		b.g.Columns = append(b.g.Columns, Column{Title: "n", Right: true})
	}
	b.g.Columns = append(b.g.Columns, Column{Title: "verdict"}, Column{Title: settingsTitle}, Column{Title: dataTitle})
}

func (b *gridBuilder) line(r *judge.Comparison, folded bool) Line {
	published := Published(r)
	if b.units && r.Unit != "" && published != "" && !strings.HasSuffix(published, r.Unit) {
		published += " " + r.Unit
	}
	out := []Field{{Text: r.Row}, {Text: r.Column}, {Text: published}, {Text: r.Variant, Indent: folded},
		{Text: Ours(r), Result: r}, {Text: differenceText(r)}}
	if b.counts {
		n := ""
		if r.Ours != nil {
			n = fmt.Sprint(r.Ours.Trials)
		}
		out = append(out, Field{Text: n})
	}
	verdict := Field{Text: verdictText(r), Verdict: r.Verdict, Notes: b.mark(r)}
	if b.brief { // the tally counts this one
		verdict.Text = strings.Trim(verdict.Text, "()")
	}
	return Line{Fields: append(out, verdict, b.settings(r), b.data(r)), Folded: folded, Result: r}
}

// verdictText returns the verdict, in brackets for a variant beside the headline and with ", ours" for an
// entry of ours, because neither counts.
func verdictText(r *judge.Comparison) string {
	s := string(r.Verdict)
	if r.Own && r.Verdict != judge.Unpublished {
		s += ", ours"
	}
	if !r.Headline && r.Verdict != judge.Corrected && r.Verdict != judge.Unpublished {
		return "(" + s + ")"
	}
	return s
}

// settings returns the origin of the settings, with a note for each assumption.
func (b *gridBuilder) settings(r *judge.Comparison) Field {
	var texts []string
	for i := range r.Assumed {
		a := &r.Assumed[i]
		texts = append(texts, fmt.Sprintf("assumed: %s (%s)", strings.TrimSuffix(a.Text, "."), a.Citation()))
	}
	settings, _ := settingsAndData(r)
	if b.brief {
		return Field{Text: settings}
	}
	return Field{Text: settings, Notes: b.number(texts)}
}

// data returns the origin of the data, with a note for a stand-in.
func (b *gridBuilder) data(r *judge.Comparison) Field {
	_, data := settingsAndData(r)
	if r.StandIn == "" || b.brief {
		return Field{Text: data}
	}
	return Field{Text: data, Notes: b.number([]string{"stand-in: " + r.StandIn})}
}

// mark registers a result's notes and returns their numbers.
func (b *gridBuilder) mark(r *judge.Comparison) []int {
	var texts []string
	if r.Reason != "" {
		texts = append(texts, string(r.Verdict)+": "+r.Reason)
	}
	if t := r.Test; t != nil && !b.brief {
		p := precision{significant: 3}
		texts = append(texts, fmt.Sprintf("paired over %d: mean difference %s ± %s, p = %s", t.Pairs, p.format(t.Mean),
			p.error(t.StandardError), p.format(t.P)))
	}
	if ref := r.Reference; ref != nil && r.Ours != nil && !ref.OK {
		p := precision{significant: 6}
		texts = append(texts, fmt.Sprintf("outside the reference %s ± %s", p.format(ref.Value), p.format(ref.Tolerance)))
	}
	if !r.Primary {
		texts = append(texts, "the paper prints this value elsewhere, where it counts")
	}
	for _, w := range r.Warnings {
		texts = append(texts, b.joined[w])
	}
	if r.Note != "" && r.Note != b.e.SettingsNote && !b.brief {
		texts = append(texts, r.Note)
	}
	return b.number(texts)
}

// number returns the numbers of notes, and registers new ones.
func (b *gridBuilder) number(texts []string) []int {
	var numbers []int
	for _, t := range texts {
		i := slices.Index(b.g.Notes, t)
		if i < 0 {
			b.g.Notes = append(b.g.Notes, t)
			i = len(b.g.Notes) - 1
		}
		numbers = append(numbers, i+1)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// dropEmpty removes empty columns.
func (g *Grid) dropEmpty() {
	g.drop(func(c int) bool {
		return !slices.ContainsFunc(g.Lines, func(l Line) bool { return l.Fields[c].Text != "" })
	})
}

// drop removes columns.
func (g *Grid) drop(which func(c int) bool) {
	for c := len(g.Columns) - 1; c >= 0; c-- {
		if !which(c) {
			continue
		}
		g.Columns = slices.Delete(g.Columns, c, c+1)
		for i := range g.Lines {
			g.Lines[i].Fields = slices.Delete(g.Lines[i].Fields, c, c+1)
		}
	}
}

// marks returns the numbers of notes, such as " [1,3–5]".
func marks(numbers []int) string {
	if len(numbers) == 0 {
		return ""
	}
	var parts []string
	for i := 0; i < len(numbers); {
		end := i // of consecutive numbers
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		part := fmt.Sprint(numbers[i])
		if end > i+1 { // three and more are a range
			part, i = fmt.Sprintf("%d–%d", numbers[i], numbers[end]), end
		}
		parts, i = append(parts, part), i+1
	}
	return " [" + strings.Join(parts, ",") + "]"
}

func differentUnits(e *judge.Evaluation) bool {
	return slices.ContainsFunc(e.Cells, func(r judge.Comparison) bool { return r.Unit != e.Cells[0].Unit })
}

// differentCounts reports whether the numbers of trials need a column: they differ, or are
// incomplete.
func differentCounts(e *judge.Evaluation) bool {
	first := -1
	for i := range e.Cells {
		r := &e.Cells[i]
		if r.Ours == nil {
			continue
		}
		if first >= 0 && r.Ours.Trials != first || !r.Complete() {
			return true
		}
		first = r.Ours.Trials
	}
	return false
}

// Heading returns the title with the unit that all cells share, unless the title
// names it.
func Heading(e *judge.Evaluation) string {
	if len(e.Cells) == 0 || e.Cells[0].Unit == "" || differentUnits(e) {
		return e.Title
	}
	u := e.Cells[0].Unit
	if strings.Contains(e.Title, "("+u) || strings.Contains(e.Title, "["+u) {
		return e.Title
	}
	return e.Title + " [" + u + "]"
}
