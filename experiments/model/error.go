package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Error is an error in the file of a model, with its place.
type Error struct {
	Path         string
	Line, Column int    // from 1; 0 where the text is well-formed
	Field        string // the member, such as covariance[2][1]; "" for the whole file
	Err          error
}

func (e *Error) Error() string {
	at := e.Path
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", at, e.Line, e.Column)
	}
	if e.Field != "" {
		at += ": " + e.Field
	}
	return at + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Advice for a file that is damaged.
const (
	cutOff  = "the file ends in the middle: it was cut off; get it again, whole"
	changed = "the file was changed after it was written; get it again"
)

// Explain returns an *[Error] with the place or the member for the error with which
// encoding/json refused the text of the file at path, in words of the file instead of those of
// the decoder.
func Explain(path string, raw []byte, err error) error {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		value, number, _ := strings.Cut(kind.Value, " ")
		if number != "" && value == "number" && kind.Type.Kind() == reflect.Float64 {
			return &Error{Path: path, Field: kind.Field, Err: fmt.Errorf("it is %s, which is too large for a number", number)}
		}
		is := map[string]string{"string": "a text", "array": "a list", "bool": "true or false", "number": "a number",
			"object": "an object"}[value]
		return &Error{Path: path, Field: kind.Field, Err: fmt.Errorf("it is %s; %s is required", is, wanted(kind.Type))}
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return &Error{Path: path, Err: fmt.Errorf("unknown member %s; a file of this format has none: %s", shortened(name),
			changed)}
	}
	return syntaxError(path, raw, err)
}

// syntaxError returns the error of a text that is no JSON, which encoding/json refused with err.
func syntaxError(path string, raw []byte, err error) *Error {
	at, reason := syntaxAt(raw, err)
	return errorAt(path, raw, at, reason)
}

// syntaxAt returns the offset and the reason of a syntax error.
func syntaxAt(raw []byte, err error) (at int, reason error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return len(raw), errors.New(cutOff)
	}
	// A decoder of a member counts from there; of the whole text the offset is right.
	var syntax *json.SyntaxError
	if !errors.As(json.Unmarshal(raw, new(json.RawMessage)), &syntax) {
		return 0, fmt.Errorf("a defect of this program, which does not read it: %w", err)
	}
	at = int(syntax.Offset) - 1
	if strings.Contains(syntax.Error(), "max depth") {
		return at, errors.New("lists are nested deeper than in any model: the file is none")
	}
	return at, misplaced(raw[at:])
}

// errorAt returns the error of a byte: at an offset, or the last one.
func errorAt(path string, raw []byte, offset int, err error) *Error {
	before := raw[:min(max(offset, 0)+1, len(raw))]
	if n := len(before); n > 0 && before[n-1] == '\n' {
		before = before[:n-1]
	}
	return &Error{Path: path, Line: 1 + bytes.Count(before, []byte("\n")),
		Column: max(1, len(before)-1-bytes.LastIndexByte(before, '\n')), Err: err}
}

// misplaced returns the error of a text that begins with a byte that does not belong there.
func misplaced(rest []byte) error {
	for _, word := range []string{"NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"} {
		if bytes.HasPrefix(rest, []byte(word)) {
			return errors.New(word + " is no number that a file can have; its maker must write it again, with finite numbers")
		}
	}
	return fmt.Errorf("%q does not belong here: this is no JSON: %s", []rune(string(rest[:min(len(rest), 4)]))[0], changed)
}

// shortened returns a text of a file as a message has it.
func shortened(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
