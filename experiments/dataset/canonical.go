package dataset

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

// Canonical returns the SHA-256, in hexadecimal digits, of rows of inputs (N×d) with their outputs
// (N). It depends neither on the order of rows and inputs, nor on names, nor on the layout of the
// file. A value is its float64; −0 is 0.
func Canonical(inputs *mat.Dense, output []float64) string {
	n, d := inputs.Dims()
	rows := make([][]byte, n)
	for i := range rows {
		rows[i] = binary.BigEndian.AppendUint64(sorted(inputs.RawRowView(i)), bitsOf(output[i]))
	}
	return digestOfRows("privkern data 1\n", d, rows)
}

// CanonicalRows returns the digest of [Canonical] for rows without a designated output: the choice
// of the predicted column does not change it.
func CanonicalRows(inputs *mat.Dense, output []float64) string {
	n, d := inputs.Dims()
	rows := make([][]byte, n)
	for i := range rows {
		rows[i] = sorted(append(slices.Clone(inputs.RawRowView(i)), output[i]))
	}
	return digestOfRows("privkern rows 1\n", d+1, rows)
}

// Order returns the places of rows in an order that does not depend on the one in
// which they come: by their inputs, the first input first, and then by their outputs.
// A file that is sorted by a private column must not show it.
func Order(inputs *mat.Dense, output []float64) []int {
	order := make([]int, len(output))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(slices.Compare(inputs.RawRowView(a), inputs.RawRowView(b)), cmp.Compare(output[a], output[b]))
	})
	return order
}

// sorted returns the bytes of a row's values in ascending order. Values are compared
// as numbers and written as their bits, so that equal rows give equal bytes.
func sorted(values []float64) []byte {
	values = slices.Clone(values)
	slices.SortFunc(values, cmp.Compare)
	row := make([]byte, 0, 8*(len(values)+1))
	for _, v := range values {
		row = binary.BigEndian.AppendUint64(row, bitsOf(v))
	}
	return row
}

// bitsOf are those of a value, in which −0 is 0.
func bitsOf(v float64) uint64 { return math.Float64bits(v + 0) }

// digestOfRows is the SHA-256 of rows of that number of values, in ascending order.
func digestOfRows(kind string, values int, rows [][]byte) string {
	slices.SortFunc(rows, bytes.Compare)
	h := sha256.New()
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(kind), uint64(values)))
	for _, row := range rows {
		_, _ = h.Write(row)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// CountAmong returns the number of different points (P×d), and of those that are equal to some row of x
// (N×d). Neither the order of the rows nor the layout of the files matters. A value is its float64; −0 is 0.
func CountAmong(points, x *mat.Dense) (all, same int) {
	left := map[string]bool{}
	for i := range points.RawMatrix().Rows {
		left[rowKey(points.RawRowView(i))] = true
	}
	all = len(left)
	for i := range x.RawMatrix().Rows {
		delete(left, rowKey(x.RawRowView(i)))
	}
	return all, all - len(left)
}

// rowKey is the same text for equal rows.
func rowKey(row []float64) string {
	key := make([]byte, 0, 8*len(row))
	for _, v := range row {
		key = binary.BigEndian.AppendUint64(key, bitsOf(v))
	}
	return string(key)
}

// ClassValues returns a number for each class, by which the rows of a data set have the same
// [Canonical] form for every method that reads them: the class itself where it is a number,
// otherwise the first 52 bits of the SHA-256 of its name. It depends neither on the other classes
// nor on their order in a setting.
func ClassValues(classes []string) []float64 {
	out := make([]float64, len(classes))
	for i, name := range classes {
		v, err := strconv.ParseFloat(name, 64)
		if err != nil {
			digest := sha256.Sum256([]byte(name))
			v = float64(binary.BigEndian.Uint64(digest[:]) >> 12)
		}
		out[i] = v
	}
	return out
}

// LabelValues are the [ClassValues] of labels, which are places among classes.
func LabelValues(labels []int, classes []string) []float64 {
	values := ClassValues(classes)
	out := make([]float64, len(labels))
	for i, l := range labels {
		out[i] = values[l]
	}
	return out
}
