package table

import (
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// unpacker unpacks pages whose packed bytes do not say how many they become: those of gzip,
// zstd and brotli, by the decoders that the library takes, and without keeping what comes out.
// The library makes more and more room for it, whatever the header states, and a few
// kilobytes may become gigabytes. Its zero value is ready; close gives back what it holds.
type unpacker struct {
	packed, room []byte // of zstd
	gzip         *gzip.Reader
	brotli       *brotli.Reader
	zstd         *zstd.Decoder
}

// check refuses a page that takes more than a number of bytes when it is unpacked, and one
// that cannot be unpacked. Other codecs than those three it does not look into.
func (u *unpacker) check(codec format.CompressionCodec, page *io.SectionReader, most int64) error {
	fits, err := true, error(nil)
	switch codec {
	case format.Gzip:
		fits, err = u.gzipFits(page, most)
	case format.Brotli:
		if u.brotli == nil {
			u.brotli = new(brotli.Reader)
		}
		if err = u.brotli.Reset(page); err == nil {
			fits, err = endsWithin(u.brotli, most)
		}
	case format.Zstd:
		fits, err = u.zstdFits(page, most)
	default:
	}
	switch {
	case err != nil:
		return fmt.Errorf("it cannot be unpacked: %w", err)
	case !fits:
		return fmt.Errorf("it unpacks to more than %d bytes, which it says", most)
	}
	return nil
}

func (u *unpacker) gzipFits(page io.Reader, most int64) (bool, error) {
	var err error
	if u.gzip == nil {
		u.gzip, err = gzip.NewReader(page)
	} else {
		err = u.gzip.Reset(page)
	}
	if err != nil {
		return false, err
	}
	return endsWithin(u.gzip, most)
}

// endsWithin says whether a reader has at most so many bytes. It reads one more at most.
func endsWithin(r io.Reader, most int64) (bool, error) {
	n, err := io.Copy(io.Discard, io.LimitReader(r, most+1))
	return n <= most, err
}

// zstdFits unpacks into memory for what the page may take: a stream would take that of the
// window, which the page states as well.
func (u *unpacker) zstdFits(page *io.SectionReader, most int64) (_ bool, err error) {
	if u.zstd == nil {
		u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return false, err
		}
	}
	u.packed, u.room = withLength(u.packed, page.Size()), withLength(u.room, most)
	if _, err := io.ReadFull(page, u.packed); err != nil {
		return false, err
	}
	_, err = u.zstd.DecodeAll(u.packed, u.room[:0:most])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		return false, nil
	}
	return true, err
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
