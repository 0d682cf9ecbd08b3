package vector

import "privkern/graphs/simd"

//go:noescape
func descendAVX2(f, up, a, b *float64, n int, move, largest float64) int

//go:noescape
func gainAVX2(f, down, diagonal, row *float64, n int, most, own, gain float64, least *[4]float64) int

// vectorDescend moves blocks up to the first one with an f+up from largest on, which it moves too.
// passed counts the elements before that block, and moved those of it.
func vectorDescend(f, up, a, b []float64, move, largest float64) (passed, moved int) {
	if simd.Active() < simd.AVX2 {
		return 0, 0
	}
	passed = descendAVX2(&f[0], &up[0], &a[0], &b[0], len(f), move, largest)
	if passed < len(f) {
		moved = pairBlock
	}
	return passed, moved
}

// vectorGain passes blocks up to the first one with a larger gain, and counts their elements.
func vectorGain(f, down, diagonal, row []float64, most, own, gain float64, least *[4]float64) int {
	if simd.Active() < simd.AVX2 {
		return 0
	}
	return gainAVX2(&f[0], &down[0], &diagonal[0], &row[0], len(f), most, own, gain, least)
}
