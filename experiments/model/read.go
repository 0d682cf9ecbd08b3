package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"

	"privkern/runner/experiment"
)

// maxSize bounds the files that are read, above any model that is written.
const maxSize = 256 << 20

// Error says where a file of a model is wrong.
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

// Read reads a file in one of the formats, and returns the name of that. Errors are
// *[Error], those of the format, or the file's own.
func Read(path string, formats []Format) (m Model, format string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() {
		return nil, "", &Error{Path: path, Err: errors.New("it is not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, "", err
	}
	if len(raw) > maxSize {
		return nil, "", tooLarge(path)
	}
	return Decode(path, raw, formats)
}

func tooLarge(path string) error {
	return &Error{Path: path, Err: fmt.Errorf("it has more than %d MiB, which no model has", maxSize>>20)}
}

// Decode reads the text of a file; path is for errors.
func Decode(path string, raw []byte, formats []Format) (m Model, format string, err error) {
	name, field, err := nameOf(path, raw)
	if err != nil {
		return nil, "", err
	}
	var known []string
	for _, f := range formats {
		if f.Name == name {
			m, err := f.Read(path, raw)
			return m, name, err
		}
		known = append(known, f.Name)
	}
	return nil, "", &Error{Path: path, Field: field, Err: unknownFormat(name, known)}
}

// unknownFormat says of a version of a known format which are read.
func unknownFormat(name string, known []string) error {
	if name != shortened(name) {
		return experiment.Unknown("format", shortened(name), known)
	}
	family, version := splitFormat(name)
	var reads []string
	latest := 0
	for _, k := range known {
		if same, v := splitFormat(k); same == family && version > 0 {
			reads, latest = append(reads, strconv.Quote(k)), max(latest, v)
		}
	}
	switch {
	case len(reads) == 0:
		return experiment.Unknown("format", name, known)
	case version > latest:
		return fmt.Errorf("it is %q; this program reads %s: the file is of a later version of the program, use that",
			name, strings.Join(reads, " and "))
	}
	return fmt.Errorf("it is %q; this program reads %s: use an earlier version of the program, or ask for a new file",
		name, strings.Join(reads, " and "))
}

// splitFormat takes the version off the name of a format; -1 where it has none.
func splitFormat(name string) (family string, version int) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return name, -1
	}
	v, err := strconv.Atoi(name[i+1:])
	if err != nil || v < 1 {
		return name, -1
	}
	return name[:i], v
}

// noModel is what is wrong with a file of something else.
const noModel = "it is no released model, %s (a model is what run trial METHOD --release or --export writes; a " +
	"released table is used as it is)"

// nameOf returns the name of the format, and the member that has it: "format", or
// "model" in files of dpgp. What follows it is not read.
func nameOf(path string, raw []byte) (name, field string, err error) {
	if !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) {
		return "", "", &Error{Path: path, Err: fmt.Errorf(noModel, "which is a JSON object")}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	_, _ = d.Token() // the brace
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return "", "", jsonError(path, raw, err)
		}
		field, _ := token.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return "", "", jsonError(path, raw, err)
		}
		if field == "choice" {
			return "", "", &Error{Path: path, Err: errors.New("it is a choice of hyper-parameters, with which a model is " +
				"made: run trial EXPERIMENT ... --release FILE --tuning THIS_FILE; run predict takes the model")}
		}
		if field != "format" && field != "model" {
			continue
		}
		if json.Unmarshal(value, &name) == nil && name != "" {
			return name, field, nil
		}
	}
	if _, err := d.Token(); err != nil {
		return "", "", jsonError(path, raw, err)
	}
	return "", "", &Error{Path: path, Err: fmt.Errorf(noModel, `since it has no member "format"`)}
}

// Explain says in words of a file, without those of the decoder, why encoding/json did not read
// the text of the file at path: an *[Error] with the place or the member.
func Explain(path string, raw []byte, err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		value, _, _ := strings.Cut(kind.Value, " ")
		is := map[string]string{"string": "a text", "array": "a list", "bool": "true or false", "number": "a number"}[value]
		if is == "" {
			is = "an object"
		}
		_, number, _ := strings.Cut(kind.Value, " ")
		if number != "" && value == "number" && kind.Type.Kind() == reflect.Float64 {
			return &Error{Path: path, Field: kind.Field, Err: fmt.Errorf("it is %s, which is too large for a number", number)}
		}
		return &Error{Path: path, Field: kind.Field, Err: fmt.Errorf("it is %s; %s is required", is, wanted(kind.Type))}
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return &Error{Path: path, Err: fmt.Errorf("unknown member %s; a file of this format has none: %s", shortened(name),
			changed)}
	}
	return jsonError(path, raw, err)
}

// jsonError is an error of the text of a file, with its place in the whole text.
func jsonError(path string, raw []byte, err error) error {
	// A decoder of a member counts from there; of the whole text the place is right.
	var whole json.RawMessage
	var syntax *json.SyntaxError
	if !errors.As(json.Unmarshal(raw, &whole), &syntax) {
		return &Error{Path: path, Err: fmt.Errorf("a defect of this program, which does not read it: %w", err)}
	}
	at := int(syntax.Offset) - 1
	e := &Error{Path: path}
	e.Line, e.Column = place(raw, at)
	switch {
	case strings.Contains(syntax.Error(), "max depth"):
		e.Err = errors.New("lists are nested deeper than in any model: the file is none")
	case strings.HasPrefix(syntax.Error(), "unexpected end"):
		e.Line, e.Column = place(raw, len(raw))
		e.Err = errors.New(cutOff)
	default:
		e.Err = errors.New(misplaced(raw[at:]))
	}
	return e
}
