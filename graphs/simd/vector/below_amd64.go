package vector

import "privkern/graphs/simd"

//go:noescape
func expBelow32AVX512(rows int, x, top, table *float32)

//go:noescape
func expBelow32AVX2(rows int, x, top, table *float32)

// repeated32 is expTable32 with every constant 32 bytes wide.
var repeated32 = func() (out [8 * len(expTable32)]float32) {
	for i := range out {
		out[i] = expTable32[i/8]
	}
	return out
}()

// vectorExpBelow32 runs the level's kernel of ExpBelow, if it has one for rows of that width.
func vectorExpBelow32(x, top []float32) bool {
	rows, table := len(x)/len(top), &repeated32[0]
	switch level := simd.Active(); {
	case level == simd.AVX512 && len(top) == 32:
		expBelow32AVX512(rows, &x[0], &top[0], table)
	case level == simd.AVX2 && len(top) == 24:
		expBelow32AVX2(rows, &x[0], &top[0], table)
	default:
		return false
	}
	return true
}
