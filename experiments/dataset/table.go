package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"privkern/runner/experiment"
)

// Bounds on a user's table, far above what a kernel method can use: beyond them
// a wrong file would cost all memory.
const (
	// MaxTableValues is how many numbers are read from a table, its rows times
	// its named columns.
	MaxTableValues = 1 << 24
	// MaxTableRow is the longest row of a table in bytes.
	MaxTableRow = 1 << 20
)

// Table is what was read from a user's file of comma-separated values.
type Table struct {
	Path       string
	Inputs     *mat.Dense // N×d, the columns in the order in which they were named
	Output     []float64
	InputNames []string
	OutputName string
	// Dropped is how many rows were left out because a named column has no
	// value there.
	Dropped int
	// Constant names the inputs that have one value in all rows: nothing
	// depends on them.
	Constant []string
}

// LoadTable reads the named columns of a file of comma-separated values with a
// header; values may also be separated by semicolons or tabs, as the header
// shows. Only the named columns need to hold numbers. A row without a value
// (empty, NA or NaN) in one of them is left out and counted; blank lines are
// not rows. Errors are *[TableError].
func LoadTable(path string, inputs []string, output string) (*Table, error) {
	if slices.Contains(inputs, output) {
		return nil, tableErrorf(path, 0, 0, "the column %q is to be both an input and the output", output)
	}
	values, dropped, err := readColumns(path, append(slices.Clone(inputs), output), true)
	if err != nil {
		return nil, err
	}
	d := len(inputs)
	n := len(values) / (d + 1)
	if n == 0 {
		return nil, tableErrorf(path, 0, 0, "none of its %d rows has a value in all of the columns %s", dropped,
			strings.Join(append(slices.Clone(inputs), output), ", "))
	}
	all := mat.NewDense(n, d+1, values)
	t := &Table{
		Path: path, Inputs: mat.DenseCopyOf(all.Slice(0, n, 0, d)), Output: mat.Col(nil, d, all),
		InputNames: slices.Clone(inputs), OutputName: output, Dropped: dropped,
	}
	for j, name := range inputs {
		if column := mat.Col(nil, j, t.Inputs); slices.Min(column) == slices.Max(column) {
			t.Constant = append(t.Constant, name)
		}
	}
	return t, nil
}

// LoadInputs reads the named columns of a file in the format of [LoadTable],
// where every row must have a value in each: the rows are points at which
// something is asked for.
func LoadInputs(path string, inputs []string) (*mat.Dense, error) {
	values, _, err := readColumns(path, inputs, false)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(len(values)/len(inputs), len(inputs), values), nil
}

// TableError says where in a table something is wrong.
type TableError struct {
	Path         string
	Line, Column int // from 1; 0 where it is the whole file, or the whole line
	Err          error
}

func (e *TableError) Error() string {
	at := e.Path
	if e.Line > 0 {
		at += ":" + strconv.Itoa(e.Line)
	}
	if e.Column > 0 {
		at += ":" + strconv.Itoa(e.Column)
	}
	return at + ": " + e.Err.Error()
}

func (e *TableError) Unwrap() error { return e.Err }

func tableErrorf(path string, line, column int, format string, args ...any) error {
	return &TableError{Path: path, Line: line, Column: column, Err: fmt.Errorf(format, args...)}
}

// readColumns returns the named columns, row after row, and the number of rows
// that were left out.
func readColumns(path string, names []string, drop bool) (values []float64, dropped int, err error) {
	f, err := openTable(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	r, err := openColumns(path, f, names)
	if err != nil {
		return nil, 0, err
	}
	row := make([]float64, len(names))
	rows := 0
	for {
		whole, err := r.read(row)
		switch {
		case errors.Is(err, io.EOF) && rows == 0:
			return nil, 0, tableErrorf(path, 0, 0, "there are no rows after the header")
		case errors.Is(err, io.EOF):
			return values, dropped, nil
		case err != nil:
			return nil, 0, err
		}
		rows++
		if whole >= 0 {
			if !drop {
				return nil, 0, r.errorAt(whole, "column %q has no value (%q); a row of inputs needs all of them", names[whole],
					r.text(whole))
			}
			dropped++
			continue
		}
		if len(values) > MaxTableValues-len(row) {
			return nil, 0, r.errorAt(0, "the named columns hold more than %d numbers up to here; take a part of the rows",
				MaxTableValues)
		}
		values = append(values, row...)
	}
}

// CheckColumns refuses a file in the format of [LoadTable] that lacks one of the
// columns, or has it twice. It reads the header alone. Errors are *[TableError].
func CheckColumns(path string, names []string) error {
	f, err := openTable(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	_, err = openColumns(path, f, names)
	return err
}

// openColumns reads the header, and finds the named columns in it.
func openColumns(path string, f *os.File, names []string) (*tableReader, error) {
	for i, name := range names {
		if name == "" {
			return nil, tableErrorf(path, 0, 0, "a column without a name is asked for")
		}
		if slices.Contains(names[:i], name) {
			return nil, tableErrorf(path, 0, 0, "the column %q is named twice", name)
		}
	}
	r, err := newTableReader(path, f)
	if err != nil {
		return nil, err
	}
	return r, r.find(names)
}

// openTable refuses what is not a file: a pipe could not be read again.
func openTable(path string) (*os.File, error) {
	info, err := os.Stat(path)
	var f *os.File
	if err == nil && !info.Mode().IsRegular() {
		return nil, tableErrorf(path, 0, 0, "it is not a regular file")
	}
	if err == nil {
		f, err = os.Open(path)
	}
	var in *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &TableError{Path: path, Err: fs.ErrNotExist}
	case errors.As(err, &in):
		return nil, &TableError{Path: path, Err: in.Err}
	case err != nil:
		return nil, &TableError{Path: path, Err: err}
	}
	return f, nil
}

// tableReader reads rows of numbers.
type tableReader struct {
	path   string
	csv    *csv.Reader
	feed   *feed
	header []string
	names  []string // the wanted columns
	column []int    // where they are
	fields []string // the current row
	line   int      // where it starts
}

// feed bounds how much is read for one row, which a quotation mark without its
// other half would make as long as the file.
type feed struct {
	r     io.Reader
	given int64
	start int64 // of the current row
}

var errLongRow = fmt.Errorf("the row is longer than %d bytes; perhaps a quotation mark lacks its other half",
	MaxTableRow)

func (f *feed) Read(b []byte) (int, error) {
	if f.given-f.start > MaxTableRow {
		return 0, errLongRow
	}
	n, err := f.r.Read(b)
	f.given += int64(n)
	return n, err
}

// newTableReader reads the header.
func newTableReader(path string, file io.Reader) (*tableReader, error) {
	const headerBytes = 1 << 16
	buffered := bufio.NewReaderSize(file, headerBytes)
	head, err := buffered.Peek(headerBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &TableError{Path: path, Err: err}
	}
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(head, mark) {
		_, _ = buffered.Discard(len(mark)) // it is in the buffer
		head = head[len(mark):]
	}
	switch {
	case len(bytes.TrimSpace(head)) == 0 && len(head) < headerBytes:
		return nil, tableErrorf(path, 0, 0, "the file is empty; expected a header with the names of the columns")
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil, tableErrorf(path, 0, 0, "the text is in UTF-16; save it as UTF-8")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return nil, tableErrorf(path, 0, 0, "it is an archive or a spreadsheet, not text; save it as comma-separated values")
	case bytes.IndexByte(head, 0) >= 0:
		return nil, tableErrorf(path, 0, 0, "it is not a text: there is a zero byte at its start")
	}
	r := &tableReader{path: path, feed: &feed{r: buffered}}
	r.csv = csv.NewReader(r.feed)
	r.csv.Comma = separator(head)
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = r.csv.Comma != '\t' // it would take tabs, too
	if err := r.next(); err != nil {
		return nil, err
	}
	for _, name := range r.fields { // which the next row replaces
		r.header = append(r.header, strings.TrimSpace(name))
	}
	return r, nil
}

// separator returns what most often stands between the names of the header.
func separator(head []byte) rune {
	count := map[rune]int{}
	quoted := false
	for _, c := range strings.TrimLeft(string(head), "\r\n") {
		if c == '"' {
			quoted = !quoted
		}
		if !quoted {
			count[c]++
			if c == '\n' || c == '\r' {
				break
			}
		}
	}
	best := ','
	for _, c := range []rune{';', '\t'} {
		if count[c] > count[best] {
			best = c
		}
	}
	return best
}

// next reads the next row into fields.
func (r *tableReader) next() error {
	r.feed.start = r.csv.InputOffset()
	fields, err := r.csv.Read()
	var in *csv.ParseError
	switch {
	case errors.Is(err, csv.ErrFieldCount):
		line, _ := r.csv.FieldPos(0)
		return tableErrorf(r.path, line, 0, "%d fields, expected %d as in the header", len(fields), len(r.header))
	case errors.As(err, &in):
		return &TableError{Path: r.path, Line: in.Line, Column: in.Column, Err: in.Err}
	case errors.Is(err, errLongRow):
		return &TableError{Path: r.path, Line: r.line + 1, Err: err}
	case err != nil && !errors.Is(err, io.EOF):
		return &TableError{Path: r.path, Err: err}
	case err == nil:
		r.line, _ = r.csv.FieldPos(0)
	}
	r.fields = fields
	return err
}

// find looks the wanted columns up in the header.
func (r *tableReader) find(names []string) error {
	r.names = names
	for _, name := range names {
		at := slices.Index(r.header, name)
		if at < 0 {
			known := slices.DeleteFunc(slices.Clone(r.header), func(s string) bool { return s == "" })
			return &TableError{Path: r.path, Line: r.line, Err: experiment.Unknown("column", name, known)}
		}
		if again := slices.Index(r.header[at+1:], name); again >= 0 {
			_, column := r.csv.FieldPos(at + 1 + again)
			return tableErrorf(r.path, r.line, column, "a second column is named %q", name)
		}
		r.column = append(r.column, at)
	}
	return nil
}

// read reads the wanted numbers of the next row. It returns the position of the
// first that is missing, or -1.
func (r *tableReader) read(row []float64) (missing int, err error) {
	if err := r.next(); err != nil {
		return -1, err
	}
	missing = -1
	for i := range r.column {
		text := strings.TrimSpace(r.text(i))
		if text == "" || strings.EqualFold(text, "na") || strings.EqualFold(text, "nan") {
			if missing < 0 {
				missing = i
			}
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case errors.Is(err, strconv.ErrRange) || err == nil && math.IsInf(v, 0):
			return -1, r.errorAt(i, "column %q is %q, expected a finite number", r.names[i], shortened(text))
		case err != nil || strings.ContainsAny(text, "xX_"):
			hint := ""
			if strings.Count(text, ",") == 1 && !strings.ContainsAny(text, ".") {
				hint = " with a decimal point"
			}
			return -1, r.errorAt(i, "column %q is %q, expected a number%s", r.names[i], shortened(text), hint)
		}
		row[i] = v
	}
	return missing, nil
}

// text is the current row's field of a wanted column.
func (r *tableReader) text(wanted int) string { return r.fields[r.column[wanted]] }

func (r *tableReader) errorAt(wanted int, format string, args ...any) error {
	line, column := r.csv.FieldPos(r.column[wanted])
	return tableErrorf(r.path, line, column, format, args...)
}

// shortened keeps a text short enough for a message.
func shortened(s string) string {
	const longest = 60
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "..."
	}
	return s
}
