package audit

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// NoiseDraws is how many releases of each data set the tests of the noise look at
// by default: the size of the stochastic tester of google/differential-privacy,
// whose quantile is [NoiseConfidence].
const NoiseDraws = 125_000

// NoiseConfidence is the probability with which noise that is as stated passes all
// tests of its releases together.
const NoiseConfidence = 0.999995

// minNoise is the least number of releases at which the asymptotic laws serve.
const minNoise = 1000

// NoiseTest is one test of drawn noise against stated noise.
type NoiseTest struct {
	Name string `json:"name"`
	// Statistic is in the units of the name; P, the probability of one at least as
	// large where the noise is as stated, asymptotically.
	Statistic float64 `json:"statistic"`
	P         float64 `json:"p"`
}

// NoiseReport holds the results of the tests of the noise of one pair.
type NoiseReport struct {
	Releases    int `json:"releases"`    // of each data set
	Coordinates int `json:"coordinates"` // of noise in each release
	Tests       int `json:"tests"`
	// Rejected holds the tests whose P is below (1 − NoiseConfidence)/Tests.
	Rejected []NoiseTest `json:"rejected,omitempty"`
}

// NoiseSample is noise of several releases in units of the stated noise: release i
// has the d coordinates Values[i*D:(i+1)*D].
type NoiseSample struct {
	Values []float64
	D      int
	Grid   float64 // spacing of the values; 0 for a continuum
	Law    Law
}

// TestNoise tests samples against their law: coordinate by coordinate by its
// distribution function (Kolmogorov and Smirnov, the asymptotic law) and its
// size (χ²), all coordinates together in the same two ways, and for
// dependence: correlation between coordinates, with the release before, and releases
// that repeat. Noise ×.95 is found in 125,000 releases with a probability that
// differs from 1 by less than 1e-12: its χ² lies 24 deviations from the mean.
//
// The level is divided among all tests (Bonferroni), so that noise that is as
// stated is rejected with a probability of 5e-6 in all.
func TestNoise(samples ...NoiseSample) (NoiseReport, error) {
	var r NoiseReport
	var tests []NoiseTest
	for side, s := range samples {
		if s.D < 1 || len(s.Values)%s.D != 0 || len(s.Values)/s.D < minNoise {
			return r, fmt.Errorf("%d values of noise in %d coordinates: at least %d releases are required",
				len(s.Values), s.D, minNoise)
		}
		if s.Law != Gaussian && s.Law != Laplace {
			return r, fmt.Errorf("%q is no law that noise is tested against", s.Law)
		}
		r.Releases, r.Coordinates = len(s.Values)/s.D, s.D
		for _, t := range s.tests() {
			if len(samples) > 1 {
				t.Name += fmt.Sprintf(", data set %d", side+1)
			}
			tests = append(tests, t)
		}
	}
	r.Tests = len(tests)
	for _, t := range tests {
		if !(t.P >= (1-NoiseConfidence)/float64(len(tests))) {
			r.Rejected = append(r.Rejected, t)
		}
	}
	return r, nil
}

func (s NoiseSample) tests() []NoiseTest {
	var tests []NoiseTest
	if s.D > 1 {
		column := make([]float64, len(s.Values)/s.D)
		for j := range s.D {
			for i := range column {
				column[i] = s.Values[i*s.D+j]
			}
			name := fmt.Sprintf("coordinate %d", j+1)
			tests = append(tests, s.distribution(name, column), s.size(name, column))
		}
	}
	all := slices.Clone(s.Values)
	tests = append(tests, s.size("all coordinates", all), s.distribution("all coordinates", all),
		s.correlation("correlation with the release before", s.D), s.repeats())
	if s.D > 1 {
		tests = append(tests, s.correlation("correlation between coordinates", 0))
	}
	return tests
}

// distribution is the test of Kolmogorov and Smirnov, with Stephens's correction
// for finite samples. A value rounded to a grid may be off by half a spacing,
// which moves the distribution function by no more than half a spacing times the
// largest density. It sorts the values.
func (s NoiseSample) distribution(name string, values []float64) NoiseTest {
	slices.Sort(values)
	n := float64(len(values))
	d := 0.0
	for i, v := range values {
		f := s.Law.below(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	d = max(0, d-s.Law.density(0)*s.Grid/2)
	x := d * (math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n))
	return NoiseTest{Name: "Kolmogorov-Smirnov, " + name, Statistic: x, P: kolmogorovTail(x)}
}

// size is the two-sided χ² test: of the sum of squares of Gaussian noise, with as
// many degrees of freedom as values, and of the sum of magnitudes of Laplace
// noise, twice of which is χ² with twice as many. The statistic is the noise's
// size as a multiple of the stated one.
func (s NoiseSample) size(name string, values []float64) NoiseTest {
	n := float64(len(values))
	sum, freedom := 0.0, n
	for _, v := range values {
		if s.Law == Laplace {
			sum += 2 * math.Abs(v)
		} else {
			sum += v * v
		}
	}
	multiple := sum / n
	if s.Law == Laplace {
		freedom, multiple = 2*n, multiple/2
	} else {
		multiple = math.Sqrt(multiple)
	}
	z := wilsonHilferty(sum, freedom)
	return NoiseTest{Name: "chi-squared, " + name, Statistic: multiple, P: math.Erfc(math.Abs(z) / math.Sqrt2)}
}

// correlation sums the squares of all correlations of coordinates, at lag 0 those
// of different ones, at lag D, the release before, those of all pairs. Each is
// asymptotically normal with variance 1/n where the draws are independent, so
// that n times the sum is χ². The statistic is the largest magnitude.
func (s NoiseSample) correlation(name string, lag int) NoiseTest {
	n, d := len(s.Values)/s.D, s.D
	sums := make([]float64, d*d)
	first := lag / d
	for i := first; i < n; i++ {
		now, then := s.Values[i*d:(i+1)*d], s.Values[(i-first)*d:(i-first+1)*d]
		for j, v := range now {
			row := sums[j*d : (j+1)*d]
			for k, w := range then {
				row[k] += v * w
			}
		}
	}
	count := float64(n - first)
	square, largest, freedom := 0.0, 0.0, 0
	for j := range d {
		for k := range d {
			if lag == 0 && k >= j {
				break
			}
			r := sums[j*d+k] / (count * s.Law.variance())
			square += count * r * r
			largest = max(largest, math.Abs(r))
			freedom++
		}
	}
	return NoiseTest{Name: name, Statistic: largest, P: mathext.GammaIncRegComp(float64(freedom)/2, square/2)}
}

// repeats counts the pairs of releases that have all their noise in common. The
// probability of that many is bounded by Chebyshev's inequality, with the mean and
// the variance of the count where the noise is independent and rounded to the grid.
func (s NoiseSample) repeats() NoiseTest {
	n, d := len(s.Values)/s.D, s.D
	order := make([][]float64, n)
	for i := range order {
		order[i] = s.Values[i*d : (i+1)*d]
	}
	slices.SortFunc(order, slices.Compare)
	pairs, run := 0.0, 1.0
	for i := 1; i <= n; i++ {
		if i < n && slices.Equal(order[i], order[i-1]) {
			run++
			continue
		}
		pairs += run * (run - 1) / 2
		run = 1
	}
	// Two and three draws are equal with probabilities g ∫f² and g² ∫f³.
	g := max(s.Grid, 0x1p-50)
	two := math.Pow(min(1, g*s.Law.squared()), float64(d))
	three := math.Pow(min(1, g*g*s.Law.cubed()), float64(d))
	m := float64(n)
	mean := m * (m - 1) / 2 * two
	variance := mean + m*m*m*max(0, three-two*two)
	p := 1.0
	if excess := pairs - mean; excess > 0 {
		p = min(1, variance/(excess*excess))
	}
	return NoiseTest{Name: "pairs of releases with the same noise", Statistic: pairs, P: p}
}

// below is the distribution function.
func (l Law) below(x float64) float64 {
	if l == Gaussian {
		return math.Erfc(-x/math.Sqrt2) / 2
	}
	if x < 0 {
		return math.Exp(x) / 2
	}
	return 1 - math.Exp(-x)/2
}

// density is f, at scale 1: exp(−x²/2)/√(2π), or exp(−|x|)/2.
func (l Law) density(x float64) float64 {
	if l == Gaussian {
		return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
	}
	return math.Exp(-math.Abs(x)) / 2
}

// variance is ∫x²f.
func (l Law) variance() float64 {
	if l == Gaussian {
		return 1
	}
	return 2
}

// squared is ∫f² of the density f.
func (l Law) squared() float64 {
	if l == Gaussian {
		return 1 / (2 * math.Sqrt(math.Pi))
	}
	return 0.25
}

// cubed is ∫f³ of the density f.
func (l Law) cubed() float64 {
	if l == Gaussian {
		return 1 / (2 * math.Pi * math.Sqrt(3))
	}
	return 1.0 / 12
}

// kolmogorovTail is the asymptotic probability that √n times the largest distance
// between an empirical distribution function and the true one exceeds x
// (Kolmogorov 1933).
func kolmogorovTail(x float64) float64 {
	if x < 0.3 {
		return 1 // to nine digits
	}
	sum := 0.0
	for k := 1.0; k < 100; k++ {
		term := math.Exp(-2 * k * k * x * x)
		if int(k)%2 == 0 {
			term = -term
		}
		sum += term
	}
	return min(1, max(0, 2*sum))
}

// wilsonHilferty returns the standard normal deviate of a χ² number with many
// degrees of freedom (Wilson and Hilferty 1931).
func wilsonHilferty(x, freedom float64) float64 {
	v := 2 / (9 * freedom)
	return (math.Cbrt(x/freedom) - (1 - v)) / math.Sqrt(v)
}
