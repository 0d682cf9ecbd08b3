package table

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Summary describes a user's data before a trial reads them.
type Summary struct {
	Rows int `json:"rows"`
	// Reading are the settings with which they were read, each as name=value; none for the defaults.
	Reading []string        `json:"reading,omitempty"`
	Columns []ColumnSummary `json:"columns"`
}

// ColumnSummary describes a column.
type ColumnSummary struct {
	Name string `json:"name"`
	// Type is number, boolean, date, category, text (a category of too many levels),
	// empty, mixed, or unreadable.
	Type    string `json:"type"`
	Missing int    `json:"missing"`
	// Distinct is the number of different values, up to MaxLevels; Many reports whether there are
	// more.
	Distinct int  `json:"distinct"`
	Many     bool `json:"many,omitempty"`
	// Low and High are the range of numbers, and that of dates as texts.
	Low  any `json:"low,omitempty"`
	High any `json:"high,omitempty"`
	// Levels are those of a category or a boolean, sorted.
	Levels []string `json:"levels,omitempty"`
	// Problem is the reason why the column cannot be used, with the place of the value.
	Problem string `json:"problem,omitempty"`
	// Infinite is the number of infinite values, which are not among Missing. The column cannot be used, unless they are
	// tolerated.
	Infinite int `json:"-"`
	// Input reports whether inputs=* takes the column.
	Input bool `json:"input"`
	// Identifier describes the persons that the column seems to name.
	Identifier *Identifier `json:"identifier,omitempty"`
}

// Summarise reads all columns of the data of a name that lie at a path. An error in a single column
// is part of its summary, as an infinite number is unless it is tolerated; other errors are those of
// [Spec.Load]. Its memory does not grow with the rows.
func Summarise(name, path string, reading Reading, tolerant bool) (*Summary, error) {
	r, err := open(name, path, reading)
	if err != nil {
		return nil, err
	}
	defer r.close()
	header, _ := r.header()
	s := &Summary{Columns: make([]ColumnSummary, len(header))}
	var at []int
	var counts []*count
	for i, column := range header {
		s.Columns[i] = ColumnSummary{Name: column}
		if err := unusable(r, i); err != nil {
			s.Columns[i].Type, s.Columns[i].Problem = "unreadable", err.Error()
			continue
		}
		at, counts = append(at, i), append(counts, &count{values: map[float64]bool{}, words: map[string]bool{}})
	}
	if s.Rows, err = countRows(r, at, counts, tolerant); err != nil {
		return nil, err
	}
	if s.Rows == 0 {
		return nil, errorf(shown(name), "there are no rows after the header")
	}
	twice := map[string]bool{}
	for _, column := range header {
		_, there := twice[column]
		twice[column] = there
	}
	for k, c := range counts {
		out := &s.Columns[at[k]]
		c.describe(out)
		if twice[out.Name] {
			out.Problem = "another column has the same name"
		}
		out.Input = out.Problem == "" && out.Name != "" && (out.Type == "number" || out.Type == "boolean")
	}
	for _, found := range Identifiers(name, path, reading) {
		i := slices.IndexFunc(s.Columns, func(c ColumnSummary) bool { return c.Name == found.Column })
		s.Columns[i].Identifier = &found
	}
	return s, nil
}

func countRows(r reader, at []int, counts []*count, tolerant bool) (rows int, err error) {
	if err := r.want(at, make([]bool, len(at))); err != nil {
		return 0, err
	}
	for ; ; rows++ {
		if err := r.next(); errors.Is(err, io.EOF) {
			return rows, nil
		} else if err != nil {
			return rows, err
		}
		for i, c := range counts {
			v := r.cell(i)
			if v.kind == broken && v.want == finiteNumber {
				if c.infinite++; tolerant {
					continue
				}
			}
			if v.kind != missing && c.cells[v.kind] == 0 {
				c.first[v.kind], c.text[v.kind] = r.place(i), strings.Clone(shortened(v.text))
				c.want = cmp.Or(c.want, v.want)
			}
			c.add(v, func() place { return r.place(i) })
		}
	}
}

// count accumulates the summary of a column.
type count struct {
	cells     [broken + 1]int
	first     [broken + 1]place
	text      [broken + 1]string
	want      string // of the first broken value
	low, high float64
	values    map[float64]bool
	words     map[string]bool
	many      bool
	wide      place  // of the first whole number beyond 2^53
	odd       string // how the first text looks that resembles a number or a date
	oddCount  int
	oddAt     place
	infinite  int
}

func (c *count) add(v cell, at func() place) {
	c.cells[v.kind]++
	switch v.kind {
	case number, date:
		if c.cells[number]+c.cells[date] == 1 {
			c.low, c.high = v.value, v.value
		}
		c.low, c.high = min(c.low, v.value), max(c.high, v.value)
		if v.beyond() {
			if c.wide == (place{}) {
				c.wide = at()
			}
			if !c.many {
				c.words[v.identity()] = true
			}
			break
		}
		if !c.many && !c.values[v.value] {
			c.values[v.value] = true
		}
	case word:
		if !c.many && !c.words[v.text] {
			c.words[strings.Clone(v.text)] = true
			if how := resembles(v.text); how != "" {
				if c.oddCount++; c.oddCount == 1 {
					c.odd, c.oddAt = fmt.Sprintf("it is %q, which %s", shortened(v.text), how), at()
				}
			}
		}
	}
	if len(c.values)+len(c.words) > MaxLevels {
		c.many, c.values, c.words = true, nil, nil
	}
}

// describe returns the type and summary of the column.
func (c *count) describe(out *ColumnSummary) {
	out.Missing, out.Many, out.Distinct = c.cells[missing], c.many, len(c.values)+len(c.words)
	out.Infinite = c.infinite
	if c.many {
		out.Distinct = MaxLevels
	}
	kinds := 0
	for kind := number; kind < broken; kind++ {
		kinds += min(c.cells[kind], 1)
	}
	switch {
	case c.cells[broken] > 0:
		out.Type = "mixed"
		out.Problem = fmt.Sprintf("%v: it is %q, expected %s%s", c.first[broken], c.text[broken], c.want,
			alike(c.text[broken]))
	case kinds > 1:
		out.Type, out.Problem = "mixed", c.mixture()
	case c.cells[number] > 0:
		out.Type, out.Low, out.High = Number.String(), c.low, c.high
		if c.wide != (place{}) {
			out.Problem = fmt.Sprintf("%v: a whole number beyond 2^53: it names a class, a group or a person, and is "+
				"refused as a number", c.wide)
		}
	case c.cells[date] > 0:
		out.Type, out.Low, out.High = Date.String(), dateText(c.low), dateText(c.high)
	case c.cells[word] > 0 && c.many:
		out.Type, out.Problem = "text", fmt.Sprintf("more than %d different values, which is no category", MaxLevels)
	case c.cells[word] > 0:
		out.Levels = slices.Sorted(maps.Keys(c.words))
		out.Type = Category.String()
		if c.oddCount > 0 && 2*c.oddCount >= len(out.Levels) {
			out.Problem = fmt.Sprintf("%v: %s", c.oddAt, c.odd)
		}
		if n := len(out.Levels); out.Problem == "" && n >= fewestNames && 2*n > c.cells[word] {
			out.Problem = fmt.Sprintf("%d different texts in %d rows: name the levels of an input", n, c.cells[word])
		}
		for _, pair := range truths {
			if !slices.ContainsFunc(out.Levels, func(l string) bool { return !slices.Contains(pair[:], strings.ToLower(l)) }) {
				out.Type = Boolean.String()
			}
		}
	default:
		out.Type, out.Problem = Empty.String(), "no row has a value"
	}
}

// mixture names the types of a column, and the first place of each.
func (c *count) mixture() string {
	names := map[cellKind]string{number: "a number", date: "a date", word: "a text"}
	var parts []string
	for kind := number; kind < broken; kind++ {
		if c.cells[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%s in %v", names[kind], c.first[kind]))
		}
	}
	return strings.Join(parts, ", ")
}

// dateText is a date, with the time of day where it has one.
func dateText(days float64) string {
	const day = 24 * 60 * 60
	t := time.Unix(int64(math.Round(days*day)), 0).UTC()
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.DateTime)
}
