package mechanism

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// AnalyticGaussian returns the smallest σ/Δ for which Gaussian noise is
// (ε, δ)-differentially private (Balle and Wang, "Improving the Gaussian
// mechanism for differential privacy: analytical calibration and optimal
// denoising", ICML 2018, Theorem 8). It returns an *[Error] for an ε that is not
// positive and finite or a δ outside (0, 1).
//
// Of the two neighbouring numbers between which the computed δ(σ) crosses δ it is
// the larger one. As that function is computed in floating point, the result may
// be too small or too large by a share of
//
//	2.1e-12 max(1, 1e-4/ε),
//
// the largest error at 12,871 pairs of ε from 1e-8 to 1e6 and δ from 1e-300 to 0.999,
// regular and random ones, compared with 70 digits and more (mpmath 1.3; amd64); with
// ε from 1e-4 to 1000 and δ from 1e-15 to 0.9 it is 1.7e-12. For experiments that is
// nothing; a release takes [SafeFactor], which covers it.
func AnalyticGaussian(epsilon, delta float64) (float64, error) {
	if err := check(epsilon, delta); err != nil {
		return 0, err
	}
	target := math.Log(delta)
	// δ falls as σ grows: bracket, then bisect down to neighbouring numbers.
	low, high := 1.0, 1.0
	for logDelta(epsilon, high) > target {
		low, high = high, 2*high
		if math.IsInf(high, 1) {
			return 0, &Error{"epsilon", epsilon, "no finite noise reaches this delta in double precision; " +
				"use a larger epsilon or delta"}
		}
	}
	for logDelta(epsilon, low) <= target {
		low, high = low/2, low
		if low == 0 {
			return 0, &Error{"delta", delta, "it is so near 1 that no noise is needed in double precision; use a smaller delta"}
		}
	}
	for {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			return high, nil
		}
		if logDelta(epsilon, mid) > target {
			low = mid
		} else {
			high = mid
		}
	}
}

// ClassicalGaussian returns σ/Δ = √(2 log(1.25/δ))/ε (Dwork and Roth, "The
// algorithmic foundations of differential privacy", 2014, Theorem A.1). It
// refuses ε > 1 with an *[Error]: the proof needs ε < 1, and at ε = 1 the exact
// δ of [GaussianDelta] is still below the given one. Beyond, the formula can
// be too little: see [ClassicalFormula].
func ClassicalGaussian(epsilon, delta float64) (float64, error) {
	if err := check(epsilon, delta); err != nil {
		return 0, err
	}
	if epsilon > 1 {
		return 0, &Error{"epsilon", epsilon, "the classical Gaussian mechanism is proved for epsilon <= 1 only; " +
			"use the analytic Gaussian mechanism, which is exact for every epsilon"}
	}
	return ClassicalFormula(epsilon, delta), nil
}

// ClassicalFormula is the formula of [ClassicalGaussian] without its condition,
// for comparisons only: where ε > 1 the noise may not give (ε, δ)-differential
// privacy; at (10, 1e-4) it does not.
func ClassicalFormula(epsilon, delta float64) float64 {
	return math.Sqrt(2*math.Log(1.25/delta)) / epsilon
}

// GaussianDelta returns the smallest δ for which Gaussian noise of standard
// deviation sigma, in units of the sensitivity, is (ε, δ)-differentially private
// (Balle and Wang 2018, Theorem 8; see logDelta). At ε = 0 it is the total
// variation distance. It is 0 where δ is below the smallest float64. An ε that
// is negative or not finite, and a sigma that is not positive and finite, is
// refused with an *[Error].
func GaussianDelta(epsilon, sigma float64) (float64, error) {
	if err := notNegative("epsilon", epsilon); err != nil {
		return 0, err
	}
	if err := checkSigma(sigma); err != nil {
		return 0, err
	}
	return math.Exp(logDelta(epsilon, sigma)), nil
}

// GaussianEpsilon returns the smallest ε ≥ 0 for which Gaussian noise of
// standard deviation sigma, in units of the sensitivity, is (ε, δ)-differentially
// private: the inverse of [GaussianDelta] in ε, which is 0 where the total variation
// distance is no more than δ. It refuses the sigma that GaussianDelta refuses, a δ
// outside (0, 1), and noise so small that ε overflows.
//
// Of the two neighbouring numbers between which the computed δ(ε) crosses δ it is
// the larger one. The exact δ at it is δ but for a share of 5e-11, on the values
// that [AnalyticGaussian] was compared with, with ε from 1e-4 to 1000 and δ from
// 1e-15 to 0.9. It is no upper bound: an account that must not be too small adds to
// it, or asks for a δ smaller by more than that share.
func GaussianEpsilon(delta, sigma float64) (float64, error) {
	if err := properDelta(delta); err != nil {
		return 0, err
	}
	if err := checkSigma(sigma); err != nil {
		return 0, err
	}
	target := math.Log(delta)
	if logDelta(0, sigma) <= target {
		return 0, nil
	}
	low, high := 0.0, 1.0
	for logDelta(high, sigma) > target {
		low, high = high, 2*high
		// Above, εσ − 1/(2σ) has no digits left.
		if high > 1e300 || high*sigma > 1e300 {
			return 0, &Error{"sigma", sigma, "the epsilon of so little noise is beyond double precision; use more noise"}
		}
	}
	for {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			return high, nil
		}
		if logDelta(mid, sigma) > target {
			low = mid
		} else {
			high = mid
		}
	}
}

func checkSigma(sigma float64) error {
	if !(sigma > 0) || math.IsInf(sigma, 1) {
		return &Error{"sigma", sigma, "a positive, finite number is required: " +
			"the noise's standard deviation in units of the sensitivity"}
	}
	return nil
}

// logDelta is the logarithm of the smallest δ for which noise of standard
// deviation sigma on a query of sensitivity 1 is (ε, δ)-differentially private
// (Balle and Wang 2018, Theorem 8):
//
//	δ = Φ(1/(2σ) − εσ) − e^ε Φ(−1/(2σ) − εσ)
//
// It keeps its accuracy where δ is far smaller than the machine epsilon. With
// a = εσ − 1/(2σ), b = εσ + 1/(2σ) and the upper tail Q = 1 − Φ, δ is
// Q(a) − e^ε Q(b). Because b² − a² = 2ε, e^ε times the density at b is the
// density φ at a, so that with Mills' ratio R = Q/φ
//
//	δ = φ(a) (R(a) − R(b)) = φ(a) ∫ₐᵇ (1 − x R(x)) dx,
//
// where neither factor underflows and nothing overflows. The integral replaces
// the difference where a and b are near each other.
func logDelta(epsilon, sigma float64) float64 {
	half := 1 / (2 * sigma)
	a, b := epsilon*sigma-half, epsilon*sigma+half
	if a < -5 {
		// Q(a) is 1 less a tail: R(a) would overflow, and δ is not small.
		return math.Log(upperTail(a) - math.Exp(logDensity(a))*mills(b))
	}
	var difference float64
	if b-a < 0.5 {
		difference = quad.Fixed(func(x float64) float64 { return 1 - x*mills(x) }, a, b, 12, quad.Legendre{}, 0)
	} else {
		difference = mills(a) - mills(b)
	}
	return logDensity(a) + math.Log(difference)
}

func logDensity(x float64) float64 { return -x*x/2 - math.Log(2*math.Pi)/2 }

func upperTail(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }

// mills returns Mills' ratio R(x) = Q(x)/φ(x).
func mills(x float64) float64 {
	if x < 6 {
		return upperTail(x) * math.Exp(x*x/2) * math.Sqrt(2*math.Pi)
	}
	// Laplace's continued fraction 1/(x + 1/(x + 2/(x + 3/(x + ...)))), from
	// the inside out; 60 terms are exact to double precision from x = 6 on.
	t := x
	for k := 60; k >= 1; k-- {
		t = x + float64(k)/t
	}
	return 1 / t
}
