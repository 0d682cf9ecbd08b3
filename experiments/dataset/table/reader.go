package table

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"privkern/experiments/dataset"
)

// reader reads a file row by row.
type reader interface {
	// header returns the names of all columns, and where each stands.
	header() ([]string, func(column int) place)
	// want chooses the columns that are read. Those of texts are taken as they stand.
	want(columns []int, texts []bool) error
	// next goes to the next row; io.EOF where there is none.
	next() error
	// cell is the value of the i-th wanted column in the current row.
	cell(i int) cell
	// place is where it stands.
	place(i int) place
	// estimate returns the number of rows, before the first is read.
	estimate() (int, error)
	close()
}

// shown is the path in the name of data, as the user wrote it: a record does not disclose where on
// a machine the files lie.
func shown(name string) string {
	path, _ := dataset.FilePath(name)
	return path
}

// open opens the data of a name at a path, to be read with settings. Errors have the path of the name.
func open(name, path string, reading Reading) (reader, error) {
	as, err := reading.In(name).form()
	if err != nil {
		return nil, err
	}
	switch dataset.OwnKind(name) {
	case dataset.OwnCSV:
		return openCSV(path, shown(name), as)
	case dataset.OwnParquet:
		return openParquet(path, shown(name), as)
	case dataset.OwnNPY:
		return openNPY(path, shown(name), as)
	case dataset.OwnImages:
		return openImages(name, path, shown(name))
	case dataset.OwnSet:
		return openSet(name, path)
	}
	return nil, errorf(shown(name), "%q is no kind of data of one's own; write %s", name, dataset.OwnForms())
}

// Named returns the name of data that are named by a path alone, by its ending or as a
// folder, or as in a setting.
func Named(arg string) string {
	if Is(arg) {
		return arg
	}
	kind := dataset.OwnCSV
	switch strings.ToLower(filepath.Ext(arg)) {
	case ".parquet", ".pq":
		kind = dataset.OwnParquet
	case ".npy":
		kind = dataset.OwnNPY
	default:
		name := dataset.OwnName(dataset.OwnImages, arg)
		if info, err := os.Stat(shown(name)); err == nil && info.IsDir() {
			return name
		}
	}
	return dataset.OwnName(kind, arg)
}

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
