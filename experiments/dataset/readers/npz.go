package readers

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// npzLimit bounds an .npz file, and each array in it, in bytes.
const npzLimit = 1 << 28

// npz is an archive of NumPy arrays, as numpy.savez writes it.
type npz struct{ *zip.Reader }

func readNPZ(r io.Reader) (npz, error) {
	content, err := readAll(r, npzLimit)
	if err != nil {
		return npz{}, err
	}
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return npz{}, fmt.Errorf("not an .npz file: %w", noEOF(err))
	}
	return npz{z}, nil
}

// npzArray is an array in C order.
type npzArray struct {
	shape  []int
	kind   string // of the elements, such as "<f4"
	values []float64
}

// npzKinds are the kinds of elements that are read, all little-endian.
var npzKinds = map[string]struct {
	size int
	read func([]byte) float64
}{
	"<f4": {4, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }},
	"<f8": {8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }},
	"|i1": {1, func(b []byte) float64 { return float64(int8(b[0])) }},
	"<i2": {2, func(b []byte) float64 { return float64(int16(binary.LittleEndian.Uint16(b))) }},
	"<i4": {4, func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) }},
	"<i8": {8, func(b []byte) float64 { return float64(int64(binary.LittleEndian.Uint64(b))) }},
}

// array reads the array of that name with as many dimensions, each of at least
// one element.
func (z npz) array(name string, dimensions int) (npzArray, error) {
	var a npzArray
	i := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name+".npy" })
	if i < 0 {
		return a, fmt.Errorf("there is no array %q in it", name)
	}
	fail := func(err error) (npzArray, error) { return a, fmt.Errorf("the array %q: %w", name, err) }
	f, err := z.File[i].Open()
	if err != nil {
		return fail(err)
	}
	defer func() { _ = f.Close() }() // only read
	content, err := readAll(f, npzLimit)
	if err != nil {
		return fail(noEOF(err))
	}
	r := bytes.NewReader(content)
	header, length, err := npyHeader(r)
	if err != nil {
		return fail(err)
	}
	a.shape, a.kind = header.Descr.Shape, header.Descr.Type
	kind, known := npzKinds[a.kind]
	n := int64(1)
	for _, size := range a.shape {
		if size < 1 || n > npzLimit/int64(size) {
			return fail(fmt.Errorf("the shape is %v, expected %d dimensions of at least 1 and not more than %d numbers",
				a.shape, dimensions, npzLimit))
		}
		n *= int64(size)
	}
	switch {
	case !known:
		return fail(fmt.Errorf("the elements are %q, expected little-endian floats or integers", a.kind))
	case header.Descr.Fortran && len(a.shape) > 1:
		return fail(errors.New("the array is in Fortran order, expected C order (row by row)"))
	case len(a.shape) != dimensions:
		return fail(fmt.Errorf("the shape is %v, expected %d dimensions", a.shape, dimensions))
	case n*int64(kind.size) != int64(len(content))-length:
		return fail(fmt.Errorf("the header announces %d elements of %d bytes, but %d bytes follow it; the file is cut off "+
			"or damaged", n, kind.size, int64(len(content))-length))
	}
	a.values = make([]float64, n)
	for i := range a.values {
		a.values[i] = kind.read(content[length+int64(i*kind.size):])
	}
	return a, nil
}

// floats is array for finite floats.
func (z npz) floats(name string, dimensions int) (npzArray, error) {
	a, err := z.array(name, dimensions)
	if err != nil {
		return a, err
	}
	if a.kind != "<f4" && a.kind != "<f8" {
		return a, fmt.Errorf("the array %q: the elements are %q, expected floats", name, a.kind)
	}
	for i, v := range a.values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return a, fmt.Errorf("the array %q: element %d is %g, expected a finite number", name, i, v)
		}
	}
	return a, nil
}

// integers reads a list of n integers from low to high.
func (z npz) integers(name string, n, low, high int) ([]int, error) {
	a, err := z.array(name, 1)
	if err != nil {
		return nil, err
	}
	if a.shape[0] != n {
		return nil, fmt.Errorf("the array %q: %d elements, expected %d, one for each window", name, a.shape[0], n)
	}
	out := make([]int, n)
	for i, v := range a.values {
		if v != math.Trunc(v) || v < float64(low) || v > float64(high) { // also NaN
			return nil, fmt.Errorf("the array %q: element %d is %g, expected an integer from %d to %d", name, i, v, low, high)
		}
		out[i] = int(v)
	}
	return out, nil
}

// npzWriter writes an archive of NumPy arrays. Nothing is compressed, so that equal arrays give
// equal bytes with every version of the compressor.
type npzWriter struct {
	*zip.Writer
	err error // the first
}

// array writes an array in C order of that kind of elements, of which values returns
// the bytes.
func (z *npzWriter) array(name, kind string, shape []int, values func(to []byte) []byte) {
	if z.err != nil {
		return
	}
	w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		z.err = err
		return
	}
	sizes := make([]string, len(shape))
	for i, n := range shape {
		sizes[i] = strconv.Itoa(n)
	}
	dimensions := strings.Join(sizes, ", ")
	if len(shape) == 1 {
		dimensions += ","
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, dimensions)
	// Magic, version and length of the header have 10 bytes; the array starts at a
	// multiple of 64.
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	content := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(content[8:], uint16(len(header)))
	_, z.err = w.Write(values(append(content, header...)))
}

// integers writes a list of integers of that kind.
func (z *npzWriter) integers(name, kind string, values []int) {
	size := npzKinds[kind].size
	z.array(name, kind, []int{len(values)}, func(to []byte) []byte {
		for _, v := range values {
			to = append(to, binary.LittleEndian.AppendUint64(nil, uint64(v))[:size]...)
		}
		return to
	})
}
