package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// unpacker unpacks pages, one after the other, by the library's decoders, but limits those of gzip,
// zstd and brotli to the declared size of a page, because the packed bytes do not bound the
// unpacked ones: the library grows its buffer past the declared size, and a few kilobytes may
// become gigabytes. The zero value is ready; close releases its buffers.
type unpacker struct {
	packed, room []byte
	text         bytes.Buffer // of gzip and brotli
	gzip         *gzip.Reader
	brotli       *brotli.Reader
	zstd         *zstd.Decoder
}

// unpack returns the unpacked page, valid until the next call. It refuses a page of more than the
// given number of bytes, and one that cannot be unpacked.
func (u *unpacker) unpack(codec format.CompressionCodec, page *io.SectionReader, most int64) (out []byte, err error) {
	fits := true
	switch codec {
	case format.Gzip:
		out, fits, err = u.gzipped(page, most)
	case format.Brotli:
		if u.brotli == nil {
			u.brotli = new(brotli.Reader)
		}
		if err = u.brotli.Reset(page); err == nil {
			out, fits, err = u.upTo(u.brotli, most)
		}
	case format.Zstd:
		out, fits, err = u.zstdPacked(page, most)
	default:
		u.packed = withLength(u.packed, page.Size())
		if _, err = io.ReadFull(page, u.packed); err != nil || codec == format.Uncompressed {
			out = u.packed
			break
		}
		if length, _ := binary.Uvarint(u.packed); codec == format.Snappy && length > uint64(most) { // which begins with it
			return nil, fmt.Errorf("it unpacks to %d bytes, and says %d", length, most)
		}
		u.room, err = parquet.LookupCompressionCodec(codec).Decode(u.room, u.packed)
		out = u.room
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("it cannot be unpacked: %w", err)
	case !fits:
		return nil, fmt.Errorf("it unpacks to more than %d bytes, which it says", most)
	}
	return out, nil
}

func (u *unpacker) gzipped(page io.Reader, most int64) ([]byte, bool, error) {
	var err error
	if u.gzip == nil {
		u.gzip, err = gzip.NewReader(page)
	} else {
		err = u.gzip.Reset(page)
	}
	if err != nil {
		return nil, false, err
	}
	return u.upTo(u.gzip, most)
}

// upTo reads all of a reader, at most one byte past the limit, and reports whether it kept the
// limit.
func (u *unpacker) upTo(r io.Reader, most int64) ([]byte, bool, error) {
	u.text.Reset()
	n, err := u.text.ReadFrom(io.LimitReader(r, most+1))
	return u.text.Bytes(), n <= most, err
}

// zstdPacked unpacks into memory of the declared size, because a stream would allocate the window,
// whose size the page declares as well.
func (u *unpacker) zstdPacked(page *io.SectionReader, most int64) (out []byte, fits bool, err error) {
	if u.zstd == nil {
		u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, false, err
		}
	}
	u.packed, u.room = withLength(u.packed, page.Size()), withLength(u.room, most)
	if _, err := io.ReadFull(page, u.packed); err != nil {
		return nil, false, err
	}
	out, err = u.zstd.DecodeAll(u.packed, u.room[:0:most])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return nil, false, nil
	}
	return out, true, err
}

// withLength is a slice of n bytes, which may be those of b.
func withLength(b []byte, n int64) []byte {
	if int64(cap(b)) < n {
		return make([]byte, n)
	}
	return b[:n]
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}
