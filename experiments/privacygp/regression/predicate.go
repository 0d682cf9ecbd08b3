package regression

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// predicate selects the rows for which all comparisons hold.
type predicate []comparison

// comparison is a condition on a column.
type comparison struct{ text, column, operator, value string }

// operators are the operators of comparisons; a longer one precedes its prefix.
var operators = []string{"<=", ">=", "!=", "==", "<", ">", "="}

// parsePredicate reads comparisons such as speed > 3, joined by " and "; nil where there is
// no operator.
func parsePredicate(text string) (predicate, error) {
	if !strings.ContainsAny(text, "<>=") {
		return nil, nil
	}
	var out predicate
	for _, part := range strings.Split(text, " and ") {
		c := comparison{text: strings.TrimSpace(part)}
		after := table.AfterQuoted(c.text)
		if at := strings.IndexAny(c.text[after:], "<>=!"); at >= 0 {
			at += after
			i := slices.IndexFunc(operators, func(o string) bool { return strings.HasPrefix(c.text[at:], o) })
			if i >= 0 {
				c.operator = operators[i]
				c.column = table.Unquoted(c.text[:at])
				c.value = strings.TrimSpace(c.text[at+len(c.operator):])
			}
		}
		if c.column == "" || c.value == "" || strings.ContainsAny(c.value, "<>=") ||
			strings.HasSuffix(c.value, " and") {
			return nil, fmt.Errorf("%q is no comparison of a column with a value: write speed > 3, kind = b, or several joined "+
				"by and, such as speed > 3 and kind != b", c.text)
		}
		if c.operator == "==" {
			c.operator = "="
		}
		out = append(out, c)
	}
	return out, nil
}

// isPredicate reports whether the term is a predicate for these inputs (nil where they are not
// known). A box takes precedence where it names an input: kind=b:1 bounds the level b of the input
// kind.
func (t *term) isPredicate(inputs []string) bool {
	if t.predicate == nil || len(t.box) == 0 {
		return t.predicate != nil
	}
	return inputs != nil && !slices.ContainsFunc(t.box, func(b side) bool { return isInput(inputs, b.name) })
}

// isInput reports whether a name is that of an input, or of a level of one, known or not.
func isInput(inputs []string, name string) bool {
	base, _, _ := strings.Cut(name, "=")
	return slices.ContainsFunc(inputs, func(in string) bool {
		return in == name || in == base || strings.HasPrefix(in, base+"=")
	})
}

// predicates returns the texts of the predicates and their columns, each once.
func (s *sensitive) predicates(inputs []string) (texts, columns []string) {
	for _, t := range s.terms {
		if !t.isPredicate(inputs) {
			continue
		}
		texts = append(texts, t.text)
		for _, c := range t.predicate {
			if !slices.Contains(columns, c.column) {
				columns = append(columns, c.column)
			}
		}
	}
	return texts, columns
}

// beside returns the columns of predicates other than inputs and output.
func (s *Settings) beside() []string {
	wanted, err := parseSensitive(s.Sensitive)
	if err != nil || !s.own() {
		return nil
	}
	inputs := s.inputNames()
	_, columns := wanted.predicates(inputs)
	return slices.DeleteFunc(columns, func(name string) bool {
		return s.isOutput(name) || slices.Contains(inputs, name)
	})
}

// checkPredicates refuses predicates on columns that cannot select rows.
func (s *Settings) checkPredicates(wanted *sensitive, inputs []string) error {
	texts, columns := wanted.predicates(inputs)
	if len(texts) == 0 {
		return nil
	}
	switch {
	case !s.own():
		for _, c := range columns {
			if !slices.Contains(inputs, c) {
				return fmt.Errorf("sensitive: %w", experiment.Unknown("column", c, inputs))
			}
		}
	case inputs == nil:
		return fmt.Errorf("sensitive = %s: with inputs = * it is open whether %s is an input: name the inputs", s.Sensitive,
			joined(columns, "or"))
	case slices.ContainsFunc(columns, s.isOutput):
		return fmt.Errorf("sensitive = %s: %s is the output, and the covariance of the noise, which is handed over, shows "+
			"which rows are sensitive: whoever sees it would know on which side the hidden outputs lie; choose rows by "+
			"another column", s.Sensitive, strings.TrimSpace(s.Output))
	}
	return nil
}

// columnValues holds a column of a predicate.
type columnValues struct {
	name    string
	private bool // no message has its values
	kind    table.Kind
	numbers []float64 // of a number, boolean or date, N
	labels  []int     // of a category, N
	levels  []string
}

// column returns the values of an input or of another column of the data.
func (r *rows) column(name string) (*columnValues, error) {
	c := &columnValues{name: name, kind: table.Number}
	at := slices.Index(r.names, name)
	if at >= 0 && r.data == nil {
		c.numbers = mat.Col(nil, at, r.x)
		return c, nil
	}
	if at < 0 && r.readLevels(c) {
		return c, nil
	}
	if r.data == nil {
		return nil, experiment.Unknown("column", name, r.names)
	}
	c.private = at < 0 && r.forOthers // inputs are public
	var err error
	if c.kind, err = r.data.Kind(name); err != nil {
		return nil, err
	}
	if at >= 0 {
		c.numbers = mat.Col(nil, at, r.x)
		return c, nil
	}
	if c.kind == table.Category {
		c.labels, c.levels, err = r.data.Labels(name)
		return c, err
	}
	c.numbers, err = r.data.Numbers(name)
	return c, err
}

// readLevels reads a categorical input, which has a column for each level; it returns false if
// there is none of that name.
func (r *rows) readLevels(c *columnValues) bool {
	for j, name := range r.names {
		level, ok := strings.CutPrefix(name, c.name+"=")
		if !ok {
			continue
		}
		c.kind, c.levels = table.Category, append(c.levels, level)
		if c.labels == nil {
			c.labels = make([]int, len(r.y))
		}
		for i := range c.labels {
			if r.x.At(i, j) == 1 {
				c.labels[i] = len(c.levels) - 1
			}
		}
	}
	return c.levels != nil
}

// holds returns the rows of the column for which a comparison holds.
func (c *columnValues) holds(by comparison) ([]bool, error) {
	if c.kind == table.Category {
		return c.levelIs(by)
	}
	v, kind, err := table.ParseValue(by.value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", by.text, err)
	}
	if kind == table.Number && c.kind == table.Boolean && (v == 0 || v == 1) {
		kind = table.Boolean
	}
	if kind != c.kind {
		return nil, fmt.Errorf("%s: the column %s holds %s, and %q is none: compare it with %s", by.text, c.name,
			kindWords(c.kind), by.value, kindExample(c.kind))
	}
	out := make([]bool, len(c.numbers))
	for i, value := range c.numbers {
		out[i] = compare(value, by.operator, v)
	}
	return out, nil
}

func kindWords(k table.Kind) string {
	switch k {
	case table.Boolean:
		return "truth values"
	case table.Date:
		return "dates"
	}
	return "numbers"
}

func kindExample(k table.Kind) string {
	switch k {
	case table.Boolean:
		return "yes or no"
	case table.Date:
		return "a date such as 2024-01-31"
	}
	return "a number such as 3 or 0.5"
}

func compare(a float64, operator string, b float64) bool {
	switch operator {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "!=":
		return a != b
	}
	return a == b
}

// levelIs compares the texts of a category.
func (c *columnValues) levelIs(by comparison) ([]bool, error) {
	if by.operator != "=" && by.operator != "!=" {
		such := ", such as " + c.levels[0]
		if c.private {
			such = ""
		}
		return nil, fmt.Errorf("%s: the column %s holds texts%s, which have no order: compare it by = or !=", by.text, c.name,
			such)
	}
	wanted := slices.Index(c.levels, by.value)
	if wanted < 0 && c.private {
		return nil, fmt.Errorf("%s: no row has this text in the column %s; a trial without --export names those that "+
			"there are", by.text, c.name)
	}
	if wanted < 0 {
		return nil, fmt.Errorf("%s: %w", by.text, experiment.Unknown("value of "+c.name, by.value, c.levels))
	}
	out := make([]bool, len(c.labels))
	for i, label := range c.labels {
		out[i] = (label == wanted) == (by.operator == "=")
	}
	return out, nil
}

// mark sets in at the rows for which all comparisons hold, and reports whether there are any.
func (p predicate) mark(in []bool, r *rows) (found bool, err error) {
	all := slices.Repeat([]bool{true}, len(in))
	for _, by := range p {
		c, err := r.column(by.column)
		if err != nil {
			return false, fmt.Errorf("sensitive: %w", err)
		}
		holds, err := c.holds(by)
		if err != nil {
			return false, fmt.Errorf("sensitive: %w", err)
		}
		for i, yes := range holds {
			all[i] = all[i] && yes
		}
	}
	for i, yes := range all {
		in[i] = in[i] || yes
		found = found || yes
	}
	return found, nil
}

// ranges returns the ranges of the columns of a predicate in words, where they are numbers. A failed
// export shows those of inputs alone.
func (p predicate) ranges(r *rows) string {
	var out []string
	for _, by := range p {
		c, err := r.column(by.column)
		if err != nil || c.private || c.kind != table.Number {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, v := range c.numbers {
			low, high = math.Min(low, v), math.Max(high, v)
		}
		out = append(out, fmt.Sprintf("%s lies between %s and %s", by.column, strconv.FormatFloat(low, 'g', 6, 64),
			strconv.FormatFloat(high, 'g', 6, 64)))
	}
	if out == nil {
		return ""
	}
	return " (" + strings.Join(slices.Compact(out), ", ") + ")"
}
