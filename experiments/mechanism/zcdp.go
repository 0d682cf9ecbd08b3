package mechanism

import "math"

// Guarantee is (ε, δ)-differential privacy.
type Guarantee struct {
	Epsilon, Delta float64
}

// Compose returns what releases with the given guarantees, on the same records
// and each chosen after those before it, guarantee together: the sums of ε and
// of δ (basic composition; Dwork, Kenthapadi, McSherry, Mironov and Naor 2006).
// It holds for every mechanism and is loose for many; [ComposeZCDP] and
// [ComposeGDP] are better where they apply.
//
// It returns an *[Error] for an ε or δ that is negative or not finite, and for a
// sum of δ that reaches 1, which guarantees nothing.
func Compose(guarantees ...Guarantee) (Guarantee, error) {
	var total Guarantee
	for _, g := range guarantees {
		if err := notNegative("epsilon", g.Epsilon); err != nil {
			return Guarantee{}, err
		}
		if err := notNegative("delta", g.Delta); err != nil {
			return Guarantee{}, err
		}
		total.Epsilon += g.Epsilon
		total.Delta += g.Delta
	}
	if total.Delta >= 1 {
		return Guarantee{}, &Error{"delta", total.Delta, "the sum must be below 1; " +
			"compose fewer releases or give each a smaller delta"}
	}
	return total, nil
}

// ZCDP is the ρ of ρ-zero-concentrated differential privacy (Bun and Steinke,
// "Concentrated differential privacy: simplifications, extensions, and lower
// bounds", TCC 2016): the Rényi divergence of every order α > 1 between the
// outputs on neighbouring data sets is at most ρα.
type ZCDP float64

// GaussianZCDP returns ρ = 1/(2σ²) of Gaussian noise with standard deviation
// sigma in units of the sensitivity (Bun and Steinke 2016, Proposition 1.6).
func GaussianZCDP(sigma float64) (ZCDP, error) {
	if err := checkSigma(sigma); err != nil {
		return 0, err
	}
	return ZCDP(1 / sigma / sigma / 2), nil
}

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
// It is never above [ZCDP.ClassicEpsilon]. Gaussian noise has a smaller ε still,
// [GDP.Epsilon] of [ZCDP.GDP].
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
	x := increasingRoot(func(x float64) float64 { return x*(x*rho) + math.Log1p(x) - l })
	// Any x gives a valid ε, so that the error of the root does no harm.
	first, second, third := (1+x)*rho, (l-math.Log1p(x))/x, math.Log1p(1/x)
	rounding := conversionRounding * (first + (l+math.Log1p(x))/x + third)
	return max(0, first+second-third+rounding)
}

// Delta is the inverse of [ZCDP.Epsilon]: the smallest δ for which ρ-zCDP alone
// gives (ε, δ)-differential privacy,
//
//	log δ(x) = x((1 + x)ρ − ε − log(1 + 1/x)) − log(1 + x),
//
// which is least where (1 + 2x)ρ − ε = log(1 + 1/x). It is rounded up: never below
// δ(x) of the x that was found, at most 1, never 0 for ρ > 0, and above the least
// one by a share of at most 2^-47 (1 + x(ρ + 2xρ + ε)), which is 1e-9 where ε is
// 10⁶, and 1e-11 up to ε = 10³.
func (r ZCDP) Delta(epsilon float64) (float64, error) {
	if err := notNegative("rho", float64(r)); err != nil {
		return 0, err
	}
	if err := notNegative("epsilon", epsilon); err != nil {
		return 0, err
	}
	rho := float64(r)
	if rho == 0 {
		return 0, nil
	}
	slope := func(x float64) float64 { return (rho - epsilon) + 2*(x*rho) - math.Log1p(1/x) }
	x := increasingRoot(slope)
	// The exponent is −x²ρ − log(1 + x) + x·slope(x), in which nothing cancels: the
	// slope is nearly 0.
	square, log := x*(x*rho), math.Log1p(x)
	rounding := conversionRounding * (1 + x*(rho+epsilon+math.Log1p(1/x)) + 2*square + log)
	delta := math.Exp(x*slope(x) - square - log + rounding)
	if math.IsNaN(delta) { // two infinities at x: no bound comes of it
		return 1, nil
	}
	return min(1, math.Nextafter(delta, 1)), nil
}

// conversionRounding is sixteen times the unit roundoff: twice what the operations
// and logarithms of a conversion lose of the sum of their magnitudes.
const conversionRounding = 0x1p-49

// increasingRoot returns an x, from 1e-300 to 1e300, next to which an increasing f
// changes its sign, or the end that is nearer to where it does. It bisects the
// representations of floating-point numbers, which are ordered as they are.
func increasingRoot(f func(x float64) float64) float64 {
	low, high := math.Float64bits(1e-300), math.Float64bits(1e300)
	for high-low > 1 {
		mid := low + (high-low)/2
		if f(math.Float64frombits(mid)) > 0 {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Float64frombits(low)
}

// ZCDPFor returns the largest ρ of which [ZCDP.Epsilon] says that it is (ε, δ)-
// differentially private, to the last bit: rounded down. It is valid for every
// mechanism, and larger than [ClassicZCDPFor]; [GDPFor] allows Gaussian noise a
// still larger ρ = μ²/2.
func ZCDPFor(epsilon, delta float64) (ZCDP, error) {
	if err := check(epsilon, delta); err != nil {
		return 0, err
	}
	l := -math.Log(delta)
	low, high := uint64(0), math.Float64bits(math.MaxFloat64)
	for high-low > 1 {
		mid := low + (high-low)/2
		if ZCDP(math.Float64frombits(mid)).epsilon(l) <= epsilon {
			low = mid
		} else {
			high = mid
		}
	}
	if low == 0 {
		return 0, &Error{"epsilon", epsilon, "no positive rho reaches it in double precision; use a larger epsilon " +
			"or delta"}
	}
	return ZCDP(math.Float64frombits(low)), nil
}

// ClassicZCDPFor returns the largest ρ of which [ZCDP.ClassicEpsilon] says that it
// is (ε, δ)-differentially private (Honkela, "Gaussian processes with differential
// privacy", Eq. 19):
//
//	ρ = (√(ε + log(1/δ)) − √log(1/δ))²
//
// It is valid for every mechanism and smaller than need be: see [ZCDPFor]. At
// (1, 1e-4) that one is 1.6 times as large, and [GDPFor] allows Gaussian noise
// 1.9 times as much.
func ClassicZCDPFor(epsilon, delta float64) (ZCDP, error) {
	if err := check(epsilon, delta); err != nil {
		return 0, err
	}
	l := -math.Log(delta)
	// The difference of roots as a quotient, which does not cancel.
	root := epsilon / (math.Sqrt(epsilon+l) + math.Sqrt(l))
	return ZCDP(root * root), nil
}

// ClassicEpsilon returns ε = ρ + 2√(ρ log(1/δ)), with which ρ-zCDP implies (ε, δ)-
// differential privacy (Bun and Steinke 2016, Proposition 1.3). [ZCDP.Epsilon] is
// never larger.
func (r ZCDP) ClassicEpsilon(delta float64) (float64, error) {
	if err := notNegative("rho", float64(r)); err != nil {
		return 0, err
	}
	if err := properDelta(delta); err != nil {
		return 0, err
	}
	return float64(r) + 2*math.Sqrt(float64(r)*-math.Log(delta)), nil
}

// ClassicDelta is the inverse of [ZCDP.ClassicEpsilon]: δ = exp(−(ε − ρ)²/(4ρ)) for
// ε > ρ and 1, which guarantees nothing, below.
func (r ZCDP) ClassicDelta(epsilon float64) (float64, error) {
	if err := notNegative("rho", float64(r)); err != nil {
		return 0, err
	}
	if err := notNegative("epsilon", epsilon); err != nil {
		return 0, err
	}
	switch {
	case r == 0:
		return 0, nil
	case epsilon <= float64(r):
		return 1, nil
	}
	d := epsilon - float64(r)
	return math.Exp(-d / float64(r) * d / 4), nil
}

// GDP returns μ = √(2ρ) of Gaussian noise that is ρ-zCDP, or of a composition of
// such noise: of these, and of these only, zCDP and GDP say the same.
func (r ZCDP) GDP() GDP { return GDP(math.Sqrt(2 * float64(r))) }

// ComposeZCDP returns the sum: the ρ of all releases together, each of which may
// be chosen after those before it (Bun and Steinke 2016, Lemma 1.7).
func ComposeZCDP(rhos ...ZCDP) (ZCDP, error) {
	total := 0.0
	for _, r := range rhos {
		if err := notNegative("rho", float64(r)); err != nil {
			return 0, err
		}
		total += float64(r)
	}
	return ZCDP(total), nil
}

// GDP is the μ of μ-Gaussian differential privacy (Dong, Roth and Su, "Gaussian
// differential privacy", JRSS B 84, 2022): telling neighbouring data sets apart
// is at least as hard as telling N(0, 1) from N(μ, 1). Of Gaussian noise and its
// compositions it is exact: nothing is lost in conversions.
type GDP float64

// GaussianGDP returns μ = 1/σ of Gaussian noise with standard deviation sigma in
// units of the sensitivity (Dong et al. 2022, Theorem 2.7 of arXiv:1905.02383).
func GaussianGDP(sigma float64) (GDP, error) {
	if err := checkSigma(sigma); err != nil {
		return 0, err
	}
	return GDP(1 / sigma), nil
}

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

// Delta returns the smallest δ for which μ-GDP implies (ε, δ)-differential privacy.
func (m GDP) Delta(epsilon float64) (float64, error) {
	if err := notNegative("mu", float64(m)); err != nil {
		return 0, err
	}
	if m == 0 {
		return 0, notNegative("epsilon", epsilon)
	}
	return GaussianDelta(epsilon, 1/float64(m))
}

// ZCDP returns ρ = μ²/2, which μ-GDP implies (Dong et al. 2022, Corollary B.6 of
// arXiv:1905.02383).
func (m GDP) ZCDP() ZCDP { return ZCDP(m * m / 2) }

// ComposeGDP returns √Σμ²: the μ of all releases together, each of which may be
// chosen after those before it (Dong et al. 2022, Corollary 3.3 of
// arXiv:1905.02383).
func ComposeGDP(mus ...GDP) (GDP, error) {
	total := 0.0
	for _, m := range mus {
		if err := notNegative("mu", float64(m)); err != nil {
			return 0, err
		}
		total = math.Hypot(total, float64(m))
	}
	return GDP(total), nil
}

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
