package tables

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formulaStarts begin a formula in a spreadsheet, also in wide characters, or are dropped by one
// before it looks.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// IsFormula tells whether a spreadsheet that opens a CSV file runs a field instead of showing it:
// a field that begins with =, +, -, @ or white space of its own, and is no number and no list of
// numbers. A sign alone is shown.
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

// Inert is a field as a spreadsheet shows it: one that it would run gets an apostrophe before it.
func Inert(field string) string {
	if IsFormula(field) {
		return "'" + field
	}
	return field
}
