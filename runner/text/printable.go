package text

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable returns a text with its control characters, and bytes that are none of UTF-8, in the form in which Go
// writes them, such as \x1b: a name or a value out of a file does not move the cursor of a terminal. The replacement
// character stays.
func Printable(text string) string {
	if !strings.ContainsFunc(text, func(c rune) bool { return c == unicode.ReplacementChar || !unicode.IsPrint(c) }) {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`), `\\`, `\`)
}

// PrintableLines is [Printable] of each line.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(Printable(line), `\t`, "\t")
	}
	return strings.Join(lines, "\n")
}
