package har

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// bins of a spectrum: those of the transform from 1 to half the window.
const bins = Samples / 2

// bands are the ranges of bins whose energies are features, from the first to before
// the second.
var bands = [][2]int{{0, 8}, {8, 16}, {16, 24}, {24, 32}, {32, 40}, {40, 48}, {48, 56}, {56, 64},
	{0, 16}, {16, 32}, {32, 48}, {48, 64}, {0, 24}, {24, 48}}

// spectrum returns the magnitudes of a window's frequencies.
func spectrum(transform *fourier.FFT, x []float64) []float64 {
	out := make([]float64, bins)
	for i, c := range transform.Coefficients(nil, x)[1:] {
		out[i] = math.Sqrt(float64(real(c)*real(c))+float64(imag(c)*imag(c))) / bins
	}
	return out
}

// strongest is the place of the largest magnitude, counted from 0.
func strongest(p []float64) float64 {
	at := 0
	for i, v := range p {
		if v > p[at] {
			at = i
		}
	}
	return float64(at)
}

// meanFrequency weighs the places of the bins, in Hz and counted from 0, with their
// magnitudes; 0 of silence.
func meanFrequency(p []float64) float64 {
	sum, weighted := 0.0, 0.0
	for i, v := range p {
		sum += v
		weighted += float64(v * (float64(i) * Rate / Samples))
	}
	if sum == 0 {
		return 0
	}
	return weighted / sum
}

func bandEnergy(p []float64, band [2]int) float64 {
	sum := 0.0
	for _, v := range p[band[0]:band[1]] {
		sum += float64(v * v)
	}
	return sum
}
