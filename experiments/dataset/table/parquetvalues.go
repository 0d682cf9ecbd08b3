package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Levels and values of a page may grow once more when they are decoded: a run of a few bytes stands
// for any number of values, a block of deltas begins with a count, and a text repeats the beginning
// of its predecessor. The library allocates for all of it before it compares with the header of the
// page. The checks below count first.

// filled is the number of values that a page may have in its runs beyond the declared ones, because
// writers fill up groups of bit-packed values.
const filled = 1 << 10

// oldDictionary is the encoding that writers of the first version give dictionaries and the pages
// that refer to them.
const oldDictionary = format.PlainDictionary //nolint:staticcheck // files have it

// layout describes the content of a page, as its header declares it.
type layout struct {
	dictionary   bool
	values       int64 // with those that are missing
	encoding     format.Encoding
	levels       int64 // bytes of levels before the packed bytes
	levelsAt     int64 // start of the levels of missing values
	levelsInside bool  // they are packed with the values, after their length
	unpacked     bool  // in spite of the codec
}

// layoutOf checks the header of a page against its size and the rows.
func (p *pages) layoutOf(h *format.PageHeader) (out layout, err error) {
	packed, unpacked := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	one, two, dictionary := h.DataPageHeader, h.DataPageHeaderV2, h.DictionaryPageHeader
	there := 0
	for _, valid := range []bool{one.Valid, two.Valid, dictionary.Valid, h.IndexPageHeader.Valid} {
		if valid {
			there++
		}
	}
	switch {
	case there != 1: // the library reads some of them as another kind
		return out, fmt.Errorf("it has %d headers for its kind; one is expected", there)
	case h.Type == format.DictionaryPage && dictionary.Valid:
		d := dictionary.V
		out = layout{dictionary: true, values: int64(d.NumValues), encoding: d.Encoding}
		if out.values < 0 || out.values > unpacked/p.width() {
			return out, fmt.Errorf("%d values in %d bytes", out.values, unpacked)
		}
		if d.Encoding != format.Plain && d.Encoding != oldDictionary {
			return out, fmt.Errorf("a dictionary in the encoding %v; dictionaries are plain", d.Encoding)
		}
		return out, nil
	case h.Type == format.DataPage && one.Valid:
		out = layout{values: int64(one.V.NumValues), encoding: one.V.Encoding, levelsInside: p.optional > 0}
		if by := one.V.DefinitionLevelEncoding; out.levelsInside && by != format.RLE {
			return out, fmt.Errorf("levels in the encoding %v, which is not read", by)
		}
	case h.Type == format.DataPageV2 && two.Valid:
		repeated, defined := int64(two.V.RepetitionLevelsByteLength), int64(two.V.DefinitionLevelsByteLength)
		out = layout{values: int64(two.V.NumValues), encoding: two.V.Encoding, levels: repeated + defined,
			levelsAt: repeated, unpacked: two.V.IsCompressed.Valid && !two.V.IsCompressed.V}
		if repeated < 0 || defined < 0 || out.levels > packed {
			return out, fmt.Errorf("its levels take %d of its %d bytes", out.levels, packed)
		}
		if nulls := int64(two.V.NumNulls); nulls < 0 || nulls > out.values {
			return out, fmt.Errorf("%d of its %d values are missing", nulls, out.values)
		}
	default:
		return out, fmt.Errorf("pages of the kind %v, with the header that it has, cannot be read", h.Type)
	}
	if out.values < 0 {
		return out, fmt.Errorf("it says that it has %d values", out.values)
	}
	if p.values += out.values; p.values > p.rows {
		return out, fmt.Errorf("there are more values than rows (%d)", p.rows)
	}
	return out, nil
}

// width is how many bytes a plain value takes at least.
func (p *pages) width() int64 {
	switch p.kind {
	case parquet.Int32, parquet.Float, parquet.ByteArray:
		return 4
	case parquet.Int64, parquet.Double:
		return 8
	}
	return 1
}

// grows reports whether a page may take more room when it is decoded.
func (p *pages) grows(l layout) bool {
	return l.levelsInside || !l.dictionary && l.encoding != format.Plain && l.encoding != format.ByteStreamSplit
}

var errLevels = errors.New("it is cut off in its levels")

// cutLevels takes the levels, which begin with their length, off the values.
func cutLevels(page []byte) (levels, values []byte, err error) {
	if len(page) < 4 {
		return nil, nil, errLevels
	}
	n := uint64(binary.LittleEndian.Uint32(page))
	if page = page[4:]; n > uint64(len(page)) {
		return nil, nil, errLevels
	}
	return page[:n], page[n:], nil
}

// checkLevels refuses levels of more values than the page has.
func (p *pages) checkLevels(l layout, levels []byte) error {
	if p.optional == 0 || l.dictionary {
		return nil
	}
	return l.runs(levels[min(l.levelsAt, int64(len(levels))):], uint64(bits.Len(uint(p.optional))), "levels")
}

// most refuses more values than the page has.
func (l layout) most(n uint64, what string) error {
	if n > uint64(l.values)+filled {
		return fmt.Errorf("its %s are of %d values, and it says %d", what, n, l.values)
	}
	return nil
}

// runs refuses runs, and groups of bit-packed numbers, that together stand for more values than the
// page has. The library refuses truncated ones.
func (l layout) runs(b []byte, width uint64, what string) error {
	var all uint64
	for len(b) > 0 {
		head, n := binary.Uvarint(b)
		if n <= 0 {
			return nil
		}
		b = b[n:]
		count, size := head>>1, (width+7)/8
		if err := l.most(count, what); err != nil { // before it is multiplied
			return err
		}
		if count == 0 { // which has no bytes
			continue
		}
		if head&1 == 1 {
			size, count = count*width, 8*count
		}
		if err := l.most(all+count, what); err != nil {
			return err
		}
		all, b = all+count, b[min(size, uint64(len(b))):]
	}
	return nil
}

// checkValues refuses values that stand for more than the page has.
func (p *pages) checkValues(l layout, b []byte) error {
	if !p.grows(l) {
		return nil
	}
	const values = "values"
	switch l.encoding {
	case format.Plain, format.ByteStreamSplit:
		return nil
	case oldDictionary, format.RLEDictionary:
		if len(b) == 0 {
			return nil
		}
		return l.runs(b[1:], uint64(b[0]), values)
	case format.RLE:
		if p.kind != parquet.Boolean {
			return errors.New("values in the encoding RLE, which is for truth values")
		}
		if len(b) < 4 {
			return nil
		}
		return l.runs(b[4:], 1, values)
	case format.DeltaBinaryPacked:
		widest := 64
		if p.kind == parquet.Int32 {
			widest = 32
		}
		_, _, err := l.deltas(b, widest)
		return err
	case format.DeltaLengthByteArray:
		lengths, rest, err := l.lengths(b)
		if err == nil && lengths > int64(len(rest)) {
			err = fmt.Errorf("its texts take %d bytes, and %d are there", lengths, len(rest))
		}
		return err
	case format.DeltaByteArray:
		before, rest, err := l.lengths(b)
		if err != nil {
			return err
		}
		after, _, err := l.lengths(rest)
		if err != nil {
			return err
		}
		return p.take(before + after)
	}
	return fmt.Errorf("values in the encoding %v, which cannot be read", l.encoding)
}

// lengths returns the sum of the lengths at the beginning of b, and the remaining bytes.
func (l layout) lengths(b []byte) (sum int64, rest []byte, err error) {
	numbers, rest, err := l.deltas(b, 32)
	if err != nil {
		return 0, nil, err
	}
	lengths, err := parquet.DeltaBinaryPacked.DecodeInt32(nil, numbers)
	if err != nil {
		return 0, nil, err
	}
	for _, n := range lengths {
		if n < 0 {
			return 0, nil, fmt.Errorf("a text has the length %d", n)
		}
		sum += int64(n)
	}
	return sum, rest, nil
}

var errDeltas = errors.New("its blocks of differences are damaged")

// deltas counts the numbers in blocks of deltas at the beginning of b, and returns the remaining
// bytes. It refuses more numbers than the page has, and deltas of more bits than the widest
// numbers.
func (l layout) deltas(b []byte, widest int) (numbers, rest []byte, err error) {
	var head [3]uint64 // numbers in a block, parts of a block, numbers
	rest = b
	for i := range head {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			return nil, nil, errDeltas
		}
		head[i], rest = v, rest[n:]
	}
	block, parts, left := head[0], head[1], head[2]
	_, n := binary.Varint(rest) // the first number
	if n <= 0 || parts == 0 || block > 1<<16 {
		return nil, nil, errDeltas
	}
	rest = rest[n:]
	if err := l.most(left, "values"); err != nil {
		return nil, nil, err
	}
	part := block / parts
	for left = max(left, 1) - 1; left > 0; {
		_, n := binary.Varint(rest) // the least difference
		if n <= 0 || part == 0 {
			return nil, nil, errDeltas
		}
		rest = rest[n:]
		widths := rest[:min(parts, uint64(len(rest)))]
		rest = rest[len(widths):]
		for _, width := range widths {
			if int(width) > widest {
				return nil, nil, errDeltas
			}
			rest = rest[min(part*uint64(width)/8, uint64(len(rest))):]
			if left -= min(left, part); left == 0 {
				break
			}
		}
	}
	return b[:len(b)-len(rest)], rest, nil
}
