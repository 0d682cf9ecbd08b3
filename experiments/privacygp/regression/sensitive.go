package regression

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/experiments/learn"
	"privkern/runner/experiment"
)

// forms lists the forms of the setting sensitive.
const forms = "rows:5, rows:10..20, a box in the inputs such as x:0.4..0.6 or lat:48..49+lon:8..9, a place such as " +
	"x:0.5, a predicate such as speed > 3, several of these joined by commas, or csv:PATH"

// notGiven is the error where the setting is not given.
const notGiven = "sensitive is not given: it names the places at which the output is hidden, " + forms

// sensitive is the parsed setting: a file of places, or a union of terms.
type sensitive struct {
	file  string // such as csv:PATH; "" where there are terms
	terms []term
}

// term is a set of rows: those with numbers in a range, in a box, or for which a predicate
// holds. A text may be both of the last two, see [term.isPredicate].
type term struct {
	text       string
	rows       bool
	first, end int // row numbers, from 1; both are included
	box        []side
	predicate  predicate
}

// side is a condition on one input.
type side struct {
	name      string
	low, high float64 // both are included
}

// parseSensitive parses the setting.
func parseSensitive(text string) (*sensitive, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, fmt.Errorf("sensitive names no place: write %s", forms)
	}
	if table.Is(text) {
		return &sensitive{file: text}, nil
	}
	s := &sensitive{}
	for _, part := range table.SplitNames(text, ",") {
		t, err := parseTerm(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("sensitive = %s: %w", text, err)
		}
		s.terms = append(s.terms, *t)
	}
	return s, nil
}

func parseTerm(text string) (*term, error) {
	t := &term{text: text}
	if numbers, ok := strings.CutPrefix(text, "rows:"); ok {
		t.rows = true
		return t, t.parseRows(numbers)
	}
	var err error
	if t.predicate, err = parsePredicate(text); err != nil &&
		(!strings.Contains(text, ":") || strings.ContainsAny(text, "<>")) {
		return nil, err
	}
	box, err := parseBox(text)
	switch {
	case err == nil:
		t.box = box
	case t.predicate == nil:
		return nil, err
	}
	return t, nil
}

// parseBox parses the sides of a box, joined by +.
func parseBox(text string) ([]side, error) {
	var box []side
	for _, part := range table.SplitNames(text, "+") {
		s, err := parseSide(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(box, func(other side) bool { return other.name == s.name }) {
			return nil, fmt.Errorf("%q bounds the input %s twice", text, s.name)
		}
		box = append(box, *s)
	}
	return box, nil
}

func (t *term) parseRows(numbers string) error {
	low, high, isRange := strings.Cut(numbers, "..")
	if !isRange {
		high = low
	}
	var errLow, errHigh error
	t.first, errLow = strconv.Atoi(strings.TrimSpace(low))
	t.end, errHigh = strconv.Atoi(strings.TrimSpace(high))
	switch {
	case errLow != nil || errHigh != nil:
		return fmt.Errorf("%q is no row nor a range of rows: write rows:5 or rows:10..20", t.text)
	case t.first < 1:
		return fmt.Errorf("%q: rows are counted from 1", t.text)
	case t.end < t.first:
		return fmt.Errorf("%q: the range of rows ends before it begins", t.text)
	}
	return nil
}

// parseSide parses NAME:low..high, where one end may be missing, or NAME:value.
func parseSide(text string) (*side, error) {
	at := strings.LastIndexByte(text, ':')
	if at <= 0 {
		return nil, fmt.Errorf("%q is no set of places: write %s", text, forms)
	}
	s := &side{name: table.Unquoted(text[:at]), low: math.Inf(-1), high: math.Inf(1)}
	low, high, isRange := strings.Cut(text[at+1:], "..")
	low, high = strings.TrimSpace(low), strings.TrimSpace(high)
	if !isRange {
		high = low
	}
	if low == "" && high == "" {
		return nil, fmt.Errorf("%q bounds nothing: write %s:low..high, or leave one end out", text, s.name)
	}
	for _, end := range []struct {
		text string
		to   *float64
	}{{low, &s.low}, {high, &s.high}} {
		if end.text == "" {
			continue
		}
		v, err := strconv.ParseFloat(end.text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%q: %q is no number", text, end.text)
		}
		*end.to = v
	}
	if s.low > s.high {
		return nil, fmt.Errorf("%q: the lower end %g is above the upper end %g", text, s.low, s.high)
	}
	return s, nil
}

// check refuses inputs that the data do not have. A level of a category is an input, too:
// colour=red:1.
func (s *sensitive) check(inputs []string) error {
	for _, t := range s.terms {
		if t.isPredicate(inputs) {
			continue
		}
		for _, b := range t.box {
			base, _, _ := strings.Cut(b.name, "=")
			if !slices.Contains(inputs, b.name) && !slices.Contains(inputs, base) {
				return fmt.Errorf("sensitive: %w", experiment.Unknown("input", b.name, inputs))
			}
		}
	}
	return nil
}

// hasRows reports whether rows are named by their numbers.
func (s *sensitive) hasRows() bool {
	return slices.ContainsFunc(s.terms, func(t term) bool { return t.rows })
}

// place returns the place of a term with a value for every input, at which there need be no row; nil
// for any other term.
func (t *term) place(names []string) []float64 {
	if t.rows || len(t.box) != len(names) || t.isPredicate(names) {
		return nil
	}
	out := make([]float64, len(names))
	for _, b := range t.box {
		at := slices.Index(names, b.name)
		if at < 0 || b.low != b.high {
			return nil
		}
		out[at] = b.low
	}
	return out
}

// of returns the places of the terms, from rows and by themselves, each once (γ×d), with the largest
// tolerance (γ) of its terms; xi has one for each term.
func (s *sensitive) of(data *rows, xi []float64) (*mat.Dense, []float64, error) {
	rows, tolerances, err := s.rowsOf(data, xi)
	if err != nil {
		return nil, nil, err
	}
	_, d := data.x.Dims()
	var values []float64
	for _, i := range rows {
		values = append(values, data.x.RawRowView(i)...)
	}
	for k, t := range s.terms {
		if place := t.place(data.names); place != nil {
			values, tolerances = append(values, place...), append(tolerances, xi[k])
		}
	}
	places, tolerances := distinct(mat.NewDense(len(values)/d, d, values), tolerances)
	return places, tolerances, nil
}

// rowsOf returns the rows of the terms, in order, with their tolerances.
func (s *sensitive) rowsOf(data *rows, xi []float64) (rows []int, tolerances []float64, err error) {
	n, _ := data.x.Dims()
	all := slices.Repeat([]float64{outside}, n)
	for k, t := range s.terms {
		in := make([]bool, n)
		found, err := t.mark(in, data)
		if err != nil {
			return nil, nil, err
		}
		if !found && t.isPredicate(data.names) {
			return nil, nil, fmt.Errorf("sensitive: %s holds for none of the %d rows%s: nothing would be hidden", t.text, n,
				t.predicate.ranges(data))
		}
		if !found && t.place(data.names) == nil {
			return nil, nil, fmt.Errorf("sensitive: no row lies in %s: widen it, or name places that are no rows by csv:PATH",
				t.text)
		}
		for i, yes := range in {
			if yes {
				all[i] = math.Max(all[i], xi[k])
			}
		}
	}
	for i, v := range all {
		if v != outside {
			rows, tolerances = append(rows, i), append(tolerances, v)
		}
	}
	return rows, tolerances, nil
}

// outside marks rows without a tolerance: no tolerance is negative.
const outside = -1

// mark sets in at the rows of the term, and reports whether there are any.
func (t *term) mark(in []bool, data *rows) (found bool, err error) {
	x, names := data.x, data.names
	if t.isPredicate(names) {
		return t.predicate.mark(in, data)
	}
	if t.rows {
		if t.end > len(in) {
			return false, fmt.Errorf("sensitive: %s: there are %d rows", t.text, len(in))
		}
		for i := t.first - 1; i < t.end; i++ {
			in[i] = true
		}
		return true, nil
	}
	at := make([]int, len(t.box))
	for k, b := range t.box {
		if at[k] = slices.Index(names, b.name); at[k] < 0 {
			return false, fmt.Errorf("sensitive: %s: %w", t.text, experiment.Unknown("input", b.name, names))
		}
	}
	for i := range in {
		inside := true
		for k, b := range t.box {
			v := x.At(i, at[k])
			inside = inside && v >= b.low && v <= b.high
		}
		in[i] = in[i] || inside
		found = found || inside
	}
	return found, nil
}

// distinct returns the different rows of places (P×d) in the order of their first occurrence, each
// with the largest tolerance (of P) of the rows equal to it.
func distinct(places *mat.Dense, tolerances []float64) (*mat.Dense, []float64) {
	n, _ := places.Dims()
	var kept []int
	var largest []float64
	seen := map[string]int{} // the position in kept
	for i := range n {
		key := placeKey(places.RawRowView(i))
		if at, again := seen[key]; again {
			largest[at] = math.Max(largest[at], tolerances[i])
			continue
		}
		seen[key] = len(kept)
		kept, largest = append(kept, i), append(largest, tolerances[i])
	}
	return learn.SelectRows(places, kept), largest
}

// placeKey returns a key that equal places share.
func placeKey(place []float64) string {
	var b strings.Builder
	for _, v := range place {
		b.WriteString(strconv.FormatUint(math.Float64bits(v+0), 36)) // -0 + 0 is 0
		b.WriteByte(' ')
	}
	return b.String()
}
