package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
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
// semicolons or tabs, as the header shows.
type csvReader struct {
	path    string
	file    *os.File
	feed    *feed
	csv     *csv.Reader
	names   []string
	headers []place
	wanted  []int
	texts   []bool
	fields  []string // the current row
	line    int      // where it starts
}

func openCSV(path, shown string) (reader, error) {
	f, err := openFile(path, shown)
	if err != nil {
		return nil, err
	}
	r, err := newCSV(f, shown)
	if err != nil {
		_ = f.Close() // opened for reading only
		return nil, err
	}
	r.file = f
	return r, nil
}

// newCSV reads the header.
func newCSV(file io.Reader, path string) (*csvReader, error) {
	const headerBytes = 1 << 16
	buffered := bufio.NewReaderSize(file, headerBytes)
	head, err := buffered.Peek(headerBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &Error{Path: path, Err: err}
	}
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(head, mark) {
		_, _ = buffered.Discard(len(mark)) // it is in the buffer
		head = head[len(mark):]
	}
	if err := checkText(head, len(head) < headerBytes); err != nil {
		return nil, &Error{Path: path, Err: err}
	}
	r := &csvReader{path: path, feed: &feed{r: buffered}}
	r.csv = csv.NewReader(r.feed)
	r.csv.Comma = separator(head)
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = r.csv.Comma != '\t' // it would take tabs, too
	if err := r.next(); err != nil {
		return nil, err
	}
	for i, name := range r.fields { // which the next row replaces
		line, column := r.csv.FieldPos(i)
		r.names = append(r.names, strings.TrimSpace(name))
		r.headers = append(r.headers, place{line: line, column: column})
	}
	return r, nil
}

// checkText refuses the start of a file that is no text.
func checkText(head []byte, whole bool) error {
	switch {
	case len(bytes.TrimSpace(head)) == 0 && whole:
		return errors.New("the file is empty; expected a header with the names of the columns")
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return errors.New("the text is in UTF-16; save it as UTF-8")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return errors.New("it is an archive or a spreadsheet, not text; save it as comma-separated values")
	case bytes.IndexByte(head, 0) >= 0:
		return errors.New("it is not a text: there is a zero byte at its start")
	}
	return nil
}

// separator returns the most frequent separator of the header.
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

func (r *csvReader) header() ([]string, func(int) place) {
	return r.names, func(column int) place { return r.headers[column] }
}

func (r *csvReader) want(columns []int, texts []bool) error {
	r.wanted, r.texts = columns, texts
	return nil
}

// next reads the next row into fields.
func (r *csvReader) next() error {
	r.feed.start = r.csv.InputOffset()
	fields, err := r.csv.Read()
	var in *csv.ParseError
	switch {
	case errors.Is(err, csv.ErrFieldCount):
		line, _ := r.csv.FieldPos(0)
		return place{line: line}.errorf(r.path, "%d fields, expected %d as in the header", len(fields), len(r.names))
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
	if r.texts[i] {
		if text = strings.TrimSpace(text); isMissing(text) {
			return cell{}
		}
		return cell{kind: word, text: text}
	}
	return textCell(text)
}

func (r *csvReader) place(i int) place {
	line, column := r.csv.FieldPos(r.wanted[i])
	return place{line: line, column: column}
}

// estimate is the number of rows after the header, exact where the text is short.
func (r *csvReader) estimate() (int, error) {
	info, err := r.file.Stat()
	if err != nil {
		return 0, &Error{Path: r.path, Err: pathless(err)}
	}
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
	return int(float64(rows) * float64(info.Size()-start) / read), nil
}

func (r *csvReader) close() { _ = r.file.Close() } // opened for reading only
