package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The library trusts the sizes and counts that a file declares, and allocates by them before it
// reads. The checks below compare them with the size of the file first.

const (
	// maxHeader bounds the header of a page, which holds the least and the largest value.
	maxHeader = 1 << 20
	// maxElements bounds the elements of all lists of a footer: 5 for a column of a group of
	// rows. The largest take some 400 bytes each.
	maxElements = 1 << 21
	// maxDepth bounds structs within structs; a footer has 6.
	maxDepth = 20
)

// checkFooter refuses a footer that does not lie in the file of that size, or whose lists are
// longer than it.
func checkFooter(file io.ReaderAt, size int64) error {
	const marks = 12 // two marks and the length before the last
	var length [4]byte
	if _, err := file.ReadAt(length[:], size-8); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(length[:]))
	if n > size-marks {
		return fmt.Errorf("the Parquet file is damaged: its footer has %d bytes, and the file %d", n, size)
	}
	footer := make([]byte, n)
	if _, err := file.ReadAt(footer, size-8-n); err != nil {
		return err
	}
	c := &compact{rest: footer}
	if err := c.value(compactStruct, 0); err != nil {
		return fmt.Errorf("the Parquet file is damaged: its footer: %w", err)
	}
	return nil
}

// Types of Thrift's compact protocol.
const (
	compactTrue   = 1
	compactFalse  = 2
	compactByte   = 3
	compactInt64  = 6 // 4 to 6 are integers
	compactDouble = 7
	compactBinary = 8
	compactList   = 9
	compactSet    = 10
	compactMap    = 11
	compactStruct = 12
	compactUUID   = 13
)

// compact goes past values of Thrift's compact protocol.
type compact struct {
	rest     []byte
	elements uint64 // of lists so far
}

var errFooterEnds = errors.New("it ends in the middle")

func (c *compact) skip(n uint64) error {
	if n > uint64(len(c.rest)) {
		return errFooterEnds
	}
	c.rest = c.rest[n:]
	return nil
}

func (c *compact) byte() (byte, error) {
	if len(c.rest) == 0 {
		return 0, errFooterEnds
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b, nil
}

func (c *compact) uvarint() (uint64, error) {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 {
		return 0, errFooterEnds
	}
	c.rest = c.rest[n:]
	return v, nil
}

// count takes the elements of a list, each of which has a byte at least.
func (c *compact) count(n uint64) error {
	if c.elements += n; n > uint64(len(c.rest)) || c.elements > maxElements {
		return fmt.Errorf("a list of %d elements in %d bytes; at most %d elements are read", n, len(c.rest), maxElements)
	}
	return nil
}

// value goes past a value of a type.
func (c *compact) value(kind byte, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	switch {
	case kind == compactTrue || kind == compactFalse || kind == compactByte: // as an element
		return c.skip(1)
	case kind <= compactInt64:
		_, err := c.uvarint()
		return err
	case kind == compactDouble:
		return c.skip(8)
	case kind == compactUUID:
		return c.skip(16)
	case kind == compactBinary:
		n, err := c.uvarint()
		if err != nil {
			return err
		}
		return c.skip(n)
	case kind == compactList || kind == compactSet:
		return c.list(depth)
	case kind == compactMap:
		return c.pairs(depth)
	case kind == compactStruct:
		return c.fields(depth)
	}
	return fmt.Errorf("there is no type %d", kind)
}

func (c *compact) list(depth int) error {
	head, err := c.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = c.uvarint(); err != nil {
			return err
		}
	}
	if err := c.count(n); err != nil {
		return err
	}
	for range n {
		if err := c.value(head&15, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (c *compact) pairs(depth int) error {
	n, err := c.uvarint()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := c.byte()
	if err != nil {
		return err
	}
	if err := c.count(n); err != nil {
		return err
	}
	for range n {
		if err := errors.Join(c.value(kinds>>4, depth+1), c.value(kinds&15, depth+1)); err != nil {
			return err
		}
	}
	return nil
}

func (c *compact) fields(depth int) error {
	for {
		head, err := c.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // the number of the field follows
			if _, err := c.uvarint(); err != nil {
				return err
			}
		}
		if kind := head & 15; kind != compactTrue && kind != compactFalse { // which are in the head
			if err := c.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
}

// pages are the pages of one column in one group of rows.
type pages struct {
	file         io.ReaderAt
	at, end      int64 // of the next page, and of the last byte
	rows, values int64 // of the group, and of the pages so far
	left         int64 // bytes that pages may still take when they are unpacked
	codec        format.CompressionCodec
	kind         parquet.Kind
	optional     int // the largest definition level, which every value has; 0 where none is missing
	unpacker     *unpacker
}

// Of pages that take more than maxUnpacked bytes together, and of one that takes more than
// maxPage.
var (
	errPacked = errors.New("unpacked, the pages take too much memory")
	errPage   = errors.New("unpacked, the page takes too much memory")
)

// take counts the bytes of a page, or of its values, when it is unpacked.
func (p *pages) take(n int64) error {
	if p.left -= n; p.left < 0 {
		return errPacked
	}
	if n > maxPage {
		return errPage
	}
	return nil
}

// check walks through all pages. It refuses pages outside the file, pages with more values than the
// group has rows, pages whose unpacked size exceeds the bytes left or, in every codec, the declared
// size, and pages whose levels or values decode to more than their number.
func (p *pages) check() error {
	for n := 1; p.at < p.end; n++ {
		if err := p.next(); err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
	}
	return nil
}

// next reads the header of a page, and goes to the next.
func (p *pages) next() error {
	window := make([]byte, min(512, p.end-p.at))
	for {
		if _, err := p.file.ReadAt(window, p.at); err != nil {
			return err
		}
		header := new(format.PageHeader)
		reader := new(thrift.CompactProtocol).NewReaderFromBytes(window)
		err := thrift.NewDecoder(reader).Decode(header)
		if err == nil {
			start := p.at + int64(reader.BytesRead())
			return p.pass(header, start)
		}
		if int64(len(window)) >= min(maxHeader, p.end-p.at) {
			return fmt.Errorf("its header: %w", err)
		}
		window = make([]byte, min(8*int64(len(window)), maxHeader, p.end-p.at))
	}
}

// pass advances past the content of a page, from start on.
func (p *pages) pass(header *format.PageHeader, start int64) error {
	packed, unpacked := int64(header.CompressedPageSize), int64(header.UncompressedPageSize)
	if packed < 0 || unpacked < 0 || packed > p.end-start {
		return fmt.Errorf("it says that it has %d bytes, packed, and %d unpacked; %d are left in the file", packed, unpacked,
			p.end-start)
	}
	if err := p.take(unpacked); err != nil {
		return err
	}
	p.at = start + packed
	layout, err := p.layoutOf(header)
	if err != nil {
		return err
	}
	levels, err := p.read(start, layout.levels)
	if err != nil {
		return err
	}
	if !layout.levelsInside {
		if err := p.checkLevels(layout, levels); err != nil {
			return err
		}
	}
	if start += layout.levels; start == p.at {
		return nil
	}
	codec := p.codec
	if layout.unpacked {
		codec = format.Uncompressed
	}
	if codec == format.Uncompressed && packed != unpacked {
		return fmt.Errorf("it says that it has %d bytes, and %d as it is packed by nothing", unpacked, packed)
	}
	if codec == format.Uncompressed && !p.grows(layout) {
		return nil
	}
	values, err := p.unpacker.unpack(codec, io.NewSectionReader(p.file, start, p.at-start), unpacked)
	if err != nil {
		return err
	}
	if n := int64(len(values)) + layout.levels; n < unpacked { // for which room would be made
		return fmt.Errorf("it unpacks to %d bytes, and says %d", n, unpacked)
	}
	if layout.levelsInside {
		if levels, values, err = cutLevels(values); err != nil {
			return err
		}
		if err := p.checkLevels(layout, levels); err != nil {
			return err
		}
	}
	return p.checkValues(layout, values)
}

// read reads n bytes of the file.
func (p *pages) read(from, n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	out := make([]byte, n)
	_, err := p.file.ReadAt(out, from)
	return out, err
}
