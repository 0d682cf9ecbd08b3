package table

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxHeader bounds the header of a page, which holds the least and the largest value.
const maxHeader = 1 << 20

// pages walks through the headers of the pages of one column in one group of rows, because the
// library allocates by the sizes and counts that they declare before it reads.
type pages struct {
	file         io.ReaderAt
	at, end      int64 // of the next page, and of the last byte
	rows, values int64 // of the group, and of the pages so far
	left         int64 // unpacked bytes that pages may still take
}

// Errors of pages that take more than maxUnpacked bytes together, and of one that takes more than
// maxPage.
var (
	errPacked = errors.New("unpacked, the pages take too much memory")
	errPage   = errors.New("unpacked, the page takes too much memory")
)

// check refuses pages outside the file, pages with more values than the group has rows, and pages
// whose declared unpacked size exceeds maxPage or the bytes left.
func (p *pages) check() error {
	for n := 1; p.at < p.end; n++ {
		if err := p.next(); err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
	}
	return nil
}

// next checks the header of a page, and advances past the page.
func (p *pages) next() error {
	for size := min(512, p.end-p.at); ; size = min(8*size, maxHeader, p.end-p.at) {
		window := make([]byte, size)
		if _, err := p.file.ReadAt(window, p.at); err != nil {
			return err
		}
		header := new(format.PageHeader)
		reader := new(thrift.CompactProtocol).NewReaderFromBytes(window)
		err := thrift.NewDecoder(reader).Decode(header)
		if err == nil {
			p.at += int64(reader.BytesRead())
			return p.pass(header)
		}
		if size >= min(maxHeader, p.end-p.at) {
			return fmt.Errorf("its header: %w", err)
		}
	}
}

// pass checks the sizes of a page whose content begins at p.at, and advances past it.
func (p *pages) pass(h *format.PageHeader) error {
	packed, unpacked := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	if packed < 0 || unpacked < 0 || packed > p.end-p.at {
		return fmt.Errorf("it declares %d bytes, packed, and %d unpacked; %d are left in the file", packed, unpacked,
			p.end-p.at)
	}
	p.at += packed
	if p.left -= unpacked; p.left < 0 {
		return errPacked
	}
	if unpacked > maxPage {
		return errPage
	}
	values, levels := int64(h.DataPageHeader.V.NumValues), int64(0)
	switch h.Type {
	case format.DictionaryPage:
		if n := int64(h.DictionaryPageHeader.V.NumValues); n < 0 || n > 8*unpacked { // a truth value is a bit
			return fmt.Errorf("%d values in %d bytes", n, unpacked)
		}
		return nil
	case format.DataPageV2:
		two := h.DataPageHeaderV2.V
		values, levels = int64(two.NumValues), int64(two.RepetitionLevelsByteLength)+int64(two.DefinitionLevelsByteLength)
	}
	if levels < 0 || levels > packed {
		return fmt.Errorf("its levels take %d of its %d bytes", levels, packed)
	}
	if p.values += values; values < 0 || p.values > p.rows {
		return fmt.Errorf("it declares %d values, more than there are rows (%d)", values, p.rows)
	}
	return nil
}
