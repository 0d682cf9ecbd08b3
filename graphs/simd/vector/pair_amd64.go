package vector

import "privkern/graphs/simd"

//go:noescape
func descendAVX2(f, up, a, b *float64, n int, move, largest float64) (passed, which int)

//go:noescape
func gainAVX2(f, down, diagonal, row *float64, n int, most, own, gain float64, least *[4]float64) (passed, which int)

// vectorDescend moves blocks up to the first one with an f+up from largest on, and that one, too. passed counts the
// elements before that block, and which has a bit for each such element of it.
func vectorDescend(f, up, a, b []float64, move, largest float64) (passed, which int, done bool) {
	if simd.Active() < simd.AVX2 {
		return 0, 0, false
	}
	passed, which = descendAVX2(&f[0], &up[0], &a[0], &b[0], len(f), move, largest)
	return passed, which, true
}

// vectorGain passes blocks up to the first one with a larger gain, and takes its elements into least, too. passed
// counts the elements before that block, and which has a bit for each one of it with a larger gain.
func vectorGain(f, down, diagonal, row []float64, most, own, gain float64, least *[4]float64) (passed, which int,
	done bool) {
	if simd.Active() < simd.AVX2 {
		return 0, 0, false
	}
	passed, which = gainAVX2(&f[0], &down[0], &diagonal[0], &row[0], len(f), most, own, gain, least)
	return passed, which, true
}
