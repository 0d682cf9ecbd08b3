package loss

import (
	"math"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// point is an upper bound of δ at an ε.
type point struct{ epsilon, delta float64 }

// covered reports whether Gaussian noise of μ, outside of δ₀, has at every ε between the first and the last of
// the points, which rise, a δ that is at least that of a mechanism which the points bound:
//
//	δ(ε) ≤ δ₀ + (1 − δ₀) G(ε).
//
// As functions of e^ε both are convex. Between two points the left side is below its chord, and the right one
// above its tangent in the middle, so that it suffices to compare these at both ends.
func covered(points []point, mu, delta0 float64) bool {
	for i := range points[1:] {
		left, right := points[i], points[i+1]
		middle := (left.epsilon + right.epsilon) / 2
		g, err := mechanism.GaussianDelta(middle, 1/mu)
		if err != nil {
			return false
		}
		// G is Q(a) − e^ε Q(b), and its derivative by e^ε is −Q(b). It is computed to a part in 10^10 of Q(a).
		upper := math.Erfc((middle/mu-mu/2)/math.Sqrt2) / 2
		for _, p := range []point{left, right} {
			tangent := g - (upper-g)*math.Expm1(p.epsilon-middle) - 1e-10*upper
			if !(p.delta <= delta0+(1-delta0)*tangent) {
				return false
			}
		}
	}
	return true
}

// gdp returns a μ of a pure loss that is applied once. The curves of Laplace noise and of a choice touch that
// of Gaussian noise at ε = 0 first, which gives μ = −2 Φ⁻¹((1 − δ(0))/2); that it holds at all others is
// examined, and if that fails, μ is that of any mechanism of this ε, as it is of randomised response.
func gdp(l experiment.Loss) (float64, error) {
	e := l.Size
	if l.Law == response {
		mu, err := PureGDP(e)
		return float64(mu), err
	}
	exact := func(epsilon float64) float64 { return -math.Expm1((epsilon - e) / 2) }
	like := e/2 + math.Log1p(-math.Expm1(-e/2)) // the ε of an answer at random with the same δ(0)
	if l.Law == exponential {
		exact = func(epsilon float64) float64 {
			root := math.Expm1((epsilon - e) / 2)
			return root * root / -math.Expm1(-e)
		}
		like = e / 2
	}
	mu, err := PureGDP(like)
	if err != nil {
		return 0, err
	}
	const count = 400
	points := make([]point, count+1)
	for i := range points {
		epsilon := e * float64(i) / count
		points[i] = point{epsilon, exact(epsilon)}
	}
	if touching := float64(mu) * (1 + 1e-5); covered(points, touching, 0) {
		return touching, nil
	}
	mu, err = PureGDP(e)
	return float64(mu), err
}

// composedGDP returns a μ that covers the composition outside of δ₀, at most the given one, which covers it.
func composedGDP(losses []experiment.Loss, delta0, mu float64) float64 {
	var curves [][]point
	for _, d := range distributions(losses, delta0) {
		curves = append(curves, d.points(delta0))
	}
	if curves == nil {
		return mu
	}
	low, high := mu/16, mu // a μ of 0 would stand for none
	for high-low > 1e-4*high {
		middle := (low + high) / 2
		fits := true
		for _, points := range curves {
			fits = fits && covered(points, middle, delta0)
		}
		if fits {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// points returns bounds of δ from ε = 0 to one at which it is at most δ₀; beyond, it is no more. Where these are too
// many, or do not fall that far, nothing covers them.
func (d *distribution) points(delta0 float64) []point {
	bounds := []float64{1}
	for z := 1.0; ; z += 4 {
		level := math.Exp(-z * z / 2)
		c := d.curve(level)
		if c.at+len(c.delta) > 4*largest {
			return uncovered
		}
		for i, value := range c.delta {
			if at := c.at + i; at >= 0 {
				for len(bounds) <= at {
					bounds = append(bounds, 1)
				}
				bounds[at] = min(bounds[at], value)
			}
		}
		if level < delta0 {
			break
		}
	}
	_, _, variance := d.tilted(0)
	stride := max(1, int(math.Sqrt(variance)/d.h/64))
	var out []point
	least := 1.0
	for i, value := range bounds {
		least = min(least, value) // the curve falls
		if i%stride == 0 || least <= delta0 {
			out = append(out, point{float64(i) * d.h, least})
		}
		if least <= delta0 {
			return out
		}
	}
	return uncovered
}

// uncovered are the points of a bound of 1, which nothing covers.
var uncovered = []point{{0, 1}, {math.MaxFloat64, 1}}
