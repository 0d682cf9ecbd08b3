package claims

import (
	"fmt"
	"slices"
	"strings"
)

// grid is a table laid out for print; the text, Markdown and LaTeX writers and
// no others share it.
type grid struct {
	// groups are headings over several columns; nil where there are none.
	groups  []group
	columns []column
	lines   [][]field
	notes   []string // numbered from 1
}

type group struct {
	title string
	span  int
}

type column struct {
	title string
	right bool // aligned to the right
	label bool // names the row; narrowed first, and blank where it repeats
}

type field struct {
	text    string
	verdict Verdict // for colour
	notes   []int
}

// layout lays a table out. Wide puts the variants of a cell side by side,
// otherwise they stand below one another.
func layout(e *Evaluated, wide bool) *grid {
	g := &grid{}
	b := &gridBuilder{e: e, g: g, units: differentUnits(e), counts: differentCounts(e)}
	wide = wide && len(e.Variants) > 0
	b.heading(wide)
	for start := 0; start < len(e.Cells); {
		end := start + 1
		for end < len(e.Cells) && e.Cells[end].cell == e.Cells[start].cell {
			end++
		}
		cells := e.Cells[start:end]
		if wide {
			line := b.label(&cells[0])
			for _, v := range e.Variants {
				i := slices.IndexFunc(cells, func(r Result) bool { return r.Variant == v.Name })
				if i < 0 {
					line = append(line, make([]field, b.perVariant())...)
					continue
				}
				line = append(line, b.values(&cells[i])...)
			}
			g.lines = append(g.lines, line)
		} else {
			for i := range cells {
				line := b.label(&cells[i])
				if len(e.Variants) > 0 {
					line = append(line, field{text: cells[i].Variant})
				}
				g.lines = append(g.lines, append(line, b.values(&cells[i])...))
			}
		}
		start = end
	}
	g.dropEmpty()
	return g
}

type gridBuilder struct {
	e             *Evaluated
	g             *grid
	units, counts bool
}

func (b *gridBuilder) heading(wide bool) {
	g := b.g
	published := "published"
	if b.e.Kind == KindClaims {
		published = "claim"
	}
	g.columns = []column{{title: "row", label: true}, {title: "column", label: true}, {title: published, label: true}}
	values := []column{{title: "ours", right: true}, {title: "diff", right: true}}
	if b.counts {
		values = append(values, column{title: "n", right: true})
	}
	values = append(values, column{title: "verdict"})
	switch {
	case wide:
		g.groups = []group{{span: len(g.columns)}}
		for _, v := range b.e.Variants {
			g.groups = append(g.groups, group{title: v.Name, span: len(values)})
			g.columns = append(g.columns, values...)
		}
		return
	case len(b.e.Variants) > 0:
		g.columns = append(g.columns, column{title: "variant"})
	}
	g.columns = append(g.columns, values...)
}

func (b *gridBuilder) perVariant() int {
	if b.counts {
		return 4
	}
	return 3
}

func (b *gridBuilder) label(r *Result) []field {
	published := r.publishedText()
	if b.units && r.Unit != "" && published != "" && !strings.HasSuffix(published, r.Unit) {
		published += " " + r.Unit
	}
	return []field{{text: r.Row}, {text: r.Column}, {text: published}}
}

func (b *gridBuilder) values(r *Result) []field {
	out := []field{{text: r.oursText()}, {text: r.differenceText()}}
	if b.counts {
		n := ""
		if r.Ours != nil {
			n = fmt.Sprint(r.Ours.Trials)
		}
		out = append(out, field{text: n})
	}
	return append(out, field{text: string(r.Verdict), verdict: r.Verdict, notes: b.mark(r)})
}

// mark registers a result's notes and returns their numbers.
func (b *gridBuilder) mark(r *Result) []int {
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
		i := slices.Index(b.g.notes, t)
		if i < 0 {
			b.g.notes = append(b.g.notes, t)
			i = len(b.g.notes) - 1
		}
		numbers = append(numbers, i+1)
	}
	slices.Sort(numbers)
	return numbers
}

// dropEmpty removes columns in which nothing stands.
func (g *grid) dropEmpty() {
	for c := len(g.columns) - 1; c >= 0; c-- {
		if slices.ContainsFunc(g.lines, func(l []field) bool { return l[c].text != "" }) {
			continue
		}
		g.columns = slices.Delete(g.columns, c, c+1)
		for i := range g.lines {
			g.lines[i] = slices.Delete(g.lines[i], c, c+1)
		}
		at := c
		for i := range g.groups {
			if at < g.groups[i].span {
				g.groups[i].span--
				break
			}
			at -= g.groups[i].span
		}
	}
	g.groups = slices.DeleteFunc(g.groups, func(g group) bool { return g.span == 0 })
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

func differentUnits(e *Evaluated) bool {
	return slices.ContainsFunc(e.Cells, func(r Result) bool { return r.Unit != e.Cells[0].Unit })
}

func differentCounts(e *Evaluated) bool {
	first := -1
	for _, r := range e.Cells {
		if r.Ours == nil {
			continue
		}
		if first >= 0 && r.Ours.Trials != first {
			return true
		}
		first = r.Ours.Trials
	}
	return false
}

// heading is the title with the unit that all cells share, unless the title
// names it.
func (e *Evaluated) heading() string {
	if len(e.Cells) == 0 || e.Cells[0].Unit == "" || differentUnits(e) {
		return e.Title
	}
	u := e.Cells[0].Unit
	if strings.Contains(e.Title, "("+u) || strings.Contains(e.Title, "["+u) {
		return e.Title
	}
	return e.Title + " [" + u + "]"
}
