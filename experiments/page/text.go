package page

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Width is that of text where there is room, in characters.
const Width = 80

// Writer writes text in lines of a width, in characters.
type Writer struct {
	strings.Builder
	Width int
}

// Text writes the page for a terminal, in lines of a width. Columns that have no room go on below. shell
// writes a command.
func (p *Page) Text(w io.Writer, shell Shell, width int) error {
	b := &Writer{Width: width}
	b.Wrap(p.Caption, "")
	b.WriteString("\n")
	b.columns(p)
	if p.Legend != "" {
		b.Wrap(p.Legend, "")
		b.WriteString("\n")
	}
	for _, s := range p.Sentences {
		b.Wrap(s, "  ")
	}
	if len(p.Remarks) > 0 {
		b.WriteString("\n")
		for _, text := range p.Remarks {
			b.Wrap(text, "  ")
		}
	}
	for _, r := range p.Releases {
		b.WriteString("\n")
		b.Wrap(r.Title, "")
		b.WriteString(shell(r.Arguments, width) + "\n")
	}
	if p.Looking != "" {
		b.WriteString("\n")
		b.Wrap(p.Looking, "")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// columns writes the table, and columns that have no room in tables below it. Where a method and a score have no room
// side by side, scores stand below it.
func (b *Writer) columns(p *Page) {
	header := p.Header
	widths := make([]int, len(header))
	for _, row := range append([][]string{header}, p.Rows...) {
		for i, f := range row {
			if !heading(row) {
				widths[i] = max(widths[i], utf8.RuneCountInString(f))
			}
		}
	}
	stacked := widths[0]+gap+slices.Max(widths[1:]) > b.Width
	for next := 1; next < len(header); {
		var shown []int
		total := widths[0]
		if stacked {
			total = 0
		}
		for next < len(header) && (len(shown) == 0 || total+gap+widths[next] <= b.Width) {
			total, shown, next = total+gap+widths[next], append(shown, next), next+1
		}
		for _, row := range append([][]string{header}, p.Rows...) {
			b.line(row, shown, widths, stacked)
		}
		b.WriteString("\n")
	}
}

// gap is the space between columns.
const gap = 2

// line writes some fields of a row behind its first, or below it.
func (b *Writer) line(row []string, shown, widths []int, stacked bool) {
	if heading(row) {
		b.Wrap(row[0], "")
		return
	}
	text := padded(row[0], widths[0])
	if stacked {
		b.Wrap(row[0], "")
		text = ""
	}
	for _, i := range shown {
		text += strings.Repeat(" ", gap) + padded(row[i], widths[i])
	}
	if text = strings.TrimRight(text, " "); text != "" {
		b.WriteString(text + "\n")
	}
}

// padded is a text with spaces up to a width.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}

// apart and together are a standard error behind its mean, as words and as a part of one.
const apart, together = " ± ", "\x00±\x00"

// Wrap writes a text in lines; those after the first are indented. A word that is longer than a line is broken, and a
// mean stays with its standard error.
func (b *Writer) Wrap(text, indent string) {
	current, space := "", ""
	for word := range strings.FieldsSeq(strings.ReplaceAll(text, apart, together)) {
		word = strings.ReplaceAll(word, together, apart)
		if length := utf8.RuneCountInString(current + space + word); length > b.Width && space != "" {
			b.WriteString(current + "\n")
			current, space = indent, ""
		}
		parts := chunks(word, b.Width-utf8.RuneCountInString(current+space), b.Width)
		current += space + parts[0]
		for _, part := range parts[1:] {
			b.WriteString(current + "\n")
			current = part
		}
		space = " "
	}
	b.WriteString(current + "\n")
}

// chunks breaks a word into a part of at most first characters and others of at most width.
func chunks(word string, first, width int) []string {
	var parts []string
	runes := []rune(word)
	for most := max(1, first); len(runes) > most; most = max(1, width) {
		parts, runes = append(parts, string(runes[:most])), runes[most:]
	}
	return append(parts, string(runes))
}
