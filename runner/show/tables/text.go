package tables

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"privkern/runner/claims/judge"
	"privkern/runner/claims/ledger"
)

// TextOptions controls the terminal form.
type TextOptions struct {
	Color bool
	Width int // of the terminal; 0 means 100
}

// Text writes the table for a terminal, with notes and footnotes under it.
// Variants stand side by side or below one another, whichever fits the width
// in fewer lines.
func Text(w io.Writer, e *judge.Evaluation, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	g := Layout(e, e.Kind != ledger.KindClaims)
	if len(e.Variants) > 0 && e.Kind != ledger.KindClaims {
		long := Layout(e, false)
		over, overLong := g.measure(o.Width) > o.Width, long.measure(o.Width) > o.Width
		if over || !overLong && long.height(o) < g.height(o) {
			g = long
		}
	}
	var b bytes.Buffer
	b.WriteString(style(Heading(e), "1", o.Color) + "  " + style(e.Table, "2", o.Color) + "\n\n")
	if e.Kind == ledger.KindClaims {
		writeClaims(&b, e, g, o)
	} else {
		g.write(&b, o)
	}
	b.WriteString("\n" + e.SummaryText() + "\n")
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

// writeClaims writes statements as a list, since a column would be too narrow
// for a sentence: verdict and place, then the claim, then the numbers.
func writeClaims(b *bytes.Buffer, e *judge.Evaluation, g *Grid, o TextOptions) {
	const indent = "                 " // behind the longest verdict
	for i := range e.Cells {
		r := &e.Cells[i]
		place := r.Row
		for _, s := range []string{r.Column, r.Variant} {
			if s != "" {
				place += ", " + s
			}
		}
		verdict := g.Lines[i][len(g.Columns)-1]
		b.WriteString(style(pad(string(r.Verdict), len(indent), false), colors[r.Verdict], o.Color))
		b.WriteString(strings.TrimPrefix(Hang(indent, strings.TrimPrefix(place, ", ")+marks(verdict.Notes), o.Width), indent))
		if text := publishedText(r); text != "" {
			b.WriteString(Hang(indent, text, o.Width))
		}
		if ours := oursText(r); ours != "" {
			if d := differenceText(r); d != "" {
				ours += " (difference " + d + ")"
			}
			b.WriteString(style(Hang(indent, "ours: "+ours, o.Width), "2", o.Color))
		}
	}
}

const gap = 2

// measure returns the width that the grid takes on a terminal of some width.
func (g *Grid) measure(width int) int {
	total := -gap
	for _, w := range g.widths(width) {
		total += w + gap
	}
	return total
}

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
	const comfortable = 16
	w, narrowest := make([]int, len(g.Columns)), make([]int, len(g.Columns))
	total := -gap
	for c, col := range g.Columns {
		w[c] = utf8.RuneCountInString(col.Title)
		narrowest[c] = w[c]
		for _, l := range g.Lines {
			text := l[c].Text + marks(l[c].Notes)
			w[c] = max(w[c], utf8.RuneCountInString(text))
			for word := range strings.FieldsSeq(text) {
				narrowest[c] = max(narrowest[c], utf8.RuneCountInString(word))
			}
		}
		total += w[c] + gap
	}
	at := 0
	for _, gr := range g.Groups {
		inner := -gap
		for c := at; c < at+gr.Span; c++ {
			inner += w[c] + gap
		}
		if lack := utf8.RuneCountInString(gr.Title) - inner; lack > 0 {
			w[at+gr.Span-1] += lack
			total += lack
		}
		at += gr.Span
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
	narrow(func(int) bool { return true })
	return w
}

func (g *Grid) write(b *bytes.Buffer, o TextOptions) {
	widths := g.widths(o.Width)
	if len(g.Groups) > 0 {
		var line strings.Builder
		at := 0
		for _, gr := range g.Groups {
			inner := -gap
			for c := at; c < at+gr.Span; c++ {
				inner += widths[c] + gap
			}
			at += gr.Span
			line.WriteString(pad(gr.Title, inner, false) + strings.Repeat(" ", gap))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	var head, rule []string
	for c, col := range g.Columns {
		head = append(head, pad(col.Title, widths[c], col.Right))
		rule = append(rule, strings.Repeat("─", widths[c]))
	}
	sep := strings.Repeat(" ", gap)
	b.WriteString(strings.TrimRight(strings.Join(head, sep), " ") + "\n")
	b.WriteString(style(strings.Join(rule, sep), "2", o.Color) + "\n")
	for i, l := range g.Lines {
		g.writeLine(b, l, g.Repeated(i), widths, o)
	}
}

// Repeated says which leading labels of line i repeat the line above and are
// left blank, so that rows read as groups.
func (g *Grid) Repeated(i int) []bool {
	out := make([]bool, len(g.Columns))
	for c, col := range g.Columns {
		if i == 0 || !col.Label || g.Lines[i][c].Text != g.Lines[i-1][c].Text {
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
			wrapped[c] = wrapText(f.Text+marks(f.Notes), widths[c])
		}
		height = max(height, len(wrapped[c]))
	}
	for k := range height {
		var line strings.Builder
		blank := 0 // spaces owed, so that no line ends in them
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

// colors are ANSI codes; the words carry the meaning without them.
var colors = map[judge.Verdict]string{
	judge.Match: "32", judge.Better: "36", judge.Worse: "31", judge.Differs: "31",
	judge.UnderSpecified: "33", judge.Unpublished: "2", judge.Quoted: "2", judge.NotRun: "2",
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
