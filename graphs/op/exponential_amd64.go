package op

import (
	"slices"

	"golang.org/x/sys/cpu"
)

var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

//go:noescape
func expRowAVX2(row *float32, n int, shift float32)

//go:noescape
func maxRowAVX2(row *float32, n int) float32

// maxRow is the largest number of a row that is not empty.
func maxRow(row []float32) float32 {
	if !hasAVX2 || len(row) < 8 {
		return slices.Max(row)
	}
	n := len(row) &^ 7
	largest := maxRowAVX2(&row[0], n)
	for _, v := range row[n:] {
		largest = max(largest, v)
	}
	return largest
}

// expRow is expRowGeneric, eight numbers at a time where the processor can.
func expRow(row []float32, shift float32) {
	n := 0
	if hasAVX2 && len(row) >= 8 {
		n = len(row) &^ 7
		expRowAVX2(&row[0], n, shift)
	}
	expRowGeneric(row[n:], shift)
}
