package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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
	Field        string // such as covariance[2][1]; "" for the whole file
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
		return nil, "", &Error{Path: path, Err: fmt.Errorf("it has more than %d MiB, which no model has", maxSize>>20)}
	}
	return Decode(path, raw, formats)
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

// unknownFormat says of a version of a known format which is read.
func unknownFormat(name string, known []string) error {
	family, version := splitFormat(name)
	for _, k := range known {
		same, reads := splitFormat(k)
		switch {
		case same != family || version < 0:
		case version > reads:
			return fmt.Errorf("it is %q; this program reads %q: the file is of a later version of the program, use that",
				name, k)
		default:
			return fmt.Errorf("it is %q; this program reads %q", name, k)
		}
	}
	return experiment.Unknown("format", name, known)
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
			return "", "", jsonError(path, raw, d.InputOffset(), err)
		}
		field, _ := token.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return "", "", jsonError(path, raw, d.InputOffset(), err)
		}
		if field != "format" && field != "model" {
			continue
		}
		if json.Unmarshal(value, &name) == nil && name != "" {
			return name, field, nil
		}
	}
	if _, err := d.Token(); err != nil {
		return "", "", jsonError(path, raw, d.InputOffset(), err)
	}
	return "", "", &Error{Path: path, Err: fmt.Errorf(noModel, `since it has no member "format"`)}
}

func jsonError(path string, raw []byte, offset int64, err error) error {
	// The decoder counts from the member; of the whole text the place is right.
	var whole json.RawMessage
	var syntax *json.SyntaxError
	if again := json.Unmarshal(raw, &whole); errors.As(again, &syntax) {
		offset, err = syntax.Offset, again
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		offset, err = int64(len(raw)), errors.New("unexpected end of JSON input")
	}
	before := raw[:min(max(int(offset), 0), len(raw))]
	return &Error{Path: path, Line: 1 + bytes.Count(before, []byte("\n")),
		Column: max(1, len(before)-1-bytes.LastIndexByte(before, '\n')), Err: err}
}
