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

// Epsilon returns the smallest ε for which the definition of ρ-zCDP alone gives
// (ε, δ)-differential privacy by way of Rényi differential privacy of all orders
// (Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy",
// NeurIPS 2020, Proposition 12 and Corollary 13; Asoodeh et al., "A better bound
// gives a hundred rounds", ISIT 2020). With x = α − 1 > 0 the Rényi divergence of
// order α gives
//
//	ε(x) = (1 + x)ρ + (log(1/δ) − log(1 + x))/x − log(1 + 1/x),
//
// which is least where x²ρ + log(1 + x) = log(1/δ). The result is rounded up: it
// is never below ε(x) of the x that was found, and so valid, and exceeds the
// least one by at most 2^-48 of the sum of the magnitudes of the three terms. It
// is 0 where ε(x) is not positive.
//
// Gaussian noise has a smaller ε still, [GDP.Epsilon] of [ZCDP.GDP].
func (r ZCDP) Epsilon(delta float64) (float64, error) {
	if err := notNegative("rho", float64(r)); err != nil {
		return 0, err
	}
	if err := properDelta(delta); err != nil {
		return 0, err
	}
	return r.epsilon(-math.Log(delta)), nil
}

// epsilon is Epsilon at δ = exp(−l).
func (r ZCDP) epsilon(l float64) float64 {
	rho := float64(r)
	if rho == 0 {
		return 0
	}
	// Any x gives a valid ε, so that the error of the root does no harm.
	x := lastFloat(func(x float64) bool { return x*(x*rho)+math.Log1p(x) <= l })
	first, second, third := (1+x)*rho, (l-math.Log1p(x))/x, math.Log1p(1/x)
	rounding := conversionRounding * (first + (l+math.Log1p(x))/x + third)
	return max(0, first+second-third+rounding)
}

// conversionRounding is sixteen times the unit roundoff: twice the most that the
// operations and logarithms of a conversion lose of the sum of their magnitudes.
const conversionRounding = 0x1p-49

// lastFloat returns the last positive number of which holds is true, which is so up to some
// number, or the smallest one. It bisects the representations of floating-point numbers, which
// are ordered as they are.
func lastFloat(holds func(x float64) bool) float64 {
	low, high := uint64(1), math.Float64bits(math.MaxFloat64)
	for high-low > 1 {
		if mid := low + (high-low)/2; holds(math.Float64frombits(mid)) {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Float64frombits(low)
}

// ZCDPFor returns the largest ρ of which [ZCDP.Epsilon] is at most ε, to the last bit: rounded
// down. It holds for every mechanism, and is larger than [ClassicZCDPFor]; [GDPFor] allows
// Gaussian noise a still larger ρ = μ²/2.
func ZCDPFor(epsilon, delta float64) (ZCDP, error) {
	if err := check(epsilon, delta); err != nil {
		return 0, err
	}
	l := -math.Log(delta)
	return ZCDP(lastFloat(func(rho float64) bool { return ZCDP(rho).epsilon(l) <= epsilon })), nil
}

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
