package tradeoff

import (
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"privkern/experiments/dataset/table"
	"privkern/runner/experiment"
)

// loadLandmarks reads the public rows. Rows that are all among the data are refused: another
// spelling of the path of the data, a copy or a part of them would leave with an export as
// if they were public.
func (d *data) loadLandmarks(t *experiment.Trial, setting string) error {
	marks, err := table.LoadPoints(t, setting, d.names)
	if err != nil {
		return err
	}
	switch all, same := marks.RawMatrix().Rows, countAmong(marks, d.x); {
	case same == all:
		return fmt.Errorf("landmarks = %s: all %d of them are rows of the data; landmarks are public rows, and leave with "+
			"an export: take rows that are nobody's", setting, all)
	case same > 0:
		d.warnings = append(d.warnings, fmt.Sprintf("%d of the %d landmarks are rows of the data, too, and leave with an "+
			"export: take others where these are not public", same, all))
	}
	d.landmarks = marks
	return nil
}

// countAmong returns how many rows of marks (P×d) are equal to some row of x (N×d).
func countAmong(marks, x *mat.Dense) int {
	counts := map[string]int{}
	for i := range marks.RawMatrix().Rows {
		counts[rowKey(marks.RawRowView(i))]++
	}
	same := 0
	for i := range x.RawMatrix().Rows {
		key := rowKey(x.RawRowView(i))
		same += counts[key]
		delete(counts, key)
	}
	return same
}

// rowKey is the same text for equal rows; 0 and −0 are equal.
func rowKey(row []float64) string {
	var key []byte
	for _, v := range row {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0))
	}
	return string(key)
}
