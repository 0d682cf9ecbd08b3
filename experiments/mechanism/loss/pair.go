package loss

import (
	"math"

	"privkern/runner/experiment"
)

// pair is one of distributions of a number x whose loss, from P to Q, rises with x.
type pair struct {
	loss, inverse func(float64) float64
	density       func(float64) float64 // of P
	low, high     float64               // between which P has all probability but that of z deviations on each side
}

// pairOf returns the pair of Gaussian noise of a law.
func pairOf(l experiment.Loss, added bool, z float64) pair {
	switch l.Law {
	case substituted:
		return substitutedPair(l.Size/2, l.Rate, z)
	case subsampled:
		return sampledPair(l.Size, l.Rate, added, z)
	default:
		return sampledPair(l.Size, 1, false, z)
	}
}

// sampledPair is that of Gaussian noise on a query that moves by μ with probability q, and else does not: of
// P = (1−q) N(0, 1) + q N(μ, 1) against Q = N(0, 1), where the unit is removed, or of Q against P, where it is added.
func sampledPair(mu, q float64, added bool, z float64) pair {
	p := pair{
		loss: func(x float64) float64 {
			if q == 1 {
				return mu*x - mu*mu/2
			}
			return ratio(mu*x-mu*mu/2, q)
		},
		inverse: func(l float64) float64 {
			switch y := math.Expm1(l) / q; {
			case l > 30:
				return (l + math.Log1p((q-1)*math.Exp(-l)) - math.Log(q) + mu*mu/2) / mu
			case y <= -1:
				return math.Inf(-1)
			default:
				return (math.Log1p(y) + mu*mu/2) / mu
			}
		},
		density: mixture(mu, q),
		low:     -z, high: mu + z,
	}
	if q == 1 {
		p.low = mu - z
	}
	if !added {
		return p
	}
	// By the mirror image x → −x, in which the loss rises as well.
	return pair{
		loss:    func(x float64) float64 { return -p.loss(-x) },
		inverse: func(l float64) float64 { return -p.inverse(-l) },
		density: func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) },
		low:     -mu - z, high: z,
	}
}

// mixture returns the density of (1−q) N(0, 1) + q N(μ, 1).
func mixture(mu, q float64) func(x float64) float64 {
	return func(x float64) float64 {
		d := q * math.Exp(-(x-mu)*(x-mu)/2)
		if q < 1 {
			d += (1 - q) * math.Exp(-x*x/2)
		}
		return d / math.Sqrt(2*math.Pi)
	}
}

// ratio returns log(1 − q + q e^y).
func ratio(y, q float64) float64 {
	if y > 30 {
		return y + math.Log(q+(1-q)*math.Exp(-y))
	}
	return math.Log1p(q * math.Expm1(y))
}

// substitutedPair is that of Gaussian noise on the sum over a Poisson sample, where a unit is replaced by any other:
//
//	P = (1−q) N(0, 1) + q N(m, 1) and Q = (1−q) N(0, 1) + q N(−m, 1).
//
// A unit is a vector whose norm is at most m standard deviations of the noise, and in the sample with probability q.
//
// It dominates, and opposite vectors have it, so that no pair with less does. Proof. Let the samples of both data sets
// have the same other units, which are as likely in either. Given these, let A be the distribution of the output
// without the unit, and B and C those with the old and with the new one: normal distributions with means at most m
// apart from A's, and 2m from each other. The outputs have the distributions (1−q)A + qB and (1−q)A + qC, and as the
// hockey-stick divergence is jointly convex, it suffices to bound theirs. For α = e^ε ≥ 1, and every s from 0 to q, it
// is
//
//	δ = ∫ max(0, qB − (α−1)(1−q)A − αqC) ≤ ∫ max(0, sB − (α−1)(1−q)A) + ∫ max(0, (q−s)B − αqC).
//
// Both terms on the right are divergences of two normal distributions times a number. They grow with the distance of
// the means, as nearer ones are those farther apart, scaled and with more noise: they are at most those of A = N(0, 1),
// B = N(m, 1) and C = N(−m, 1). There A/B and C/B fall, and qB = (α−1)(1−q)A + αqC holds at one x. With
// s = (α−1)(1−q)A/B at that x, both integrands are positive on the same side of it alone, and the right side is the δ
// of P and Q. For α < 1, δ(ε; P, Q) = 1 − e^ε + e^ε δ(−ε; Q, P), and the same holds with the data sets, and P and Q,
// exchanged; the latter are mirror images. ∎ Steps, each chosen after the outputs of those before, have the product
// (Zhu et al. 2022, Theorem 10).
//
// With s in fixed shares the inequality is advanced joint convexity (Balle, Barthe and Gaboardi, "Privacy amplification
// by subsampling", NeurIPS 2018, Theorem 2) with convexity in the second argument, and δ is larger.
//
// The loss is inverted by sinh(mx − l/2) = sinh(l/2) (1−q)/q e^(m²/2), by logarithms.
func substitutedPair(m, q, z float64) pair {
	return pair{
		loss: func(x float64) float64 { return ratio(m*x-m*m/2, q) - ratio(-m*x-m*m/2, q) },
		inverse: func(l float64) float64 {
			half := math.Abs(l) / 2
			log := math.Log1p(-q) - math.Log(q) + m*m/2 + half + math.Log(-math.Expm1(-2*half)/2) // of its size
			y := log + math.Ln2
			if log < 20 {
				y = math.Asinh(math.Exp(log))
			}
			return math.Copysign(half+y, l) / m
		},
		density: mixture(m, q),
		low:     -z, high: m + z,
	}
}
