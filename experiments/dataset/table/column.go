package table

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Bounds on levels: beyond them a column is hardly a category, and a matrix of its
// columns of 0 and 1 would cost all memory.
const (
	// MaxLevels is how many levels an input may have.
	MaxLevels = 1000
	// MaxClasses is how many another column may have, such as a label or a party.
	MaxClasses = 10_000
)

// Kind is the type of a column.
type Kind int

// The kinds of columns.
const (
	Empty    Kind = iota // without a value
	Number               // in the unit of the file
	Boolean              // 0 or 1
	Date                 // days since 1970-01-01
	Category             // texts
)

func (k Kind) String() string {
	return [...]string{"empty", "number", "boolean", "date", "category"}[k]
}

// column collects the values of a column.
type column struct {
	item     item
	most     int  // levels
	optional bool // a category is not kept
	hidden   bool // its values are in no message: of a release
	tolerant bool // an invalid value is a missing one
	kept     bool // a row without a value stays
	infinite bool // infinite numbers stay
	input    bool // it is to be an input

	kind    cellKind // number, date or word; missing until a value is there
	values  []float64
	codes   []int32 // of levels; -1 for a missing one
	levels  []string
	index   map[string]int32
	first   place             // of the first value
	text    string            // of it
	skipped bool              // optional, and a category
	exact   []string          // digits of whole numbers beyond 2^53, "" for others; nil where there are none
	digits  map[string]string // those of exact, each once
	beyond  place             // of the first of them
	odd     int               // levels that resemble numbers or dates
	oddAt   place             // of the first of them
	oddText string
	rows    int
	final   Kind // once all rows are there

	least, largest float64 // of numbers, NaN for others
}

func newColumn(it item, most int, optional bool) *column {
	c := &column{item: it, most: most, optional: optional, least: math.NaN(), largest: math.NaN()}
	if it.levels != nil {
		c.kind, c.levels, c.index = word, it.levels, make(map[string]int32, len(it.levels))
		for i, level := range it.levels {
			c.index[level] = int32(i)
		}
	}
	if it.person {
		c.kind, c.index = word, map[string]int32{}
	}
	return c
}

// has describes the column's value at some place by its text.
func (c *column) has(text string) string {
	if c.hidden {
		return "has a value that a release does not show"
	}
	return fmt.Sprintf("is %q", shortened(text))
}

// add takes the value of the next row. Errors have the place that at returns.
func (c *column) add(path string, v cell, at func() place) error {
	c.rows++
	if c.item.person {
		return c.addPerson(path, v, at)
	}
	switch beyond := v.kind == broken && v.want == finiteNumber; {
	case beyond && c.infinite && (c.kind == number || c.kind == missing):
		v.kind = number
	case beyond && c.tolerant:
		v = cell{}
	}
	kind := v.kind
	switch {
	case kind == missing:
		c.addMissing()
		return nil
	case kind == broken && strings.HasPrefix(v.want, foul):
		return at().errorf(path, "column %q %s, expected %s", c.item.name, c.has(v.text), v.want)
	case c.item.levels != nil:
		return c.addFixed(path, v.text, at)
	case kind == broken && c.optional && strings.HasPrefix(v.want, "a date"):
		kind = word // no date is used
	case kind == broken:
		return at().errorf(path, "column %q %s, expected %s%s", c.item.name, c.has(v.text), v.want, c.alike(v.text))
	}
	if c.kind == missing {
		c.begin(kind, v.text, at())
	}
	if kind != c.kind && c.optional && kind != number && c.kind != number {
		c.kind, c.skipped, c.values, c.codes = word, true, nil, nil // of dates and words: no number either way
		return nil
	}
	if kind != c.kind {
		return c.mixed(path, kind, v, at())
	}
	if kind == word {
		return c.addWord(path, v.text, at)
	}
	if c.skipped {
		return nil
	}
	c.values = append(c.values, v.value)
	if c.exact != nil {
		c.exact = append(c.exact, "")
	}
	if math.Abs(v.value) >= 1<<53 && v.beyond() {
		return c.addBeyond(path, v, at)
	}
	return nil
}

// addBeyond takes the digits of a whole number beyond 2^53, which are the name of a class.
func (c *column) addBeyond(path string, v cell, at func() place) error {
	if c.input {
		return c.notANumber(path, at(), v.text)
	}
	if c.exact == nil {
		c.exact, c.digits, c.beyond = make([]string, len(c.values)), map[string]string{}, at()
	}
	name := strings.TrimPrefix(v.identity(), "number ")
	own, ok := c.digits[name]
	if !ok {
		if len(c.digits) >= MaxClasses {
			return c.notANumber(path, at(), v.text)
		}
		own = strings.Clone(name)
		c.digits[own] = own
	}
	c.exact[len(c.exact)-1] = own
	return nil
}

// notANumber refuses a whole number beyond 2^53.
func (c *column) notANumber(path string, at place, text string) error {
	return at.errorf(path, "column %q %s, a whole number beyond 2^53 = 9007199254740992, which is no exact number here: "+
		"write it with a decimal point or an exponent if it is a measurement; identifiers name classes, groups or persons, "+
		"at most %d of them, or the levels of %[1]s[...|...]", c.item.name, c.has(text), MaxClasses)
}

// alike completes an error by how a value looks.
func (c *column) alike(text string) string {
	if c.hidden {
		return ""
	}
	return alike(text)
}

// begin determines the type of the column from its first value.
func (c *column) begin(kind cellKind, text string, at place) {
	before := c.rows - 1
	c.kind, c.first, c.text = kind, at, strings.Clone(text)
	switch {
	case kind == word:
		c.index = map[string]int32{}
		c.codes = slices.Repeat([]int32{-1}, before)
	case kind == date && c.optional:
		c.skipped = true
	default:
		c.values = slices.Repeat([]float64{math.NaN()}, before)
	}
}

func (c *column) addMissing() {
	switch {
	case c.kind == missing || c.skipped:
	case c.kind == word:
		c.codes = append(c.codes, -1)
	default:
		if c.values = append(c.values, math.NaN()); c.exact != nil {
			c.exact = append(c.exact, "")
		}
	}
}

// addFixed takes a value of levels that are given.
func (c *column) addFixed(path, text string, at func() place) error {
	code, ok := c.index[text]
	if !ok && c.tolerant {
		code, ok = -1, true
	}
	if !ok {
		return at().errorf(path, "column %q %s, which is none of its levels %s", c.item.name, c.has(text),
			shortened(strings.Join(c.levels, ", ")))
	}
	c.codes = append(c.codes, code)
	return nil
}

func (c *column) addWord(path, text string, at func() place) error {
	if c.skipped {
		return nil
	}
	code, ok := c.index[text]
	if !ok {
		if c.optional && !isTruth(text) {
			c.skipped, c.codes, c.index = true, nil, nil
			return nil
		}
		if len(c.levels) >= c.most {
			return at().errorf(path, "column %q has more than %d different values up to here, which is no category", c.item.name,
				c.most)
		}
		code = int32(len(c.levels))
		text = strings.Clone(text) // the row may go
		c.levels, c.index[text] = append(c.levels, text), code
		if c.input && resembles(text) != "" {
			if c.odd++; c.odd == 1 {
				c.oddAt, c.oddText = at(), text
			}
		}
	}
	c.codes = append(c.codes, code)
	return nil
}

// mixed reports that a column has two types, at the first value that is not a number.
func (c *column) mixed(path string, kind cellKind, v cell, at place) error {
	text, other := v.text, c.first
	kept := c.kind
	if c.kind == word || kind == number { // the first value is the odd one
		text, at, other = c.text, c.first, at
		kept = kind
	}
	what := "a number"
	if kept == date {
		what = "a date"
	}
	return at.errorf(path, "column %q %s, expected %s as in %v%s; to take all its values as categories, "+
		"write %s[...|...] with the levels", c.item.name, c.has(text), what, other, c.alike(text), c.item.name)
}

// truths are the pairs of texts that make a column a boolean one.
var truths = [...][2]string{{"false", "true"}, {"no", "yes"}}

func isTruth(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(truths[:], func(pair [2]string) bool { return slices.Contains(pair[:], text) })
}

// fewestNames is the least number of levels that may be too many for the rows.
const fewestNames = 5

// checkLevels refuses an input whose levels are hardly a category: numbers or dates in a form that is not read, and
// names of single rows.
func (c *column) checkLevels(path string) error {
	if !c.input || c.optional || c.final != Category || c.item.levels != nil {
		return nil
	}
	if 2*c.odd >= len(c.levels) {
		how := c.has(c.oddText)
		if !c.hidden {
			how += ", which " + resembles(c.oddText)
		}
		return c.oddAt.errorf(path,
			"column %q %s; to take all its values as categories, write %[1]s[...|...] with the levels",
			c.item.name, how)
	}
	rows := 0
	for _, code := range c.codes {
		rows += int(min(code, 0)) + 1
	}
	if len(c.levels) < fewestNames || 2*len(c.levels) <= rows {
		return nil
	}
	count := "more different texts than half the rows"
	if !c.hidden {
		count = fmt.Sprintf("%d different texts in %d rows", len(c.levels), rows)
	}
	return errorf(path,
		"column %q has %s, which is hardly a category: leave it out, or write %[1]s[...|...] with the levels",
		c.item.name, count)
}

// finish decides the kind of the column, once all rows are there. A boolean has its two
// levels then, in lower case.
func (c *column) finish() {
	switch c.kind {
	case missing: // of a column that has no value, or only invalid ones
		if c.kept {
			c.final, c.kind, c.values = Number, number, slices.Repeat([]float64{math.NaN()}, c.rows)
		}
	case number:
		c.final = Number
	case date:
		c.final = Date
	case word:
		if c.item.person {
			return
		}
		c.final = Category
		if c.item.levels == nil && !c.skipped && slices.ContainsFunc(truths[:], c.becomeBoolean) {
			c.final = Boolean
		}
	}
}

func (c *column) becomeBoolean(pair [2]string) bool {
	to := make([]int32, len(c.levels))
	for i, level := range c.levels {
		at := slices.Index(pair[:], strings.ToLower(level))
		if at < 0 {
			return false
		}
		to[i] = int32(at)
	}
	for i, code := range c.codes {
		if code >= 0 {
			c.codes[i] = to[code]
		}
	}
	c.levels = pair[:]
	return true
}
