package audit

import (
	"math"

	"privkern/experiments/mechanism"
)

// MuAtLeast bounds the μ of Gaussian differential privacy from below (Dong, Roth
// and Su 2022), at the confidence, from a linear statistic of n releases of each
// of two neighbouring data sets, with the given means and the pooled standard
// deviation. It needs no rare events, so that it serves at every δ.
//
// The statistic is normal where the noise is: t = (m1 − m0)/(s √(2/n)) has the
// noncentral t law with 2n − 2 degrees of freedom, whose deviation is
// asymptotically √(1 + t²/(4n − 4)). The result is 0 where that is no bound.
//
// It holds for Gaussian releases only: for subjects that are stated to be Gaussian and
// whose noise [TestNoise] does not reject.
func MuAtLeast(m0, m1, s float64, n int, confidence float64) float64 {
	if s == 0 {
		if m0 == m1 {
			return 0
		}
		return math.Inf(1)
	}
	size := math.Abs(m1-m0) / s
	z := math.Sqrt2 * math.Erfinv(confidence) // two-sided: the sign is taken off
	deviation := math.Sqrt(2/float64(n) + size*size/(4*float64(n)-4))
	return max(0, size-z*deviation)
}

// GaussianBound bounds μ and δ from below by drawn Gaussian noise.
type GaussianBound struct {
	Pair string `json:"pair"`
	// MuAtLeast bounds μ from below, at the audit's confidence.
	MuAtLeast float64 `json:"mu_at_least"`
	// Delta is the smallest δ at the claimed ε that so large a μ allows.
	Delta float64 `json:"delta_at_least"`
}

// gaussianBound bounds μ by [MuAtLeast], and δ at the claimed ε by the exact δ(ε) of noise with
// σ = 1/μ (Balle and Wang 2018, Theorem 8).
func gaussianBound(apart separation, claim mechanism.Guarantee, confidence float64) (GaussianBound, error) {
	m0, v0 := moments(apart.first)
	m1, v1 := moments(apart.second)
	mu := MuAtLeast(m0, m1, math.Sqrt((v0+v1)/2), len(apart.first), confidence)
	b := GaussianBound{Pair: apart.pair, MuAtLeast: mu}
	if math.IsInf(b.MuAtLeast, 1) {
		b.MuAtLeast, b.Delta = math.MaxFloat64, 1 // JSON knows no infinity
		return b, nil
	}
	if b.MuAtLeast == 0 {
		return b, nil
	}
	var err error
	b.Delta, err = mechanism.GaussianDelta(claim.Epsilon, 1/b.MuAtLeast)
	return b, err
}

// separation is the linear statistic whose means are the farthest apart on the
// first half of the draws, with its values on the second.
type separation struct {
	pair          string
	size          float64
	first, second []float64
}

func (d *draws) separate(pair string) separation {
	best := separation{size: -1}
	for k, s := range d.statistics {
		if !s.linear {
			continue
		}
		first, second := d.values[k][0], d.values[k][1]
		half := len(first) / 2
		m0, v0 := moments(first[:half])
		m1, v1 := moments(second[:half])
		size := 0.0
		if m0 != m1 {
			size = math.Abs(m1-m0) / math.Sqrt((v0+v1)/2)
		}
		if size > best.size {
			best = separation{pair: pair, size: size, first: first[half:], second: second[half:]}
		}
	}
	return best
}

// moments returns mean and variance (n − 1).
func moments(values []float64) (mean, variance float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, variance
}

// exceeds reports whether an exact δ is above a claim by more than the 1e-9 that the rounding of
// [mechanism.GaussianDelta] can explain.
func exceeds(exact, claimed float64) bool { return !(exact <= claimed*(1+1e-9)) }
