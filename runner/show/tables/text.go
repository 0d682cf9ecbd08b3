package tables

import (
	"bytes"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
)

// TextOptions are options of the text format.
type TextOptions struct {
	Color bool
	Width int // of the terminal; by default 120
	// AllVariants shows every variant with its difference, settings and data, and all notes in full; by default
	// there is one line for each printed value, under the variant that is judged.
	AllVariants bool
}

// writeText writes the table for a terminal, with the tally, notes and footnotes under it.
func writeText(w io.Writer, e *judge.Evaluation, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 120
	}
	var b bytes.Buffer
	title, name := Heading(e), e.Table
	if utf8.RuneCountInString(title+name)+gap > o.Width {
		b.WriteString(style(Hang("", title, o.Width), "1", o.Color) + style(Hang("", name, o.Width), "2", o.Color) + "\n")
	} else {
		b.WriteString(style(title, "1", o.Color) + "  " + style(name, "2", o.Color) + "\n\n")
	}
	g, footnotes := Layout(e), e.Footnotes
	if !o.AllVariants {
		g, footnotes = brief(e, g)
	}
	claims := g.split(func(l Line) bool {
		return e.Kind == ledger.KindClaims || !o.AllVariants && l.Result.Statement != ""
	})
	if len(g.Lines) > 0 {
		g.write(&b, o)
		b.WriteString("\n")
	}
	if len(claims.Lines) > 0 {
		writeClaims(&b, claims, o)
		b.WriteString("\n")
	}
	b.WriteString(Hang("", e.Sentence(), o.Width))
	for _, s := range e.Jointly() {
		b.WriteString(Hang("", s, o.Width))
	}
	for i, n := range g.Notes {
		label := strings.TrimPrefix(marks([]int{i + 1}), " ") + " "
		b.WriteString(Hang(label, n, o.Width))
	}
	for _, f := range footnotes {
		b.WriteString(Hang("  ", f, o.Width))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// split moves lines into a grid of their own.
func (g *Grid) split(which func(Line) bool) *Grid {
	out := &Grid{Columns: slices.Clone(g.Columns)}
	g.Lines = slices.DeleteFunc(g.Lines, func(l Line) bool {
		if which(l) {
			out.Lines = append(out.Lines, l)
			return true
		}
		return false
	})
	g.dropEmpty()
	return out
}

// writeClaims writes statements as a list, because a column would be too narrow for a
// sentence: verdict and labels, then the claim, then the numbers.
func writeClaims(b *bytes.Buffer, g *Grid, o TextOptions) {
	const behind = 18 // the longest verdict
	for _, l := range g.Lines {
		r, indent := l.Result, strings.Repeat(" ", min(behind, o.Width/4))
		label := r.Row
		for _, s := range []string{r.Column, r.Variant} {
			if s != "" && (s != r.Variant || g.has(variantTitle)) {
				label += ", " + s
			}
		}
		verdict := l.verdict()
		text := verdict.Text
		if l.Folded {
			label, text, indent = r.Variant, "  "+text, indent+"  "
		}
		label = Hang(indent, strings.TrimPrefix(label, ", ")+marks(verdict.Notes), o.Width)
		if utf8.RuneCountInString(text) < len(indent) {
			text, label = pad(text, len(indent), false), strings.TrimPrefix(label, indent)
		} else {
			text += "\n"
		}
		b.WriteString(style(text, colors[r.Verdict], o.Color) + label)
		if text := Published(r); text != "" && !l.Folded {
			b.WriteString(Hang(indent, text, o.Width))
		}
		if ours := Ours(r); ours != "" {
			if d := differenceText(r); d != "" {
				ours += " (difference " + d + ")"
			}
			b.WriteString(style(Hang(indent, "ours: "+ours, o.Width), "2", o.Color))
		}
		if text := g.settingsAndDataText(l); text != "" {
			b.WriteString(style(Hang(indent, text, o.Width), "2", o.Color))
		}
	}
}

// settingsAndDataText returns the fields of assumed settings and of stand-ins in words.
func (g *Grid) settingsAndDataText(l Line) string {
	var parts []string
	for c, f := range l.Fields {
		if len(f.Notes) > 0 && (g.Columns[c].Title == settingsTitle || g.Columns[c].Title == dataTitle) {
			parts = append(parts, g.Columns[c].Title+": "+f.Text+marks(f.Notes))
		}
	}
	return strings.Join(parts, "; ")
}

// has reports whether the grid has a column of this title.
func (g *Grid) has(title string) bool {
	return slices.ContainsFunc(g.Columns, func(c Column) bool { return c.Title == title })
}

// verdict returns the field of the verdict.
func (l Line) verdict() Field {
	return l.Fields[slices.IndexFunc(l.Fields, func(f Field) bool { return f.Verdict != "" })]
}

const gap = 2

// indent returns the indentation of a field.
func (f Field) indent() int {
	if f.Indent {
		return 2
	}
	return 0
}

// String returns the field with its indentation and the numbers of its notes.
func (f Field) String() string { return strings.Repeat(" ", f.indent()) + f.Text + marks(f.Notes) }

// GridOf returns a grid of texts; columns are aligned to the left, or to the right where right is true; nil: none is.
func GridOf(titles []string, right []bool, lines [][]string) *Grid {
	g := &Grid{}
	for c, title := range titles {
		g.Columns = append(g.Columns, Column{Title: title, Right: right != nil && right[c]})
	}
	for _, texts := range lines {
		var l Line
		for _, text := range texts {
			l.Fields = append(l.Fields, Field{Text: text})
		}
		g.Lines = append(g.Lines, l)
	}
	return g
}

// Text returns the grid in lines of a width, in characters. Where columns have no room they are narrowed, go on below,
// or are the fields of a line below each other; no text is cut.
func (g *Grid) Text(width int) string {
	var b bytes.Buffer
	g.write(&b, TextOptions{Width: width})
	return b.String()
}

// height returns the number of lines that the grid takes.
func (g *Grid) height(o TextOptions) int {
	var b bytes.Buffer
	widths := g.widths(o.Width, false)
	g.sideBySide(&b, widths, o)
	return bytes.Count(b.Bytes(), []byte("\n"))
}

// widths returns the width of each column. Where the grid is wider
// than the terminal, the widest label is narrowed first, down to a comfortable width, then
// any column down to its longest word; whole, parts that stay together are one.
func (g *Grid) widths(width int, whole bool) []int {
	const comfortable, broken = 16, 6
	w, narrowest := make([]int, len(g.Columns)), make([]int, len(g.Columns))
	total := -gap
	for c, col := range g.Columns {
		w[c] = utf8.RuneCountInString(col.Title)
		narrowest[c] = w[c]
		for _, l := range g.Lines {
			text := l.Fields[c].String()
			w[c] = max(w[c], utf8.RuneCountInString(text))
			longest := 0 // characters of a word that stays as it is
			if whole {
				longest = math.MaxInt
			}
			for _, word := range words(text, longest) {
				narrowest[c] = max(narrowest[c], utf8.RuneCountInString(word)+l.Fields[c].indent())
			}
		}
		total += w[c] + gap
	}
	narrow := func(may func(c int) bool) {
		for total > width {
			widest := -1
			for c := range g.Columns {
				if w[c] > narrowest[c] && may(c) && (widest < 0 || w[c] > w[widest]) {
					widest = c
				}
			}
			if widest < 0 {
				return
			}
			w[widest]--
			total--
		}
	}
	narrow(func(c int) bool { return g.Columns[c].Label && w[c] > comfortable })
	// A number stays on one line with its error, where there is another way.
	narrow(func(c int) bool { return !g.Columns[c].Right })
	narrow(func(int) bool { return true })
	for c, col := range g.Columns { // words break only where there is no other way
		narrowest[c] = max(utf8.RuneCountInString(col.Title), min(narrowest[c], broken))
	}
	narrow(func(c int) bool { return g.Columns[c].Label || g.Columns[c].Title == variantTitle })
	return w
}

// write writes the columns side by side. Where they have no room, those of a grid without labels go on below, behind
// the first one, and otherwise the fields of each line are one below the other.
func (g *Grid) write(b *bytes.Buffer, o TextOptions) {
	widths := g.widths(o.Width, true)
	total := -gap
	for _, w := range widths {
		total += w + gap
	}
	if total <= o.Width {
		g.sideBySide(b, widths, o)
		return
	}
	parts := blocks(widths, o.Width)
	if parts != nil && !slices.ContainsFunc(g.Columns, func(c Column) bool { return c.Label }) {
		for i, columns := range parts {
			if i > 0 {
				b.WriteString("\n")
			}
			g.pick(columns).write(b, o)
		}
		return
	}
	for i, l := range g.Lines {
		if i > 0 {
			b.WriteString("\n")
		}
		for c, f := range l.Fields {
			if f.Text == "" {
				continue
			}
			text := strings.Join(wrapText(g.Columns[c].Title+": "+f.Text+marks(f.Notes), o.Width-2), "\n  ")
			b.WriteString(style(text, colors[f.Verdict], o.Color) + "\n")
		}
	}
}

// blocks returns the columns of grids that have room, each with the first column; nil where none has.
func blocks(widths []int, width int) (out [][]int) {
	for next := 1; next < len(widths); {
		block, total := []int{0}, widths[0]
		for next < len(widths) && total+gap+widths[next] <= width {
			block, total, next = append(block, next), total+gap+widths[next], next+1
		}
		if len(block) == 1 {
			return nil
		}
		out = append(out, block)
	}
	return out
}

// pick returns a grid of some columns.
func (g *Grid) pick(columns []int) *Grid {
	out := &Grid{}
	for _, c := range columns {
		out.Columns = append(out.Columns, g.Columns[c])
	}
	for _, l := range g.Lines {
		var fields []Field
		for _, c := range columns {
			fields = append(fields, l.Fields[c])
		}
		out.Lines = append(out.Lines, Line{Fields: fields})
	}
	return out
}

func (g *Grid) sideBySide(b *bytes.Buffer, widths []int, o TextOptions) {
	var head, rule []string
	for c, col := range g.Columns {
		head = append(head, pad(col.Title, widths[c], col.Right))
		rule = append(rule, strings.Repeat("─", widths[c]))
	}
	sep := strings.Repeat(" ", gap)
	b.WriteString(strings.TrimRight(strings.Join(head, sep), " ") + "\n")
	b.WriteString(style(strings.Join(rule, sep), "2", o.Color) + "\n")
	for i, l := range g.Lines {
		g.writeLine(b, l.Fields, g.Repeated(i), widths, o)
	}
}

// Repeated reports, for each column, whether line i has a leading label that repeats that of
// the line above. Such labels are left blank, so that rows read as groups.
func (g *Grid) Repeated(i int) []bool {
	out := make([]bool, len(g.Columns))
	for c, col := range g.Columns {
		if i == 0 || !col.Label || g.Lines[i].Fields[c].Text != g.Lines[i-1].Fields[c].Text {
			break
		}
		out[c] = true
	}
	return out
}

func (g *Grid) writeLine(b *bytes.Buffer, l []Field, repeated []bool, widths []int, o TextOptions) {
	wrapped := make([][]string, len(l))
	height := 1
	for c, f := range l {
		if !repeated[c] {
			wrapped[c] = wrapText(f.Text+marks(f.Notes), widths[c]-f.indent())
			for k := range wrapped[c] {
				wrapped[c][k] = strings.Repeat(" ", f.indent()) + wrapped[c][k]
			}
		}
		height = max(height, len(wrapped[c]))
	}
	for k := range height {
		var line strings.Builder
		blank := 0 // pending spaces, so that no line ends in them
		for c := range l {
			s := ""
			if k < len(wrapped[c]) {
				s = wrapped[c][k]
			}
			padded := pad(s, widths[c], g.Columns[c].Right)
			trimmed := strings.TrimRight(padded, " ")
			if trimmed == "" {
				blank += len(padded) + gap
				continue
			}
			line.WriteString(strings.Repeat(" ", blank))
			if v := l[c].Verdict; v != "" {
				trimmed = style(trimmed, colors[v], o.Color)
			}
			line.WriteString(trimmed)
			blank = widths[c] - utf8.RuneCountInString(strings.TrimRight(padded, " ")) + gap
		}
		b.WriteString(line.String() + "\n")
	}
}

// colors are the ANSI codes of the verdicts.
var colors = map[judge.Verdict]string{
	judge.Match: "32", judge.Wide: "33", judge.Close: "36", judge.Differs: "31", judge.Faster: "2", judge.Slower: "2",
	judge.Unjudged: "33", judge.Fitted: "2", judge.StandIn: "2", judge.Corrected: "2", judge.Unpublished: "2",
	judge.Quoted: "2", judge.NotRun: "2",
}

func style(s, code string, on bool) string {
	if !on || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func pad(s string, width int, right bool) string {
	space := strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0))
	if right {
		return space + s
	}
	return s + space
}

// together are parts of a text that stay on a line: a value with its standard error, and a pair such as (1, 1e-06).
var together = regexp.MustCompile(` ± |\(\S+, \S+\)`)

// words are those of a text. Parts that stay together are one, where a line of that width has room for them.
func words(s string, width int) (out []string) {
	s = together.ReplaceAllStringFunc(s, func(part string) string { return strings.ReplaceAll(part, " ", "\x00") })
	for word := range strings.FieldsSeq(s) {
		word = strings.ReplaceAll(word, "\x00", " ")
		if utf8.RuneCountInString(word) > width {
			out = append(out, strings.Fields(word)...)
		} else {
			out = append(out, word)
		}
	}
	return out
}

// wrapText breaks a text at spaces into lines of at most width characters; a
// longer word is broken anywhere.
func wrapText(s string, width int) []string {
	width = max(width, 1)
	var lines []string
	line := ""
	for _, word := range words(s, width) {
		for {
			n := utf8.RuneCountInString(line)
			if n > 0 && n+1+utf8.RuneCountInString(word) <= width {
				line += " " + word
				break
			}
			if n > 0 {
				lines = append(lines, line)
				line = ""
			}
			runes := []rune(word)
			if len(runes) <= width {
				line = word
				break
			}
			lines, word = append(lines, string(runes[:width])), string(runes[width:])
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Hang wraps a note with a label in front and the following lines indented.
func Hang(label, s string, width int) string {
	indent := utf8.RuneCountInString(label)
	var b strings.Builder
	for i, l := range wrapText(s, width-indent) {
		if i == 0 {
			b.WriteString(label)
		} else {
			b.WriteString(strings.Repeat(" ", indent))
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

// WriteText writes a grid for a terminal.
func (g *Grid) WriteText(w io.Writer, o TextOptions) error {
	var b bytes.Buffer
	g.write(&b, o)
	_, err := w.Write(b.Bytes())
	return err
}
