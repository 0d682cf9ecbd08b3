package tables

import (
	"fmt"
	"slices"
	"strings"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
)

// Grid is a table laid out for readers, shared by every format that is read
// and not parsed.
type Grid struct {
	Groups  []Group   // headings over several columns; nil where there are none
	Columns []Column  // their titles, in order
	Lines   [][]Field // each as long as Columns
	Notes   []string  // numbered from 1
}

// Group is a heading over Span columns; its title may be empty.
type Group struct {
	Title string
	Span  int
}

// Column is a column of a grid.
type Column struct {
	Title string
	Right bool // aligned to the right
	Label bool // names the line; narrowed first, and may be left blank where it repeats
}

// Field is what stands in a column of a line.
type Field struct {
	Text    string
	Verdict judge.Verdict     // of a verdict's own field, for colour
	Notes   []int             // numbers of notes
	Result  *judge.Comparison // of our value: the cell that it is of
}

// Layout lays a table out. Wide puts the variants of a cell side by side,
// otherwise they stand below one another.
func Layout(e *judge.Evaluation, wide bool) *Grid {
	g := &Grid{}
	b := &gridBuilder{e: e, g: g, units: differentUnits(e), counts: differentCounts(e)}
	wide = wide && len(e.Variants) > 0
	b.heading(wide)
	for start := 0; start < len(e.Cells); {
		end := start + 1
		for end < len(e.Cells) && e.Cells[end].Cell == e.Cells[start].Cell {
			end++
		}
		cells := e.Cells[start:end]
		if wide {
			line := b.label(&cells[0])
			for _, v := range e.Variants {
				i := slices.IndexFunc(cells, func(r judge.Comparison) bool {
					return r.Variant == v.Name || r.Verdict == judge.Quoted
				})
				if i < 0 {
					line = append(line, make([]Field, b.perVariant())...)
					continue
				}
				line = append(line, b.values(&cells[i])...)
			}
			g.Lines = append(g.Lines, line)
		} else {
			for i := range cells {
				line := b.label(&cells[i])
				if len(e.Variants) > 0 {
					line = append(line, Field{Text: cells[i].Variant})
				}
				g.Lines = append(g.Lines, append(line, b.values(&cells[i])...))
			}
		}
		start = end
	}
	g.dropEmpty()
	return g
}

type gridBuilder struct {
	e             *judge.Evaluation
	g             *Grid
	units, counts bool
}

func (b *gridBuilder) heading(wide bool) {
	g := b.g
	published := "published"
	if b.e.Kind == ledger.KindClaims {
		published = "claim"
	}
	g.Columns = []Column{{Title: "row", Label: true}, {Title: "column", Label: true}, {Title: published, Label: true}}
	values := []Column{{Title: "ours", Right: true}, {Title: "diff", Right: true}}
	if b.counts {
		values = append(values, Column{Title: "n", Right: true})
	}
	values = append(values, Column{Title: "verdict"})
	switch {
	case wide:
		g.Groups = []Group{{Span: len(g.Columns)}}
		for _, v := range b.e.Variants {
			g.Groups = append(g.Groups, Group{Title: v.Name, Span: len(values)})
			g.Columns = append(g.Columns, values...)
		}
		return
	case len(b.e.Variants) > 0:
		g.Columns = append(g.Columns, Column{Title: "variant"})
	}
	g.Columns = append(g.Columns, values...)
}

func (b *gridBuilder) perVariant() int {
	if b.counts {
		return 4
	}
	return 3
}

func (b *gridBuilder) label(r *judge.Comparison) []Field {
	published := publishedText(r)
	if b.units && r.Unit != "" && published != "" && !strings.HasSuffix(published, r.Unit) {
		published += " " + r.Unit
	}
	return []Field{{Text: r.Row}, {Text: r.Column}, {Text: published}}
}

func (b *gridBuilder) values(r *judge.Comparison) []Field {
	out := []Field{{Text: oursText(r), Result: r}, {Text: differenceText(r)}}
	if b.counts {
		n := ""
		if r.Ours != nil {
			n = fmt.Sprint(r.Ours.Trials)
		}
		out = append(out, Field{Text: n})
	}
	return append(out, Field{Text: string(r.Verdict), Verdict: r.Verdict, Notes: b.mark(r)})
}

// mark registers a result's notes and returns their numbers.
func (b *gridBuilder) mark(r *judge.Comparison) []int {
	var texts []string
	if r.Reason != "" {
		texts = append(texts, "not run: "+r.Reason)
	}
	if ref := r.Reference; ref != nil && r.Ours != nil && !ref.OK {
		p := precision{significant: 6}
		texts = append(texts, fmt.Sprintf("outside the reference %s ± %s", p.format(ref.Value), p.format(ref.Tolerance)))
	}
	texts = append(texts, r.Warnings...)
	if r.Note != "" && r.Note != b.e.SettingsNote {
		texts = append(texts, r.Note)
	}
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
	return numbers
}

// dropEmpty removes columns in which nothing stands.
func (g *Grid) dropEmpty() {
	for c := len(g.Columns) - 1; c >= 0; c-- {
		if slices.ContainsFunc(g.Lines, func(l []Field) bool { return l[c].Text != "" }) {
			continue
		}
		g.Columns = slices.Delete(g.Columns, c, c+1)
		for i := range g.Lines {
			g.Lines[i] = slices.Delete(g.Lines[i], c, c+1)
		}
		at := c
		for i := range g.Groups {
			if at < g.Groups[i].Span {
				g.Groups[i].Span--
				break
			}
			at -= g.Groups[i].Span
		}
	}
	g.Groups = slices.DeleteFunc(g.Groups, func(g Group) bool { return g.Span == 0 })
}

func marks(numbers []int) string {
	if len(numbers) == 0 {
		return ""
	}
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = fmt.Sprint(n)
	}
	return " [" + strings.Join(parts, ",") + "]"
}

func differentUnits(e *judge.Evaluation) bool {
	return slices.ContainsFunc(e.Cells, func(r judge.Comparison) bool { return r.Unit != e.Cells[0].Unit })
}

// differentCounts says whether the numbers of trials need a column: they differ,
// or are not all that are wanted.
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

// Heading is the title with the unit that all cells share, unless the title
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
