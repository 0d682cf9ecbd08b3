package table

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"privkern/experiments/dataset"
	"privkern/experiments/dataset/readers"
)

// labelColumn is the column of labels of an array or of a folder of pictures.
const labelColumn = "label"

// array is a NumPy array, of which one element is read after the other.
type array struct {
	path    string
	file    *os.File
	in      io.Reader
	rows    int
	columns int // numbers a row, in C order
	size    int // of an element, in bytes
	decode  func(b []byte) cell
	buffer  []byte // one row as stored, or of Fortran's order all rows
	strides []int  // of Fortran's order: where a column begins, in elements
	row     int    // the current one, from 0
}

// openArray reads the header, and checks it against the size of the file.
func openArray(path, shown string, as *form) (*array, error) {
	f, err := openFile(path, shown)
	if err != nil {
		return nil, err
	}
	a := &array{path: shown, file: f, in: bufio.NewReaderSize(f, 1<<20), row: -1}
	info, err := f.Stat()
	if err == nil {
		err = a.readHeader(info.Size(), as)
	}
	if err != nil {
		a.close()
		return nil, &Error{Path: shown, Err: err}
	}
	return a, nil
}

func (a *array) close() { _ = a.file.Close() } // opened for reading only

func (a *array) readHeader(fileSize int64, as *form) error {
	header, length, err := readers.NPYHeader(a.in)
	if err != nil {
		return err
	}
	if a.size, a.decode, err = element(header.Descr.Type, as); err != nil {
		return err
	}
	shape := header.Descr.Shape
	if len(shape) == 0 {
		return errors.New("the array is a single value; expected a row for each case")
	}
	// By division: the product of unchecked sizes may overflow.
	content := fileSize - length
	rest := content / int64(a.size)
	a.rows, a.columns = shape[0], 1
	for _, n := range shape {
		if n < 1 {
			return fmt.Errorf("the shape is %v: there are no values", shape)
		}
		rest /= int64(n)
	}
	for _, n := range shape[1:] {
		if n > MaxValues/a.columns {
			return fmt.Errorf("the shape is %v: at most %d values are read of a row", shape, MaxValues)
		}
		a.columns *= n
	}
	if rest < 1 || int64(a.rows)*int64(a.columns)*int64(a.size) != content {
		return fmt.Errorf("the header announces an array of shape %v with elements of %d bytes, but %d bytes follow it; the "+
			"file is cut off or damaged", shape, a.size, content)
	}
	if a.rows > MaxValues/a.columns {
		return fmt.Errorf("the shape is %v: more than %d values; take a part of the rows", shape, MaxValues)
	}
	if header.Descr.Fortran {
		return a.readWhole(shape, content)
	}
	if n := int64(a.columns) * int64(a.size); n > maxHeld {
		return fmt.Errorf("a row takes %d bytes; at most %d are read of a row", n, maxHeld)
	}
	a.buffer = make([]byte, a.columns*a.size)
	return nil
}

// maxHeld bounds the row, or the array in Fortran's order, that is in memory, in bytes: a file
// with holes announces any size. MaxValues numbers take half of it; only texts take more.
const maxHeld = 1 << 28

// readWhole reads an array in Fortran's order, whose rows lie apart.
func (a *array) readWhole(shape []int, content int64) error {
	if content > maxHeld {
		return fmt.Errorf("the array is in Fortran's order and has %d bytes, of which at most %d are read; write it row by "+
			"row: numpy.ascontiguousarray(x)", content, maxHeld)
	}
	a.strides = fortranStrides(shape)
	a.buffer = make([]byte, content)
	_, err := io.ReadFull(a.in, a.buffer)
	return err
}

// fortranStrides is where each column of a row begins in an array in Fortran's order,
// whose columns are counted in C's.
func fortranStrides(shape []int) []int {
	out := []int{0}
	step := shape[0]
	for _, n := range shape[1:] {
		var next []int
		for _, at := range out {
			for i := range n {
				next = append(next, at+i*step)
			}
		}
		out, step = next, step*n
	}
	return out
}

// next goes to the next row.
func (a *array) next() error {
	a.row++
	if a.row >= a.rows {
		return io.EOF
	}
	if a.strides != nil {
		return nil
	}
	if _, err := io.ReadFull(a.in, a.buffer); err != nil {
		return &Error{Path: a.path, Row: a.row + 1, Err: fmt.Errorf("the file is cut off: %w", err)}
	}
	return nil
}

// cell is an element of the current row.
func (a *array) cell(column int) cell {
	at := column
	if a.strides != nil {
		at = a.strides[column] + a.row
	}
	return a.decode(a.buffer[at*a.size : (at+1)*a.size])
}

// element is how the elements of a type are read, such as <f4.
func element(descr string, as *form) (size int, decode func([]byte) cell, err error) {
	refuse := func(what string) (int, func([]byte) cell, error) {
		return 0, nil, fmt.Errorf("the elements are %q%s; convert with x.astype('f8'), or labels with x.astype('U')",
			shortened(descr), what)
	}
	if strings.Trim(descr, "<>|=") == "O" {
		return refuse(", objects of Python, which would have to be run to be read")
	}
	if len(descr) < 3 || !strings.Contains("<>|=", descr[:1]) {
		return refuse("")
	}
	var order binary.ByteOrder = binary.LittleEndian
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	n, err := strconv.Atoi(descr[2:])
	if err != nil || n < 1 || n > maxText {
		return refuse("")
	}
	switch kind := descr[1]; kind {
	case 'f':
		if n == 2 || n == 4 || n == 8 {
			return n, floats(order, n), nil
		}
	case 'i', 'u':
		if n == 1 || n == 2 || n == 4 || n == 8 {
			return n, integers(order, n, kind == 'i'), nil
		}
	case 'b':
		if n == 1 {
			return 1, func(b []byte) cell { return truth(b[0] != 0) }, nil
		}
	case 'S':
		return n, as.bytes, nil
	case 'U':
		return 4 * n, wide(order), nil
	}
	return refuse("")
}

// maxText is the longest text of an array's element, in characters.
const maxText = 1 << 12

func floats(order binary.ByteOrder, n int) func([]byte) cell {
	return func(b []byte) cell {
		switch n {
		case 2:
			return numeric(half(order.Uint16(b)))
		case 4:
			return numeric(float64(math.Float32frombits(order.Uint32(b))))
		}
		return numeric(math.Float64frombits(order.Uint64(b)))
	}
}

// half is the value of a float16 of IEEE 754: a sign, 5 bits of exponent with bias 15, and 10
// bits of fraction. Every one is a float64.
func half(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var v float64
	switch {
	case exponent == 31 && fraction == 0:
		v = math.Inf(1)
	case exponent == 31:
		return math.NaN()
	case exponent == 0: // denormal, or zero
		v = math.Ldexp(fraction, -24)
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 == 1 {
		v = -v
	}
	return v
}

func integers(order binary.ByteOrder, n int, signed bool) func([]byte) cell {
	shift := 64 - 8*n
	return func(b []byte) cell {
		var v uint64
		switch n {
		case 1:
			v = uint64(b[0])
		case 2:
			v = uint64(order.Uint16(b))
		case 4:
			v = uint64(order.Uint32(b))
		default:
			v = order.Uint64(b)
		}
		if signed {
			i := int64(v<<shift) >> shift
			return wholeCell(float64(i), func() string { return strconv.FormatInt(i, 10) })
		}
		return wholeCell(float64(v), func() string { return strconv.FormatUint(v, 10) })
	}
}

// wide reads texts of UTF-32.
func wide(order binary.ByteOrder) func([]byte) cell {
	return func(b []byte) cell {
		var text []byte
		for ; len(b) >= 4; b = b[4:] {
			r := order.Uint32(b)
			if r == 0 && len(bytes.TrimLeft(b, "\x00")) == 0 {
				break
			}
			if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
				return cell{kind: broken, text: fmt.Sprintf("%s\\U%08x", text, r), want: foul + "of characters that there are"}
			}
			text = utf8.AppendRune(text, rune(r))
		}
		return textOf(string(text))
	}
}

// numeric is the cell of a number; NaN is a missing one.
func numeric(v float64) cell {
	switch {
	case math.IsNaN(v):
		return cell{}
	case math.IsInf(v, 0):
		return cell{kind: broken, value: v, text: strconv.FormatFloat(v, 'g', -1, 64), want: finiteNumber}
	}
	return cell{kind: number, value: v}
}

func truth(v bool) cell { return cell{kind: word, text: strconv.FormatBool(v)} }

// textOf returns the cell of a text, as the type of the array declares.
func textOf(text string) cell {
	if text = strings.TrimSpace(text); isMissing(text) {
		return cell{}
	}
	return cell{kind: word, text: text}
}

// asText is a cell as the text that levels are compared with.
func (c cell) asText() cell {
	switch c.kind {
	case number:
		if c.text != "" { // of a whole number beyond 2^53
			return cell{kind: word, text: c.text}
		}
		return cell{kind: word, text: numberName(c.value)}
	case broken:
		if !strings.HasPrefix(c.want, foul) {
			c.kind = word
		}
	}
	return c
}

// numberName is a number as the name of a class: whole ones have all their digits.
func numberName(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// MaxColumns bounds the columns of an array, each of which has a name and a summary.
const MaxColumns = 100_000

// npyReader reads an array, whose columns are x1, x2, ..., and its file of labels.
type npyReader struct {
	x, labels *array // labels may be nil
	names     []string
	wanted    []int
	texts     []bool
	form      *form
}

func openNPY(path, shown string, as *form) (reader, error) {
	x, err := openArray(path, shown, as)
	if err != nil {
		return nil, err
	}
	if x.columns > MaxColumns {
		x.close()
		return nil, errorf(x.path, "it has %d columns; at most %d are possible", x.columns, MaxColumns)
	}
	r := &npyReader{x: x, form: as}
	for j := range x.columns {
		r.names = append(r.names, "x"+strconv.Itoa(j+1))
	}
	beside := dataset.LabelsBeside(path)
	if _, err := os.Lstat(beside); errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	r.names = append(r.names, labelColumn)
	if r.labels, err = openArray(beside, dataset.LabelsBeside(shown), as); err != nil {
		x.close()
		return nil, err
	}
	if l := r.labels; l.columns != 1 || l.rows != x.rows {
		r.close()
		return nil, errorf(l.path, "it has %d rows of %d labels; expected one label for each of the %d rows of %s", l.rows,
			l.columns, x.rows, shown)
	}
	return r, nil
}

func (r *npyReader) header() ([]string, func(int) place) {
	return r.names, func(int) place { return place{} }
}

func (r *npyReader) want(columns []int, texts []bool) error {
	r.wanted, r.texts = columns, texts
	return nil
}

func (r *npyReader) next() error {
	if err := r.x.next(); err != nil || r.labels == nil {
		return err
	}
	return r.labels.next()
}

func (r *npyReader) cell(i int) cell {
	a, column := r.x, r.wanted[i]
	if column == r.x.columns {
		a, column = r.labels, 0
	}
	c := r.form.typed(a.cell(column))
	if r.texts[i] {
		c = c.asText()
	}
	return c
}

func (r *npyReader) place(int) place { return place{row: r.x.row + 1} }

func (r *npyReader) estimate() (int, error) { return r.x.rows, nil }

func (r *npyReader) close() {
	r.x.close()
	if r.labels != nil {
		r.labels.close()
	}
}
