package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"privkern/runner/experiment"
)

// maxValues bounds the numbers, texts and lists of a file, above any model that is written.
// A list counts as three, so that a file takes at most 8 bytes of memory for each.
const maxValues = 1 << 25

// parse reads the text of a file, one JSON object, into a payload and checks that.
//
// No text is silently read as something else: members must be known, each there once, of
// their kind, and numbers must be there and finite.
func parse(path string, raw []byte, p Payload) error {
	s := &scanner{raw: raw, tokens: json.NewDecoder(bytes.NewReader(raw))}
	s.tokens.UseNumber()
	if err := s.file(reflect.TypeOf(p).Elem()); err != nil {
		err.Path, err.Field = path, s.member()
		return err
	}
	if err := json.Unmarshal(raw, p); err != nil {
		return syntaxError(path, raw, err)
	}
	c := new(Checker)
	if c.envelope(p.Envelope()); !c.Failed() {
		p.Check(c)
	}
	if c.Failed() {
		return &Error{Path: path, Field: c.field, Err: c.err}
	}
	return nil
}

// scanner compares the text of a file with the type that it is read into, token by token: a
// text that it refuses has taken no memory. Its errors have no path and no member.
type scanner struct {
	raw    []byte
	tokens *json.Decoder
	steps  []step // from the file to the value
	values int
}

// step leads to a member of an object or, where the name is empty, to an element of a list.
type step struct {
	name  string
	index int
}

// member returns the name of the value, such as kernels[2].shift.
func (s *scanner) member() string {
	var b strings.Builder
	for _, one := range s.steps {
		if one.name == "" {
			fmt.Fprintf(&b, "[%d]", one.index)
		} else {
			b.WriteString("." + one.name)
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// next returns the offset of the next token.
func (s *scanner) next() int {
	at := int(s.tokens.InputOffset())
	return len(s.raw) - len(bytes.TrimLeft(s.raw[at:], " \t\r\n,:"))
}

// fail returns an error of the token at an offset.
func (s *scanner) fail(at int, format string, args ...any) *Error {
	return errorAt("", s.raw, at, fmt.Errorf(format, args...))
}

// token returns the next token and its offset.
func (s *scanner) token() (token json.Token, at int, err *Error) {
	at = s.next()
	token, failure := s.tokens.Token()
	if failure == nil {
		if text, is := token.(string); is && altered(s.raw[at:s.tokens.InputOffset()], text) {
			return nil, at, s.fail(at, "a text is not in UTF-8, or has half of a character: %s", changed)
		}
		return token, at, nil
	}
	wrong, reason := syntaxAt(s.raw, failure)
	if at < wrong && wrong < len(s.raw) && !bytes.ContainsFunc(s.raw[at:wrong], noLetter) {
		wrong, reason = at, misplaced(s.raw[at:]) // a word is wrong from its first letter, such as -Infinity
	}
	return nil, at, errorAt("", s.raw, wrong, reason)
}

// altered reports whether the decoder put a replacement character, U+FFFD, into a text that has none there: two
// names could become one.
func altered(raw []byte, text string) bool {
	replaced := strings.Count(text, "\ufffd")
	return replaced > 0 && (!utf8.Valid(raw) || replaced >
		bytes.Count(raw, []byte("\ufffd"))+bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`)))
}

func noLetter(r rune) bool { return r != '-' && !unicode.IsLetter(r) }

// file compares the whole text.
func (s *scanner) file(t reflect.Type) *Error {
	if err := s.value(t); err != nil {
		return err
	}
	if at := s.next(); at < len(s.raw) {
		return s.fail(at, "there is more after the end of the model: %s", changed)
	}
	return nil
}

// wanted names the JSON value that a type is read from.
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

// found names the JSON value that begins with a token.
func found(token json.Token) string {
	switch token.(type) {
	case json.Number:
		return "a number"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case nil:
		return "null"
	}
	if token == json.Delim('[') {
		return "a list"
	}
	return "an object"
}

// value compares the next value with a type.
func (s *scanner) value(t reflect.Type) *Error {
	token, at, err := s.token()
	if err != nil {
		return err
	}
	if s.values++; s.values > maxValues {
		return s.fail(at, "there are more than %d values, which no model has: the file is none, or was made to fill the "+
			"memory", maxValues)
	}
	is, wants := found(token), wanted(t)
	switch kind := t.Kind(); {
	case token == nil && (kind == reflect.Slice || kind == reflect.Pointer):
		return nil // whether it may be missing is for the check of the payload
	case is != wants && (is != "a number" || wants != "a whole number"):
		return s.fail(at, "it is %s; %s is required", is, wants)
	case kind == reflect.Pointer:
		return s.object(t.Elem())
	case kind == reflect.Struct:
		return s.object(t)
	case kind == reflect.Slice:
		return s.list(t.Elem())
	}
	number, _ := token.(json.Number)
	if wants == "a whole number" {
		if _, err := strconv.Atoi(number.String()); err != nil {
			return s.fail(at, "it is %s; a whole number is required", shortened(number.String()))
		}
	} else if _, err := number.Float64(); errors.Is(err, strconv.ErrRange) {
		return s.fail(at, "it is %s, which is too large for a number; its maker needs another unit",
			shortened(number.String()))
	}
	return nil
}

// list compares the rest of a list with the type of its elements.
func (s *scanner) list(element reflect.Type) *Error {
	s.values += 2
	parent := len(s.steps)
	for i := 0; s.tokens.More(); i++ {
		s.steps = append(s.steps[:parent], step{index: i})
		if err := s.value(element); err != nil {
			return err
		}
	}
	s.steps = s.steps[:parent]
	_, _, err := s.token() // the end
	return err
}

// field is a member of a struct.
type field struct {
	name string
	reflect.Type
	needed bool // without it, it would silently be zero
}

// fieldsOf returns the members of a struct: its exported fields.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type.Kind()
		number := kind == reflect.Float64 || kind == reflect.Int || kind == reflect.Bool
		out = append(out, field{name, f.Type, number && options != "omitempty"})
	}
	return out
}

// object compares the rest of an object with a struct.
func (s *scanner) object(t reflect.Type) *Error {
	fields := fieldsOf(t)
	seen := make([]bool, len(fields))
	parent := len(s.steps)
	for s.tokens.More() {
		token, at, err := s.token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // the decoder refuses other names
		k := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if k < 0 {
			return s.unknown(at, name, fields)
		}
		s.steps = append(s.steps, step{name: name})
		if seen[k] {
			return s.fail(at, "it is there twice: %s", changed)
		}
		seen[k] = true
		if err := s.value(fields[k].Type); err != nil {
			return err
		}
		s.steps = s.steps[:parent]
	}
	_, at, err := s.token() // the end
	for k, f := range fields {
		if err == nil && f.needed && !seen[k] {
			s.steps = append(s.steps, step{name: f.name})
			return s.fail(at, "it is missing; %s is required", wanted(f.Type))
		}
	}
	return err
}

// unknown returns the error of a member that a file of this format does not have.
func (s *scanner) unknown(at int, name string, fields []field) *Error {
	var known []string
	for _, f := range fields {
		known = append(known, f.name)
	}
	hint := "a file of this format has none: " + changed
	if near := experiment.Nearest(shortened(name), known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return s.fail(at, "unknown member %q; %s", shortened(name), hint)
}
