package dataset

import (
	"encoding/binary"

	"gonum.org/v1/gonum/mat"
)

// CountAmong returns the number of points (P×d) that are equal to some row of x (N×d). Neither the
// order of the rows nor the layout of the files matters. A value is its float64; −0 is 0.
func CountAmong(points, x *mat.Dense) int {
	counts := map[string]int{}
	for i := range points.RawMatrix().Rows {
		counts[rowKey(points.RawRowView(i))]++
	}
	same := 0
	for i := range x.RawMatrix().Rows {
		key := rowKey(x.RawRowView(i))
		same += counts[key]
		delete(counts, key)
	}
	return same
}

// rowKey is the same text for equal rows.
func rowKey(row []float64) string {
	key := make([]byte, 0, 8*len(row))
	for _, v := range row {
		key = binary.BigEndian.AppendUint64(key, bitsOf(v))
	}
	return string(key)
}
