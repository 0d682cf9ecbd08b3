package har

import (
	"math"
	"slices"

	"privkern/experiments/dataset/readers"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mat"
)

// Samples is the number of samples of a window, and Step from the start of one to the
// start of the next.
const (
	Samples = 128
	Step    = 64
)

// axes are the three axes of a signal over the same time.
type axes [3][]float64

func (a axes) each(f func([]float64) []float64) (out axes) {
	for i, x := range a {
		out[i] = f(x)
	}
	return out
}

// window is the part of a signal from a sample on.
func (a axes) window(start int) axes {
	return a.each(func(x []float64) []float64 { return x[start : start+Samples] })
}

// norms are the Euclidean norms of the samples.
func (a axes) norms() []float64 {
	out := make([]float64, len(a[0]))
	for i := range out {
		out[i] = math.Sqrt(float64(a[0][i]*a[0][i]) + float64(a[1][i]*a[1][i]) + float64(a[2][i]*a[2][i]))
	}
	return out
}

func (a axes) means() (out [3]float64) {
	for i, x := range a {
		out[i] = mean(x)
	}
	return out
}

// signals holds the time series from which the features of a window are computed.
type signals struct{ body, gravity, bodyJerk, rotation, rotationJerk axes }

// separate filters a recording.
func separate(r *readers.Recording) signals {
	clean := func(x []float64) []float64 { return noiseFilter.apply(median3(x)) }
	fast := func(x []float64) []float64 { return without(x, gravityFilter.apply(x)) }
	acceleration := axes(r.Acceleration).each(clean)
	s := signals{gravity: acceleration.each(gravityFilter.apply), body: acceleration.each(fast),
		rotation: axes(r.Rotation).each(clean).each(fast)}
	s.bodyJerk, s.rotationJerk = s.body.each(rateOfChange), s.rotation.each(rateOfChange)
	return s
}

// Features returns the features of the windows of a recording that start at the given
// samples, counted from 0: one row of 561 for each, in the order of UCI HAR's
// features.txt and before they are scaled. Every window must be inside the recording.
func Features(r *readers.Recording, starts []int) *mat.Dense {
	if len(starts) == 0 {
		return new(mat.Dense)
	}
	s, transform := separate(r), fourier.NewFFT(Samples)
	out := mat.NewDense(len(starts), readers.HARFeatures, nil)
	for i, start := range starts {
		out.SetRow(i, s.features(transform, start))
	}
	return out
}

func (s *signals) features(transform *fourier.FFT, start int) []float64 {
	body, gravity := s.body.window(start), s.gravity.window(start)
	bodyJerk, rotation, rotationJerk := s.bodyJerk.window(start), s.rotation.window(start), s.rotationJerk.window(start)
	bodyNorms, bodyJerkNorms := body.norms(), bodyJerk.norms()
	rotationNorms, rotationJerkNorms := rotation.norms(), rotationJerk.norms()
	of := func(x []float64) []float64 { return spectrum(transform, x) }

	out := make([]float64, 0, readers.HARFeatures)
	for _, a := range []axes{body, gravity, bodyJerk, rotation, rotationJerk} {
		out = appendTime(out, a)
	}
	for _, x := range [][]float64{bodyNorms, bodyNorms, bodyJerkNorms, rotationNorms, rotationJerkNorms} {
		out = appendTimeOfNorms(out, x)
	}
	for _, a := range []axes{body, bodyJerk, rotation} {
		out = appendFrequency(out, a.each(of))
	}
	for _, x := range [][]float64{bodyNorms, bodyJerkNorms, rotationNorms, rotationJerkNorms} {
		out = appendFrequencyOfNorms(out, of(x))
	}
	down := gravity.means()
	for _, a := range []axes{body, bodyJerk, rotation, rotationJerk} {
		out = append(out, cosine(a.means(), down))
	}
	for i := range down {
		var axis [3]float64
		axis[i] = 1
		out = append(out, math.Acos(max(-1, min(cosine(axis, down), 1))))
	}
	return out
}

// cosine of the angle between two vectors; 0 where one has no direction.
func cosine(a, b [3]float64) float64 {
	dot := func(a, b [3]float64) float64 { return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2]) }
	norms := math.Sqrt(dot(a, a)) * math.Sqrt(dot(b, b))
	if norms == 0 {
		return 0
	}
	return dot(a, b) / norms
}

type statistic = func([]float64) float64

// Statistics that come before the signal magnitude area, and after it.
var (
	location = []statistic{mean, deviation, medianDeviation, slices.Max[[]float64], slices.Min[[]float64]}
	spread   = []statistic{energy, interquartileRange, entropy}
)

// appendEach appends one statistic of the three axes after the other.
func appendEach(out []float64, a axes, of []statistic) []float64 {
	for _, f := range of {
		out = append(out, f(a[0]), f(a[1]), f(a[2]))
	}
	return out
}

func magnitudeArea(a axes) float64 { return magnitude(a[0]) + magnitude(a[1]) + magnitude(a[2]) }

// appendTime appends the 40 features of three axes over time.
func appendTime(out []float64, a axes) []float64 {
	out = appendEach(out, a, location)
	out = append(out, magnitudeArea(a))
	out = appendEach(out, a, spread)
	for _, x := range a {
		c := autoregression(x)
		out = append(out, c[:]...)
	}
	return append(out, correlation(a[0], a[1]), correlation(a[0], a[2]), correlation(a[1], a[2]))
}

// appendTimeOfNorms appends the 13 features of norms over time.
func appendTimeOfNorms(out, x []float64) []float64 {
	for _, f := range slices.Concat(location, []statistic{magnitude}, spread) {
		out = append(out, f(x))
	}
	c := autoregression(x)
	return append(out, c[:]...)
}

// appendFrequency appends the 79 features of the spectra of three axes.
func appendFrequency(out []float64, p axes) []float64 {
	out = appendEach(out, p, location)
	out = append(out, magnitudeArea(p))
	out = appendEach(out, p, spread)
	out = appendEach(out, p, []statistic{strongest, meanFrequency})
	for _, x := range p {
		out = append(out, skewness(x), kurtosis(x))
	}
	for _, x := range p {
		for _, band := range bands {
			out = append(out, bandEnergy(x, band))
		}
	}
	return out
}

// appendFrequencyOfNorms appends the 13 features of the spectrum of norms.
func appendFrequencyOfNorms(out, p []float64) []float64 {
	for _, f := range slices.Concat(location, []statistic{magnitude}, spread,
		[]statistic{strongest, meanFrequency, skewness, kurtosis}) {
		out = append(out, f(p))
	}
	return out
}
