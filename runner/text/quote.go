package text

import (
	"strings"
	"unicode/utf8"
)

// plain are the characters without a special meaning in any shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"

// Quote returns a word in the form in which a POSIX shell reads it back, with quotes where
// it needs them.
func Quote(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Command is the command line of the program with arguments, in lines of a width in characters: broken between words,
// and in a word that is longer than a line, where a shell puts the parts together.
func Command(arguments []string, width int) string {
	const indent, end = "     ", 2 // of a backslash
	text, current := "", "  run"
	for _, a := range arguments {
		if utf8.RuneCountInString(current+Quote(a))+1+end > width {
			text, current = text+current+" \\\n", indent
		}
		rest, most := []rune(a), len(a)
		if utf8.RuneCountInString(current+Quote(a))+1+end > width {
			most = max(1, width-len(indent)-5) // with room for quotation marks
		}
		for current += " "; len(rest) > most; most = max(1, width-4) {
			text, current, rest = text+current+Quote(string(rest[:most]))+"\\\n", "", rest[most:]
		}
		current += Quote(string(rest))
	}
	return text + current
}
