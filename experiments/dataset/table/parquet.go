package table

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// maxUnpacked bounds the declared unpacked size of the wanted columns of a Parquet file, and of
// their pages, in bytes. Tests lower it.
var maxUnpacked int64 = 1 << 30

// maxPage bounds a page when it is unpacked, in bytes: one is in memory after the other, up to
// three times. Writers make pages of 1 MiB, or of a whole group of rows.
const maxPage = 1 << 28

// parquetReader reads the leaf columns of a Parquet file that have at most one value a row.
type parquetReader struct {
	path    string
	file    *os.File
	size    int64
	parquet *parquet.File
	leaves  []*parquet.Column
	names   []string
	wanted  []*parquetColumn
	form    *form
	rows    int64
	row     int64 // from 1
}

// parquetColumn reads the values of one column, over all groups of rows.
type parquetColumn struct {
	chunks []parquet.ColumnChunk // that are left
	pages  parquet.Pages         // of the current one
	values parquet.ValueReader   // of the current page
	buffer []parquet.Value
	filled []parquet.Value // of the buffer, not yet taken
	cell   func(parquet.Value) cell
	text   bool
	now    cell
}

func openParquet(path, shown string, as *form) (_ reader, err error) {
	f, err := openFile(path, shown)
	if err != nil {
		return nil, err
	}
	r := &parquetReader{path: shown, file: f, form: as}
	info, err := f.Stat()
	if err == nil {
		err = shield(func() error { return r.open(info.Size()) })
	}
	if err != nil {
		r.close()
		return nil, &Error{Path: shown, Err: pathless(err)}
	}
	return r, nil
}

// pathless takes the path on this machine off an error.
func pathless(err error) error {
	if in, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("the Parquet file cannot be read: %w", in.Err)
	}
	return err
}

// shield makes an error of a panic of the library, whose cause is the file.
func shield(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Parquet file is damaged: %v", p)
		}
	}()
	return f()
}

func (r *parquetReader) open(size int64) (err error) {
	const least = 12 // two marks and a length
	if size < least {
		return fmt.Errorf("it is no Parquet file: it has %d bytes", size)
	}
	mark := make([]byte, 4)
	if _, err := r.file.ReadAt(mark, 0); err != nil {
		return err
	}
	if string(mark) != "PAR1" {
		return errors.New("it is no Parquet file: it does not begin with PAR1")
	}
	if _, err := r.file.ReadAt(mark, size-4); err != nil {
		return err
	}
	if string(mark) != "PAR1" {
		return errors.New("the Parquet file is cut off: it does not end with PAR1")
	}
	r.size = size
	r.parquet, err = parquet.OpenFile(r.file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("the Parquet file cannot be read: %w", err)
	}
	r.leaves, r.names = leaves(r.parquet.Root())
	for i, g := range r.parquet.RowGroups() {
		n := g.NumRows()
		if n > math.MaxInt64-r.rows {
			return fmt.Errorf("the Parquet file is damaged: group %d declares %d rows", i+1, n)
		}
		r.rows += n
	}
	return nil
}

// leaves are the columns with values, and their names, of which those inside of groups
// are joined by points.
func leaves(c *parquet.Column) (columns []*parquet.Column, names []string) {
	if c.Leaf() {
		return []*parquet.Column{c}, []string{strings.Join(c.Path(), ".")}
	}
	for _, child := range c.Columns() {
		inside, named := leaves(child)
		columns, names = append(columns, inside...), append(names, named...)
	}
	return columns, names
}

func (r *parquetReader) header() ([]string, func(int) place) {
	return r.names, func(int) place { return place{} }
}

// usable reports whether a column can be read.
func (r *parquetReader) usable(column int) error {
	_, err := parquetCell(r.leaves[column])
	return err
}

func (r *parquetReader) want(columns []int, texts []bool) error {
	return shield(func() error { return r.choose(columns, texts) })
}

// Pages of LZ4 are refused, because the library (parquet-go 0.32.0) drops unpacked bytes where they
// are fewer than three times the packed ones, and returns zeros.
func (r *parquetReader) choose(columns []int, texts []bool) error {
	if r.rows > MaxValues/int64(max(1, len(columns))) {
		return errorf(r.path, "%d rows with %d columns to read: more than %d values; take a part of the rows", r.rows,
			len(columns), MaxValues)
	}
	var unpacked int64
	left := maxUnpacked // of the pages
	for i, at := range columns {
		leaf := r.leaves[at]
		read, err := parquetCell(leaf)
		if err != nil {
			return errorf(r.path, "column %q: %w", r.names[at], err)
		}
		c := &parquetColumn{cell: read, text: texts[i], buffer: make([]parquet.Value, 256)}
		for g, group := range r.parquet.RowGroups() {
			c.chunks = append(c.chunks, group.ColumnChunks()[leaf.Index()])
			chunk := &r.parquet.Metadata().RowGroups[g].Columns[leaf.Index()].MetaData
			size := chunk.TotalUncompressedSize
			switch {
			case chunk.Codec == format.Lz4Raw:
				return errorf(r.path, "column %q is packed by LZ4, which is not read; write the file with another codec, such as "+
					"snappy or zstd", r.names[at])
			case size < 0 || unpacked > maxUnpacked-size:
				err = errPacked
			default:
				unpacked += size
				left, err = r.checkPages(leaf, g, left)
			}
			switch {
			case errors.Is(err, errPacked):
				return errorf(r.path, "the columns that are read take more than %d MiB when they are unpacked", maxUnpacked>>20)
			case errors.Is(err, errPage):
				return errorf(r.path, "column %q has a page of more than %d MiB, unpacked; write the file with smaller pages or "+
					"groups of rows", r.names[at], maxPage>>20)
			case err != nil:
				return errorf(r.path, "the Parquet file is damaged: column %q, group %d of rows: %w; write it again", r.names[at],
					g+1, err)
			}
		}
		r.wanted = append(r.wanted, c)
	}
	return nil
}

// checkPages checks the pages of a column in a group of rows; see [pages.check]. left is the number
// of unpacked bytes that they may take; the remainder is returned.
func (r *parquetReader) checkPages(leaf *parquet.Column, group int, left int64) (int64, error) {
	groups := r.parquet.Metadata().RowGroups
	m, first := &groups[group].Columns[leaf.Index()].MetaData, &groups[0].Columns[leaf.Index()].MetaData
	if m.Codec != first.Codec { // of which the library takes the first for all
		return 0, fmt.Errorf("it is packed by %v, and the first group by %v", m.Codec, first.Codec)
	}
	start := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		start = m.DictionaryPageOffset
	}
	if start < 0 || m.TotalCompressedSize < 0 || start > r.size || m.TotalCompressedSize > r.size-start {
		return 0, fmt.Errorf("it declares %d bytes from %d on, and the file has %d", m.TotalCompressedSize, start, r.size)
	}
	p := pages{file: r.file, at: start, end: start + m.TotalCompressedSize, rows: groups[group].NumRows, left: left}
	err := p.check()
	return p.left, err
}

func (r *parquetReader) next() error {
	if r.row == r.rows {
		return io.EOF
	}
	r.row++
	for _, c := range r.wanted {
		if err := shield(c.next); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("a column ends before the others")
			}
			return &Error{Path: r.path, Row: int(r.row), Err: pathless(fmt.Errorf("the Parquet file cannot be read: %w", err))}
		}
	}
	return nil
}

// next goes to the column's next value.
func (c *parquetColumn) next() error {
	for len(c.filled) == 0 {
		switch {
		case c.values != nil:
			n, err := c.values.ReadValues(c.buffer)
			c.filled = c.buffer[:n]
			if errors.Is(err, io.EOF) {
				c.values = nil
			} else if err != nil {
				return err
			}
		case c.pages != nil:
			page, err := c.pages.ReadPage()
			if errors.Is(err, io.EOF) {
				if err := c.pages.Close(); err != nil {
					return err
				}
				c.pages = nil
			} else if err != nil {
				return err
			} else {
				c.values = page.Values()
			}
		case len(c.chunks) > 0:
			c.pages, c.chunks = c.chunks[0].Pages(), c.chunks[1:]
		default:
			return io.EOF
		}
	}
	c.now = cell{}
	if v := c.filled[0]; !v.IsNull() {
		c.now = c.cell(v)
	}
	if c.text {
		c.now = c.now.asText()
	}
	c.filled = c.filled[1:]
	return nil
}

func (r *parquetReader) cell(i int) cell { return r.form.typed(r.wanted[i].now) }

func (r *parquetReader) place(int) place { return place{row: int(r.row)} }

func (r *parquetReader) estimate() (int, error) { return int(r.rows), nil }

func (r *parquetReader) close() {
	for _, c := range r.wanted {
		if c.pages != nil {
			_ = shield(c.pages.Close) // opened for reading only
		}
	}
	_ = r.file.Close()
}

// parquetCell is how the values of a column are read.
func parquetCell(c *parquet.Column) (func(parquet.Value) cell, error) {
	if c.MaxRepetitionLevel() > 0 {
		return nil, errors.New("it has lists of values; one value a row can be read")
	}
	t := c.Type()
	var logical format.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	whole, isWhole := wholeNumber(t.Kind(), logical)
	switch l := logical.(type) {
	case nil, *format.IntType, *format.NullType:
	case *format.StringType, *format.EnumType:
		return byteText, nil
	case *format.DateType:
		return func(v parquet.Value) cell { return cell{kind: date, value: float64(v.Int32()), text: v.String()} }, nil
	case *format.TimestampType:
		return timestamp(l)
	case *format.DecimalType:
		if k := t.Kind(); k == parquet.FixedLenByteArray || k == parquet.ByteArray {
			whole, isWhole = wholeBytes, true
		}
		if scale := math.Pow10(int(l.Scale)); isWhole && scale > 0 && !math.IsInf(scale, 0) {
			return func(v parquet.Value) cell {
				if math.Abs(whole(v)) > 1<<53 { // as read, of an integer that float64 may not hold
					return cell{kind: broken, text: fmt.Sprint(whole(v) / scale),
						want: "a decimal of at most 15 digits; convert to floating point"}
				}
				return numeric(whole(v) / scale)
			}, nil
		}
		return nil, fmt.Errorf("values of %v; convert them to floating point", logical)
	default:
		return nil, fmt.Errorf("values of %v; numbers, truth values, dates, timestamps and texts can be read", logical)
	}
	switch t.Kind() {
	case parquet.Boolean:
		return func(v parquet.Value) cell { return truth(v.Boolean()) }, nil
	case parquet.Float:
		return func(v parquet.Value) cell { return numeric(float64(v.Float())) }, nil
	case parquet.Double:
		return func(v parquet.Value) cell { return numeric(v.Double()) }, nil
	case parquet.ByteArray:
		return byteText, nil
	}
	if isWhole {
		digits := parquet.Value.String
		if i, ok := logical.(*format.IntType); ok && !i.IsSigned {
			digits = func(v parquet.Value) string { return strconv.FormatUint(v.Uint64(), 10) }
		}
		return func(v parquet.Value) cell { return wholeCell(whole(v), func() string { return digits(v) }) }, nil
	}
	return nil, fmt.Errorf("values of %v; numbers, truth values, dates, timestamps and texts can be read", t)
}

// wholeNumber is how the values of integers are read.
func wholeNumber(kind parquet.Kind, logical format.LogicalTypeValue) (read func(parquet.Value) float64, ok bool) {
	i, isInt := logical.(*format.IntType)
	unsigned := isInt && !i.IsSigned
	switch {
	case kind == parquet.Int32 && unsigned:
		return func(v parquet.Value) float64 { return float64(v.Uint32()) }, true
	case kind == parquet.Int32:
		return func(v parquet.Value) float64 { return float64(v.Int32()) }, true
	case kind == parquet.Int64 && unsigned:
		return func(v parquet.Value) float64 { return float64(v.Uint64()) }, true
	case kind == parquet.Int64:
		return func(v parquet.Value) float64 { return float64(v.Int64()) }, true
	}
	return nil, false
}

// wholeBytes is an integer of the two's complement of bytes, the largest first, as decimals are stored.
func wholeBytes(v parquet.Value) float64 {
	b := v.ByteArray()
	if len(b) == 0 {
		return math.Inf(1) // which is refused
	}
	n := float64(int8(b[0])) // exact up to 2^53; beyond it the rounding keeps the size
	for _, digit := range b[1:] {
		n = 256*n + float64(digit)
	}
	return n
}

// timestamp reads times as days since 1970-01-01.
func timestamp(t *format.TimestampType) (func(parquet.Value) cell, error) {
	day := 24 * 60 * 60.0
	switch t.Unit.Value.(type) {
	case *format.MilliSeconds:
		day *= 1e3
	case *format.MicroSeconds:
		day *= 1e6
	case *format.NanoSeconds:
		day *= 1e9
	default:
		return nil, fmt.Errorf("values of %v, of an unknown unit", t)
	}
	return func(v parquet.Value) cell {
		return cell{kind: date, value: float64(v.Int64()) / day, text: v.String()}
	}, nil
}

func byteText(v parquet.Value) cell {
	b := v.ByteArray()
	if !utf8.Valid(b) {
		return cell{kind: broken, text: fmt.Sprintf("%.20x", b), want: foul + "in UTF-8"}
	}
	return textOf(string(b))
}
