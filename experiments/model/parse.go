package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"privkern/runner/experiment"
)

// maxValues bounds the numbers, texts and lists of a file, above any model that is written.
// A list counts as three, so that what is read takes at most 8 bytes for each.
const maxValues = 1 << 25

// Parse reads the text of a model's file, which is one JSON object in one of the formats,
// into a T: a struct of numbers, texts, lists and structs with json tags. check looks at what
// was read, and returns what is wrong with which member. path is for errors, which are
// *[Error].
//
// Nothing is read silently as something else: members must be known, each there once, of
// their kind, and numbers must be there and finite. T has a method of its own to be checked.
func Parse[T any](path string, raw []byte, check func(*T) (field string, err error), formats ...string) (*T, error) {
	if len(raw) > maxSize {
		return nil, tooLarge(path)
	}
	name, field, err := nameOf(path, raw)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(formats, name) {
		return nil, &Error{Path: path, Field: field, Err: unknownFormat(name, formats)}
	}
	m := new(T)
	s := &scanner{path: path, raw: raw}
	if err := s.file(reflect.TypeFor[T]()); err != nil {
		return nil, err
	}
	// What the scanner leaves to the decoder: escapes of texts, the grammar of numbers.
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, jsonError(path, raw, err)
	}
	if field, err := check(m); err != nil {
		return nil, &Error{Path: path, Field: field, Err: err}
	}
	return m, nil
}

// scanner compares the text of a file with the type that it is read into. It holds no value:
// what it refuses has taken no memory.
type scanner struct {
	path   string
	raw    []byte
	at     int    // the next byte
	steps  []step // to where the scanner is
	values int
}

// step is one into a member of an object or, where the name is empty, of a list.
type step struct {
	name  string
	index int
}

// member is where the scanner is, such as kernels[2].shift.
func (s *scanner) member() string {
	var b strings.Builder
	for i, one := range s.steps {
		switch {
		case one.name == "":
			fmt.Fprintf(&b, "[%d]", one.index)
		case i > 0:
			b.WriteString("." + one.name)
		default:
			b.WriteString(one.name)
		}
	}
	return b.String()
}

// fail is an error at the next byte.
func (s *scanner) fail(format string, args ...any) error {
	e := &Error{Path: s.path, Field: s.member(), Err: fmt.Errorf(format, args...)}
	e.Line, e.Column = place(s.raw, s.at)
	return e
}

// place is line and column, from 1, of the byte at an offset, or of the last one.
func place(raw []byte, offset int) (line, column int) {
	before := raw[:min(max(offset, 0)+1, len(raw))]
	if n := len(before); n > 0 && before[n-1] == '\n' {
		before = before[:n-1]
	}
	return 1 + bytes.Count(before, []byte("\n")), max(1, len(before)-1-bytes.LastIndexByte(before, '\n'))
}

// What to do about a file that is damaged.
const (
	cutOff  = "the file ends in the middle: it was cut off; get it again, whole"
	changed = "the file was changed after it was written; get it again"
	damaged = "this is no JSON: " + changed
)

// syntax is an error of a byte that does not belong there.
func (s *scanner) syntax() error {
	if s.at >= len(s.raw) {
		return s.fail("%s", cutOff)
	}
	return s.fail("%s", misplaced(s.raw[s.at:]))
}

// misplaced says what is wrong with a text that begins with what does not belong there.
func misplaced(rest []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"} {
		if bytes.HasPrefix(rest, []byte(word)) {
			return word + " is no number that a file can have; its maker must write it again, with finite numbers"
		}
	}
	return fmt.Sprintf("%q does not belong here: %s", []rune(string(rest[:min(len(rest), 4)]))[0], damaged)
}

// space goes on to the next byte that is none, and returns it; 0 at the end.
func (s *scanner) space() byte {
	for ; s.at < len(s.raw); s.at++ {
		switch c := s.raw[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// file compares the whole text with the type of a file.
func (s *scanner) file(t reflect.Type) error {
	if err := s.value(t); err != nil {
		return err
	}
	if s.space(); s.at < len(s.raw) {
		return s.fail("there is more after the end of the model: %s", changed)
	}
	return nil
}

// wanted is what a value of a type is in a file.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Float64:
		return "a number"
	case reflect.Int:
		return "a whole number"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return wanted(t.Elem())
	}
	panic("model: no file has a " + t.String())
}

// found is what begins with a byte; "" for none that begins a value.
func found(c byte) string {
	switch {
	case c == '{':
		return "an object"
	case c == '[':
		return "a list"
	case c == '"':
		return "a text"
	case c == 't' || c == 'f':
		return "true or false"
	case c == 'n':
		return "null"
	case c == '-' || '0' <= c && c <= '9':
		return "a number"
	}
	return ""
}

// value compares the next value with a type.
func (s *scanner) value(t reflect.Type) error {
	begins := s.space()
	is := found(begins)
	if is == "" || s.misspelt(begins) {
		return s.syntax()
	}
	if s.values++; s.values > maxValues {
		return s.fail("there are more than %d values, which no model has: the file is none, or was made to fill the memory",
			maxValues)
	}
	wants := wanted(t)
	switch kind := t.Kind(); {
	case is == "null" && (kind == reflect.Slice || kind == reflect.Pointer):
		s.at += len("null") // nothing is there, which is for the check of the model
		return nil
	case is != wants && (is != "a number" || wants != "a whole number"):
		return s.fail("it is %s; %s is required", is, wants)
	}
	switch begins {
	case '{':
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		return s.object(t)
	case '[':
		return s.list(t.Elem())
	case '"':
		_, err := s.text()
		return err
	case 't', 'f':
		s.at += len(literal(begins))
		return nil
	}
	return s.number(wants)
}

// literal is the word that begins with a letter.
func literal(begins byte) string {
	switch begins {
	case 't':
		return "true"
	case 'f':
		return "false"
	case 'n':
		return "null"
	}
	return ""
}

// misspelt says whether what begins like a word, or like a negative number, is none, and goes
// to the end of a text that ends in the middle of it.
func (s *scanner) misspelt(begins byte) bool {
	rest := s.raw[s.at:]
	word := literal(begins)
	switch {
	case bytes.HasPrefix([]byte(word), rest) && len(rest) < len(word), begins == '-' && len(rest) == 1:
		s.at = len(s.raw)
		return true
	case begins == '-':
		return rest[1] < '0' || rest[1] > '9'
	}
	return !bytes.HasPrefix(rest, []byte(word))
}

// text goes past a text, and returns it as it is written, without quotation marks.
func (s *scanner) text() (string, error) {
	start := s.at + 1
	for s.at = start; s.at < len(s.raw); s.at++ {
		switch s.raw[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return string(s.raw[start : s.at-1]), nil
		}
	}
	s.at = len(s.raw)
	return "", s.syntax()
}

// number goes past a number, which must be one that float64 or int holds.
func (s *scanner) number(wants string) error {
	end, large := s.at, false
	for ; end < len(s.raw); end++ {
		c := s.raw[end]
		if c == 'e' || c == 'E' {
			large = true // perhaps
		} else if c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') {
			break
		}
	}
	const digits = 300 // of numbers without an exponent that float64 holds
	switch text := s.raw[s.at:end]; {
	case wants == "a whole number":
		if _, err := strconv.Atoi(string(text)); err != nil {
			return s.fail("it is %s; a whole number is required", shortened(string(text)))
		}
	case large || len(text) > digits:
		if v, err := strconv.ParseFloat(string(text), 64); errors.Is(err, strconv.ErrRange) && math.IsInf(v, 0) {
			return s.fail("it is %s, which is too large for a number; its maker needs another unit", shortened(string(text)))
		}
	}
	s.at = end
	return nil
}

// shortened is a text of a message.
func shortened(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

// list compares a list with the type of its elements.
func (s *scanner) list(element reflect.Type) error {
	s.values += 2
	s.at++
	if s.space() == ']' {
		s.at++
		return nil
	}
	parent := len(s.steps)
	for i := 0; ; i++ {
		s.steps = append(s.steps[:parent], step{index: i})
		if err := s.value(element); err != nil {
			return err
		}
		c := s.space()
		s.steps = s.steps[:parent]
		if c != ',' && c != ']' {
			return s.syntax()
		}
		if s.at++; c == ']' {
			return nil
		}
	}
}

// field is a member that a struct has.
type field struct {
	name string
	reflect.Type
	needed bool // it would silently be zero
}

// fieldsOf are the members of a struct.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type.Kind()
		number := kind == reflect.Float64 || kind == reflect.Int || kind == reflect.Bool
		out = append(out, field{name, f.Type, number && options != "omitempty"})
	}
	return out
}

// object compares an object with a struct.
func (s *scanner) object(t reflect.Type) error {
	fields := fieldsOf(t)
	seen := make([]bool, len(fields))
	parent := len(s.steps)
	s.at++
	for first := true; ; first = false {
		c := s.space()
		if c == '}' && first {
			break
		}
		if c != '"' {
			return s.syntax()
		}
		start := s.at
		name, err := s.text()
		if err != nil {
			return err
		}
		k := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if k < 0 {
			s.at = start
			return s.unknown(name, fields)
		}
		s.steps = append(s.steps, step{name: name})
		if seen[k] {
			s.at = start
			return s.fail("it is there twice: %s", changed)
		}
		seen[k] = true
		if s.space() != ':' {
			return s.syntax()
		}
		s.at++
		if err := s.value(fields[k].Type); err != nil {
			return err
		}
		s.steps = s.steps[:parent]
		if c = s.space(); c == '}' {
			break
		}
		if c != ',' {
			return s.syntax()
		}
		s.at++
	}
	for k, f := range fields {
		if f.needed && !seen[k] {
			s.steps = append(s.steps, step{name: f.name})
			return s.fail("it is missing; %s is required", wanted(f.Type))
		}
	}
	s.at++
	return nil
}

// unknown is the error of a member that a file of this format does not have.
func (s *scanner) unknown(name string, fields []field) error {
	var known []string
	for _, f := range fields {
		known = append(known, f.name)
	}
	hint := "a file of this format has none: " + changed
	if near := experiment.Nearest(shortened(name), known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return s.fail("unknown member %q; %s", shortened(name), hint)
}

// CheckNames refuses names in a member that are empty, there twice, or taken: those of columns
// of predictions. of is what they are names of, such as "an input".
func CheckNames(member string, names []string, of string, taken ...string) (field string, err error) {
	seen := make(map[string]string, len(names)+len(taken))
	for _, name := range taken {
		seen[name] = ": predictions have a column of that name"
	}
	seen[""] = ": a name has letters"
	for i, name := range names {
		if why := seen[name]; why != "" {
			return fmt.Sprintf("%s[%d]", member, i), fmt.Errorf("%q cannot be the name of %s%s", shortened(name), of, why)
		}
		seen[name] = ": it is there twice"
	}
	return "", nil
}
