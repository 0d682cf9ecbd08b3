package readers

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// The idx format: big-endian 32-bit numbers (a magic number, then the size of
// each dimension), then the bytes.
const (
	idxImages = 0x803 // bytes in 3 dimensions
	idxLabels = 0x801 // bytes in 1 dimension

	// idxLimit bounds the content of a file, in bytes: twenty times MNIST. A
	// header is not believed beyond it.
	idxLimit = 1 << 30

	maxDigit = 9
)

// ReadIDXImages reads grey-scale images, without labels, in the idx format, plain or
// gzip-compressed. The file must end where its header implies.
func ReadIDXImages(r io.Reader) (*Images, error) {
	sizes, pixels, err := readIDX(r, idxImages, "images",
		[]string{"number of images", "number of rows", "number of columns"})
	if err != nil {
		return nil, err
	}
	return &Images{Rows: sizes[1], Cols: sizes[2], Pixels: pixels}, nil
}

// ReadIDXLabels reads labels from 0 to 9 in the idx format, plain or gzip-compressed. The file must
// end where its header implies.
func ReadIDXLabels(r io.Reader) ([]byte, error) {
	_, labels, err := readIDX(r, idxLabels, "labels", []string{"number of labels"})
	if err != nil {
		return nil, err
	}
	for i, label := range labels {
		if label > maxDigit {
			return nil, fmt.Errorf("label %d of %d is %d, expected 0 to %d", i+1, len(labels), label, maxDigit)
		}
	}
	return labels, nil
}

// readIDX reads the sizes and the content of an idx file of bytes.
func readIDX(r io.Reader, magic uint32, what string, dimensions []string) (sizes []int, content []byte, err error) {
	plain, err := decompress(r)
	if err != nil {
		return nil, nil, err
	}
	var gotMagic uint32
	header := make([]uint32, len(dimensions))
	if err = binary.Read(plain, binary.BigEndian, &gotMagic); err == nil && gotMagic != magic {
		return nil, nil, fmt.Errorf("the magic number is %#x, expected %#x (idx with %s)", gotMagic, magic, what)
	}
	if err == nil {
		err = binary.Read(plain, binary.BigEndian, header)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the header of %d bytes: %w; the file is cut off or damaged", 4+4*len(header), noEOF(err))
	}
	total := uint64(1)
	for i, name := range dimensions {
		size := header[i]
		// No product of three such sizes overflows after the check.
		if total *= uint64(size); size == 0 || total > idxLimit {
			return nil, nil, fmt.Errorf("the header says that the %s is %d, so that the content has %d bytes or more; "+
				"expected 1 to %d bytes", name, size, total, idxLimit)
		}
		sizes = append(sizes, int(size))
	}
	content, err = readContent(plain, total)
	got := uint64(len(content))
	switch {
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, nil, fmt.Errorf("after %d of %d bytes of %s: %w", got, total, what, err)
	case got < total:
		return nil, nil, fmt.Errorf("the file is cut off: %d of the %d bytes of %s that its header announces", got, total,
			what)
	case got > total:
		return nil, nil, fmt.Errorf("the file goes on after the %d bytes of %s that its header announces", total, what)
	case err != nil:
		return nil, nil, fmt.Errorf("the compressed file is cut off after the %d bytes of %s: its checksum is missing",
			total, what)
	}
	return sizes, content, nil
}

// readContent reads total bytes, and one more where there is one. Memory for a file of ordinary
// size is allocated at once, which avoids a growing copy; beyond that size it grows with the bytes
// read, because a header may promise more than there is.
func readContent(r io.Reader, total uint64) ([]byte, error) {
	const ordinary = 64 << 20 // the images of MNIST take 47e6 bytes
	var content bytes.Buffer
	content.Grow(int(min(total, ordinary)) + 1 + bytes.MinRead)
	_, err := content.ReadFrom(io.LimitReader(r, int64(total)+1))
	return content.Bytes(), err
}

// decompress returns the content of r, which may be gzip-compressed.
func decompress(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	start, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(start, []byte{0x1f, 0x8b}) {
		return buffered, nil
	}
	z, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("the compressed file: %w", noEOF(err))
	}
	return z, nil
}

// noEOF names an end of file that came too early.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// loadImages reads a file of images and the file of their labels.
func loadImages(imagesPath, labelsPath string) (*Images, error) {
	var images *Images
	var labels []byte
	if err := readFile(imagesPath, func(r io.Reader) (err error) {
		images, err = ReadIDXImages(r)
		return err
	}); err != nil {
		return nil, err
	}
	if err := readFile(labelsPath, func(r io.Reader) (err error) {
		labels, err = ReadIDXLabels(r)
		return err
	}); err != nil {
		return nil, err
	}
	if n := images.Len(); n != len(labels) {
		return nil, fmt.Errorf("%s has %d labels, but %s has %d images; they must be as many", labelsPath, len(labels),
			imagesPath, n)
	}
	images.Labels = labels
	return images, nil
}

// readFile calls read with an open file and adds the path to its error.
func readFile(path string, read func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err // names the path
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if err := read(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
