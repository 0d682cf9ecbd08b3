package table

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	bignum "math/big"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// Data are the rows that have a value in every column that is used.
type Data struct {
	X     *mat.Dense // N×d
	Names []string   // of the columns, d; a category has a column a level, named "colour=red"
	Asked []Input    // the inputs that the setting names, in their order
	// Extremes are the least and the largest value of each input (2×d), also of the rows that a draw left out; NaN for
	// levels of categories. Truth values are 0 and 1.
	Extremes *mat.Dense
	Dropped  int // rows left out because a value is missing, or, where they are tolerated, invalid
	Rows     int // of the file
	// People are the persons behind the N rows; nil where no column names them.
	People *People
	// Constant are the inputs with one value in all rows: nothing depends on them.
	Constant []string
	// Private are the inputs whose levels were read off the data.
	Private []string

	// identifiers are the columns that seem to name persons, where none is named in the settings.
	identifiers []Identifier

	levelled []string        // columns of X that are levels
	kinds    map[string]Kind // of inputs that are no category, by name
	path     string
	others   map[string]*column // of N rows, by the text of the setting and by name
}

// newData leaves out rows without a value, and those that their persons have beyond the most, and
// encodes the inputs.
func (s Spec) newData(t *experiment.Trial, path string, in, out []*column) (*Data, error) {
	var person *column
	if i := slices.IndexFunc(out, func(c *column) bool { return c.item.person }); i >= 0 {
		person = out[i]
		out = slices.Concat(out[:i], out[i+1:])
	}
	all := append(slices.Clone(in), out...)
	kept := whole(all)
	d := &Data{path: path, Rows: all[0].rows, Dropped: all[0].rows - len(kept), others: map[string]*column{},
		kinds: map[string]Kind{}}
	if len(kept) == 0 {
		return nil, errorf(path, "none of its %d rows has a value in all of the columns %s", d.Dropped,
			strings.Join(names(all), ", "))
	}
	for _, c := range all {
		switch {
		case c.kind != word:
			c.least, c.largest = endsOf(selected(c.values, kept))
		case c.final == Boolean:
			c.least, c.largest = endsOf(selected(numbered(c.codes), kept))
		}
	}
	kept, d.People = s.draw(t, kept, person)
	for _, c := range all {
		c.keep(kept)
	}
	if err := d.encode(in, len(kept)); err != nil {
		return nil, err
	}
	for _, c := range out {
		d.others[c.item.written], d.others[c.item.name] = c, c
	}
	return d, nil
}

// selected returns the values of some rows.
func selected(values []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = values[row]
	}
	return out
}

// numbered returns truth values as 0 and 1, and NaN where there is none.
func numbered(codes []int32) []float64 {
	out := make([]float64, len(codes))
	for i, code := range codes {
		if out[i] = float64(code); code < 0 {
			out[i] = math.NaN()
		}
	}
	return out
}

// whole are the rows that have a value in every column.
func whole(all []*column) []int {
	kept := make([]int, 0, all[0].rows)
	for row := range all[0].rows {
		if !slices.ContainsFunc(all, func(c *column) bool { return c.lacks(row) }) {
			kept = append(kept, row)
		}
	}
	return kept
}

func (c *column) lacks(row int) bool {
	switch {
	case c.kept:
		return false
	case c.kind == missing:
		return true
	case c.kind == word:
		return c.codes[row] < 0
	}
	return math.IsNaN(c.values[row])
}

// keep leaves out all other rows, and levels that no row has.
func (c *column) keep(rows []int) {
	for i, row := range rows {
		if c.kind == word {
			c.codes[i] = c.codes[row]
		} else {
			c.values[i] = c.values[row]
		}
		if c.exact != nil {
			c.exact[i] = c.exact[row]
		}
	}
	c.rows = len(rows)
	if c.kind != word {
		c.values = c.values[:c.rows]
		return
	}
	c.codes = c.codes[:c.rows]
	if c.item.levels == nil && c.final == Category {
		c.sortLevels()
	}
}

// sortLevels orders the levels of the data, and drops those that no row has.
func (c *column) sortLevels() {
	seen := make([]bool, len(c.levels))
	for _, code := range c.codes {
		if code >= 0 {
			seen[code] = true
		}
	}
	var order []int
	for i := range c.levels {
		if seen[i] {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(c.levels[a], c.levels[b]) })
	sortNumbers(order, c.levels)
	to, levels := make([]int32, len(c.levels)), make([]string, len(order))
	for i, old := range order {
		to[old], levels[i] = int32(i), c.levels[old]
	}
	for i, code := range c.codes {
		if code >= 0 {
			c.codes[i] = to[code]
		}
	}
	c.levels = levels
}

// sortNumbers orders levels as numbers where all are, such as folders of digits.
func sortNumbers(order []int, levels []string) {
	values := make([]float64, len(levels))
	for _, i := range order {
		v, err := strconv.ParseFloat(levels[i], 64)
		if err != nil || math.IsNaN(v) {
			return
		}
		values[i] = v
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
}

// encode makes X and the description of its columns.
func (d *Data) encode(in []*column, n int) error {
	width := 0
	for _, c := range in {
		width += c.width()
	}
	if width > MaxValues/n {
		return errorf(d.path, "%d rows with %d inputs, levels of categories among them: at most %d numbers are taken", n,
			width, MaxValues)
	}
	d.X, d.Extremes = mat.NewDense(n, width, nil), mat.NewDense(2, width, nil)
	j := 0
	for _, c := range in {
		d.Names = append(d.Names, c.columns()...)
		if c.final == Category {
			d.levelled = append(d.levelled, c.columns()...)
			d.Asked = append(d.Asked, Input{c.item.name, c.width()})
		} else {
			d.kinds[c.item.name] = c.final
			d.Asked = append(d.Asked, Input{Name: c.item.name})
		}
		if c.constant() {
			d.Constant = append(d.Constant, c.item.name)
		}
		if c.final == Category && c.item.levels == nil {
			d.Private = append(d.Private, c.item.name)
		}
		c.write(d.X, j)
		for range c.width() {
			d.Extremes.SetCol(j, []float64{c.least, c.largest})
			j++
		}
		c.values, c.codes = nil, nil // X has them
	}
	seen := make(map[string]bool, len(d.Names))
	for _, name := range d.Names {
		if seen[name] {
			return errorf(d.path, "two inputs are named %q, a column and a level of another; rename one", name)
		}
		seen[name] = true
	}
	return nil
}

// width is how many inputs a column makes.
func (c *column) width() int {
	if c.final == Category {
		return len(c.levels)
	}
	return 1
}

func (c *column) columns() []string {
	if c.final != Category {
		return []string{c.item.name}
	}
	out := make([]string, len(c.levels))
	for i, level := range c.levels {
		out[i] = levelName(c.item.name, level)
	}
	return out
}

// levelName is the name of the input that is 1 where a category has that level.
func levelName(column, level string) string { return column + "=" + level }

func (c *column) constant() bool {
	if c.kind == word {
		return slices.Min(c.codes) == slices.Max(c.codes)
	}
	return slices.Min(c.values) == slices.Max(c.values)
}

// write writes a column into those of x from j on.
func (c *column) write(x *mat.Dense, j int) {
	for i := range c.rows {
		switch {
		case c.kind == word && c.codes[i] < 0:
			for k := range c.width() {
				x.Set(i, j+k, math.NaN())
			}
		case c.final == Category:
			x.Set(i, j+int(c.codes[i]), 1)
		case c.final == Boolean:
			x.Set(i, j, float64(c.codes[i]))
		default:
			x.Set(i, j, c.values[i])
		}
	}
}

func (d *Data) other(name string) (*column, error) {
	c := d.others[strings.TrimSpace(name)]
	if c == nil {
		return nil, fmt.Errorf("%s: the column %q was not read", d.path, name)
	}
	return c, nil
}

// Kind returns the type of an input that is no category, or of one of Others.
func (d *Data) Kind(name string) (Kind, error) {
	if k, ok := d.kinds[name]; ok {
		return k, nil
	}
	c, err := d.other(name)
	if err != nil {
		return Empty, err
	}
	return c.final, nil
}

// Binary reports of each column of X whether it is a level or a truth value, of zeros and ones.
func (d *Data) Binary() []bool {
	out := make([]bool, len(d.Names))
	for j, name := range d.Names {
		out[j] = d.kinds[name] == Boolean || slices.Contains(d.levelled, name)
	}
	return out
}

// Numbers returns the values of one of Others, N. A category is an error with the place of its
// first value.
func (d *Data) Numbers(name string) ([]float64, error) {
	c, err := d.other(name)
	if err != nil {
		return nil, err
	}
	switch c.final {
	case Category:
		if c.item.levels != nil {
			return nil, errorf(d.path, "column %q has levels (%s), expected numbers", c.item.name, c.item.written)
		}
		return nil, c.first.errorf(d.path, "column %q %s, expected a number%s", c.item.name, c.has(c.text), c.alike(c.text))
	case Boolean:
		return numbered(c.codes), nil
	}
	if c.exact != nil {
		return nil, c.notANumber(d.path, c.beyond, slices.Collect(maps.Keys(c.digits))[0])
	}
	return slices.Clone(c.values), nil
}

// Ends returns the least and the largest value of one of Others, as [Data.Extremes] has them; nil where it has no
// numbers.
func (d *Data) Ends(name string) []float64 {
	c, err := d.other(name)
	if err != nil || c.kind == word {
		return nil
	}
	return []float64{c.least, c.largest}
}

// Labels returns the values of one of Others as classes: the number of each row's, N, and
// their names. Classes are those that are written in the setting, in its order, or those of
// the data, sorted; numbers as numbers.
func (d *Data) Labels(name string) (labels []int, classes []string, err error) {
	c, err := d.other(name)
	if err != nil {
		return nil, nil, err
	}
	switch c.final {
	case Date:
		return nil, nil, c.first.errorf(d.path, "column %q %s, a date, which is no class", c.item.name, c.has(c.text))
	case Number:
		return d.numberLabels(c)
	}
	labels = make([]int, len(c.codes))
	for i, code := range c.codes {
		labels[i] = int(code)
	}
	return labels, slices.Clone(c.levels), nil
}

func (d *Data) numberLabels(c *column) (labels []int, classes []string, err error) {
	if c.exact != nil {
		return d.exactLabels(c)
	}
	values := slices.Sorted(slices.Values(c.values))
	values = slices.Compact(slices.DeleteFunc(values, math.IsNaN))
	if len(values) > MaxClasses {
		return nil, nil, errorf(d.path, "column %q has %d different values, which are no classes; at most %d are taken",
			c.item.name, len(values), MaxClasses)
	}
	for _, v := range values {
		classes = append(classes, numberName(v))
	}
	labels = make([]int, len(c.values))
	for i, v := range c.values {
		if labels[i], _ = slices.BinarySearch(values, v); math.IsNaN(v) {
			labels[i] = -1
		}
	}
	return labels, classes, nil
}

// exactLabels are the classes of a column with whole numbers beyond 2^53, by all their digits.
func (d *Data) exactLabels(c *column) (labels []int, classes []string, err error) {
	names, values := make([]string, len(c.values)), map[string]*bignum.Float{}
	for i, v := range c.values {
		if math.IsNaN(v) {
			continue
		}
		if names[i] = c.exact[i]; names[i] == "" {
			names[i] = numberName(v)
		}
		if values[names[i]] == nil {
			const bits = 256 // of 77 digits
			if values[names[i]], _, err = bignum.ParseFloat(names[i], 10, bits, bignum.ToNearestEven); err != nil {
				return nil, nil, errorf(d.path, "column %q: %w", c.item.name, err)
			}
		}
	}
	if len(values) > MaxClasses {
		return nil, nil, errorf(d.path, "column %q has %d different values, which are no classes; at most %d are taken",
			c.item.name, len(values), MaxClasses)
	}
	classes = slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(values[a].Cmp(values[b]), strings.Compare(a, b))
	})
	at := make(map[string]int, len(classes))
	for i, name := range classes {
		at[name] = i
	}
	labels = make([]int, len(names))
	for i, name := range names {
		if labels[i] = -1; name != "" {
			labels[i] = at[name]
		}
	}
	return labels, classes, nil
}

// Column is the column of one of Others, without the levels that the setting may name.
func (d *Data) Column(name string) string {
	if c := d.others[strings.TrimSpace(name)]; c != nil {
		return c.item.name
	}
	return name
}

// Public reports whether the setting names the levels of one of Others.
func (d *Data) Public(name string) bool {
	c := d.others[strings.TrimSpace(name)]
	return c != nil && c.item.levels != nil
}
