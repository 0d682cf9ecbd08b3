//go:build !amd64

package vector

func vectorDescend(_, _, _, _ []float64, _, _ float64) (passed, which int, done bool) {
	return 0, 0, false
}

func vectorGain(_, _, _, _ []float64, _, _, _ float64, _ *[4]float64) (passed, which int, done bool) {
	return 0, 0, false
}
