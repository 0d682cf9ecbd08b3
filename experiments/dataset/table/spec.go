package table

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"privkern/experiments/dataset"
	"privkern/runner/experiment"
)

// Every is the word that stands for every numeric column among inputs.
const Every = "*"

// Spec names the columns that a trial reads of the user's own data.
type Spec struct {
	Dataset string // the setting, such as csv:PATH
	// Inputs are the setting: names joined by + or commas, each perhaps with its levels,
	// "age+colour[red|green|blue]"; or "*", every column of numbers or truth values that is
	// not among Others.
	Inputs string
	// Others are the columns that are read besides: output, label, party. Empty names are
	// ignored. They may have levels, too.
	Others []string
	// Person is the column that names the person of a row, of whom at most PerPerson rows are read; ""
	// for none.
	Person    string
	PerPerson int
	// Common draws the rows of persons by the seed alone, for any experiment, unless randomness is secure.
	Common  bool
	Invalid Tolerance
	// Reading is how the file is read.
	Reading Reading
}

// Tolerance is the treatment of rows with an invalid value: a missing one, a number that is not
// finite, or none of the levels that are written. The person of a row is never invalid.
type Tolerance int

// The treatments.
const (
	// Refused leaves out rows with a missing value; other invalid values are errors with their place.
	Refused Tolerance = iota
	// LeftOut leaves out all rows with an invalid value. Their number, which [Data.Dropped] has, is
	// private where the columns are.
	LeftOut
	// KeptInputs keeps rows whose inputs are invalid, as NaN in every column that an input makes; it
	// is [Refused] for Others.
	KeptInputs
	// KeptOthers keeps rows whose Others are invalid, as NaN among [Data.Numbers] and −1 among
	// [Data.Labels]; it is [Refused] for inputs.
	KeptOthers
	// Kept keeps all rows: inputs as [KeptInputs], but infinite numbers as they are, and Others as
	// [KeptOthers].
	Kept
)

// item is a column that is asked for.
type item struct {
	written string   // in the setting
	name    string   // of the column
	levels  []string // that are given; nil where none are
	person  bool     // it names the persons of rows
}

// Is reports whether a data setting names the user's own.
func Is(name string) bool { return dataset.IsOwn(name) }

// Names are the columns of the setting inputs, without levels; nil for "*".
func (s Spec) Names() []string {
	items, every := s.inputs()
	if every {
		return nil
	}
	names := make([]string, len(items))
	for i, it := range items {
		names[i] = it.name
	}
	return names
}

// CheckNamed refuses "*" in a release of data whose types are inferred from the values of rows,
// because the choice of numeric columns would be read off private rows. Arrays and pictures have
// numbers alone.
func (s Spec) CheckNamed() error {
	kind := dataset.OwnKind(s.Dataset)
	if _, every := s.inputs(); every && (kind == dataset.OwnCSV || kind == dataset.OwnParquet) {
		return errors.New("inputs = *: which columns are numbers would be read off the private rows; name them, joined by " +
			"+, such as inputs=age+dose")
	}
	return nil
}

// Input is an input that a setting names: numbers, or a category.
type Input struct {
	Name   string // of the column
	Levels int    // how many a category has; 0 for numbers, and for levels that are not known yet
}

// Asked are the inputs of the setting, with the levels that are written; none for "*".
func (s Spec) Asked() []Input {
	items, _ := s.inputs()
	out := make([]Input, len(items))
	for i, it := range items {
		out[i] = Input{it.name, len(it.levels)}
	}
	return out
}

// Width is how many columns inputs make: a category has one for each level, and others have one.
func Width(inputs []Input) int {
	n := 0
	for _, in := range inputs {
		n += max(1, in.Levels)
	}
	return n
}

// inputs takes the setting apart.
func (s Spec) inputs() (items []item, every bool) {
	if strings.TrimSpace(s.Inputs) == Every {
		return nil, true
	}
	for _, text := range SplitNames(s.Inputs, "+,") {
		items = append(items, parseItem(text))
	}
	return items, false
}

// SplitNames takes a list of columns, or of conditions on them, apart at each of the marks, but inside of brackets,
// and of quotation marks that a name begins with.
func SplitNames(list, marks string) []string {
	var out []string
	start, inside := 0, false
	for i := 0; i < len(list); i++ {
		c := list[i]
		switch {
		case c == '"' && (strings.TrimSpace(list[start:i]) == "" || strings.HasSuffix(list[start:i], " and ")):
			i += max(0, AfterQuoted(list[i:])-1)
		case c == '[':
			inside = strings.Contains(list[i:], "]")
		case c == ']':
			inside = false
		case !inside && strings.IndexByte(marks, c) >= 0:
			out = append(out, list[start:i])
			start = i + 1
		}
	}
	return append(out, list[start:])
}

// quoted takes a name in quotation marks off the beginning of a text, in which two of them stand for one.
func quoted(text string) (name, rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, `"`)
	for ok {
		part, after, closed := strings.Cut(rest, `"`)
		name += part
		if !closed {
			return "", text, false
		}
		if rest = after; !strings.HasPrefix(rest, `"`) {
			return name, rest, true
		}
		name, rest = name+`"`, rest[1:]
	}
	return "", text, false
}

// AfterQuoted is where a name in quotation marks ends with which a text begins; 0 for none.
func AfterQuoted(text string) int {
	_, rest, _ := quoted(text)
	return len(text) - len(rest)
}

// Unquoted is a name without spaces around, and without the quotation marks that it may have.
func Unquoted(text string) string {
	text = strings.TrimSpace(text)
	if name, rest, ok := quoted(text); ok && rest == "" {
		return name
	}
	return text
}

// QuoteName is a name as lists of columns have it: in quotation marks where it has a character of lists.
func QuoteName(name string) string {
	if !strings.ContainsAny(name, "+,[]|\"") && strings.TrimSpace(name) == name {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// parseItem takes levels and quotation marks off a name. One level alone is part of the name: dose[mg].
func parseItem(text string) item {
	text = strings.TrimSpace(text)
	it := item{written: text, name: text}
	if name, rest, ok := quoted(text); ok {
		switch levels, bracket := strings.CutPrefix(rest, "["); {
		case rest == "":
			it.name = name
		case bracket && strings.HasSuffix(levels, "]") && strings.Contains(levels, "|"):
			it.name = name
			for _, level := range strings.Split(strings.TrimSuffix(levels, "]"), "|") {
				it.levels = append(it.levels, strings.TrimSpace(level))
			}
		}
		return it
	}
	name, rest, ok := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	if !ok || !strings.HasSuffix(text, "]") || !strings.Contains(rest, "|") {
		return it
	}
	it.name = strings.TrimSpace(name)
	for _, level := range strings.Split(rest, "|") {
		it.levels = append(it.levels, strings.TrimSpace(level))
	}
	return it
}

// NameOf is the column of a setting that may have its levels: NAME or NAME[A|B].
func NameOf(setting string) string { return parseItem(setting).name }

// LevelsOf are the levels in such a setting; nil where it has none.
func LevelsOf(setting string) []string { return parseItem(setting).levels }

func (s Spec) others() []item {
	var items []item
	for _, text := range s.Others {
		if it := parseItem(text); it.written != "" {
			items = append(items, it)
		}
	}
	if s.Person != "" {
		items = append(items, item{written: s.Person, name: s.Person, person: true})
	}
	return items
}

// Check refuses errors that are visible without the file: names that are empty, doubled, or both an
// input and another column, and invalid levels.
func (s Spec) Check() error {
	if path, _ := dataset.FilePath(s.Dataset); path == "" {
		return fmt.Errorf("dataset = %s: it names no file; write %s", s.Dataset, dataset.OwnForms())
	}
	inputs, _ := s.inputs()
	for i, it := range inputs {
		switch {
		case it.name == "":
			return fmt.Errorf("inputs = %q: write the names of one or more columns, joined by + or commas, or * for every "+
				"numeric column", s.Inputs)
		case it.name == Every:
			return fmt.Errorf("inputs = %q: * stands for every numeric column, and no name can be beside it", s.Inputs)
		case contains(inputs[:i], it.name):
			return fmt.Errorf("inputs = %q: %q is named twice", s.Inputs, it.name)
		}
	}
	others := s.others()
	for i, it := range others {
		switch {
		case contains(inputs, it.name):
			return fmt.Errorf("the column %q is one of the inputs, too", it.name)
		case contains(others[:i], it.name):
			return fmt.Errorf("the column %q is to be two things at once", it.name)
		}
	}
	for _, it := range append(inputs, others...) {
		if err := it.checkLevels(); err != nil {
			return err
		}
	}
	if err := s.Reading.Valid(); err != nil {
		return err
	}
	return s.checkPerson()
}

func (it item) checkLevels() error {
	for i, level := range it.levels {
		switch {
		case isMissing(level):
			return fmt.Errorf("%s: the level %q means a missing value", it.written, level)
		case slices.Contains(it.levels[:i], level):
			return fmt.Errorf("%s: the level %q is named twice", it.written, level)
		}
	}
	if len(it.levels) > MaxLevels {
		return fmt.Errorf("%s...: it has %d levels; at most %d are taken", it.name, len(it.levels), MaxLevels)
	}
	return nil
}

func contains(items []item, name string) bool {
	return slices.ContainsFunc(items, func(it item) bool { return it.name == name })
}

// Files are the data sets of an experiment's declaration that are the user's own.
func (s Spec) Files() []string {
	if !Is(s.Dataset) {
		return nil
	}
	return []string{s.Dataset}
}

// Tables are the columns that are looked for when a plan is made.
func (s Spec) Tables() []experiment.InputTable {
	if !Is(s.Dataset) {
		return nil
	}
	inputs, _ := s.inputs()
	wanted := append(inputs, s.others()...)
	columns := make([]string, len(wanted))
	for i, it := range wanted {
		columns[i] = it.name
	}
	return []experiment.InputTable{{Dataset: s.Dataset, Columns: columns, Check: func(path string) error {
		return checkHeader(s.Dataset, path, s.Reading, wanted)
	}}}
}

// checkHeader refuses data that lack one of the columns, or have it twice. It reads the
// header alone.
func checkHeader(name, path string, reading Reading, wanted []item) (err error) {
	r, err := open(name, path, reading)
	if err != nil {
		return err
	}
	defer r.close()
	_, err = find(r, shown(name), wanted)
	return err
}

// find returns where the wanted columns are. A column whose name has brackets itself
// comes before levels: items are changed then.
func find(r reader, path string, wanted []item) ([]int, error) {
	header, where := r.header()
	first, second := map[string]int{}, map[string]int{}
	for i, name := range header {
		if _, there := first[name]; !there {
			first[name] = i
		} else if _, there := second[name]; !there {
			second[name] = i
		}
	}
	at := make([]int, len(wanted))
	asked := map[string]bool{}
	for i := range wanted {
		it := &wanted[i]
		if _, plain := first[it.written]; it.name != it.written && plain {
			*it = item{written: it.written, name: it.written}
		}
		switch {
		case it.name == "":
			return nil, errorf(path, "a column without a name is asked for")
		case asked[it.name]:
			return nil, errorf(path, "the column %q is named twice", it.name)
		}
		asked[it.name] = true
		var there bool
		if at[i], there = first[it.name]; !there {
			known := slices.DeleteFunc(slices.Clone(header), func(s string) bool { return s == "" })
			if slices.ContainsFunc(known, isNumber) { // which may be the values of a row, and private
				return nil, &Error{Path: path, Line: where(0).line, Err: fmt.Errorf("unknown column %q; the first line has "+
					"numbers where names of columns are expected: add a line with their names, or read it with header=no", it.name)}
			}
			var err error = experiment.Unknown("column", it.name, known)
			if i := slices.IndexFunc(known, func(s string) bool { return strings.HasPrefix(s, it.name+".") }); i >= 0 {
				err = fmt.Errorf("unknown column %q; it is a group or a list, of which a column is %q", it.name, known[i])
			}
			base, levels, bracket := strings.Cut(it.name, "[")
			if bracket && strings.HasSuffix(levels, "]") && slices.Contains(known, base) {
				err = fmt.Errorf("%w; of the column %q name two levels or more, with | between them: %[2]s[a|b]", err, base)
			}
			if i := slices.IndexFunc(known, func(name string) bool {
				return QuoteName(name) != name && slices.Contains(SplitNames(name, "+,"), it.name)
			}); i >= 0 {
				err = fmt.Errorf("%w; a name with + or a comma is written in quotation marks: '%s'", err, QuoteName(known[i]))
			}
			return nil, &Error{Path: path, Line: where(0).line, Err: err}
		}
		if again, twice := second[it.name]; twice {
			return nil, where(again).errorf(path, "a second column is named %q: rename one of them", it.name)
		}
	}
	return at, nil
}

// isNumber reports whether a name is a number.
func isNumber(name string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(name), 64)
	return err == nil
}
