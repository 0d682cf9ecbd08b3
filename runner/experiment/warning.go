package experiment

import (
	"strings"
	"unicode"
)

// Suspect begins the warnings of results that may be wrong.
const Suspect = "computed but suspect: "

// WarningKind is the first clause of a warning, with "..." for its numbers and for names in quotation marks.
func WarningKind(text string) string {
	var b strings.Builder
	quoted, number := false, false
	for i, c := range text {
		switch {
		case c == '"':
			if quoted = !quoted; quoted {
				b.WriteString("...")
			}
		case quoted:
		case c == ';' || c == ':' && strings.HasPrefix(text[i+1:], " "):
			return b.String()
		case unicode.IsDigit(c) || number && strings.ContainsRune(".e+-", c) && !strings.HasPrefix(text[i+1:], " "):
			if !number {
				b.WriteString("...")
			}
			number = true
			continue
		default:
			b.WriteRune(c)
		}
		number = false
	}
	return b.String()
}
