package mechanism

import "math"

// Guarantee is (ε, δ)-differential privacy.
type Guarantee struct {
	Epsilon, Delta float64
}

// ZCDP is the ρ of ρ-zero-concentrated differential privacy (Bun and Steinke,
// "Concentrated differential privacy: simplifications, extensions, and lower
// bounds", TCC 2016): the Rényi divergence of every order α > 1 between the
// outputs on neighbouring data sets is at most ρα.
type ZCDP float64

// ClassicZCDPFor returns the largest ρ for which ρ + 2√(ρ log(1/δ)) ≤ ε, so that ρ-zCDP
// implies (ε, δ)-differential privacy (Bun and Steinke 2016, Proposition 1.3; Honkela,
// "Gaussian processes with differential privacy", Eq. 19):
//
//	ρ = (√(ε + log(1/δ)) − √log(1/δ))²
//
// It holds for every mechanism and is smaller than need be: at (1, 1e-4), [GDPFor] allows
// Gaussian noise 1.9 times as much.
func ClassicZCDPFor(epsilon, delta float64) (ZCDP, error) {
	if err := check(epsilon, delta); err != nil {
		return 0, err
	}
	l := -math.Log(delta)
	// The difference of roots as a quotient, which does not cancel.
	root := epsilon / (math.Sqrt(epsilon+l) + math.Sqrt(l))
	return ZCDP(root * root), nil
}

// GDP returns μ = √(2ρ) of Gaussian noise that is ρ-zCDP, or of a composition of
// such noise: for these, and for these only, zCDP and GDP are equivalent.
func (r ZCDP) GDP() GDP { return GDP(math.Sqrt(2 * float64(r))) }

// GDP is the μ of μ-Gaussian differential privacy (Dong, Roth and Su, "Gaussian
// differential privacy", JRSS B 84, 2022): telling neighbouring data sets apart
// is at least as hard as telling N(0, 1) from N(μ, 1). Of Gaussian noise and its
// compositions it is exact: nothing is lost in conversions.
type GDP float64

// GDPFor returns the largest μ that is (ε, δ)-differentially private, the inverse
// of the σ/Δ of [AnalyticGaussian]. A Gaussian mechanism may have ρ = μ²/2.
func GDPFor(epsilon, delta float64) (GDP, error) {
	sigma, err := AnalyticGaussian(epsilon, delta)
	if err != nil {
		return 0, err
	}
	return GDP(1 / sigma), nil
}

// Epsilon returns the smallest ε for which μ-GDP implies (ε, δ)-differential
// privacy (Dong et al. 2022, Corollary 2.13 of arXiv:1905.02383): that of
// [GaussianEpsilon] at σ = 1/μ.
func (m GDP) Epsilon(delta float64) (float64, error) {
	if err := notNegative("mu", float64(m)); err != nil {
		return 0, err
	}
	if m == 0 {
		return 0, properDelta(delta)
	}
	return GaussianEpsilon(delta, 1/float64(m))
}

// ZCDP returns ρ = μ²/2, which μ-GDP implies (Dong et al. 2022, Corollary B.6 of
// arXiv:1905.02383).
func (m GDP) ZCDP() ZCDP { return ZCDP(m * m / 2) }

func properDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return &Error{"delta", delta, "a number strictly between 0 and 1 is required"}
	}
	return nil
}

func notNegative(parameter string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return &Error{parameter, v, "a finite number that is not negative is required"}
	}
	return nil
}
