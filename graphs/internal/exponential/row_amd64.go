package exponential

import (
	"slices"

	"golang.org/x/sys/cpu"
)

var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

//go:noescape
func rowAVX2(row *float32, n int, shift float32)

//go:noescape
func maxAVX2(row *float32, n int) float32

// Max is the largest number of a row that is not empty.
func Max(row []float32) float32 {
	if !hasAVX2 || len(row) < 8 {
		return slices.Max(row)
	}
	n := len(row) &^ 7
	largest := maxAVX2(&row[0], n)
	for _, v := range row[n:] {
		largest = max(largest, v)
	}
	return largest
}

// Row overwrites row by exp(row − shift) with a relative error below 2e-7. Every
// argument must be at most shift: results below the smallest normal number
// become zero. NaN stays NaN.
func Row(row []float32, shift float32) {
	n := 0
	if hasAVX2 && len(row) >= 8 {
		n = len(row) &^ 7
		rowAVX2(&row[0], n, shift)
	}
	generic(row[n:], shift)
}
