package tables

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
)

// TextOptions are options of the text format.
type TextOptions struct {
	Color bool
	Width int // of the terminal; by default 120
}

// writeText writes the table for a terminal, with the tally, notes and footnotes under it.
func writeText(w io.Writer, e *judge.Evaluation, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 120
	}
	g := Layout(e)
	var b bytes.Buffer
	b.WriteString(style(Heading(e), "1", o.Color) + "  " + style(e.Table, "2", o.Color) + "\n\n")
	if e.Kind == ledger.KindClaims {
		writeClaims(&b, g, o)
	} else {
		g.write(&b, o)
	}
	b.WriteString("\n" + Hang("", e.Sentence(), o.Width))
	for i, n := range g.Notes {
		label := strings.TrimPrefix(marks([]int{i + 1}), " ") + " "
		b.WriteString(Hang(label, n, o.Width))
	}
	for _, f := range e.Footnotes {
		b.WriteString(Hang("  ", f, o.Width))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeClaims writes statements as a list, because a column would be too narrow for a
// sentence: verdict and labels, then the claim, then the numbers.
func writeClaims(b *bytes.Buffer, g *Grid, o TextOptions) {
	const width = 18 // behind the longest verdict
	for _, l := range g.Lines {
		r, indent := l.Result, strings.Repeat(" ", width)
		label := r.Row
		for _, s := range []string{r.Column, r.Variant} {
			if s != "" {
				label += ", " + s
			}
		}
		verdict := verdictText(r)
		if l.Folded {
			label, verdict, indent = r.Variant, "  "+verdict, indent+"  "
		}
		data := len(g.Columns) - 1 // the last columns are verdict, settings and data
		b.WriteString(style(pad(verdict, len(indent), false), colors[r.Verdict], o.Color))
		b.WriteString(strings.TrimPrefix(Hang(indent,
			strings.TrimPrefix(label, ", ")+marks(l.Fields[data-2].Notes), o.Width), indent))
		if text := Published(r); text != "" && !l.Folded {
			b.WriteString(Hang(indent, text, o.Width))
		}
		if ours := Ours(r); ours != "" {
			if d := differenceText(r); d != "" {
				ours += " (difference " + d + ")"
			}
			b.WriteString(style(Hang(indent, "ours: "+ours, o.Width), "2", o.Color))
		}
		if text := settingsAndDataText(l.Fields[data-1], l.Fields[data]); text != "" {
			b.WriteString(style(Hang(indent, text, o.Width), "2", o.Color))
		}
	}
}

// settingsAndDataText returns the fields of assumed settings and of stand-ins in words.
func settingsAndDataText(settings, data Field) string {
	var parts []string
	if settings.Text == "assumed" {
		parts = append(parts, "settings: "+settings.Text+marks(settings.Notes))
	}
	if len(data.Notes) > 0 {
		parts = append(parts, "data: "+data.Text+marks(data.Notes))
	}
	return strings.Join(parts, "; ")
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

// height returns the number of lines that the grid takes.
func (g *Grid) height(o TextOptions) int {
	var b bytes.Buffer
	g.write(&b, o)
	return bytes.Count(b.Bytes(), []byte("\n"))
}

// widths returns the width of each column. Where the grid is wider than the
// terminal, the widest label is narrowed first, down to a comfortable width,
// then any column down to its longest word.
func (g *Grid) widths(width int) []int {
	const comfortable, broken = 16, 6
	w, narrowest := make([]int, len(g.Columns)), make([]int, len(g.Columns))
	total := -gap
	for c, col := range g.Columns {
		w[c] = utf8.RuneCountInString(col.Title)
		narrowest[c] = w[c]
		for _, l := range g.Lines {
			text := l.Fields[c].String()
			w[c] = max(w[c], utf8.RuneCountInString(text))
			for word := range strings.FieldsSeq(text) {
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

func (g *Grid) write(b *bytes.Buffer, o TextOptions) {
	widths := g.widths(o.Width)
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

// wrapText breaks a text at spaces into lines of at most width characters; a
// longer word is broken anywhere.
func wrapText(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
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
	for i, l := range wrapText(s, max(width-indent, 20)) {
		if i == 0 {
			b.WriteString(label)
		} else {
			b.WriteString(strings.Repeat(" ", indent))
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}
