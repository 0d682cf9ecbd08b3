package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// number is a number that a line of a text prints.
type number struct {
	line       int // from 1
	start, end int // bytes of the line
	text       string
	value      float64 // without its sign, because extraction loses it
	percent    bool
	row        bool // in a row of a table
	formula    bool // between dollars, or in the remains of a formula after extraction
}

// key returns the printed digits in one spelling: ".98" for "0.98", but ".980" for "0.980".
func (n number) key() string {
	mantissa, exponent := n.text, ""
	if m := spelled.FindStringSubmatch(n.text); m != nil {
		mantissa, exponent = m[1], "e"+strings.TrimLeft(strings.ReplaceAll(m[2], "−", "-"), "+")
	}
	mantissa = strings.TrimLeft(strings.ReplaceAll(mantissa, ",", ""), "0")
	if mantissa == "" {
		mantissa = "0"
	}
	return mantissa + exponent
}

const digits = `(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\.\d+|\d+)`

var (
	// A number: 13.3, .98, 1,600, 1e-5, 1.2 × 10⁻³, 2 \times 10^{-4}, 10^{-5}.
	printed = regexp.MustCompile(`10\s?\^\s?\{?\s?[-−+]?\d+\}?|` + digits +
		`(?:[eE][-−+]?\d+|\s?(?:×|\\times|\\cdot|·)\s?10(?:\s?\^\s?\{?\s?[-−+]?\d+\}?|[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))?`)
	power   = regexp.MustCompile(`^10\s?\^\s?\{?\s?([-−+]?\d+)\}?$`)
	spelled = regexp.MustCompile(`^(` + digits + `)(?:[eE]|\D*10\s?\^?\s?\{?\s?)([-−+]?\d+)\}?$`)
	perCent = regexp.MustCompile(`^\s?\\?%`)
	raised  = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5",
		"⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9", "⁺", "+", "⁻", "-")

	// Indices and powers; those of ten are numbers.
	script = regexp.MustCompile(`[_^]\s?(?:\{(?:[^{}]|\{[^{}]*\})*\}|[A-Za-z0-9*+-])`)
	// The remains of a formula after extraction: its glyphs, then the LaTeX text.
	glyphs = regexp.MustCompile(`[\x{1D400}-\x{1D7FF}]|(?:sub|super)script|absent|norm|delimited`)

	plainRow = regexp.MustCompile(`^\S.*?(?:\s+[+\-−]?\d+\.\d+(?:\s?±\s?\d+\.\d+)?){2,}\s*$`)
)

// isRow reports whether a line is a row of a table: cells between bars or tabs, or words
// followed by decimals only.
func isRow(line string) bool {
	return strings.HasPrefix(strings.TrimSpace(line), "|") || strings.Contains(line, "\t") || plainRow.MatchString(line)
}

// scan returns the numbers of a line.
func scan(line string, at int) []number {
	inside := formulas(line)
	row := isRow(line)
	var out []number
	for _, span := range printed.FindAllStringIndex(line, -1) {
		n := number{line: at, start: span[0], end: span[1], text: line[span[0]:span[1]], row: row}
		n.formula = inside[n.start]
		n.percent = perCent.MatchString(line[n.end:])
		var ok bool
		if n.value, ok = valueOf(n.text); ok {
			out = append(out, n)
		}
	}
	return out
}

// valueOf parses a match of printed. ok is false where it is out of range.
func valueOf(text string) (value float64, ok bool) {
	text = raised.Replace(text)
	if m := power.FindStringSubmatch(text); m != nil {
		text = "1e" + m[1]
	} else if m := spelled.FindStringSubmatch(text); m != nil {
		text = m[1] + "e" + m[2]
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, ",", ""), "−", "-")
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil
}

// formulas marks the bytes of a line that belong to a formula: those between dollars,
// and words with a backslash or with glyphs of a formula.
func formulas(line string) []bool {
	in := make([]bool, len(line)+1)
	open := false
	for i := range len(line) {
		if line[i] == '$' {
			open = !open
		}
		in[i] = open
	}
	if open { // a dollar alone is no formula
		clear(in)
	}
	start := 0
	for start < len(line) {
		end := start + strings.IndexFunc(line[start:]+" ", unicode.IsSpace)
		word := line[start:end]
		if strings.Contains(strings.ReplaceAll(word, `\%`, ""), `\`) || glyphs.MatchString(word) {
			for i := start; i < end; i++ {
				in[i] = true
			}
		}
		_, width := utf8.DecodeRuneInString(line[end:] + " ")
		start = end + width
	}
	return in
}
