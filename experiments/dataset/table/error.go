package table

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// Error is an error at a place in a table.
type Error struct {
	Path         string // as the user wrote it
	Line, Column int    // of a text, from 1; 0 where it is the whole file, or the whole line
	Row          int    // of a file without lines, from 1; 0 for the whole file
	Err          error
}

func (e *Error) Error() string {
	at := e.Path
	if e.Line > 0 {
		at += ":" + strconv.Itoa(e.Line)
	}
	if e.Column > 0 {
		at += ":" + strconv.Itoa(e.Column)
	}
	if e.Row > 0 {
		at += ": row " + strconv.Itoa(e.Row)
	}
	return at + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// errorf is about a whole file.
func errorf(path, format string, args ...any) error {
	return &Error{Path: path, Err: fmt.Errorf(format, args...)}
}

// place is where the value of a row stands.
type place struct{ line, column, row int }

func (p place) errorf(path, format string, args ...any) error {
	return &Error{Path: path, Line: p.line, Column: p.column, Row: p.row, Err: fmt.Errorf(format, args...)}
}

// String completes "as in".
func (p place) String() string {
	if p.row > 0 {
		return "row " + strconv.Itoa(p.row)
	}
	return "line " + strconv.Itoa(p.line)
}

// openFile refuses anything but a regular file, because a pipe could not be read twice. Errors name
// it as shown.
func openFile(path, shown string) (*os.File, error) {
	info, err := os.Stat(path)
	var f *os.File
	if err == nil && !info.Mode().IsRegular() {
		return nil, errorf(shown, "it is not a regular file")
	}
	if err == nil {
		f, err = os.Open(path)
	}
	var in *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{Path: shown, Err: fs.ErrNotExist}
	case errors.As(err, &in):
		return nil, &Error{Path: shown, Err: in.Err}
	case err != nil:
		return nil, &Error{Path: shown, Err: err}
	}
	return f, nil
}

// shortened keeps a text short enough for a message.
func shortened(s string) string {
	const longest = 60
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "..."
	}
	return s
}
