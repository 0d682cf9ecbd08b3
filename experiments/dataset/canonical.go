package dataset

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"

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
