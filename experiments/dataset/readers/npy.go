package readers

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/sbinet/npyio/npy"
)

// npyHeaderLimit bounds the header of a .npy file, in bytes; NumPy writes 128.
const npyHeaderLimit = 1 << 16

// npyRows reads a two-dimensional NumPy array of floats row by row, because the whole array may be
// much larger than the wanted rows.
type npyRows struct {
	rows, cols int
	r          io.Reader
	buffer     []byte // one row as stored
	row        int    // the next one
}

// newNPYRows reads the header and checks it against the size of the file in
// bytes, so that the sizes can be believed afterwards.
func newNPYRows(r io.Reader, fileSize int64) (*npyRows, error) {
	r = bufio.NewReaderSize(r, 1<<20)
	header, length, err := npyHeader(r)
	if err != nil {
		return nil, err
	}
	size := map[string]int{"<f4": 4, "<f8": 8}[header.Descr.Type]
	shape := header.Descr.Shape
	switch {
	case size == 0:
		return nil, fmt.Errorf("the elements are %q, expected '<f4' or '<f8' (little-endian float32 or float64): convert "+
			"with x.astype('<f4')", header.Descr.Type)
	case header.Descr.Fortran:
		return nil, errors.New("the array is in Fortran order, expected C order (row by row): convert with " +
			"numpy.ascontiguousarray(x)")
	case len(shape) != 2 || shape[0] < 1 || shape[1] < 1:
		return nil, fmt.Errorf("the shape is %v, expected two dimensions: rows and numbers per row", shape)
	}
	// By division: the product of two unchecked sizes may overflow.
	content := fileSize - length
	if limit := content / int64(size) / int64(shape[1]); int64(shape[0]) != limit ||
		content%(int64(size)*int64(shape[1])) != 0 {
		return nil, fmt.Errorf("the header announces %d×%d numbers of %d bytes, but %d bytes follow it; the file is cut "+
			"off or damaged", shape[0], shape[1], size, content)
	}
	return &npyRows{rows: shape[0], cols: shape[1], r: r, buffer: make([]byte, size*shape[1])}, nil
}

// NPYHeader reads the header of a NumPy array, whose shape may be anything, and returns
// its length in bytes.
func NPYHeader(r io.Reader) (h npy.Header, length int64, err error) { return npyHeader(r) }

// npyHeader reads the header and returns its length in bytes.
func npyHeader(r io.Reader) (h npy.Header, length int64, err error) {
	start := make([]byte, 8)
	if _, err := io.ReadFull(r, start); err != nil || [6]byte(start) != npy.Magic {
		return h, 0, errors.New("not a .npy file: it does not start with \\x93NUMPY")
	}
	// The length of the header has 2 bytes in format 1 and 4 bytes later.
	field := make([]byte, 2)
	if start[6] > 1 {
		field = make([]byte, 4)
	}
	if _, err := io.ReadFull(r, field); err != nil {
		return h, 0, fmt.Errorf("the header: %w", noEOF(err))
	}
	var four [4]byte
	copy(four[:], field)
	n := binary.LittleEndian.Uint32(four[:])
	if n > npyHeaderLimit {
		return h, 0, fmt.Errorf("the header has %d bytes, expected at most %d; the file is damaged", n, npyHeaderLimit)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, 0, fmt.Errorf("the header: %w", noEOF(err))
	}
	all := bytes.Join([][]byte{start, field, text}, nil)
	h, err = parseNPYHeader(all)
	if err != nil {
		return h, 0, fmt.Errorf("the header %q: %w", text, err)
	}
	return h, int64(len(all)), nil
}

// parseNPYHeader shields from the library's panics on malformed headers.
func parseNPYHeader(b []byte) (h npy.Header, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("expected {'descr': '<f4', 'fortran_order': False, 'shape': (rows, columns), }")
		}
	}()
	r, err := npy.NewReader(bytes.NewReader(b))
	if err != nil {
		return h, err
	}
	return r.Header, nil
}

// next reads the next row into row, whose length is the number of columns.
func (a *npyRows) next(row []float64) error {
	a.row++
	if _, err := io.ReadFull(a.r, a.buffer); err != nil {
		return fmt.Errorf("row %d of %d: %w", a.row, a.rows, noEOF(err))
	}
	for j := range row {
		if len(a.buffer) == 4*a.cols {
			row[j] = float64(math.Float32frombits(binary.LittleEndian.Uint32(a.buffer[4*j:])))
		} else {
			row[j] = math.Float64frombits(binary.LittleEndian.Uint64(a.buffer[8*j:]))
		}
		if math.IsNaN(row[j]) || math.IsInf(row[j], 0) {
			return fmt.Errorf("row %d of %d, column %d: %g, expected a finite number", a.row, a.rows, j+1, row[j])
		}
	}
	return nil
}
