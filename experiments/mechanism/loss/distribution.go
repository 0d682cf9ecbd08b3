package loss

import (
	"errors"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"

	"privkern/experiments/mechanism"
	"privkern/runner/experiment"
)

// distribution is the privacy loss of a composition, in one order of the hypotheses.
type distribution struct {
	h     float64 // spacing of the grid
	parts []*masses
	// unbounded bounds the probability of an unbounded loss; count is how many mechanisms are composed.
	unbounded, count float64
	bottom, top      int // the least and the largest multiple of h that has a probability
}

const (
	// finest is a spacing that others are multiples or fractions of by powers of two. It is that of the library
	// dp-accounting, so that a coarser grid gives no smaller δ.
	finest = 1e-4
	// largest is the number of multiples that a window may have; a mechanism has at most a quarter.
	largest = 1 << 18
	// reach is the half of a window's width in standard deviations.
	reach = 8
	// negligible is the part of δ that losses beyond a window, and beyond the grid, add at most.
	negligible = 1e-6
)

// distributions returns the privacy loss of a composition in both orders of the hypotheses, or one for both
// where they are alike. They resolve a δ from the given one up. There are none where multiples
// of the spacing are beyond integers, or it is beyond powers.
func distributions(losses []experiment.Loss, delta float64) []*distribution {
	losses = merged(losses)
	var count float64
	for _, l := range losses {
		count += float64(l.Times)
	}
	// Gaussian noise is beyond z deviations with probability exp(−z²/2) at most.
	z := math.Sqrt(-2 * (math.Log(max(delta, 1e-150)) + math.Log(negligible/count)))
	h := spacing(losses, z)
	var most float64 // the largest loss
	for _, l := range losses {
		most += float64(l.Times) * (l.Size + l.Size*(l.Size+2*z))
	}
	if !(most/h < 1<<50 && h > 1e-60) {
		return nil
	}
	out := []*distribution{newDistribution(losses, h, z, false)}
	for _, l := range losses {
		if l.Law == subsampled {
			return append(out, newDistribution(losses, h, z, true))
		}
	}
	return out
}

// merged joins all Gaussian noise, whose μ² add, and losses that are alike.
func merged(losses []experiment.Loss) []experiment.Loss {
	type kind struct {
		law        string
		size, rate float64
	}
	var out []experiment.Loss
	var mu float64
	at := map[kind]int{}
	for _, l := range losses {
		if l.Law == gaussian {
			mu = math.Hypot(mu, math.Sqrt(float64(l.Times))*l.Size)
			continue
		}
		k := kind{l.Law, l.Size, l.Rate}
		if i, ok := at[k]; ok {
			out[i].Times += l.Times
			continue
		}
		at[k] = len(out)
		out = append(out, l)
	}
	if mu > 0 {
		out = append(out, experiment.Loss{Law: gaussian, Size: mu * rounded, Times: 1})
	}
	return out
}

// spacing returns a spacing by which the variance of the loss increases by a thousandth, at most: that of a
// mechanism by h²/4. Of few pure mechanisms the largest loss may decide, which increases by a spacing each, and the
// grid is finer; unless Gaussian noise spreads it, of which the variance increases by a thousandth then. It is
// coarser where a window would be too large.
func spacing(losses []experiment.Loss, z float64) float64 {
	var count, variance, widest, most, spread float64
	for _, l := range losses {
		e, v, w := l.Size, l.Size*l.Size, 0.0
		switch l.Law {
		case laplace:
			v, w = min(v, 3), min(2*e, depth)
			most += e * float64(l.Times)
		case exponential:
			v, w = min(v/3, 4), min(2*e, depth)
			most += e * float64(l.Times)
		case response:
			v, w = v/math.Pow(math.Cosh(e/2), 2), min(2*e, depth)
			most += e * float64(l.Times)
		case gaussian:
			w = 2 * z * e
			spread += v
		case subsampled:
			v, w = min(v, l.Rate*l.Rate*math.Expm1(min(v, 700))), e*(e+2*z)
		case substituted: // about the mean square of (P−Q)/N(0, 1) under N(0, 1)
			v, w = min(v, 4*l.Rate*l.Rate*math.Sinh(min(v/4, 700))), e*(e+2*z)
		}
		count += float64(l.Times)
		variance += v * float64(l.Times)
		widest = max(widest, w)
	}
	s := math.Sqrt(variance)
	h := math.Sqrt(0.004 * variance / count)
	if count < 100 && most > 0 {
		h = min(h, max(0.0005*s, 0.002*most/count, math.Sqrt(0.004*spread/count)))
	}
	h = max(h, 2*reach*s/largest, widest/(largest/4))
	return finest * math.Exp2(math.Floor(math.Log2(h/finest)))
}

func newDistribution(losses []experiment.Loss, h, z float64, added bool) *distribution {
	d := &distribution{h: h}
	for _, l := range losses {
		var m *masses
		switch l.Law {
		case laplace, exponential:
			m = pureMasses(l, h)
		case response:
			m = responseMasses(l, h)
		default:
			m = gaussianMasses(l, added, h, z)
		}
		d.parts = append(d.parts, m)
		d.unbounded += float64(l.Times) * m.infinite
		d.count += float64(l.Times)
		d.bottom += l.Times * m.at
		d.top += l.Times * (m.at + len(m.log) - 1)
	}
	return d
}

// tilted returns the logarithm K of E exp(θL), and mean and variance of L with its probabilities multiplied by
// exp(θL − K).
func (d *distribution) tilted(theta float64) (k, mean, variance float64) {
	for _, m := range d.parts {
		logSum, first, second := m.tilted(theta * d.h)
		times := float64(m.times)
		k += times * (logSum + theta*d.h*float64(m.at))
		mean += times * d.h * (float64(m.at) + first)
		variance += times * d.h * d.h * max(0, second-first*first)
	}
	return k, mean, variance
}

// tilted returns log Σ exp(log pᵢ + slope·i), and the moments of i with these weights.
func (m *masses) tilted(slope float64) (logSum, first, second float64) {
	best := math.Inf(-1)
	for i, p := range m.log {
		best = max(best, p+slope*float64(i))
	}
	var sum float64
	for i, p := range m.log {
		w := math.Exp(p + slope*float64(i) - best)
		sum += w
		first += w * float64(i)
		second += w * float64(i) * float64(i)
	}
	return best + math.Log(sum), first / sum, second / sum
}

// tiltFor returns the θ > 0 whose bound of δ(ε),
//
//	exp(K(θ) − θε) θ^θ/(1+θ)^(1+θ),
//
// is the given δ for the least ε (Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy",
// NeurIPS 2020, Proposition 12, with α = 1+θ): θK′(θ) − K(θ) + log(1+θ) = log(1/δ), by Newton's method.
func (d *distribution) tiltFor(delta float64) float64 {
	target := -math.Log(delta)
	_, _, variance := d.tilted(0)
	theta := math.Sqrt(2 * target / variance)
	low, high := 0.0, 40/d.h // at which the largest losses alone count
	for range 60 {
		k, mean, v := d.tilted(theta)
		gap := theta*mean - k + math.Log1p(theta) - target
		if math.Abs(gap) <= 0.01*target {
			break
		}
		if gap < 0 {
			low = theta
		} else {
			high = theta
		}
		next := theta - gap/(theta*v+1/(1+theta))
		if !(next > low && next < high) {
			next = (low + high) / 2
			if low > 0 {
				next = math.Sqrt(low * high)
			}
		}
		theta = next
	}
	return theta
}

// curve has upper bounds of δ at multiples of h.
type curve struct {
	h     float64
	at    int
	delta []float64
}

// curve returns the bounds, which are tight near the given δ. It composes tilted probabilities, see the
// package comment.
func (d *distribution) curve(delta float64) curve {
	theta := d.tiltFor(delta)
	k, mean, variance := d.tilted(theta)
	s := math.Sqrt(variance)
	// The least ε of the tilt is K′ − log(1 + 1/θ).
	half := reach*s + 3*math.Log1p(1/theta)
	if !(theta > 0 && math.Abs(mean) < math.MaxInt32*d.h*1e6 && theta*half < math.MaxFloat64) {
		return curve{h: d.h} // beyond double precision: no bound
	}
	width := min(2*half/d.h, float64(d.top)-float64(d.bottom))
	n := 1 << bits.Len(uint(min(max(width, 62), largest-1)))
	var first, last int
	var outside float64 // probability above the window
	for ; ; n *= 2 {
		first = int(mean/d.h) - n/2
		last, outside = min(first+n-1, d.top), 0
		if last < d.top {
			outside = d.tail(theta, s, float64(last)*d.h, negligible*delta)
		}
		if outside <= negligible*delta || n >= largest {
			break
		}
	}

	transform := fourier.NewFFT(n)
	product := make([]complex128, n/2+1)
	for i := range product {
		product[i] = 1
	}
	sequence, coefficients := make([]float64, n), make([]complex128, n/2+1)
	eta := 4e-15 * math.Log2(float64(n)) // of a transform, relative, in the Euclidean norm
	wrong := eta
	for _, m := range d.parts {
		clear(sequence)
		logSum, _, _ := m.tilted(theta * d.h)
		for i, p := range m.log {
			sequence[i%n] += math.Exp(p + theta*d.h*float64(i) - logSum)
		}
		var norm float64
		for _, p := range sequence {
			norm += p * p
		}
		transform.Coefficients(coefficients, sequence)
		for i, c := range coefficients {
			product[i] *= power(c, m.times)
		}
		wrong += float64(m.times) * (eta + 1e-15) * math.Sqrt(norm)
	}
	transform.Sequence(sequence, product)

	wrong *= 1.1 * math.Sqrt(min(float64(n), 1/math.Expm1(2*theta*d.h)))
	slack := math.Exp(1e-12*d.count + 1e-15*float64(n))
	shrink, step, kept := math.Exp(-theta*d.h), -math.Expm1(-d.h), math.Exp(-d.h)
	out := curve{h: d.h, at: first, delta: make([]float64, last-first+1)}
	var above, value float64 // P(L > (first+i)·h) and δ there, over the exponential of K − θL
	for i := last - first; i >= 0; i-- {
		value = shrink*kept*value + step*above
		scale := math.Exp(k - theta*float64(first+i)*d.h)
		out.delta[i] = slack*scale*(value+wrong) + outside + d.unbounded
		at := (first + i - d.bottom) % n
		if at < 0 {
			at += n
		}
		above = shrink * (above + max(0, sequence[at]/float64(n)))
	}
	return out
}

// tail bounds P(L > b) by Chernoff's bound, for tilts above θ until it increases, or is small enough.
func (d *distribution) tail(theta, s, b, enough float64) float64 {
	bound := 0.0 // its logarithm
	for more := 0.125; more < 1<<12 && !(math.Exp(bound) <= enough); more *= 2 {
		tau := theta + more/s
		k, _, _ := d.tilted(tau)
		if !(k-tau*b < bound) {
			break
		}
		bound = k - tau*b
	}
	return math.Exp(bound)
}

// power returns cⁿ for n ≥ 1.
func power(c complex128, n int) complex128 {
	out := complex128(1)
	for ; n > 1; n >>= 1 {
		if n&1 == 1 {
			out *= c
		}
		c *= c
	}
	return out * c
}

// epsilon returns an upper bound of the ε at δ; +Inf beyond the window. Between two multiples the curve is
// linear in e^ε.
func (c curve) epsilon(delta float64) float64 {
	for i, value := range c.delta {
		if !(value <= delta) {
			continue
		}
		at := float64(c.at+i) * c.h
		if i == 0 {
			return at
		}
		before := c.delta[i-1]
		if math.IsInf(before, 1) {
			return at
		}
		return at - c.h + math.Log1p((before-delta)/(before-value)*math.Expm1(c.h))
	}
	return math.Inf(1)
}

// Group returns the guarantee at δ of a release for several rows of one person, each of which has these losses:
// all sizes grow by the number of rows.
func Group(losses []experiment.Loss, delta float64, rows int) (experiment.Group, error) {
	all := slices.Clone(losses)
	for i := range all {
		if sampled(all[i].Law) {
			return experiment.Group{}, errors.New("rows of one person are sampled independently, and have no common size")
		}
		all[i].Size *= float64(rows)
	}
	epsilon, err := Epsilon(all, delta)
	return experiment.Group{Rows: rows, Epsilon: epsilon, Delta: delta}, err
}

// Epsilon returns an ε for which the composition of the losses is (ε, δ)-differentially private: the least one
// where a closed form has it, and elsewhere at most a hundredth more than the pairs of the package comment have.
// It is rounded up. δ may be 0 where all losses are pure.
func Epsilon(losses []experiment.Loss, delta float64) (float64, error) {
	booked, err := Book(losses, 0)
	if err != nil {
		return 0, err
	}
	if delta == 0 && booked.Pure > 0 {
		return booked.Pure, nil
	}
	sums, err := mechanism.GDP(booked.Mu).Epsilon(delta / certain)
	if err != nil {
		return 0, err
	}
	rho, err := mechanism.ZCDP(booked.Rho).Epsilon(delta)
	if err != nil {
		return 0, err
	}
	epsilon := min(sums, rho) * certain
	if booked.Pure > 0 {
		epsilon = min(epsilon, booked.Pure)
	}
	losses = merged(losses)
	if l := losses[0]; len(losses) == 1 && l.Times == 1 && !sampled(l.Law) {
		switch l.Law {
		case laplace:
			epsilon = min(epsilon, (l.Size+2*math.Log1p(-delta))*certain)
		case exponential:
			epsilon = min(epsilon, (l.Size+2*math.Log1p(-math.Sqrt(delta*-math.Expm1(-l.Size))))*certain)
		case response:
			epsilon = min(epsilon, (l.Size+math.Log1p(-min(1, delta*(1+math.Exp(-l.Size)))))*certain)
		}
		return max(0, epsilon), nil
	}
	ds := distributions(losses, delta)
	if ds == nil {
		return epsilon, nil
	}
	composed := 0.0
	for _, d := range ds {
		composed = max(composed, d.curve(delta).epsilon(delta))
	}
	return min(epsilon, composed*certain), nil
}
