package text

import (
	"strings"
	"unicode"
)

// maxSentence is how many characters a stored reason has at most.
const maxSentence = 600

// Sentence makes one line of plain text of a reason. What a library or a crashed
// process says may have lines, control characters and any length: a record, a
// line of progress and a cell of a table have room for a sentence.
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
