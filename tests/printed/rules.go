package main

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rule names the reason why a printed number is neither a result nor a setting.
type rule string

const (
	asked      rule = ""                   // none: the number is a result or a setting
	reference  rule = "list of references" // with years, pages and volumes
	title      rule = "title page"         // addresses, dates, all before the abstract
	heading    rule = "number of a heading, list item or line of an algorithm"
	page       rule = "page number"
	label      rule = "number of a section, figure, table, theorem, equation or page"
	citation   rule = "citation"
	partOfWord rule = "part of a word or symbol" // L2, 3D, subscript𝐊1
	formula    rule = "part of a formula"        // an index, a power, a coefficient
	condition  rule = "condition of a formula"   // greater than 0, at most 1, i = 1, …, n
	thanks     rule = "acknowledgements"         // with the numbers of grants
)

var (
	abstract   = regexp.MustCompile(`(?i)^#*\s*\**abstract\b`)
	references = regexp.MustCompile(`(?i)^#*\s*\**(references|bibliography)\**\s*$`)
	appendix   = regexp.MustCompile(`(?i)^#*\s*\**(appendix|supplementary)\b`)

	thanking = regexp.MustCompile(`(?i)^#*\s*\**(?:\d+\.?\s+)?acknowledge?ments?\b`)

	onlyNumber = regexp.MustCompile(`^\s*\d+\s*$`)
	headings   = regexp.MustCompile(`^#*\s*\**\d+(?:\.\d+)*\.?\s+[!\p{Lu}][^.]*$`)
	item       = regexp.MustCompile(`^\s*(?:[-•*]\s*)?(?:\d+\s?[.):]|\(\d+\))(?:\s|$)`)

	dotted = `\(?\d+(?:\.\d+)*\)?`
	list   = `(?:\s*(?:,|and|or|to|&|–|-|, and)\s*` + dotted + `)*`
	// Numbers of sections have points; other numbered items have none, so that
	// "step 0.05" is a number.
	sections = regexp.MustCompile(`(?i)(?:\b(?:sections?|secs?\.|subsections?|chapters?|appendix|theorems?|lemmas?|` +
		`corollar(?:y|ies)|eqs?\.?|equations?)|§+)\s*` + dotted + list)
	labels = regexp.MustCompile(`(?i)\b(?:figures?|figs?\.|tables?|definitions?|defs?\.|remarks?|propositions?|` +
		`eqns?\.|algorithms?|examples?|scenarios?|steps?|problem|layer|part|result|recursions?|pages?|pp?\.|vol\.|` +
		`grants?)\s*\(?\d+\)?(?:\s*(?:,|and|or|to|&|–|-|, and)\s*\(?\d+\)?)*(?:[^\d.,%]|[.,](?:\D|$)|$)`)
	equation = regexp.MustCompile(`^\(\d{1,3}\)$`)
	cited    = regexp.MustCompile(`\[[1-9]\d*(?:\s?[,–-]\s?[1-9]\d*)*\]`)
	year     = regexp.MustCompile(`^(?:19|20)\d\d$`)

	beforeYear = regexp.MustCompile(`[(\[,;]\s*$`)
	afterYear  = regexp.MustCompile(`^[a-z]?\s*[)\],;:]`)

	unit = regexp.MustCompile(`^(?:cm|kg|mm|km|ms|s|GB|MB|px)\b`)
	// A formula that sets or bounds: a value follows the relation.
	sets        = regexp.MustCompile(`(?:=|<|>|≤|≥|≈|≪|\\leq?|\\geq?|\\approx|\\sim|\\pm|±|\\\{[^}]*)\s*[-−]?$`)
	ends        = regexp.MustCompile(`^\s*(?:$|[$,;:.)\s%}]|\\%|\\\}|\\text|\\pm|±)`)
	nothingElse = regexp.MustCompile(`\$\s*(?:[-−]?\d+|\[\s*[-−]?\d+\s*,\s*[-−]?\d+\s*\])\s*(?:\\?%\s*)?\$`)
	indicator   = regexp.MustCompile(`\\math(?:bb|bf)\s?\{1\}|\\\{0\s?,\s?1\\\}`)
	term        = regexp.MustCompile(`[\pL)}]\s[-+−]\s$`) // of a formula without dollars
	bounds      = regexp.MustCompile(`(?:<|>|≤|≥|\\leq?|\\geq?)\s*$`)
	counts      = regexp.MustCompile(`^\s*,\s*(?:\\[lc]?dots|\d+\s*,\s*\\[lc]?dots)`)
	more        = regexp.MustCompile(`^[A-Za-z]|^\s*(?:[*/^_([+−-]|\\(?:times|cdot|sqrt|frac|log|exp|[a-z]*(?:a|on)\b))`)
)

// text is the text of a paper, line by line.
type text struct {
	lines []string
	area  []rule // the rule for all numbers of a line
}

// areas divides a text into title page, acknowledgements, references and the rest. A text
// without an abstract has no title page.
func areas(s string) text {
	t := text{lines: strings.Split(s, "\n")}
	t.area = make([]rule, len(t.lines))
	now, titled, thanked := asked, -1, 0
	for i, line := range t.lines {
		switch {
		case titled < 0 && abstract.MatchString(line):
			titled = i
		case references.MatchString(line):
			now = reference
		case thanking.MatchString(line):
			now, thanked = thanks, 0
		case now == reference && appendix.MatchString(line):
			now = asked
		}
		t.area[i] = now
		if now == thanks && strings.TrimSpace(line) != "" {
			if thanked++; thanked == 2 { // the heading and one paragraph
				now = asked
			}
		}
	}
	for i := range max(titled, 0) {
		t.area[i] = title
	}
	return t
}

// numbers returns the results and settings of a text, and the number of exclusions by rule.
func (t text) numbers() (out []number, left map[rule]int) {
	left = map[rule]int{}
	display := false // between lines of $$
	for i, line := range t.lines {
		begins := strings.Count(line, "$$")%2 == 1
		shown := display || begins || strings.HasPrefix(strings.TrimSpace(line), "$$")
		for _, n := range scan(line, i+1) {
			why := t.area[i]
			if why == asked {
				n.formula = n.formula || shown
				why = ruleOf(line, n, shown)
			}
			if why == asked {
				out = append(out, n)
			} else {
				left[why]++
			}
		}
		display = display != begins
	}
	return out, left
}

// ruleOf returns the rule that excludes a number of a line. A displayed formula is a
// definition, and its integers are no settings.
func ruleOf(line string, n number, displayed bool) rule {
	before, after := line[:n.start], line[n.end:]
	integer := !strings.ContainsAny(n.text, ".,eE×·^\\")
	switch {
	case onlyNumber.MatchString(line):
		return page
	case covers(headings, line, n) && strings.TrimLeft(before, "#* .\t0123456789") == "",
		within(item, line, n) && !isRow(line), integer && enumerates(before, after):
		return heading
	case integer && year.MatchString(n.text) && beforeYear.MatchString(before) && afterYear.MatchString(after),
		integer && !n.formula && within(cited, line, n):
		return citation
	case within(sections, line, n), integer && within(labels, line, n),
		integer && !n.formula && equation.MatchString(around(line, n)):
		return label
	case within(script, line, n):
		return formula
	case glued(before, after, integer):
		return partOfWord
	case n.formula && !setsValue(line, n, integer, displayed), integer && term.MatchString(before):
		return formula
	case integer && (conditional(n, before, after) || within(indicator, line, n)):
		return condition
	}
	return asked
}

// setsValue reports whether a number in a formula is a value or a bound: any decimal, per
// cent or power of ten; an integer only behind a relation and at the end of the formula,
// or alone, as in $20$ or $[-4, 4]$.
func setsValue(line string, n number, integer, displayed bool) bool {
	if garbled(line, n) {
		return false
	}
	if !integer || n.percent {
		return true
	}
	before, after := line[:n.start], line[n.end:]
	if within(nothingElse, line, n) {
		return true
	}
	return !displayed && sets.MatchString(before) && ends.MatchString(after) && !more.MatchString(after)
}

// conditional reports whether an integer of a formula is the bound 0 or 1, as in "a
// variance greater than 0", or starts an enumeration.
func conditional(n number, before, after string) bool {
	return n.value <= 1 && bounds.MatchString(before) || n.formula && counts.MatchString(after)
}

// enumerates reports whether the number is an item of "1) this; 2) that" in a sentence.
func enumerates(before, after string) bool {
	return strings.HasPrefix(after, ")") && strings.LastIndex(before, "(") <= strings.LastIndex(before, ")") &&
		(before == "" || strings.HasSuffix(before, " "))
}

// garbled reports whether a number stands among the glyphs of a formula whose LaTeX text
// follows in the same word.
func garbled(line string, n number) bool {
	last := -1
	for _, span := range glyphs.FindAllStringIndex(line[n.end:], -1) {
		if !strings.ContainsFunc(line[n.end:n.end+span[0]], unicode.IsSpace) {
			last = span[1]
		}
	}
	if last >= 0 {
		return true
	}
	// Digits between the last glyph and the LaTeX text.
	word := line[strings.LastIndexFunc(line[:n.start], unicode.IsSpace)+1 : n.start]
	spans := glyphs.FindAllStringIndex(word, -1)
	if len(spans) == 0 {
		return false
	}
	tail := word[spans[len(spans)-1][1]:]
	return !strings.ContainsFunc(tail, func(r rune) bool { return unicode.IsLetter(r) || r == '\\' })
}

// glued reports whether letters or a script's sign adjoin the number. A unit may.
func glued(before, after string, integer bool) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	if before != "" && (unicode.IsLetter(r) || r == '_' || r == '^' || r == '.' || unicode.IsDigit(r)) {
		return true
	}
	if r == '-' && before != "-" { // VGG-16
		previous, _ := utf8.DecodeLastRuneInString(before[:len(before)-1])
		if unicode.IsLetter(previous) {
			return true
		}
	}
	r, _ = utf8.DecodeRuneInString(after)
	switch {
	case after == "", unit.MatchString(after), !integer && r < utf8.RuneSelf:
		return false
	case r == '-':
		next, _ := utf8.DecodeRuneInString(after[1:])
		return unicode.IsLetter(next)
	}
	return unicode.IsLetter(r)
}

// within reports whether a match of re contains the number.
func within(re *regexp.Regexp, line string, n number) bool {
	for _, span := range re.FindAllStringIndex(line, -1) {
		if span[0] <= n.start && n.end <= span[1] {
			return true
		}
	}
	return false
}

// covers is within for an expression that matches a line from its start.
func covers(re *regexp.Regexp, line string, n number) bool {
	span := re.FindStringIndex(line)
	return span != nil && n.end <= span[1]
}

// around returns the number with the byte before and after it.
func around(line string, n number) string {
	return line[max(n.start-1, 0):min(n.end+1, len(line))]
}
