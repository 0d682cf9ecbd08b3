package text

import (
	"strings"
	"unicode"
)

// maxSentence is the maximum number of characters of a stored reason.
const maxSentence = 600

// Sentence returns a reason as one line of plain text. The message of a library or a
// crashed process may have several lines, control characters and any length, but a record,
// a line of progress and a cell of a table have room for a sentence only.
func Sentence(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ToValidUTF8(text, "?")) {
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r)
		}), " ")
		if line == "" {
			continue
		}
		switch {
		case b.Len() == 0:
		case strings.HasSuffix(b.String(), ":"):
			b.WriteByte(' ')
		default:
			b.WriteString("; ")
		}
		b.WriteString(line)
	}
	if runes := []rune(b.String()); len(runes) > maxSentence {
		return string(runes[:maxSentence]) + "..."
	}
	return b.String()
}
