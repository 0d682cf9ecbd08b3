package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"privkern/runner/experiment"
)

// Width is that of text where there is room, in characters.
const Width = 80

// writer writes results for a terminal.
type writer struct {
	*Results
	strings.Builder
	quote quoting
	width int
}

// write writes the results. Columns that have no room go on below.
func (b *writer) write(w io.Writer) error {
	b.wrap(b.caption(), "")
	b.WriteString("\n")
	b.columns()
	if legend := b.legend(); legend != "" {
		b.wrap(legend, "")
		b.WriteString("\n")
	}
	for _, s := range b.Sentences {
		b.wrap(s, "  ")
	}
	if remarks := b.remarks(); len(remarks) > 0 {
		b.WriteString("\n")
		for _, text := range remarks {
			b.wrap(text, "  ")
		}
	}
	for _, winner := range b.Winners {
		if winner != nil {
			b.WriteString("\n")
			b.wrap(b.releaseTitle(winner), "")
			b.WriteString(command(winner, b.quote, b.width) + "\n")
		}
	}
	if !b.Contest.Published {
		b.WriteString("\n")
		b.wrap(Looking, "")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// releaseTitle introduces the command of a release.
func (r *Results) releaseTitle(w *Winner) string {
	return fmt.Sprintf("The release of %s at epsilon %s, which protects one %s:", w.Method,
		experiment.FormatNumber(w.Epsilon), r.protected(r.first()))
}

// columns writes the table, and columns that have no room in tables below it. Where a method and a score have no room
// side by side, scores stand below it.
func (b *writer) columns() {
	header, lines := b.header(), b.lines()
	widths := make([]int, len(header))
	for _, l := range append([]line{{fields: header}}, lines...) {
		for i, f := range l.fields {
			if !l.heading {
				widths[i] = max(widths[i], utf8.RuneCountInString(f))
			}
		}
	}
	stacked := widths[0]+gap+slices.Max(widths[1:]) > b.width
	for next := 1; next < len(header); {
		var shown []int
		total := widths[0]
		if stacked {
			total = 0
		}
		for next < len(header) && (len(shown) == 0 || total+gap+widths[next] <= b.width) {
			total, shown, next = total+gap+widths[next], append(shown, next), next+1
		}
		b.line(line{fields: header}, shown, widths, stacked)
		for _, l := range lines {
			b.line(l, shown, widths, stacked)
		}
		b.WriteString("\n")
	}
}

// gap is the space between columns.
const gap = 2

// line writes some fields of a line behind its first, or below it.
func (b *writer) line(l line, shown, widths []int, stacked bool) {
	if l.heading {
		b.wrap(l.fields[0], "")
		return
	}
	text := padded(l.fields[0], widths[0])
	if stacked {
		b.wrap(l.fields[0], "")
		text = ""
	}
	for _, i := range shown {
		text += strings.Repeat(" ", gap) + padded(l.fields[i], widths[i])
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

// wrap writes a text in lines; those after the first are indented. A word that is longer than a line is broken, and a
// mean stays with its standard error.
func (b *writer) wrap(text, indent string) {
	current, space := "", ""
	for word := range strings.FieldsSeq(strings.ReplaceAll(text, apart, together)) {
		word = strings.ReplaceAll(word, together, apart)
		if length := utf8.RuneCountInString(current + space + word); length > b.width && space != "" {
			b.WriteString(current + "\n")
			current, space = indent, ""
		}
		parts := chunks(word, b.width-utf8.RuneCountInString(current+space), b.width)
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

// command is a command line, broken where it is long: between words, and in a word that is longer than a line, where a
// shell puts the parts together.
func command(w *Winner, quote quoting, width int) string {
	const indent, end = "     ", 2 // of a backslash
	text, current := "", "  run"
	for _, a := range w.Arguments {
		word, parts := quote(a), []string{a}
		if utf8.RuneCountInString(current+word)+1+end > width {
			text, current = text+current+" \\\n", indent
		}
		if utf8.RuneCountInString(current+word)+1+end > width {
			parts = chunks(a, width-len(indent)-5, width-4) // with room for quotation marks
		}
		current += " " + quote(parts[0])
		for _, part := range parts[1:] {
			text, current = text+current+"\\\n", quote(part)
		}
	}
	return text + current
}
