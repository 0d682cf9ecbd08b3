package table

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// MaxRow is the longest row of a text in bytes.
const MaxRow = 1 << 20

// sampled is how much of a text is read to estimate how many rows it has, in bytes.
const sampled = 1 << 16

// feed bounds how much is read for one row, which a quotation mark without its
// other half would make as long as the file.
type feed struct {
	r     io.Reader
	given int64
	start int64 // of the current row
}

var errLongRow = fmt.Errorf("the row is longer than %d bytes; perhaps a quotation mark lacks its other half", MaxRow)

func (f *feed) Read(b []byte) (int, error) {
	if f.given-f.start > MaxRow {
		return 0, errLongRow
	}
	n, err := f.r.Read(b)
	f.given += int64(n)
	return n, err
}

// csvReader reads comma-separated values with a header; values may also be separated by
// semicolons or tabs, as the header shows, or be written as the settings say.
type csvReader struct {
	path    string
	file    *os.File
	size    int64 // of the text, in bytes
	form    *form
	held    bool // the current row was not given yet
	feed    *feed
	csv     *csv.Reader
	names   []string
	headers []place
	wanted  []int
	texts   []bool
	fields  []string // the current row
	line    int      // where it starts
}

func openCSV(path, shown string, as *form) (reader, error) {
	f, err := openFile(path, shown)
	if err != nil {
		return nil, err
	}
	r, err := newCSV(f, shown, as)
	if err != nil {
		_ = f.Close() // opened for reading only
		return nil, err
	}
	return r, nil
}

// headerBytes is how much of a text is looked at before the first row is read, in bytes.
const headerBytes = 1 << 16

// peek returns the start of a file, as far as there is one.
func peek(r *bufio.Reader, path string) ([]byte, error) {
	head, err := r.Peek(headerBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &Error{Path: path, Err: err}
	}
	return head, nil
}

// textOfFile returns the text of a file in UTF-8, unpacked and without a byte order mark, its start, and about how
// many bytes it has.
func textOfFile(file *os.File, path string, as *form) (text *bufio.Reader, head []byte, size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, nil, 0, &Error{Path: path, Err: pathless(err)}
	}
	text, size = bufio.NewReaderSize(file, headerBytes), info.Size()
	if head, err = peek(text, path); err != nil {
		return nil, nil, 0, err
	}
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		packed, err := gzip.NewReader(text)
		if err != nil {
			return nil, nil, 0, errorf(path, "the file is packed by gzip, and damaged: %w", err)
		}
		// RFC 1952: the last four bytes are the length of what was packed, modulo 2^32.
		var length [4]byte
		if _, err := file.ReadAt(length[:], size-int64(len(length))); err == nil {
			size = max(size, int64(binary.LittleEndian.Uint32(length[:])))
		}
		text = bufio.NewReaderSize(packed, headerBytes)
		if head, err = peek(text, path); err != nil {
			return nil, nil, 0, err
		}
	}
	if err := as.checkMark(head); err != nil {
		return nil, nil, 0, &Error{Path: path, Err: err}
	}
	if as.coding != nil {
		text = bufio.NewReaderSize(transform.NewReader(text, as.coding.NewDecoder()), headerBytes)
		if head, err = peek(text, path); err != nil {
			return nil, nil, 0, err
		}
	}
	if mark := []byte("\ufeff"); bytes.HasPrefix(head, mark) {
		_, _ = text.Discard(len(mark)) // it is in the buffer
		head = head[len(mark):]
	}
	if err := checkText(path, head, len(head) < headerBytes-utf8.UTFMax); err != nil {
		return nil, nil, 0, err
	}
	return text, head, size, nil
}

// newCSV reads the header.
func newCSV(file *os.File, path string, as *form) (*csvReader, error) {
	text, head, size, err := textOfFile(file, path, as)
	if err != nil {
		return nil, err
	}
	r := &csvReader{path: path, file: file, size: size, form: as, feed: &feed{r: text}}
	r.csv = csv.NewReader(r.feed)
	if r.csv.Comma = as.comma; as.comma == 0 {
		r.csv.Comma = separator(head, as.comment)
	}
	if r.csv.Comment = as.comment; as.comment == r.csv.Comma {
		return nil, errorf(path, "the values are separated by %q, which begins comments, too; write separator=", as.comment)
	}
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = r.csv.Comma != '\t' // it would take tabs, too
	switch err := r.next(); {
	case errors.Is(err, io.EOF):
		return nil, errorf(path, "there is no line but comments and empty ones")
	case err != nil:
		return nil, err
	}
	for i, name := range r.fields { // which the next row replaces
		line, column := r.csv.FieldPos(i)
		at := place{line: line, column: column}
		if name = strings.TrimSpace(name); as.unnamed {
			name = "x" + strconv.Itoa(i+1)
		} else if c := as.clean(cell{kind: word, text: name}); c.kind == broken {
			return nil, at.errorf(path, "the name of a column is %q, expected %s", shortened(name), c.want)
		}
		r.names, r.headers = append(r.names, strings.Clone(name)), append(r.headers, at)
	}
	r.held = as.unnamed
	return r, nil
}

// checkText refuses the start of a file that is no text.
func checkText(path string, head []byte, whole bool) error {
	switch zero := bytes.IndexByte(head, 0); {
	case len(bytes.TrimSpace(head)) == 0 && whole:
		return errorf(path, "the file is empty; expected a header with the names of the columns")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return errorf(path, "it is an archive or a spreadsheet, not text; save it as comma-separated values")
	case zero >= 0:
		before := head[:zero]
		at := place{line: 1 + bytes.Count(before, []byte("\n")), column: zero - bytes.LastIndexByte(before, '\n')}
		return at.errorf(path, "there is a zero byte, which no text has; one in UTF-16 is read with encoding=utf-16le or "+
			"utf-16be")
	}
	return nil
}

// separator returns the most frequent separator of the header, which comes after lines of comments.
func separator(head []byte, comment rune) rune {
	count := map[rune]int{}
	quoted := false
	text := strings.TrimLeft(string(head), "\r\n")
	for comment != 0 && strings.HasPrefix(text, string(comment)) {
		_, text, _ = strings.Cut(text, "\n")
		text = strings.TrimLeft(text, "\r\n")
	}
	for _, c := range text {
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

func (r *csvReader) header() ([]string, func(int) place) {
	return r.names, func(column int) place { return r.headers[column] }
}

func (r *csvReader) want(columns []int, texts []bool) error {
	r.wanted, r.texts = columns, texts
	return nil
}

// next reads the next row into fields.
func (r *csvReader) next() error {
	if r.held {
		r.held = false
		return nil
	}
	r.feed.start = r.csv.InputOffset()
	fields, err := r.csv.Read()
	var in *csv.ParseError
	switch {
	case errors.Is(err, csv.ErrFieldCount):
		line, _ := r.csv.FieldPos(0)
		return place{line: line}.errorf(r.path, "%d fields, expected %d as in the %s", len(fields), len(r.names),
			map[bool]string{false: "header", true: "first row"}[r.form.unnamed])
	case errors.As(err, &in):
		return &Error{Path: r.path, Line: in.Line, Column: in.Column, Err: in.Err}
	case errors.Is(err, errLongRow):
		return &Error{Path: r.path, Line: r.line + 1, Err: err}
	case err != nil && !errors.Is(err, io.EOF):
		return &Error{Path: r.path, Err: err}
	case err == nil:
		r.line, _ = r.csv.FieldPos(0)
	}
	r.fields = fields
	return err
}

func (r *csvReader) cell(i int) cell {
	text := r.fields[r.wanted[i]]
	var c cell
	switch {
	case r.texts[i]:
		c = r.form.word(text)
	case r.form.plain:
		c = textCell(text)
	default:
		c = r.form.cell(text)
	}
	if c.kind == word {
		return r.form.clean(c)
	}
	return c
}

func (r *csvReader) place(i int) place {
	line, column := r.csv.FieldPos(r.wanted[i])
	return place{line: line, column: column}
}

// estimate is the number of rows after the header, exact where the text is short.
func (r *csvReader) estimate() (int, error) {
	start, rows := r.csv.InputOffset(), 0
	for ; r.csv.InputOffset()-start < sampled; rows++ {
		switch err := r.next(); {
		case errors.Is(err, io.EOF):
			return rows, nil
		case err != nil:
			return 0, err
		}
	}
	read := float64(r.csv.InputOffset() - start)
	return int(float64(rows) * float64(r.size-start) / read), nil
}

func (r *csvReader) close() { _ = r.file.Close() } // opened for reading only
