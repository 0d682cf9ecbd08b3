package tables

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formulaStarts are characters that begin a formula in a spreadsheet, including wide forms, and
// white space that a spreadsheet drops before it looks for one.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// IsFormula reports whether a spreadsheet that opens a CSV file runs a field instead of showing
// it: a field that begins with =, +, -, @ or white space, has more than one character, and is
// neither a number nor a list of numbers.
func IsFormula(field string) bool {
	first, size := utf8.DecodeRuneInString(field)
	if size == len(field) || !strings.ContainsRune(formulaStarts, first) {
		return false
	}
	parts := strings.FieldsFunc(field, func(r rune) bool { return r == ' ' || r == ',' || r == ';' })
	return slices.ContainsFunc(parts, func(part string) bool {
		_, err := strconv.ParseFloat(part, 64)
		return err != nil
	})
}

// Inert returns a field that a spreadsheet shows: a formula gets an apostrophe before it.
func Inert(field string) string {
	if IsFormula(field) {
		return "'" + field
	}
	return field
}
