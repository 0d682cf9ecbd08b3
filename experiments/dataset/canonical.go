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

// Canonical returns the SHA-256, in hexadecimal digits, of rows of inputs (N×d)
// with their outputs (N): the same for the same rows, whatever the order of the
// rows and of the inputs, their names, and the layout of the file that they came
// from. A value is its float64; −0 is 0.
func Canonical(inputs *mat.Dense, output []float64) string {
	n, d := inputs.Dims()
	const size = 8
	rows := make([][]byte, n)
	for i := range rows {
		values := slices.Clone(inputs.RawRowView(i))
		slices.SortFunc(values, cmp.Compare)
		row := make([]byte, 0, size*(d+1))
		for _, v := range append(values, output[i]) {
			row = binary.BigEndian.AppendUint64(row, math.Float64bits(v+0))
		}
		rows[i] = row
	}
	slices.SortFunc(rows, bytes.Compare)
	h := sha256.New()
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte("privkern data 1\n"), uint64(d)))
	for _, row := range rows {
		_, _ = h.Write(row)
	}
	return hex.EncodeToString(h.Sum(nil))
}
