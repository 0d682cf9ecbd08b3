package loss

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mathext"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// Booked is a release as it enters the sums over releases. Each form bounds the whole release, and a
// sum takes one of them.
type Booked struct {
	// Pure is the ε of pure differential privacy; 0 where there is none.
	Pure float64 `json:"pure,omitempty"`
	// Mu is the μ of Gaussian differential privacy outside of MuDelta: the release is a post-processing
	// of the mechanism that with probability MuDelta reveals all, and otherwise adds Gaussian noise of
	// that μ.
	Mu      float64 `json:"mu,omitempty"`
	MuDelta float64 `json:"mu_delta,omitempty"`
	// Rho is the ρ of zero-concentrated differential privacy (Bun and Steinke 2016); 0 where there is none.
	Rho float64 `json:"rho,omitempty"`
}

// Laws of losses, by the names of a Noise.
const (
	gaussian    = "gaussian"
	laplace     = "laplace"
	exponential = "exponential mechanism"
	subsampled  = "subsampled gaussian"
	substituted = "substituted subsampled gaussian"
	response    = "randomised response"
)

// rounded covers the relative errors of short sums and of closed forms, which are 4e-14 of ε + e^−ε − 1 and less of
// others. certain covers those of conversions to ε: 5e-11 of δ, and 1e-12 of a loss.
const (
	rounded = 1 + 1e-12
	certain = 1 + 1e-9
)

// mostTimes bounds how often a mechanism is applied, so that sums over mechanisms are integers.
const mostTimes = 1_000_000_000_000

var laws = []string{gaussian, laplace, exponential, subsampled, substituted, response}

// sampled reports whether a law is that of a query over a sample.
func sampled(law string) bool { return law == subsampled || law == substituted }

// check refuses losses that are none.
func check(losses []experiment.Loss) error {
	if len(losses) == 0 {
		return errors.New("a release without a mechanism has no privacy loss")
	}
	for i, l := range losses {
		switch {
		case !slices.Contains(laws, l.Law):
			return fmt.Errorf("loss %d: no law is named %q; there are %q", i+1, l.Law, laws)
		case sampled(l.Law) && !(l.Rate > 0 && l.Rate < 1):
			return fmt.Errorf("loss %d (%s): its rate is %g; a number strictly between 0 and 1 is required", i+1, l.Law,
				l.Rate)
		case !(l.Size > 0) || math.IsInf(l.Size, 1):
			return fmt.Errorf("loss %d (%s): its size is %g; a positive, finite number is required", i+1, l.Law, l.Size)
		case l.Times < 1 || l.Times > mostTimes:
			return fmt.Errorf("loss %d (%s): it is applied %d times; a number from 1 to %g is required", i+1, l.Law, l.Times,
				float64(mostTimes))
		}
	}
	return nil
}

// worth is the part of μ below which a smaller one is worth its δ.
const worth = 0.99

// Book returns the amounts of a release that composes the losses. delta, from 0 up, is the largest
// MuDelta that it may take, for a smaller Mu than the sum of squares.
func Book(losses []experiment.Loss, delta float64) (Booked, error) {
	if err := check(losses); err != nil {
		return Booked{}, err
	}
	if !(delta >= 0 && delta < 1) {
		return Booked{}, fmt.Errorf("delta = %g: a number from 0 up and below 1 is required", delta)
	}
	var out Booked
	pure := new(big.Rat)
	for _, l := range losses {
		times := float64(l.Times)
		if l.Law == gaussian || sampled(l.Law) { // a sample reveals no more than the whole
			pure = nil
			out.Mu = math.Hypot(out.Mu, math.Sqrt(times)*l.Size)
			out.Rho += times * l.Size * l.Size / 2
			continue
		}
		if pure != nil {
			pure.Add(pure, new(big.Rat).Mul(Decimal(l.Size), new(big.Rat).SetInt64(int64(l.Times))))
		}
		mu, err := gdp(l)
		if err != nil {
			return Booked{}, err
		}
		out.Mu = math.Hypot(out.Mu, math.Sqrt(times)*mu)
		out.Rho += times * zcdp(l)
	}
	slack := rounded + 1e-15*float64(len(losses))
	if len(losses) > 1 || losses[0].Times > 1 || losses[0].Law != gaussian {
		out.Mu *= slack
	}
	out.Rho *= slack
	if pure != nil {
		out.Pure = Above(pure)
	}
	if err := finite(out); err != nil {
		return Booked{}, err
	}
	losses = merged(losses)
	if delta > 0 && (len(losses) > 1 || losses[0].Times > 1) {
		if mu := composedGDP(losses, delta, out.Mu); mu < worth*out.Mu {
			out.Mu, out.MuDelta = mu, delta
		}
	}
	return out, nil
}

// Stated returns the amounts of a release of which only the guarantee is known. An (ε, δ)-differentially
// private mechanism is a post-processing of the one that reveals all with probability δ, and otherwise
// answers at random with ε (Kairouz, Oh and Viswanath, "The composition theorem for differential
// privacy", ICML 2015, Theorem 3.1).
func Stated(epsilon, delta float64) (Booked, error) {
	mu, err := PureGDP(epsilon)
	if err != nil {
		return Booked{}, err
	}
	if !(delta >= 0 && delta < 1) {
		return Booked{}, fmt.Errorf("delta = %g: a number from 0 up and below 1 is required", delta)
	}
	out := Booked{Mu: float64(mu), MuDelta: delta}
	if delta == 0 {
		out.Pure, out.Rho = epsilon, zcdpOfPure(epsilon)*rounded
	}
	return out, finite(out)
}

// finite refuses amounts that overflow.
func finite(b Booked) error {
	for _, v := range []float64{b.Pure, b.Mu, b.Rho} {
		if math.IsInf(v, 1) || math.IsNaN(v) {
			return errors.New("the privacy loss of the release is beyond double precision; use more noise")
		}
	}
	return nil
}

// zcdp returns the ρ of a pure loss, applied once:
//
//   - of Laplace noise ε + e^−ε − 1 (Harrison and Manurangsi, "Exact zCDP characterizations for
//     fundamental differentially private mechanisms", FORC 2026);
//   - of a choice ε²/8 (Cesar and Rogers, "Bounding, concentrating, and truncating: unifying privacy loss
//     composition for data analytics", ALT 2021), because its loss is in an interval of length ε
//     (Durfee and Rogers, "Practical differentially private top-k selection with pay-what-you-get
//     composition", NeurIPS 2019), or that of any pure mechanism;
//   - of randomised response that of any pure mechanism.
func zcdp(l experiment.Loss) float64 {
	e := l.Size
	if l.Law == exponential {
		return min(e*e/8, zcdpOfPure(e))
	}
	if l.Law == response {
		return zcdpOfPure(e)
	}
	if e < 0.01 { // the series, alternating, cut after a positive term
		return e * e / 2 * (1 - e/3 + e*e/12)
	}
	return e + math.Expm1(-e)
}

// zcdpOfPure returns ε tanh(ε/2), the ρ of any ε-differentially private mechanism: that of the answer at
// random between two, of which every other is a post-processing (Harrison and Manurangsi 2026, the case k = 2
// of randomized response).
func zcdpOfPure(epsilon float64) float64 { return epsilon * math.Tanh(epsilon/2) }

// PureGDP returns a μ such that every ε-differentially private mechanism is μ-
// Gaussian differentially private:
//
//	μ = −2 Φ⁻¹(α), α = 1/(1+e^ε),
//
// rounded up. The trade-off function of ε-DP is piecewise linear through (0, 1),
// (α, α) and (1, 0) (Dong, Roth and Su 2022, Eq. 5 of arXiv:1905.02383: the
// larger of 1 − e^ε x and e^−ε (1 − x)). G_μ passes through the same points for
// this μ, and is convex, so it is nowhere above the chords between them. No
// smaller μ will do: its curve is above the kink.
func PureGDP(epsilon float64) (mechanism.GDP, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return 0, &mechanism.Error{Parameter: "epsilon", Value: epsilon, Reason: "a positive, finite number is required"}
	}
	var x float64 // −Φ⁻¹(α)
	switch {
	case epsilon < 2: // α is near 1/2: 1 − 2α = tanh(ε/2)
		x = math.Sqrt2 * math.Erfinv(math.Tanh(epsilon/2))
	case epsilon < 700:
		x = -mathext.NormalQuantile(1 / (1 + math.Exp(epsilon)))
	default:
		// α = e^−ε underflows. With Mills' ratio R, log α = −x²/2 − log √(2π) +
		// log R(x), a fixed point whose error shrinks by 1/x² a step.
		x = math.Sqrt(2) * math.Sqrt(epsilon)
		for range 6 {
			x = math.Sqrt(2) * math.Sqrt(epsilon-math.Log(2*math.Pi)/2+math.Log(mills(x)))
		}
	}
	return mechanism.GDP(2 * x * (1 + 1e-12)), nil
}

// mills returns Mills' ratio (1 − Φ(x))/φ(x) for x > 30 by Laplace's continued
// fraction.
func mills(x float64) float64 {
	t := x
	for k := 20; k >= 1; k-- {
		t = x + float64(k)/t
	}
	return 1 / t
}

// Decimal returns the number that the shortest decimal form of x shows, as a person wrote it. Sums of
// these are exact.
func Decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
	if !ok {
		panic(fmt.Sprintf("loss: %g is not finite", x)) // check refuses it
	}
	return r
}

// Above returns a float64 whose decimal form is at least r ≥ 0, and +Inf beyond the range.
func Above(r *big.Rat) float64 {
	x, _ := r.Float64()
	for !math.IsInf(x, 1) && Decimal(x).Cmp(r) < 0 {
		x = math.Nextafter(x, math.Inf(1))
	}
	return x
}
